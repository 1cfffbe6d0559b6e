//! The read-only expressions that may be evaluated in an engine: parsed here before any engine sees them.
//!
//! Literals, arithmetic, comparison, a few functions of numbers, and questions to one bound node. Whatever is
//! not in the grammar is refused, so nothing an expression says can change a game. Reading a property is taken
//! out of the text and handed back as a [`Read`], because an engine's own `get` may run a script.

mod tokens;

use tokens::{Kind, Token, tokens};

#[cfg(test)]
mod tests;

/// The name of this grammar.
pub const PROFILE: &str = "expression_const_v1";

/// Longest expression, in bytes.
pub const MAX_BYTES: usize = 2048;

/// Deepest nesting.
const MAX_LEVELS: usize = 32;

/// Most bytes that a repeated string may grow to.
const MAX_REPEATED_BYTES: usize = 512 * 1024;

/// Functions of numbers, and constructors.
const FUNCTIONS: [&str; 8] =
    ["min", "max", "abs", "clamp", "snapped", "Vector2", "Vector3", "Color"];

/// Questions to the node that take texts alone.
const NODE_QUESTIONS: [(&str, usize); 7] = [
    ("get_child_count", 0),
    ("get_path", 0),
    ("get_class", 0),
    ("is_class", 1),
    ("is_in_group", 1),
    ("has_method", 1),
    ("has_meta", 1),
];

/// Questions to a literal.
const LITERAL_QUESTIONS: [&str; 5] = ["size", "is_empty", "find", "count", "has"];

/// Parts of vectors and colours.
const PARTS: [&str; 7] = ["x", "y", "z", "r", "g", "b", "a"];

const CONSTANTS: [&str; 7] = ["true", "false", "null", "PI", "TAU", "INF", "NAN"];

/// An expression that may be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its text, with a name of its own in place of each property that is read.
    pub text: String,
    /// The properties to bind under those names.
    pub reads: Vec<Read>,
}

/// A property of the bound node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The name that stands for it in the text.
    pub name: String,
    /// The property.
    pub property: String,
}

/// Why an expression is not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is no expression.
    #[error("at byte {at}: {what}")]
    Syntax {
        /// Where.
        at: usize,
        /// What is wrong there.
        what: String,
    },
    /// It is one, and asks for what is not allowed.
    #[error("`{0}` is not allowed in a read-only expression")]
    Unsafe(String),
}

/// Checks an expression whole.
///
/// # Errors
/// The first thing in it that is no expression, or not allowed.
pub fn check(text: &str) -> Result<Checked, Fault> {
    if text.is_empty() || text.len() > MAX_BYTES || text.contains('\0') {
        let what = format!("an expression has 1 to {MAX_BYTES} bytes and no NUL");
        return Err(Fault::Syntax { at: 0, what });
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, level: 0, reads: vec![], cuts: vec![] };
    parser.either()?;
    match parser.peek() {
        Some(_) => Err(parser.unexpected()),
        None => Ok(parser.finish()),
    }
}

/// What an operand is, as far as it decides what may be asked of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Node,
    /// A text of at most so many bytes.
    Text(usize),
    Collection,
    Value,
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token<'t>],
    at: usize,
    level: usize,
    reads: Vec<Read>,
    /// Bytes that a bound name replaces.
    cuts: Vec<(usize, usize)>,
}

type Parsed = Result<Operand, Fault>;

