//! The head of a script, read without a tree: the class that it declares and what it extends.
//!
//! Nothing but annotations, comments and texts may stand before or between `class_name` and `extends`, so the
//! first other word ends the head, and a text that looks like a declaration is passed over.
//!
//! Spec: P-53, scripts.

#[cfg(test)]
mod tests;

/// What a script says of itself before its first member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head<'t> {
    /// The global class that it declares.
    pub class_name: Option<&'t str>,
    /// What it extends, as it stands there: a class, or a path between its quotes with what follows.
    pub extends: Option<&'t str>,
    /// Whether something behind the head was seen. Where not, a text that was cut may hold more of it.
    pub ended: bool,
}

/// Reads the head of a script, which may begin with a byte order mark.
pub fn of(text: &str) -> Head<'_> {
    let mut reader = Reader { rest: text.strip_prefix(crate::BOM).unwrap_or(text) };
    let mut head = Head::default();
    loop {
        reader.skip_blanks();
        if reader.rest.starts_with(['"', '\'']) {
            reader.skip_text();
        } else if reader.rest.starts_with('@') {
            reader.skip_annotation();
        } else {
            match reader.word() {
                "class_name" => {
                    reader.skip_spaces();
                    head.class_name = Some(reader.word()).filter(|name| !name.is_empty());
                }
                "extends" => {
                    reader.skip_spaces();
                    head.extends = Some(reader.base()).filter(|base| !base.is_empty());
                }
                _ => {
                    head.ended = !reader.rest.is_empty();
                    return head;
                }
            }
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Spaces, and a line that goes on behind a backslash.
    fn skip_spaces(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            let line_end = ["\\\n", "\\\r\n"].into_iter().find(|end| self.rest.starts_with(end));
            let Some(line_end) = line_end else { return };
            self.take(line_end.len());
        }
    }

    /// Spaces, line ends, semicolons and comments.
    fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ';', '\\']);
            if !self.rest.starts_with('#') {
                return;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// A word; empty where none begins.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        self.take(end.unwrap_or(self.rest.len()))
    }

    /// `Base`, `Base.Inner` or `"res://base.gd".Inner`.
    fn base(&mut self) -> &'t str {
        let all = self.rest;
        if self.rest.starts_with(['"', '\'']) {
            self.skip_text();
        }
        let more = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
        self.rest = self.rest.trim_start_matches(more);
        &all[..all.len() - self.rest.len()]
    }

    /// A text, of one quote or three; one that does not end takes all that is left.
    fn skip_text(&mut self) {
        let quote = &self.rest[..1];
        let three = quote.repeat(3);
        let mark = if self.rest.starts_with(&three) { three.as_str() } else { quote };
        let bytes = self.rest.as_bytes();
        let mut at = mark.len();
        while at < bytes.len() {
            if bytes[at] == b'\\' {
                at += 2;
            } else if bytes[at..].starts_with(mark.as_bytes()) {
                self.take(at + mark.len());
                return;
            } else {
                at += 1;
            }
        }
        self.rest = "";
    }

    /// `@name`, with what stands between the brackets behind it.
    fn skip_annotation(&mut self) {
        self.take(1);
        self.word();
        self.skip_spaces();
        if !self.rest.starts_with('(') {
            return;
        }
        let mut open = 0_usize;
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '"' | '\'' => {
                    self.skip_text();
                    continue;
                }
                '#' => {
                    self.skip_blanks();
                    continue;
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open = open.saturating_sub(1),
                _ => {}
            }
            self.take(letter.len_utf8());
            if open == 0 {
                return;
            }
        }
    }
}
