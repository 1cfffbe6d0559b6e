//! Floats as the engine reads them, which is not always the nearest one.
//!
//! The engine builds the digits as an integer of at most 18 places and scales it by powers of ten that it
//! multiplies up, each step rounded. The last bit is now and then another than that of a correct conversion,
//! and numbers near the ends of the range become zero or infinite. What a file means is what the engine reads,
//! so the same steps are taken here; and [`text`] finds digits which it reads as the number that was meant.

/// The powers of ten that an exponent is put together from, bit by bit.
const POWERS: [f64; 9] = [10.0, 100.0, 1e4, 1e8, 1e16, 1e32, 1e64, 1e128, 1e256];
/// Largest exponent that is taken.
const MAX_EXPONENT: i64 = 511;
/// Digits that count; the others only move the point.
const MAX_DIGITS: usize = 18;
/// How far beside the right digits others are tried, on each side, in quarters of the way to the next float.
const MAX_STEPS: i64 = 40;

/// A number with digits, maybe a point, maybe an exponent, as the engine reads it.
pub(super) fn read(text: &str) -> f64 {
    let (negative, text) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let count = whole.len() + fraction.len();
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    let used = count.min(MAX_DIGITS);
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte.wrapping_sub(b'0'));
    let mut part = |count: usize| {
        digits
            .by_ref()
            .take(count)
            .fold(0_i32, |sum, digit| sum.wrapping_mul(10) + i32::from(digit))
    };
    let front = part(used.saturating_sub(9));
    let value = 1e9 * f64::from(front) + f64::from(part(used.min(9)));
    let exponent = point - i64::try_from(used).unwrap_or(0) + exponent_of(exponent);
    let scale = power(exponent.abs().min(MAX_EXPONENT));
    let value = if exponent < 0 { value / scale } else { value * scale };
    if negative { -value } else { value }
}

/// An exponent's digits with its sign; none are none. It is bounded long before it could overflow.
fn exponent_of(text: &str) -> i64 {
    let (sign, digits) = match text.as_bytes() {
        [b'-', ..] => (-1, &text[1..]),
        [b'+', ..] => (1, &text[1..]),
        _ => (1, text),
    };
    let add = |sum: i64, digit: u8| (sum * 10 + i64::from(digit.wrapping_sub(b'0'))).min(1_000_000);
    sign * digits.bytes().fold(0, add)
}

fn power(mut exponent: i64) -> f64 {
    let mut scale = 1.0;
    for power in POWERS {
        if exponent & 1 == 1 {
            scale *= power;
        }
        exponent >>= 1;
    }
    scale
}

/// A finite number as text that the engine reads as exactly that number. `layout` puts digits such as `-1.25e-7`
/// into the form of a file.
///
/// The fewest digits where the engine reads those right, else some of 17 or 18 beside them. About one in a
/// hundred numbers of 53 bits is none that it could read, whatever the digits; those get the fewest.
pub(super) fn text(value: f64, layout: fn(&str) -> String) -> String {
    let shortest = layout(&format!("{value:e}"));
    let right = |text: &String| read(text).to_bits() == value.to_bits();
    if right(&shortest) {
        return shortest;
    }
    let rounded = (0..16).map(|digits| format!("{value:.digits$e}"));
    let long = [format!("{value:.16e}"), format!("{value:.17e}")];
    let shorter = std::iter::once(format!("{value:e}")).chain(rounded);
    let tried = shorter.chain(long.iter().flat_map(|long| beside(long)));
    // Zeros behind the point count as digits, so a small number keeps more of them with an exponent.
    let forms = tried.flat_map(|digits| [layout(&digits), with_exponent(&digits)]);
    forms.into_iter().find(right).unwrap_or(shortest)
}

/// `-1.25e-7` as `-1.25e-07`.
fn with_exponent(digits: &str) -> String {
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// Numbers with as many digits as one has, at the same place of the point, nearest first.
fn beside(long: &str) -> impl Iterator<Item = String> + use<> {
    let (mantissa, exponent) = long.split_once('e').unwrap_or((long, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let middle: i64 = mantissa.replace('.', "").parse().unwrap_or(0);
    // A quarter of the way to the next float.
    let step = (middle >> 54).max(1);
    let (sign, exponent, count) = (sign.to_owned(), exponent.to_owned(), mantissa.len() - 1);
    let whole = (0..=MAX_STEPS).flat_map(move |at| [middle - at * step, middle + at * step]);
    // A step past a power of ten has another count of digits, and stands for another number.
    whole.map(|whole| whole.to_string()).filter(move |digits| digits.len() == count).map(
        move |digits| {
            let (first, rest) = digits.split_at(1);
            format!("{sign}{first}.{rest}e{exponent}")
        },
    )
}

#[cfg(test)]
mod tests;
