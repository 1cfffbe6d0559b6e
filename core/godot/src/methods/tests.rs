use didi_wire::methods::{self, Lookup, Thread};

use super::*;

#[test]
fn the_table_is_sorted_and_holds_methods_of_the_main_thread_alone() {
    assert!(METHODS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    for (name, _) in METHODS {
        let Lookup::Method(method) = methods::lookup(name) else { panic!("{name} is no method") };
        assert_eq!(method.thread, Thread::Main, "{name}");
    }
}
