//! The declarations of a C# text, by its words and brackets.
//!
//! Statements are cut at `;`, `{` and `}`. Inside namespaces and types each is a declaration, and what stands in
//! it before its parameters or its value says which; bodies and values are passed over.
//!
//! Spec: P-50, search.

use super::{Declared, Kind};
use crate::code::{self, Dialect, Token};

/// Words that make a type, less enums.
const TYPES: [&str; 4] = ["class", "struct", "interface", "record"];

/// All declarations with a name, in file order.
pub(super) fn declarations(text: &str) -> Vec<Declared> {
    let mut reader =
        Reader { text, tokens: code::tokens(text, Dialect::Csharp), at: 0, found: vec![] };
    reader.read();
    reader.found
}

struct Reader<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    found: Vec<Declared>,
}

/// The start of a statement: its words, up to what says what it is.
#[derive(Default)]
struct Head {
    /// Words outside of brackets of any kind, as indexes of tokens.
    words: Vec<usize>,
    /// How many of them stand before the first parameter list.
    before_list: Option<usize>,
    /// Whether an attribute says `Signal`.
    is_signal: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        // Whether each open bracket is that of a type, and not of a namespace.
        let mut open: Vec<bool> = vec![];
        while self.at < self.tokens.len() {
            let head = self.head();
            let in_type = open.last().copied().unwrap_or(false);
            let inside = self.declare(&head, in_type);
            match self.mark() {
                Some(b'{') if inside.is_some() => {
                    open.push(inside == Some(Inside::Type));
                    self.at += 1;
                }
                Some(b'{') => {
                    self.skip_group();
                    // The value behind a property's accessors.
                    if self.mark() == Some(b'=') {
                        self.skip_value();
                    }
                }
                Some(b'}') => {
                    open.pop();
                    self.at += 1;
                }
                Some(b'=') => self.skip_value(),
                _ => self.at += 1,
            }
        }
    }

    fn mark(&self) -> Option<u8> {
        match self.tokens.get(self.at)?.kind {
            code::Kind::Mark(byte) => Some(byte),
            _ => None,
        }
    }

    fn word(&self, token: usize) -> &str {
        &self.text[self.tokens[token].span.clone()]
    }

    /// Reads to what ends the start of a statement, and stops on it.
    fn head(&mut self) -> Head {
        let mut head = Head::default();
        let mut angles = 0_usize;
        while self.at < self.tokens.len() {
            let token = &self.tokens[self.at];
            match token.kind {
                code::Kind::Mark(b'#') => {
                    self.skip_line();
                    continue;
                }
                code::Kind::Mark(b'[') => {
                    let from = self.at;
                    self.skip_group();
                    head.is_signal |= (from..self.at).any(|at| self.word(at) == "Signal");
                    continue;
                }
                code::Kind::Mark(b'(') => {
                    head.before_list.get_or_insert(head.words.len());
                    self.skip_group();
                    continue;
                }
                code::Kind::Mark(b'<') => angles += 1,
                code::Kind::Mark(b'>') => angles = angles.saturating_sub(1),
                code::Kind::Mark(b'{' | b'}' | b';' | b'=') => return head,
                code::Kind::Word if angles == 0 => head.words.push(self.at),
                _ => {}
            }
            self.at += 1;
        }
        head
    }

    /// Takes a declaration up. Answers what its bracket holds, where declarations can be inside.
    fn declare(&mut self, head: &Head, in_type: bool) -> Option<Inside> {
        let words: Vec<&str> = head.words.iter().map(|at| self.word(*at)).collect();
        if words.contains(&"namespace") {
            return Some(Inside::Namespace);
        }
        let list = head.before_list.unwrap_or(words.len());
        let type_word = words[..list].iter().position(|word| TYPES.contains(word));
        if let Some(at) = type_word {
            // `record struct Name` has two such words.
            let name =
                at + 1 + words[at + 1..].iter().take_while(|word| TYPES.contains(word)).count();
            self.keep(Kind::Class, head.words.get(name));
            return Some(Inside::Type);
        }
        if let Some(at) = words.iter().position(|word| *word == "enum") {
            self.keep(Kind::Enum, head.words.get(at + 1));
            return None;
        }
        if words.contains(&"delegate") {
            if head.is_signal {
                self.keep(Kind::Signal, list.checked_sub(1).and_then(|at| head.words.get(at)));
            }
            return None;
        }
        if !in_type || words.contains(&"operator") {
            return None;
        }
        let last = list.checked_sub(1)?;
        if head.before_list.is_some() {
            self.keep(Kind::Function, head.words.get(last));
        } else if words.len() > 1 {
            let kind = if words.contains(&"const") { Kind::Constant } else { Kind::Variable };
            self.keep(kind, head.words.get(last));
        }
        None
    }

    fn keep(&mut self, kind: Kind, token: Option<&usize>) {
        let Some(token) = token else { return };
        let name = self.word(*token).to_owned();
        let at = self.tokens[*token].span.start;
        self.found.push(Declared { kind, name, at });
    }

    /// To behind the bracket that closes the one here.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.kind {
                code::Kind::Mark(b'(' | b'[' | b'{') => depth += 1,
                code::Kind::Mark(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// To the `;` that ends a value, which stays.
    fn skip_value(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                code::Kind::Mark(b'(' | b'[' | b'{') => self.skip_group(),
                code::Kind::Mark(b';' | b'}') => return,
                _ => self.at += 1,
            }
        }
    }

    /// To behind the line of a directive.
    fn skip_line(&mut self) {
        let from = self.tokens[self.at].span.start;
        let end = self.text[from..].find('\n').map_or(self.text.len(), |at| from + at);
        while self.tokens.get(self.at).is_some_and(|token| token.span.start < end) {
            self.at += 1;
        }
    }
}

/// What a bracket holds.
#[derive(PartialEq, Eq)]
enum Inside {
    Namespace,
    Type,
}
