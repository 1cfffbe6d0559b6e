//! Which words a file can hold, so that a search for one reads few files.
//!
//! A word is a run of letters, digits, underscores and bytes beyond ASCII that does not begin with a digit. Its
//! traces are laid in a few bits (a Bloom filter): a file without the traces does not hold the word, one with them
//! almost always does and is read to see. Uids leave the trace of their number, since one uid has many spellings.
//!
//! Spec: P-50, references.

use std::sync::{Arc, LazyLock};

use didi_formats::uid;
use didi_plugin_api::prelude::*;

use crate::{kept::Kept, walk::File};

#[cfg(test)]
mod tests;

/// Bits for each word: one word in about a hundred that is not there seems to be.
const BITS_A_WORD: usize = 10;
/// Traces that a word leaves.
const TRACES: u32 = 4;
/// Hashes that are gathered before the repeated ones are dropped.
const GATHERED: usize = 1 << 14;

/// The traces of a file's words.
#[derive(Debug, Clone)]
pub struct Words {
    /// A power of two of them; empty when nothing is known, and then every word may be there.
    bits: Box<[u64]>,
}

static WORDS: LazyLock<Kept<Words>> = LazyLock::new(Kept::default);

/// The words of these files, in their order; `read` gives a file's bytes, where they can be had.
///
/// # Errors
/// `cancelled` when the caller gave up.
pub fn of_files(
    ctx: &Ctx<'_>,
    files: &[File],
    read: impl Fn(&File) -> Option<Vec<u8>> + Sync,
) -> Result<Vec<Arc<Words>>, Refusal> {
    WORDS.of(ctx, files, |file| read(file).map_or_else(Words::unknown, |bytes| Words::of(&bytes)))
}

impl Words {
    /// The words of a text.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hashes = vec![];
        let mut limit = GATHERED;
        each(bytes, |hash| {
            hashes.push(hash);
            if hashes.len() >= limit {
                hashes.sort_unstable();
                hashes.dedup();
                limit = GATHERED.max(hashes.len() * 2);
            }
        });
        hashes.sort_unstable();
        hashes.dedup();
        let blocks = (hashes.len() * BITS_A_WORD).div_ceil(64).next_power_of_two();
        let mut words = Words { bits: vec![0; blocks].into() };
        for hash in hashes {
            for (block, bit) in words.traces(hash) {
                words.bits[block] |= bit;
            }
        }
        words
    }

    /// Of a file that could not be read: it may hold everything.
    pub fn unknown() -> Self {
        Words { bits: Box::default() }
    }

    /// Whether a text can stand in the file, each of its words as a whole word.
    pub fn may_hold(&self, text: &str) -> bool {
        let mut all = true;
        each(text.as_bytes(), |hash| all &= self.holds(hash));
        all
    }

    /// Whether a uid can stand in the file, however it is spelled.
    pub fn may_hold_uid(&self, number: u64) -> bool {
        self.holds(hash_of_uid(number))
    }

    fn holds(&self, hash: u64) -> bool {
        self.bits.is_empty()
            || self.traces(hash).into_iter().all(|(block, bit)| self.bits[block] & bit != 0)
    }

    /// The places of a word's traces: block and bit.
    fn traces(&self, hash: u64) -> [(usize, u64); TRACES as usize] {
        let blocks = self.bits.len() as u64;
        let (step, mut at) = (hash.rotate_right(32) | 1, hash);
        std::array::from_fn(|_| {
            at = at.wrapping_add(step);
            let block = (at >> 6) & (blocks - 1);
            // The count of blocks came from a length, so it fits one.
            (usize::try_from(block).unwrap_or(0), 1 << (at & 63))
        })
    }
}

/// Hands over the hash of every word and uid of a text.
fn each(bytes: &[u8], mut take: impl FnMut(u64)) {
    let mut at = 0;
    while at < bytes.len() {
        if !is_letter(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_letter(bytes[at]) {
            at += 1;
        }
        let word = &bytes[start..at];
        if !word[0].is_ascii_digit() {
            take(hash_of(word));
        }
        // An escape such as `\n` runs into the word behind it.
        if start > 0 && bytes[start - 1] == b'\\' && word.len() > 1 && !word[1].is_ascii_digit() {
            take(hash_of(&word[1..]));
        }
        if word.ends_with(b"uid")
            && let Some(number) = uid_at(bytes, at)
        {
            take(hash_of_uid(number));
        }
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The number of the uid whose `uid` ends at `end`.
fn uid_at(bytes: &[u8], end: usize) -> Option<u64> {
    let digits = bytes.get(end..)?.strip_prefix(b"://")?;
    let count = digits.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let text = std::str::from_utf8(&bytes[end - 3..end + 3 + count]).ok()?;
    uid::number(text)
}

/// FNV-1a, with a last stir so that its low bits are as good as its high ones.
fn hash_of(word: &[u8]) -> u64 {
    let mixed = word.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    stir(mixed)
}

/// The trace of a uid; that of some word may be the same, which costs one file read.
fn hash_of_uid(number: u64) -> u64 {
    stir(number ^ 0x9e37_79b9_7f4a_7c15)
}

fn stir(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
