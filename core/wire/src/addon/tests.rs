use super::*;

#[test]
fn a_stamp_is_found_where_a_linker_puts_it() {
    let Stamp(stamp) = Stamp::of("1.2.3");
    let mut library = vec![7; 4096 + STAMP_ALIGN];
    library.extend(stamp);
    library.extend([9; 100]);
    assert_eq!(find_stamp(&library), Some(AddonStamp::own("1.2.3")));
    assert!(AddonStamp::own("1.2.3").is_for_this_system());
}

#[test]
fn what_is_cut_short_or_stands_elsewhere_is_no_stamp() {
    let Stamp(stamp) = Stamp::of("1.2.3");
    assert_eq!(find_stamp(&stamp[..STAMP_LEN - 1]), None);
    assert_eq!(find_stamp(&[&[0; 3][..], &stamp].concat()), None, "it is aligned");
    assert_eq!(find_stamp(b""), None);
    let mut spoilt = stamp;
    spoilt[MAGIC_LEN] = b'[';
    assert_eq!(find_stamp(&spoilt), None);
}

#[test]
fn the_magic_fills_its_place() {
    assert_eq!(MAGIC.concat().len(), MAGIC_LEN);
}
