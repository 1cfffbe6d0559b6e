//! Makes `data/class_reference.bin`, the class reference that the pack ships.
//!
//! Classes are sorted by name and packed into blocks of about 64 KiB, so that reading one class costs one block.
//!
//! ```text
//! godot --headless --dump-extension-api-with-docs     # in an empty folder; writes extension_api.json
//! cargo run -p didi-pack-script --example class_reference -- extension_api.json packs/script/data/class_reference.bin
//! ```
//!
//! The same dump gives the same bytes.
//!
//! Spec: P-53, scripts.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for those who build the pack"
)]

use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};

#[path = "../src/reflect_class/make.rs"]
mod make;

/// What the file begins with.
const MAGIC: &[u8; 8] = b"DIDIREF1";
/// Bytes of a block before it is packed.
const BLOCK_BYTES: usize = 64 << 10;
/// Level of the packing: the slowest.
const LEVEL: u8 = 10;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dump, out] = &args[..] else {
        panic!("two files are needed: the engine's dump, and where the reference goes")
    };
    let dump: Value = serde_json::from_slice(&std::fs::read(dump).unwrap()).unwrap();
    std::fs::write(out, pack(&dump)).unwrap();
}

/// The mark, the length of the index, the index, then the blocks, each packed by itself.
fn pack(dump: &Value) -> Vec<u8> {
    let (mut blocks, mut block) = (vec![], vec![]);
    let (mut lengths, mut index) = (vec![], vec![]);
    for (name, class) in &make::classes(dump) {
        let json = class.to_string();
        if !block.is_empty() && block.len() + json.len() > BLOCK_BYTES {
            close(&mut block, &mut blocks, &mut lengths);
        }
        let inherits = class["inherits"].as_str().unwrap_or_default();
        index.push(json!([name, inherits, lengths.len(), block.len(), json.len()]));
        block.extend(json.as_bytes());
    }
    close(&mut block, &mut blocks, &mut lengths);
    let index = json!({ "version": version(&dump["header"]), "blocks": lengths, "classes": index });
    let index = compress_to_vec_zlib(index.to_string().as_bytes(), LEVEL);
    let length = u32::try_from(index.len()).unwrap();
    [MAGIC.as_slice(), &length.to_le_bytes(), &index, &blocks].concat()
}

fn close(block: &mut Vec<u8>, blocks: &mut Vec<u8>, lengths: &mut Vec<(usize, usize)>) {
    let packed = compress_to_vec_zlib(block, LEVEL);
    lengths.push((packed.len(), block.len()));
    blocks.extend(packed);
    block.clear();
}

fn version(header: &Value) -> String {
    let number = |key: &str| header[key].as_u64().unwrap();
    let numbers = ["version_major", "version_minor", "version_patch"].map(number);
    let [major, minor, patch] = numbers;
    format!("{major}.{minor}.{patch}.{}", make::text(header, "version_status"))
}
