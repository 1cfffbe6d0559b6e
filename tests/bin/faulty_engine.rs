//! An engine in a process of its own that can be killed and stopped; what it does is `didi_tests::faulty`'s.

#[cfg(unix)]
fn main() {
    didi_tests::faulty::play();
}

#[cfg(not(unix))]
fn main() {}
