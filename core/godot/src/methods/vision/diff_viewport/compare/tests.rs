//! What two pictures that differ in a known way are said to differ by.

use super::*;

const WIDTH: usize = 40;
const HEIGHT: usize = 20;

/// A picture whose grey grows to the right.
fn slope() -> Vec<u8> {
    let grey = |at: usize| u8::try_from(at % WIDTH * 6).unwrap();
    (0..WIDTH * HEIGHT).flat_map(|at| [grey(at), grey(at), grey(at), 255]).collect()
}

/// The same with a rectangle of another colour.
fn marked(left: usize, top: usize, width: usize, height: usize, color: [u8; 4]) -> Vec<u8> {
    let mut pixels = slope();
    for y in top..top + height {
        for x in left..left + width {
            pixels[(y * WIDTH + x) * 4..][..4].copy_from_slice(&color);
        }
    }
    pixels
}

#[test]
fn a_picture_is_identical_to_itself() {
    let same = compare(&slope(), &slope(), WIDTH, 0);
    assert_eq!((same.changed, same.max_delta, same.bounds), (0, 0, None));
    assert_eq!(same.total, WIDTH * HEIGHT);
    assert!((same.ssim - 1.0).abs() < 1e-12 && same.mean_absolute_error.abs() < 1e-12);
    assert_eq!(hamming(same.hashes), 0);
    assert!(same.picture.chunks(4).all(|pixel| pixel[0] == pixel[1] && pixel[3] == 255));
}

#[test]
fn a_rectangle_is_found_with_its_pixels_and_its_place() {
    let differs = compare(&slope(), &marked(3, 5, 7, 2, [255, 0, 0, 255]), WIDTH, 0);
    assert_eq!(differs.changed, 14);
    assert_eq!(differs.bounds, Some(Bounds { x: 3, y: 5, width: 7, height: 2 }));
    assert!(differs.ssim < 1.0 && differs.changed_ratio() > 0.0);
    let red = |x: usize, y: usize| differs.picture[(y * WIDTH + x) * 4..][..3].to_vec();
    assert_eq!((red(3, 5)[1], red(2, 5)[0] == red(2, 5)[1]), (0, true));
    assert!(red(3, 5)[0] >= 96);
}

#[test]
fn what_is_within_the_threshold_does_not_count() {
    let nearly: Vec<u8> = slope().iter().map(|one| one.saturating_add(2).max(2)).collect();
    let differs = compare(&slope(), &nearly, WIDTH, 2);
    assert_eq!((differs.changed, differs.max_delta), (0, 2));
    assert!(differs.mean_absolute_error > 1.0 && differs.ssim > 0.98);
    assert_eq!(compare(&slope(), &nearly, WIDTH, 1).changed, WIDTH * HEIGHT);
}

#[test]
fn a_mirrored_picture_is_another_to_the_eye() {
    let mirrored: Vec<u8> = slope()
        .chunks(WIDTH * 4)
        .flat_map(|row| row.chunks(4).rev().flatten().copied().collect::<Vec<_>>())
        .collect();
    let differs = compare(&slope(), &mirrored, WIDTH, 0);
    assert_eq!(hamming(differs.hashes), 64);
    assert!(differs.ssim < 0.9, "{}", differs.ssim);
}

#[test]
fn an_empty_picture_and_one_of_a_pixel_are_compared() {
    assert_eq!(compare(&[], &[], 0, 0).total, 0);
    let one = compare(&[1, 2, 3, 4], &[1, 2, 3, 9], 1, 0);
    assert_eq!((one.changed, one.max_delta, one.total), (1, 5, 1));
}
