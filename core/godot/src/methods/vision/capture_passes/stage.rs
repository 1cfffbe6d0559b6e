//! How one pass is drawn: what the rendering server is told for a few frames, and takes back when it is dropped.

use godot::{
    classes::{
        Camera3D, CameraAttributesPractical, Environment, GeometryInstance3D, RenderingServer,
        Shader, ShaderMaterial, Viewport,
        environment::{AmbientSource, BgMode},
        rendering_server::{
            ViewportDebugDraw, ViewportMsaa, ViewportScaling3DMode, ViewportScreenSpaceAa,
        },
    },
    obj::EngineEnum,
    prelude::*,
};

use super::{
    Pass,
    palette::{self, CAPACITY},
    scene::Scene,
};

/// Layers of the scene itself; an editor draws its helpers on those above.
const SCENE_LAYERS: u32 = (1 << 20) - 1;

/// What is wanted in the picture: most of the engine's renderers take a linear colour and store it as sRGB.
const HEAD: &str = "shader_type spatial;
render_mode unshaded, cull_disabled, shadows_disabled, fog_disabled;

vec3 drawn_as(vec3 wanted, bool as_it_is) {
	vec3 low = wanted / 12.92;
	vec3 high = pow((wanted + 0.055) / 1.055, vec3(2.4));
	return as_it_is ? wanted : mix(high, low, lessThanEqual(wanted, vec3(0.04045)));
}
";
const DEPTH: &str = "
uniform float far = 1.0;

void fragment() {
	ALBEDO = drawn_as(vec3(clamp(-VERTEX.z / far, 0.0, 1.0)), OUTPUT_IS_SRGB);
}
";
const NORMAL: &str = "
void fragment() {
	vec3 normal = normalize((INV_VIEW_MATRIX * vec4(NORMAL, 0.0)).xyz);
	ALBEDO = drawn_as(normal * 0.5 + 0.5, OUTPUT_IS_SRGB);
}
";
const FLAT: &str = "
uniform vec3 paint = vec3(0.0);

void fragment() {
	ALBEDO = drawn_as(paint, OUTPUT_IS_SRGB);
}
";

/// One pass being drawn. Dropped, everything is drawn as the nodes say.
pub(super) struct Stage {
    bodies: Vec<Gd<GeometryInstance3D>>,
    /// Put back by being dropped.
    _lens: Option<Lens>,
    /// Kept until the pass was drawn: the server holds no reference to them.
    _materials: Vec<Gd<ShaderMaterial>>,
}

/// A camera and its view, with what they draw with instead of their own.
struct Lens {
    view: Gd<Viewport>,
    camera: Gd<Camera3D>,
    _environment: Gd<Environment>,
    _attributes: Gd<CameraAttributesPractical>,
}

impl Stage {
    /// Has the scene drawn so; the colour pass is the scene as it is.
    pub(super) fn set(
        pass: Pass,
        view: &Gd<Viewport>,
        camera: &Gd<Camera3D>,
        scene: &Scene,
        far: f32,
    ) -> Self {
        if pass == Pass::Color {
            return Stage { bodies: vec![], _lens: None, _materials: vec![] };
        }
        let materials = materials(pass, scene.bodies.len(), far);
        let mut bodies = vec![];
        // A body that is gone leaves its place, and with it its colour, to nobody.
        let there = scene.bodies.iter().enumerate().filter(|(_, body)| body.is_instance_valid());
        for (at, body) in there {
            // Segments have a colour each; what the palette has none for shares the last one, which is black.
            let material = &materials[at.min(materials.len() - 1)];
            paint(body, material.get_rid(), Rid::Invalid, 0.0);
            bodies.push(body.clone());
        }
        let lens = Lens::set(pass, view, camera);
        Stage { bodies, _lens: Some(lens), _materials: materials }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for body in self.bodies.drain(..).filter(Gd::is_instance_valid) {
            let own = body.get_material_override().map_or(Rid::Invalid, |it| it.get_rid());
            let overlay = body.get_material_overlay().map_or(Rid::Invalid, |it| it.get_rid());
            paint(&body, own, overlay, body.get_transparency());
        }
    }
}

fn paint(body: &Gd<GeometryInstance3D>, material: Rid, overlay: Rid, transparency: f32) {
    let mut server = RenderingServer::singleton();
    let instance = body.get_instance();
    server.instance_geometry_set_material_override(instance, material);
    server.instance_geometry_set_material_overlay(instance, overlay);
    server.instance_geometry_set_transparency(instance, transparency);
}

