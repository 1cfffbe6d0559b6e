//! What lies in a view that looks along -z.

use super::*;

fn view() -> Frustum {
    let tangent = 1.0;
    let planes = Frustum::planes(&Lens {
        eye: Vector3::ZERO,
        ahead: Vector3::FORWARD,
        aside: Vector3::RIGHT,
        above: Vector3::UP,
        tangent,
        aspect: 2.0,
        near: 1.0,
        far: 10.0,
    });
    Frustum { eye: Vector3::ZERO, planes, about: Value::Null }
}

fn at(x: f32, y: f32, z: f32) -> Vector3 {
    Vector3::new(x, y, z)
}

#[test]
fn points_between_the_planes_are_in_view() {
    let view = view();
    for (point, seen) in [
        (at(0.0, 0.0, -5.0), true),
        (at(0.0, 0.0, -0.5), false),
        (at(0.0, 0.0, -10.5), false),
        (at(0.0, 0.0, 5.0), false),
        (at(0.0, 4.9, -5.0), true),
        (at(0.0, 5.1, -5.0), false),
        (at(9.9, 0.0, -5.0), true),
        (at(10.1, 0.0, -5.0), false),
        (at(-10.1, 0.0, -5.0), false),
    ] {
        assert_eq!(view.holds_point(point).is_some(), seen, "{point}");
    }
}

#[test]
fn boxes_are_inside_across_or_outside() {
    let view = view();
    let around = |x: f32, z: f32| Aabb::new(at(x - 0.5, -0.5, z - 0.5), Vector3::ONE);
    assert_eq!(view.holds_box(around(0.0, -5.0)), Some(Containment::Inside));
    assert_eq!(view.holds_box(around(0.0, -10.0)), Some(Containment::Intersecting));
    assert_eq!(view.holds_box(around(0.0, -12.0)), None);
    assert_eq!(view.holds_box(around(20.0, -5.0)), None);
    assert_eq!(corners(around(0.0, 0.0)).len(), 8);
}
