//! Which copies stay.
#![allow(clippy::disallowed_methods, reason = "sets the age of files")]

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

use didi_plugin_api::digest::sha256_hex;

use super::{Cache, KEPT_COPIES, KEPT_FOR, verify};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn make_old(copy: &Path, by: Duration) {
    let file = File::options().append(true).open(copy).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}

fn modified(copy: &Path) -> SystemTime {
    fs::metadata(copy).unwrap().modified().unwrap()
}

/// Copies a build that differs by its number.
fn copy(cache: &Cache, name: &str, number: usize) -> std::path::PathBuf {
    let bytes = format!("build {number} of {name}").into_bytes();
    let file = Path::new("/packs").join(name);
    cache.copy(&sha256_hex(&bytes), &file, &bytes).map_err(|refused| refused.reason).unwrap()
}

#[test]
fn a_copy_has_its_digest_and_a_changed_one_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("cache"));
    let made = copy(&cache, "lib.so", 1);
    let sha256 = sha256_hex(b"build 1 of lib.so");
    assert!(verify(&made, &sha256).is_ok());
    fs::write(&made, "BUILD 1 of lib.so").unwrap();
    assert!(verify(&made, &sha256).unwrap_err().reason.contains("was changed"));
    fs::remove_file(&made).unwrap();
    assert!(verify(&made, &sha256).unwrap_err().reason.contains("can't be read"));
}

#[test]
fn only_old_copies_beyond_the_newest_of_a_name_go() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("cache"));
    let other = copy(&cache, "other.so", 0);
    make_old(&other, 90 * DAY);
    let copies: Vec<_> =
        (0..KEPT_COPIES + 4).map(|number| copy(&cache, "lib.so", number)).collect();
    assert!(copies.iter().all(|one| one.exists()), "young copies stay, however many");
    for (number, one) in (0_u32..).zip(&copies) {
        make_old(one, KEPT_FOR + DAY * (number + 1));
    }
    let fresh = copy(&cache, "lib.so", 99);
    let left = copies.iter().filter(|one| one.exists()).count();
    assert_eq!(left, KEPT_COPIES - 1, "the fresh one is the sixteenth");
    assert!(copies[0].exists() && !copies[KEPT_COPIES + 3].exists(), "the oldest go first");
    assert!(fresh.exists() && other.exists());
}

#[test]
fn taking_a_copy_up_makes_it_young_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("cache"));
    let made = copy(&cache, "lib.so", 1);
    make_old(&made, 30 * DAY);
    let before = modified(&made);
    copy(&cache, "lib.so", 1);
    assert!(modified(&made) > before + 29 * DAY);
    let touched = modified(&made);
    copy(&cache, "lib.so", 1);
    assert_eq!(modified(&made), touched, "once a day is enough");
}