/// One material for all, or one a body while there are colours, and black.
fn materials(pass: Pass, bodies: usize, far: f32) -> Vec<Gd<ShaderMaterial>> {
    let body = match pass {
        Pass::Depth => DEPTH,
        Pass::Normal => NORMAL,
        Pass::Color | Pass::Segmentation => FLAT,
    };
    let mut shader = Shader::new_gd();
    shader.set_code(&format!("{HEAD}{body}"));
    let material = |name: &str, value: &Variant| {
        let mut material = ShaderMaterial::new_gd();
        material.set_shader(&shader);
        material.set_shader_parameter(name, value);
        material
    };
    if pass != Pass::Segmentation {
        return vec![material("far", &far.to_variant())];
    }
    let part = |channel: u8| f32::from(channel) / 255.0;
    let colors = (0..bodies.min(CAPACITY)).map(palette::color).chain([[0; 3]]);
    let paints = colors.map(|[r, g, b]| Vector3::new(part(r), part(g), part(b)));
    paints.map(|paint| material("paint", &paint.to_variant())).collect()
}

impl Lens {
    /// Nothing but the bodies: a plain background, no light, no effect, no smoothing, each pixel drawn.
    fn set(pass: Pass, view: &Gd<Viewport>, camera: &Gd<Camera3D>) -> Self {
        let mut environment = Environment::new_gd();
        environment.set_background(BgMode::COLOR);
        // Nothing is as far as the farthest.
        let nothing = if pass == Pass::Depth { Color::WHITE } else { Color::BLACK };
        environment.set_bg_color(nothing);
        // One of the engine's renderers goes on with the last ambient light where a scene has no environment.
        environment.set_ambient_source(AmbientSource::DISABLED);
        let attributes = CameraAttributesPractical::new_gd();
        let mut server = RenderingServer::singleton();
        let (lens, surface) = (camera.get_camera_rid(), view.get_viewport_rid());
        server.camera_set_environment(lens, environment.get_rid());
        server.camera_set_camera_attributes(lens, attributes.get_rid());
        server.camera_set_cull_mask(lens, camera.get_cull_mask() & SCENE_LAYERS);
        server.viewport_set_msaa_3d(surface, ViewportMsaa::DISABLED);
        server.viewport_set_screen_space_aa(surface, ViewportScreenSpaceAa::DISABLED);
        // The engine complains of it where its renderer has none.
        if view.is_using_taa() {
            server.viewport_set_use_taa(surface, false);
        }
        server.viewport_set_use_debanding(surface, false);
        server.viewport_set_debug_draw(surface, ViewportDebugDraw::DISABLED);
        server.viewport_set_scaling_3d_mode(surface, ViewportScaling3DMode::BILINEAR);
        server.viewport_set_scaling_3d_scale(surface, 1.0);
        Lens {
            view: view.clone(),
            camera: camera.clone(),
            _environment: environment,
            _attributes: attributes,
        }
    }
}

impl Drop for Lens {
    fn drop(&mut self) {
        let mut server = RenderingServer::singleton();
        if self.camera.is_instance_valid() {
            let (lens, camera) = (self.camera.get_camera_rid(), &self.camera);
            let environment = camera.get_environment().map_or(Rid::Invalid, |it| it.get_rid());
            let attributes = camera.get_attributes().map_or(Rid::Invalid, |it| it.get_rid());
            server.camera_set_environment(lens, environment);
            server.camera_set_camera_attributes(lens, attributes);
            server.camera_set_cull_mask(lens, camera.get_cull_mask());
        }
        if self.view.is_instance_valid() {
            let (surface, view) = (self.view.get_viewport_rid(), &self.view);
            server.viewport_set_msaa_3d(surface, ViewportMsaa::from_ord(view.get_msaa_3d().ord()));
            let smoothing = ViewportScreenSpaceAa::from_ord(view.get_screen_space_aa().ord());
            server.viewport_set_screen_space_aa(surface, smoothing);
            if view.is_using_taa() {
                server.viewport_set_use_taa(surface, true);
            }
            server.viewport_set_use_debanding(surface, view.is_using_debanding());
            server.viewport_set_debug_draw(
                surface,
                ViewportDebugDraw::from_ord(view.get_debug_draw().ord()),
            );
            let scaling = ViewportScaling3DMode::from_ord(view.get_scaling_3d_mode().ord());
            server.viewport_set_scaling_3d_mode(surface, scaling);
            server.viewport_set_scaling_3d_scale(surface, view.get_scaling_3d_scale());
        }
    }
}
