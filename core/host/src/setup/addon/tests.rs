use didi_wire::addon::Stamp;

use super::*;

fn project() -> (tempfile::TempDir, ProjectFiles) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    (folder, ProjectFiles::new(root))
}

/// The smallest whole shared library that there is, with a stamp in it.
fn library(version: Option<&'static str>) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[16] = 3;
    bytes[18] = if ARCH == "aarch64" { 0xb7 } else { 0x3e };
    bytes[40] = 64;
    if let Some(version) = version {
        bytes.extend(Stamp::of(version).0);
    }
    bytes
}

fn own(version: &'static str) -> Own {
    Own {
        file: PathBuf::from(library_name()),
        bytes: library(Some(version)),
        stamp: AddonStamp::own(version),
    }
}

const OURS: &str = env!("CARGO_PKG_VERSION");

#[test]
fn an_addon_is_installed_once() {
    let (_folder, files) = project();
    assert!(Installed::look(&files).is_missing(&files));
    assert_eq!(install(&files, Ok(own(OURS)), false).state, State::Done);
    assert_eq!(install(&files, Ok(own(OURS)), false).state, State::Unchanged);
    assert_eq!(files.read(DESCRIPTION).unwrap(), TEMPLATE);
    let Library::Known { stamp, .. } = Installed::look(&files).binary else {
        panic!("it is known")
    };
    assert_eq!(stamp, AddonStamp::own(OURS));
}

#[cfg(target_os = "linux")]
#[test]
fn a_newer_or_foreign_addon_is_replaced_on_demand_only() {
    for (version, code, state) in
        [(Some("999.0.0"), "addon_newer", State::Warn), (None, "addon_foreign", State::Fail)]
    {
        let (_folder, files) = project();
        let path = format!("{FOLDER}/{}", library_name());
        super::super::put(&files, DESCRIPTION, TEMPLATE).unwrap();
        super::super::put(&files, &path, &library(version)).unwrap();
        let step = install(&files, Ok(own(OURS)), false);
        assert_eq!((step.state, step.code), (state, Some(code)));
        assert_eq!(files.read(&path).unwrap(), library(version));
        assert_eq!(install(&files, Ok(own(OURS)), true).state, State::Done);
        assert_eq!(files.read(&path).unwrap(), library(Some(OURS)));
    }
}

#[test]
fn an_older_addon_is_replaced() {
    let (_folder, files) = project();
    install(&files, Ok(own("0.0.1")), false);
    assert_eq!(install(&files, Ok(own(OURS)), false).state, State::Done);
}

#[test]
fn the_description_is_read_as_the_engine_reads_it() {
    let text = |entry: &str, key: &str| {
        format!("[configuration]\nentry_symbol = \"{entry}\"\n[libraries]\n{key} = \"x.so\"\n")
    };
    let processor = if ARCH == "aarch64" { "arm64" } else { ARCH };
    let fits = format!("{OS}.debug.{processor}");
    let read = |text: String| library_of(text.as_bytes());
    assert_eq!(read(text(ENTRY_SYMBOL, &fits)).ok().unwrap(), format!("{FOLDER}/x.so"));
    assert!(matches!(*read(text("other", &fits)).err().unwrap(), Library::Foreign(_)));
    let elsewhere = text(ENTRY_SYMBOL, "amiga.debug");
    assert!(matches!(*read(elsewhere).err().unwrap(), Library::Unnamed(_)));
    assert!(matches!(*read("[configuration".into()).err().unwrap(), Library::Unnamed(_)));
    assert!(library_of(TEMPLATE).is_ok(), "the one that is installed fits this system");
}

#[test]
fn headers_say_what_a_library_is_for() {
    assert_eq!(built_for(&[0xca, 0xfe, 0xba, 0xbe]), Some(("macos", "universal")));
    let mut mach = vec![0xcf, 0xfa, 0xed, 0xfe];
    mach.extend(0x0100_000c_u32.to_le_bytes());
    assert_eq!(built_for(&mach), Some(("macos", "aarch64")));
    let mut pe = vec![0; 0x60];
    pe[..2].copy_from_slice(b"MZ");
    pe[0x3c] = 0x40;
    pe[0x44..0x46].copy_from_slice(&0x8664_u16.to_le_bytes());
    assert_eq!(built_for(&pe), Some(("windows", "x86_64")));
    for end in 0..pe.len() {
        let _ = built_for(&pe[..end]);
    }
    assert_eq!(built_for(b"#!/bin/sh"), None);
}

#[test]
fn the_list_keeps_what_others_put_there() {
    let (_folder, files) = project();
    super::super::put(&files, EXTENSION_LIST, b"res://other.gdextension").unwrap();
    assert_eq!(list_extension(&files).state, State::Done);
    assert_eq!(list_extension(&files).state, State::Unchanged);
    let text = String::from_utf8(files.read(EXTENSION_LIST).unwrap()).unwrap();
    assert_eq!(text, format!("res://other.gdextension\n{DESCRIPTION}\n"));
}
