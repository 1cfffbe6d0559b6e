use proptest::prelude::*;

use super::{Stamp, check_stamp, check_whole, is_older, stamp};

fn stamped(api: &str) -> Stamp {
    Stamp {
        pack: "p".into(),
        version: "1.0.0".into(),
        api: api.into(),
        target: didi_plugin_api::stamp::TARGET.into(),
        rustc: "rustc 1".into(),
        profile: "debug".into(),
    }
}

#[test]
fn another_major_is_refused_with_both_versions_and_the_cure() {
    let reason = check_stamp(&stamped("2.0.0")).unwrap_err().reason;
    assert!(reason.contains("2.0.0") && reason.contains(didi_plugin_api::stamp::API_VERSION));
    assert!(reason.contains("rebuild the pack with plugin-api \"1\""), "{reason}");
    for minor in ["1.0.0", "1.99.0"] {
        assert!(check_stamp(&stamped(minor)).is_ok(), "{minor}");
    }
    assert!(check_stamp(&stamped("one")).is_err());
    assert!(is_older("1.0.0") && !is_older("1.99.0"));
}

#[test]
fn another_target_is_refused() {
    let mut stamp = stamped("1.0.0");
    stamp.target = "riscv64".into();
    assert!(check_stamp(&stamp).unwrap_err().reason.contains("riscv64"));
}

#[test]
fn a_file_without_a_stamp_is_no_pack() {
    assert!(stamp(&[0; 4096]).unwrap_err().reason.contains("not a tool pack"));
}

proptest! {
    #[test]
    fn no_header_panics(mut head in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = check_whole(&head);
        for (at, byte) in [0x7f, b'E', b'L', b'F', 2, 1].into_iter().enumerate() {
            if let Some(place) = head.get_mut(at) {
                *place = byte;
            }
        }
        let _ = check_whole(&head);
        let _ = stamp(&head);
    }
}
