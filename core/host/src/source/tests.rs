use super::{hex, iso8601};

#[test]
fn instants_are_written_as_dates() {
    assert_eq!(iso8601(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(iso8601(951_782_400_123), "2000-02-29T00:00:00.123Z");
    assert_eq!(iso8601(1_796_083_199_999), "2026-11-30T23:59:59.999Z");
}

#[test]
fn bytes_are_written_as_hex() {
    assert_eq!(hex(&[0, 0xab, 0xff]), "00abff");
}
