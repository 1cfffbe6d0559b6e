use super::{read, text};

#[test]
fn the_engines_own_steps_are_followed() {
    for (text, expected) in [
        ("1.0", 1.0),
        ("-0.5", -0.5),
        ("12e3", 12000.0),
        ("0.1", 0.1),
        ("1e", 1.0),
        ("1e400", f64::INFINITY),
        ("5e-324", 0.0),
    ] {
        assert_eq!(read(text).to_bits(), expected.to_bits(), "{text}");
    }
    // Where the nearest number is another one; these bits are what 4.6.3 reads.
    for (text, bits) in [
        ("-1.5900810829916086e-224", 0x9177_8aed_87ee_5eb0_u64),
        ("0.12345678901234567", 0x3fbf_9add_3746_f65f),
        ("1.7976931348623157e+300", 0x7e45_798e_e230_8c38),
    ] {
        assert_eq!(read(text).to_bits(), bits, "{text}");
        assert_ne!(text.parse::<f64>().unwrap().to_bits(), bits, "{text}");
    }
}

/// How many of random numbers within powers of two are written with more digits than the fewest, and how many
/// can't be written at all.
fn tried(exponents: std::ops::Range<u64>) -> (u32, u32) {
    let mut rng: u64 = 7;
    let (mut longer, mut lost) = (0, 0);
    for _ in 0..20_000 {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let span = exponents.end - exponents.start;
        let bits = (rng & ((1 << 52) - 1)) | ((rng >> 52) % span + exponents.start) << 52;
        let value = f64::from_bits(bits);
        let text = text(value, ToOwned::to_owned);
        longer += u32::from(text != format!("{value:e}"));
        lost += u32::from(read(&text).to_bits() != value.to_bits());
    }
    (longer, lost)
}

#[test]
fn digits_are_read_as_the_number_that_was_meant() {
    // From 2^-60 to 2^60.
    let (longer, lost) = tried(963..1083);
    assert!(longer > 0, "the two ways of reading differ");
    assert!(lost < 400, "{lost} of 20,000");
    // Nearly everything that the engine reads at all.
    let (_, lost) = tried(60..2020);
    assert!(lost < 400, "{lost} of 20,000");
}

/// Zeros behind the point are digits to the engine, which reads 18 of them.
#[test]
fn a_small_number_keeps_its_digits() {
    for value in
        [-0.004_746_619_585_057_854, 0.001_234_567_890_123_456_7, 0.012_345_678_901_234_568_f64]
    {
        let text = super::super::float_text(value);
        assert_eq!(read(&text).to_bits(), value.to_bits(), "{text}");
    }
}
