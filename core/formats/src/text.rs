//! Offsets, lines and columns of a source text.

use memchr::{memchr, memchr_iter, memrchr2};

/// The UTF-8 byte-order mark.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Line and column of a byte offset, both from 1, the column in code points.
pub(crate) fn position(source: &[u8], offset: usize) -> (u32, u32) {
    let before = &source[..offset.min(source.len())];
    let start = memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    let mut tail = &before[start..];
    if start == 0 && tail.starts_with(BOM) {
        tail = &tail[BOM.len()..];
    }
    let column = tail.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
    let ends_inside_crlf = before.ends_with(b"\r") && source.get(before.len()) == Some(&b'\n');
    let lines = line_ends(before) - usize::from(ends_inside_crlf);
    (to_u32(lines + 1), to_u32(column + 1))
}

/// Saturates; files are bounded far below the limit of `u32`.
pub(crate) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Gives the lines of ascending offsets, reading each byte of the source once.
pub(crate) struct LineCursor<'a> {
    source: &'a [u8],
    has_cr: bool,
    offset: usize,
    line: usize,
}

impl<'a> LineCursor<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        LineCursor { source, has_cr: memchr(b'\r', source).is_some(), offset: 0, line: 1 }
    }

    /// The line of `offset`, which must not be smaller than the one asked before.
    pub(crate) fn line_at(&mut self, offset: usize) -> u32 {
        let passed = &self.source[self.offset..offset];
        if self.has_cr {
            self.line += line_ends(passed);
            // A `\r\n` cut in two by the last question has been counted by its `\r`.
            if self.offset > 0 && self.source[self.offset - 1] == b'\r' && passed.starts_with(b"\n")
            {
                self.line -= 1;
            }
        } else {
            self.line += memchr_iter(b'\n', passed).count();
        }
        self.offset = offset;
        to_u32(self.line)
    }
}

/// Counts `\n`, `\r\n` and lone `\r`.
fn line_ends(bytes: &[u8]) -> usize {
    let lone_or_last = memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n'));
    memchr_iter(b'\n', bytes).count() + lone_or_last.count()
}
