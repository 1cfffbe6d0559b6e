//! Tests of the palette: no two segments share a colour, and a pixel is nobody's rather than another's.

use std::collections::BTreeSet;

use super::{CAPACITY, color, seen};

#[test]
fn every_segment_has_a_colour_of_its_own_and_none_is_black() {
    let colors: BTreeSet<[u8; 3]> = (0..CAPACITY).map(color).collect();
    assert_eq!(colors.len(), CAPACITY);
    assert!(!colors.contains(&[0; 3]));
}

#[test]
fn pixels_are_counted_where_they_are() {
    let (one, other) = (color(0), color(CAPACITY - 1));
    let near = one.map(|channel| channel.saturating_add(3));
    let between = [25, 25, 25];
    let rows = [[[0; 3], one, near], [between, one, other]];
    let pixels: Vec<u8> = rows.iter().flatten().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect();
    let seen = seen(&pixels, 3);
    assert_eq!((seen.segments[0].pixels, seen.segments[0].bounds), (3, [1, 0, 2, 1]));
    assert_eq!(
        (seen.segments[CAPACITY - 1].pixels, seen.segments[CAPACITY - 1].bounds),
        (1, [2, 1, 2, 1])
    );
    assert_eq!(seen.unclaimed, 2);
    assert_eq!(seen.segments[CAPACITY - 1].observed(), other);
    let mean = one.map(|channel| {
        u8::try_from((u16::from(channel) * 2 + u16::from(channel.saturating_add(3)) + 1) / 3)
            .unwrap()
    });
    assert_eq!(seen.segments[0].observed(), mean);
}
