//! Pictures of views that draw in HDR: their texture is linear, and the engine makes sRGB of it on the way to the screen.

use std::sync::LazyLock;

use godot::{
    classes::{Image, image::Format},
    prelude::*,
};

/// Steps of the table, so many that the darkest colours, where sRGB is steepest, are less than half a step of a byte apart.
const STEPS: u16 = 1 << 14;

/// What each step is shown as.
static SHOWN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let step = |at: u16| f64::from(at) / f64::from(STEPS - 1);
    (0..STEPS).map(|at| byte(srgb(step(at)))).collect()
});

/// The picture in bytes of four channels, of sRGB. Alpha is the same in both.
pub(super) fn as_shown(mut image: Gd<Image>) -> Option<Gd<Image>> {
    image.convert(Format::RGBAF);
    let (width, height) = (image.get_width(), image.get_height());
    let linear = image.get_data().to_float32_array();
    let shown: Vec<u8> = linear.as_slice().chunks_exact(4).flat_map(pixel).collect();
    let shown = PackedByteArray::from(shown);
    Image::create_from_data(width, height, false, Format::RGBA8, &shown)
}

fn pixel(linear: &[f32]) -> [u8; 4] {
    let color = |at: usize| SHOWN[step(linear[at])];
    [color(0), color(1), color(2), byte(f64::from(linear[3]))]
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number from 0 to the last step; what is no number is 0"
)]
fn step(linear: f32) -> usize {
    (linear.clamp(0.0, 1.0) * f32::from(STEPS - 1)).round() as usize
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number from 0 to 255; what is no number is 0"
)]
fn byte(part: f64) -> u8 {
    (part.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// From a linear part to one of sRGB, by its definition.
fn srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_srgb_comes_back() {
        for wanted in 0..=255_u8 {
            let part = f64::from(wanted) / 255.0;
            let linear =
                if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
            #[allow(clippy::cast_possible_truncation, reason = "as the engine holds it")]
            let linear = linear as f32;
            assert_eq!(pixel(&[linear, 2.0, f32::NAN, 0.5]), [wanted, 255, 0, 128]);
        }
    }
}