impl<'t> Parser<'t> {
    fn finish(self) -> Checked {
        let mut text = String::new();
        let mut from = 0;
        for ((begin, end), read) in self.cuts.iter().zip(&self.reads) {
            text.push_str(&self.text[from..*begin]);
            text.push_str(&read.name);
            from = *end;
        }
        text.push_str(&self.text[from..]);
        Checked { text, reads: self.reads }
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn takes(&mut self, words: &[&str]) -> bool {
        let found = self
            .peek()
            .is_some_and(|token| token.kind != Kind::Text && words.contains(&token.text));
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, word: &str) -> Result<(), Fault> {
        if self.takes(&[word]) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Fault {
        let (at, what) = match self.peek() {
            Some(token) => (token.begin, format!("`{}` is not expected here", token.text)),
            None => (self.text.len(), "the expression ends too early".into()),
        };
        Fault::Syntax { at, what }
    }

    fn binary(&mut self, words: &[&str], next: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = next(self)?;
        while self.takes(words) {
            next(self)?;
            left = Operand::Value;
        }
        Ok(left)
    }

    fn either(&mut self) -> Parsed {
        self.level += 1;
        if self.level > MAX_LEVELS {
            let what = format!("it is nested deeper than {MAX_LEVELS} levels");
            return Err(Fault::Syntax { at: self.peek().map_or(0, |token| token.begin), what });
        }
        let parsed = self.binary(&["or", "||"], Self::both);
        self.level -= 1;
        parsed
    }

    fn both(&mut self) -> Parsed {
        self.binary(&["and", "&&"], Self::not)
    }

    fn not(&mut self) -> Parsed {
        let mut negated = false;
        while self.takes(&["not", "!"]) {
            negated = true;
        }
        let operand = self.binary(&["==", "!=", "<", ">", "<=", ">=", "in"], Self::sum)?;
        Ok(if negated { Operand::Value } else { operand })
    }

    fn sum(&mut self) -> Parsed {
        self.binary(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.binary(&["*", "/", "%", "**"], Self::signed)
    }

    fn signed(&mut self) -> Parsed {
        let mut signed = false;
        while self.takes(&["-", "+"]) {
            signed = true;
        }
        let operand = self.asked()?;
        Ok(if signed { Operand::Value } else { operand })
    }

    /// An operand with the questions behind it.
    fn asked(&mut self) -> Parsed {
        let begin = self.peek().map_or(0, |token| token.begin);
        let mut operand = self.operand()?;
        loop {
            if self.takes(&["."]) {
                operand = self.member(operand, begin)?;
            } else if operand != Operand::Node && self.takes(&["["]) {
                self.either()?;
                self.needs("]")?;
                operand = Operand::Value;
            } else {
                return Ok(operand);
            }
        }
    }

    fn operand(&mut self) -> Parsed {
        let Some(token) = self.peek() else { return Err(self.unexpected()) };
        self.at += 1;
        match (token.kind, token.text) {
            (Kind::Number, _) => Ok(Operand::Value),
            (Kind::Text, text) => Ok(Operand::Text(text.len())),
            (Kind::Name, "node") => Ok(Operand::Node),
            (Kind::Name, name) if CONSTANTS.contains(&name) => Ok(Operand::Value),
            (Kind::Name, name) if FUNCTIONS.contains(&name) => {
                self.needs("(")?;
                self.list(")")?;
                Ok(Operand::Value)
            }
            (Kind::Name, name) => Err(Fault::Unsafe(name.into())),
            (Kind::Sign, "(") => {
                let inner = self.either()?;
                self.needs(")")?;
                Ok(inner)
            }
            (Kind::Sign, "[") => {
                self.list("]")?;
                Ok(Operand::Collection)
            }
            (Kind::Sign, "{") => {
                self.pairs()?;
                Ok(Operand::Collection)
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// Expressions with commas between, up to a closing sign.
    fn list(&mut self, close: &str) -> Result<usize, Fault> {
        let mut count = 0;
        while !self.takes(&[close]) {
            if count > 0 {
                self.needs(",")?;
                if self.takes(&[close]) {
                    break;
                }
            }
            self.value()?;
            count += 1;
        }
        Ok(count)
    }

    fn pairs(&mut self) -> Result<(), Fault> {
        let mut first = true;
        while !self.takes(&["}"]) {
            if !first {
                self.needs(",")?;
                if self.takes(&["}"]) {
                    break;
                }
            }
            first = false;
            self.value()?;
            self.needs(":")?;
            self.value()?;
        }
        Ok(())
    }

    /// An expression that is no node: a node in a list could be asked what it may not be.
    fn value(&mut self) -> Result<(), Fault> {
        match self.either()? {
            Operand::Node => Err(Fault::Unsafe("node".into())),
            _ => Ok(()),
        }
    }

    fn member(&mut self, of: Operand, begin: usize) -> Parsed {
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Name) else {
            return Err(self.unexpected());
        };
        self.at += 1;
        let name = token.text;
        if !self.takes(&["("]) {
            let is_part = of == Operand::Value && PARTS.contains(&name);
            return if is_part { Ok(Operand::Value) } else { Err(Fault::Unsafe(name.into())) };
        }
        match of {
            Operand::Node if name == "get" => self.read(begin),
            Operand::Node => self.question(name),
            Operand::Text(bytes) if name == "repeat" => self.repeat(bytes),
            Operand::Text(_) | Operand::Collection if LITERAL_QUESTIONS.contains(&name) => {
                self.list(")")?;
                Ok(Operand::Value)
            }
            _ => Err(Fault::Unsafe(format!("{name}()"))),
        }
    }

    /// `node.get("property")`, which becomes a bound name.
    fn read(&mut self, begin: usize) -> Parsed {
        let property = self.text_literal()?;
        self.needs(")")?;
        let end = self.tokens[self.at - 1].end;
        let name = format!("_read_{}", self.reads.len());
        self.reads.push(Read { name, property: property.to_owned() });
        self.cuts.push((begin, end));
        Ok(Operand::Value)
    }

    fn question(&mut self, name: &str) -> Parsed {
        let Some((_, count)) = NODE_QUESTIONS.iter().find(|(question, _)| *question == name) else {
            return Err(Fault::Unsafe(format!("node.{name}()")));
        };
        for _ in 0..*count {
            self.text_literal()?;
        }
        self.needs(")")?;
        Ok(Operand::Value)
    }

    /// `"text".repeat(n)` with a plain number, so that its size is known.
    fn repeat(&mut self, bytes: usize) -> Parsed {
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Number) else {
            return Err(self.unexpected());
        };
        self.at += 1;
        self.needs(")")?;
        let times = token.text.parse::<usize>().ok();
        match times.and_then(|times| times.checked_mul(bytes)) {
            Some(bytes) if bytes <= MAX_REPEATED_BYTES => Ok(Operand::Text(bytes)),
            _ => Err(Fault::Unsafe(format!("repeat({})", token.text))),
        }
    }

    /// A text without escapes, between its quotes.
    fn text_literal(&mut self) -> Result<&'t str, Fault> {
        let found = self.peek().filter(|token| token.kind == Kind::Text);
        let Some(token) = found else { return Err(self.unexpected()) };
        self.at += 1;
        let inner = &token.text[1..token.text.len() - 1];
        if inner.contains('\\') {
            return Err(Fault::Unsafe(token.text.into()));
        }
        Ok(inner)
    }
}
