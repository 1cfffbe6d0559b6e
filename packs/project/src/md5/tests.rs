use super::hex;

#[test]
fn digests_are_those_of_the_standard() {
    let of = |text: &str| hex([text.as_bytes()]);
    assert_eq!(of(""), "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(of("abc"), "900150983cd24fb0d6963f7d28e17f72");
    let long = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
    assert_eq!(of(long), "57edf4a22be3c955ac49da2e2107b67a");
    assert_eq!(hex([&b"a"[..], b"bc"]), of("abc"));
    // The name that the engine gives the import of this file.
    assert_eq!(of("res://icon.svg"), "218a8f2b3041327d8a5756f3a245f83b");
    for length in 54..66 {
        assert_eq!(hex([&vec![b'x'; length][..]]).len(), 32);
    }
}
