use std::io::Read;

use proptest::prelude::*;

use super::{Lines, Step};
use crate::jsonrpc::MAX_LINE_BYTES;

/// Hands out a byte stream in pieces of the given sizes.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes.pop().unwrap_or(usize::MAX).max(1);
        let end = self.bytes.len().min(self.at + size.min(buffer.len()));
        let piece = &self.bytes[self.at..end];
        buffer[..piece.len()].copy_from_slice(piece);
        self.at = end;
        Ok(piece.len())
    }
}

fn lines_of(bytes: &[u8], sizes: Vec<usize>) -> Vec<String> {
    let mut lines = Lines::new(Pieces { bytes: bytes.to_vec(), at: 0, sizes });
    let mut out = vec![];
    loop {
        match lines.step() {
            Step::Line(line) => out.push(String::from_utf8_lossy(line).into_owned()),
            Step::TooLong => out.push("too long".into()),
            Step::Drained => {}
            Step::End => return out,
        }
    }
}

#[test]
fn a_line_past_the_bound_is_refused_and_the_next_one_is_served() {
    let mut bytes = vec![b'x'; MAX_LINE_BYTES * 2 + 7];
    bytes.extend_from_slice(b"\nnext\n");
    assert_eq!(lines_of(&bytes, vec![]), ["too long", "next"]);
    let mut exact = vec![b'x'; MAX_LINE_BYTES];
    exact.extend_from_slice(b"\nlast");
    let lines = lines_of(&exact, vec![]);
    assert_eq!((lines[0].len(), lines[1].as_str()), (MAX_LINE_BYTES, "last"));
}

proptest! {
    #[test]
    fn any_split_of_the_stream_gives_the_same_lines(
        lines in proptest::collection::vec("[a-z]{0,20}", 0..20),
        sizes in proptest::collection::vec(1usize..9, 0..40),
    ) {
        let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        prop_assert_eq!(lines_of(text.as_bytes(), sizes), lines);
    }
}
