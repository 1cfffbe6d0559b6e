use didi_wire::{
    SessionKind,
    methods::{self, Lookup},
};

use super::*;

#[test]
fn the_table_is_sorted_and_holds_what_runs_on_a_main_thread() {
    assert!(METHODS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    for (name, _) in METHODS {
        let Lookup::Method(method) = methods::lookup(name) else { panic!("{name} is no method") };
        let is_main = |kind| method.thread.is_main(kind);
        assert!(is_main(SessionKind::Editor) || is_main(SessionKind::Game), "{name}");
    }
}
