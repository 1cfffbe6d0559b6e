//! Tokens and the grammar of values, by the rules of the engine's text parser.
//!
//! Values are checked and stepped over here without being built and without recursion; `variant`
//! builds them, from the same tokens and the same table of constructors.

use memchr::{memchr, memchr2};

use crate::document::{Reference, ReferenceKind, Span};
use crate::error::Fault;
use crate::limits::{MAX_NESTING_LEVELS, MAX_REMARKS};
use crate::text::to_u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of `{}[]():,.=`.
    Mark(u8),
    String,
    StringName,
    NodePath,
    Number,
    Color,
    Word,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// What may stand between the brackets of a constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Exactly so many numbers.
    Numbers(usize),
    /// Any count of numbers, so many to an element.
    PackedNumbers(usize),
    PackedBytes,
    PackedStrings,
    /// One string.
    Text,
    /// A string, or a number in files of the engine's second generation.
    Reference(ReferenceKind),
    /// One or two strings: a path, or a uid and a path.
    Resource,
    /// Nothing, or one number.
    Handle,
    Object,
    /// `Array[T]([...])`.
    TypedArray,
    /// `Dictionary[K, V]({...})`.
    TypedDictionary,
    /// A constructor of a newer engine: any values.
    Unknown,
}

/// Whether a word is a value by itself.
pub(crate) fn is_constant(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "nil" | "inf" | "inf_neg" | "nan")
}

pub(crate) fn shape_of(word: &str) -> Shape {
    match word {
        "Vector2" | "Vector2i" => Shape::Numbers(2),
        "Vector3" | "Vector3i" => Shape::Numbers(3),
        "Vector4" | "Vector4i" | "Rect2" | "Rect2i" | "Plane" | "Quaternion" | "Quat" | "Color" => {
            Shape::Numbers(4)
        }
        "AABB" | "Rect3" | "Transform2D" | "Matrix32" => Shape::Numbers(6),
        "Basis" | "Matrix3" => Shape::Numbers(9),
        "Transform3D" | "Transform" => Shape::Numbers(12),
        "Projection" => Shape::Numbers(16),
        "PackedByteArray" | "PoolByteArray" | "ByteArray" => Shape::PackedBytes,
        "PackedInt32Array" | "PackedInt64Array" | "PackedFloat32Array" | "PackedFloat64Array"
        | "PackedIntArray" | "PackedRealArray" | "PoolIntArray" | "PoolRealArray" | "IntArray"
        | "FloatArray" => Shape::PackedNumbers(1),
        "PackedVector2Array" | "PoolVector2Array" | "Vector2Array" => Shape::PackedNumbers(2),
        "PackedVector3Array" | "PoolVector3Array" | "Vector3Array" => Shape::PackedNumbers(3),
        "PackedVector4Array" | "PackedColorArray" | "PoolColorArray" | "ColorArray" => {
            Shape::PackedNumbers(4)
        }
        "PackedStringArray" | "PoolStringArray" | "StringArray" => Shape::PackedStrings,
        "NodePath" => Shape::Text,
        "ExtResource" => Shape::Reference(ReferenceKind::External),
        "SubResource" => Shape::Reference(ReferenceKind::Internal),
        "Resource" => Shape::Resource,
        "RID" | "Callable" | "Signal" => Shape::Handle,
        "Object" => Shape::Object,
        "Array" => Shape::TypedArray,
        "Dictionary" => Shape::TypedDictionary,
        _ => Shape::Unknown,
    }
}

/// What was found between the brackets of a constructor without nested values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flat {
    /// Between the brackets.
    pub(crate) body: (usize, usize),
    /// Numbers or strings counted.
    pub(crate) count: usize,
    /// Whether a byte array is one string of base64.
    pub(crate) base64: bool,
}

/// An open bracket of the value being stepped over, and what it expects next.
#[derive(Debug, Clone, Copy)]
enum Frame {
    Array { comma: bool },
    Arguments { comma: bool },
    Dictionary { colon: bool, comma: bool },
    Object { comma: bool },
    Typed { opener: u8, filled: bool },
}

/// The first token of the next value, or the frame's end.
enum Step {
    Value(Token),
    Closed,
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    frames: Vec<Frame>,
    pub(crate) references: Vec<Reference>,
    pub(crate) lossy_escapes: Vec<u32>,
    pub(crate) unknown_constructors: Vec<Span>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Lexer {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            frames: Vec::new(),
            references: Vec::new(),
            lossy_escapes: Vec::new(),
            unknown_constructors: Vec::new(),
        }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn seek(&mut self, pos: usize) {
        self.pos = pos;
    }

    pub(crate) fn peek_byte(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    pub(crate) fn slice(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.bytes[self.pos..].starts_with(prefix)
    }

    /// Steps over bytes that the engine ignores between tokens: control characters and blanks.
    pub(crate) fn skip_blank(&mut self) {
        while let Some(byte) = self.peek_byte() {
            if byte > b' ' {
                break;
            }
            self.pos += 1;
        }
    }

    /// Steps to the `\n` that ends a comment; the engine knows no other end.
    pub(crate) fn skip_comment(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    pub(crate) fn next(&mut self) -> Result<Token, Fault> {
        loop {
            self.skip_blank();
            if self.peek_byte() == Some(b';') {
                self.skip_comment();
            } else {
                break;
            }
        }
        let start = self.pos;
        let Some(first) = self.peek_byte() else {
            return Ok(Token { kind: Kind::End, start, end: start });
        };
        let kind = match first {
            b'{' | b'}' | b'[' | b']' | b'(' | b')' | b':' | b',' | b'.' | b'=' => {
                self.pos += 1;
                Kind::Mark(first)
            }
            b'"' => self.string(start, Kind::String)?,
            // `@` is how files of the second generation write a string name.
            b'&' | b'@' => self.prefixed_string(start, Kind::StringName)?,
            b'^' => self.prefixed_string(start, Kind::NodePath)?,
            b'#' => {
                self.pos += 1;
                self.skip_while(|byte| byte.is_ascii_hexdigit());
                Kind::Color
            }
            b'-' | b'0'..=b'9' => self.number(start)?,
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                Kind::Word
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('\u{fffd}');
                return Err(Fault::new(start, format!("unexpected character `{found}`")));
            }
        };
        Ok(Token { kind, start, end: self.pos })
    }

    pub(crate) fn expect(&mut self, mark: u8) -> Result<Token, Fault> {
        let token = self.next()?;
        if token.is(mark) { Ok(token) } else { Err(self.unexpected(token, &[mark])) }
    }

    /// The name of a section of a settings file, trimmed: everything up to a `]` without a backslash.
    pub(crate) fn config_section(&mut self) -> Result<Span, Fault> {
        let open = self.pos;
        let mut escaping = false;
        for (index, byte) in self.bytes.iter().enumerate().skip(open + 1) {
            if *byte == b']' && !escaping {
                self.pos = index + 1;
                let name = &self.text[open + 1..index];
                let edge = |letter: char| letter <= ' ';
                let start = open + 1 + (name.len() - name.trim_start_matches(edge).len());
                return Ok(Span::new(start, start + name.trim_matches(edge).len()));
            }
            escaping = *byte == b'\\';
        }
        Err(Fault::new(open, "the section's name is not closed by `]`"))
    }

    /// A key and the `=` after it, with whether it reads as written; `None` when the file ends before.
    pub(crate) fn key(&mut self) -> Result<Option<(Span, bool)>, Fault> {
        let start = self.pos;
        let mut end = start;
        let mut plain = true;
        loop {
            match self.peek_byte() {
                None => return Ok(None),
                Some(b'=') => {
                    self.pos += 1;
                    return Ok(Some((Span::new(start, end), plain)));
                }
                Some(b';') => {
                    plain = false;
                    self.skip_comment();
                }
                Some(b'"') => {
                    plain = false;
                    self.string(self.pos, Kind::String)?;
                    end = self.pos;
                }
                Some(byte) => {
                    self.pos += 1;
                    if byte > b' ' {
                        plain &= end + 1 == self.pos;
                        end = self.pos;
                    }
                }
            }
        }
    }

    /// A fault that names what was found in place of some marks.
    fn unexpected(&self, token: Token, wanted: &[u8]) -> Fault {
        let wanted: Vec<String> =
            wanted.iter().map(|mark| format!("`{}`", char::from(*mark))).collect();
        let message = format!("expected {}, found {}", wanted.join(" or "), self.describe(token));
        Fault::new(token.start, message)
    }

    pub(crate) fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::String | Kind::StringName | Kind::NodePath => "a string".to_owned(),
            _ => format!("`{}`", self.slice(token).chars().take(40).collect::<String>()),
        }
    }

    /// Checks one value and steps over it. The span has neither blanks nor comments at its ends.
    pub(crate) fn skip_value(&mut self) -> Result<Span, Fault> {
        let mut token = self.next()?;
        let start = token.start;
        self.frames.clear();
        loop {
            if let Some(frame) = self.begin_value(token)? {
                if self.frames.len() == MAX_NESTING_LEVELS {
                    let message =
                        format!("a value is nested deeper than {MAX_NESTING_LEVELS} levels");
                    return Err(Fault::new(token.start, message));
                }
                self.frames.push(frame);
            }
            token = loop {
                let Some(mut frame) = self.frames.pop() else {
                    return Ok(Span::new(start, self.pos));
                };
                if let Step::Value(token) = self.step(&mut frame)? {
                    self.frames.push(frame);
                    break token;
                }
            };
        }
    }

    /// Steps over what begins at `token`: all of it, or up to the first nested value.
    fn begin_value(&mut self, token: Token) -> Result<Option<Frame>, Fault> {
        match token.kind {
            Kind::String | Kind::StringName | Kind::NodePath | Kind::Number | Kind::Color => {
                Ok(None)
            }
            Kind::Mark(b'[') => Ok(Some(Frame::Array { comma: false })),
            Kind::Mark(b'{') => Ok(Some(Frame::Dictionary { colon: false, comma: false })),
            Kind::Word if is_constant(self.slice(token)) => Ok(None),
            Kind::Word => self.begin_constructor(token),
            _ => Err(Fault::new(
                token.start,
                format!("expected a value, found {}", self.describe(token)),
            )),
        }
    }

    fn begin_constructor(&mut self, word: Token) -> Result<Option<Frame>, Fault> {
        match shape_of(self.slice(word)) {
            Shape::Object => {
                self.object_class()?;
                Ok(Some(Frame::Object { comma: true }))
            }
            Shape::TypedArray => {
                self.type_list(1)?;
                Ok(Some(Frame::Typed { opener: b'[', filled: false }))
            }
            Shape::TypedDictionary => {
                self.type_list(2)?;
                Ok(Some(Frame::Typed { opener: b'{', filled: false }))
            }
            Shape::Unknown => {
                self.unknown_opening(word)?;
                if self.unknown_constructors.len() < MAX_REMARKS {
                    self.unknown_constructors.push(Span::new(word.start, word.end));
                }
                Ok(Some(Frame::Arguments { comma: false }))
            }
            shape => self.flat(word, shape).map(|_| None),
        }
    }

    /// The bracket after a word that is no constant and no known constructor.
    pub(crate) fn unknown_opening(&mut self, word: Token) -> Result<(), Fault> {
        if self.next().is_ok_and(|token| token.is(b'(')) {
            return Ok(());
        }
        Err(Fault::new(word.start, format!("expected a value, found {}", self.describe(word))))
    }

    fn step(&mut self, frame: &mut Frame) -> Result<Step, Fault> {
        match frame {
            Frame::Array { comma } => self.element(comma, b']'),
            Frame::Arguments { comma } => self.element(comma, b')'),
            Frame::Dictionary { colon: true, comma } => {
                self.expect(b':')?;
                *frame = Frame::Dictionary { colon: false, comma: *comma };
                Ok(Step::Value(self.next()?))
            }
            Frame::Dictionary { colon, comma } => {
                *colon = true;
                self.element(comma, b'}')
            }
            Frame::Object { comma } => match self.element(comma, b')')? {
                Step::Value(key) => {
                    self.property_name(key)?;
                    Ok(Step::Value(self.next()?))
                }
                Step::Closed => Ok(Step::Closed),
            },
            Frame::Typed { filled: true, .. } => self.expect(b')').map(|_| Step::Closed),
            Frame::Typed { opener, filled } => {
                *filled = true;
                self.expect(*opener).map(Step::Value)
            }
        }
    }

    fn element(&mut self, comma: &mut bool, close: u8) -> Result<Step, Fault> {
        let token = self.element_token(comma, close)?;
        Ok(token.map_or(Step::Closed, Step::Value))
    }

    /// The first token of the next element of a list; `None` past the closing mark.
    ///
    /// `comma` says whether an element stands before it. A comma may stand before the closing mark.
    pub(crate) fn element_token(
        &mut self,
        comma: &mut bool,
        close: u8,
    ) -> Result<Option<Token>, Fault> {
        let mut token = self.next()?;
        if *comma && !token.is(close) {
            if !token.is(b',') {
                return Err(self.unexpected(token, &[b',', close]));
            }
            token = self.next()?;
        }
        *comma = true;
        Ok(Some(token).filter(|token| !token.is(close)))
    }

    /// `("Class"` of an `Object`, up to the comma or bracket after it.
    pub(crate) fn object_class(&mut self) -> Result<Token, Fault> {
        self.expect(b'(')?;
        let class = self.next()?;
        if class.kind == Kind::Word {
            return Ok(class);
        }
        Err(Fault::new(
            class.start,
            format!("expected the class of an object, found {}", self.describe(class)),
        ))
    }

    /// Checks the name of an object's property and steps over the colon after it.
    pub(crate) fn property_name(&mut self, key: Token) -> Result<(), Fault> {
        if key.kind == Kind::String {
            return self.expect(b':').map(|_| ());
        }
        Err(Fault::new(
            key.start,
            format!("expected a property name as a string, found {}", self.describe(key)),
        ))
    }

    /// `[T](` or `[K, V](`, giving each type's text.
    pub(crate) fn type_list(&mut self, count: usize) -> Result<[&'a str; 2], Fault> {
        let mut types = [""; 2];
        self.expect(b'[')?;
        for (index, slot) in types.iter_mut().take(count).enumerate() {
            if index > 0 {
                self.expect(b',')?;
            }
            let word = self.next()?;
            if word.kind != Kind::Word {
                return Err(Fault::new(
                    word.start,
                    format!("expected the name of a type, found {}", self.describe(word)),
                ));
            }
            let shape = shape_of(self.slice(word));
            if matches!(shape, Shape::Reference(_) | Shape::Resource) && self.opens_bracket() {
                self.flat(word, shape)?;
            }
            *slot = &self.text[word.start..self.pos];
        }
        self.expect(b']')?;
        self.expect(b'(')?;
        Ok(types)
    }

    fn opens_bracket(&self) -> bool {
        self.bytes[self.pos..].trim_ascii_start().first() == Some(&b'(')
    }

    /// Checks and steps over a constructor that holds no nested values.
    pub(crate) fn flat(&mut self, word: Token, shape: Shape) -> Result<Flat, Fault> {
        self.expect(b'(')?;
        let from = self.pos;
        let mut base64 = false;
        let count = match shape {
            Shape::Numbers(wanted) => {
                let count = self.numbers()?;
                if count != wanted {
                    let message =
                        format!("`{}` takes {wanted} numbers, found {count}", self.slice(word));
                    return Err(Fault::new(word.start, message));
                }
                count
            }
            Shape::PackedBytes => {
                self.skip_blank();
                base64 = self.peek_byte() == Some(b'"');
                if base64 { self.base64()? } else { self.numbers()? }
            }
            Shape::PackedStrings => self.strings(usize::MAX)?,
            Shape::Resource => self.strings(2)?,
            Shape::Text => {
                self.argument(word, &[Kind::String])?;
                1
            }
            Shape::Reference(kind) => {
                let id = self.argument(word, &[Kind::String, Kind::Number])?;
                self.references.push(Reference { kind, id: Span::new(id.start, id.end) });
                1
            }
            // Packed numbers, and a handle's optional number.
            _ => self.numbers()?,
        };
        Ok(Flat { body: (from, self.pos - 1), count, base64 })
    }

    /// One argument of some kinds, and the closing bracket.
    fn argument(&mut self, word: Token, kinds: &[Kind]) -> Result<Token, Fault> {
        let token = self.next()?;
        if !kinds.contains(&token.kind) {
            let message =
                format!("`{}` takes a string, found {}", self.slice(word), self.describe(token));
            return Err(Fault::new(token.start, message));
        }
        self.expect(b')')?;
        Ok(token)
    }

    /// Numbers up to the closing bracket, counted. Made for lines of several megabytes.
    fn numbers(&mut self) -> Result<usize, Fault> {
        let mut count = 0;
        self.skip_blank();
        if self.peek_byte() == Some(b')') {
            self.pos += 1;
            return Ok(count);
        }
        loop {
            count += self.plain_numbers();
            let token = self.next()?;
            let counts = match token.kind {
                Kind::Number => true,
                Kind::Word => matches!(self.slice(token), "inf" | "inf_neg" | "nan"),
                _ => false,
            };
            if !counts {
                return Err(Fault::new(
                    token.start,
                    format!("expected a number, found {}", self.describe(token)),
                ));
            }
            count += 1;
            if self.peek_byte() == Some(b',') {
                self.pos += 1;
                continue;
            }
            let token = self.next()?;
            if token.is(b')') {
                return Ok(count);
            }
            if !token.is(b',') {
                return Err(self.unexpected(token, b",)"));
            }
        }
    }

    /// Steps over decimal numbers that have their comma right behind them, as the engine writes lists, and counts
    /// them; stops before whatever is written in another way.
    fn plain_numbers(&mut self) -> usize {
        let digits = |mut at: usize| {
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let (mut count, mut end) = (0, self.pos);
        loop {
            let mut at = end;
            while self.bytes.get(at) == Some(&b' ') {
                at += 1;
            }
            let first = if self.bytes.get(at) == Some(&b'-') { at + 1 } else { at };
            at = digits(first);
            if at == first {
                break;
            }
            if self.bytes.get(at) == Some(&b'.') {
                at = digits(at + 1);
            }
            if self.bytes.get(at) != Some(&b',') {
                break;
            }
            (count, end) = (count + 1, at + 1);
        }
        self.pos = end;
        count
    }

    fn strings(&mut self, most: usize) -> Result<usize, Fault> {
        let mut count = 0;
        let mut comma = false;
        while let Step::Value(token) = self.element(&mut comma, b')')? {
            if token.kind != Kind::String || count == most {
                return Err(Fault::new(
                    token.start,
                    format!("expected a string, found {}", self.describe(token)),
                ));
            }
            count += 1;
        }
        Ok(count)
    }

    /// One string of base64 and the closing bracket; gives the count of bytes it stands for.
    fn base64(&mut self) -> Result<usize, Fault> {
        let token = self.next()?;
        self.expect(b')')?;
        let text = &self.bytes[token.start + 1..token.end - 1];
        let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
        let mut digits = padding;
        for byte in &text[..text.len() - padding] {
            match byte {
                b'+' | b'/' => digits += 1,
                byte if byte.is_ascii_alphanumeric() => digits += 1,
                b'\r' | b'\n' => {}
                _ => return Err(Fault::new(token.start, "the bytes are not base64")),
            }
        }
        if digits.is_multiple_of(4) {
            return Ok(digits / 4 * 3 - padding);
        }
        Err(Fault::new(token.start, "the bytes are not base64, or are cut short"))
    }

    fn skip_while(&mut self, accepts: impl Fn(u8) -> bool) {
        while self.peek_byte().is_some_and(&accepts) {
            self.pos += 1;
        }
    }

    fn prefixed_string(&mut self, start: usize, kind: Kind) -> Result<Kind, Fault> {
        self.pos += 1;
        if self.peek_byte() == Some(b'"') {
            return self.string(start + 1, kind);
        }
        let prefix = char::from(self.bytes[start]);
        Err(Fault::new(start, format!("expected a string after `{prefix}`")))
    }

    /// A number ends where the engine ends it: `1.5.2` is `1.5`, and `0x10` is `0`.
    fn number(&mut self, start: usize) -> Result<Kind, Fault> {
        if self.bytes[start] == b'-' {
            self.pos += 1;
            if self.bytes[self.pos..].starts_with(b"inf") {
                self.pos += 3;
                return Ok(Kind::Number);
            }
            if !self.peek_byte().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(Fault::new(start, "expected a number after `-`"));
            }
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek_byte() == Some(b'.') {
            self.pos += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if self.peek_byte() == Some(b'e') {
            self.pos += 1;
            if matches!(self.peek_byte(), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        Ok(Kind::Number)
    }

    /// A string whose opening quote is at `start`.
    fn string(&mut self, start: usize, kind: Kind) -> Result<Kind, Fault> {
        self.pos = start + 1;
        let mut lead: Option<usize> = None;
        loop {
            let rest = &self.bytes[self.pos..];
            let Some(at) = memchr2(b'"', b'\\', rest) else {
                return Err(Fault::new(start, "the string is not closed"));
            };
            if at > 0 && lead.is_some() {
                break;
            }
            self.pos += at + 1;
            if rest[at] == b'"' {
                if lead.is_some() {
                    break;
                }
                return Ok(kind);
            }
            let Some(escape) = decode_escape(self.bytes, self.pos)? else {
                return Err(Fault::new(start, "the string is not closed"));
            };
            if escape.code >= 0x80 && escape.hex {
                self.note_lossy(self.pos - 1);
            }
            match (lead, escape.half()) {
                (None, Half::Lead) => lead = Some(self.pos - 1),
                (Some(_), Half::Trail) => lead = None,
                (None, Half::Neither) => {}
                _ => {
                    lead = lead.or(Some(self.pos - 1));
                    break;
                }
            }
            self.pos = escape.end;
        }
        Err(Fault::new(lead.unwrap_or(start), "half of a surrogate pair stands alone"))
    }

    fn note_lossy(&mut self, offset: usize) {
        if self.lossy_escapes.len() < MAX_REMARKS {
            self.lossy_escapes.push(to_u32(offset));
        }
    }
}

/// One escape of a string, undone.
pub(crate) struct Escape {
    pub(crate) code: u32,
    pub(crate) hex: bool,
    pub(crate) end: usize,
}

#[derive(PartialEq, Eq)]
pub(crate) enum Half {
    Lead,
    Trail,
    Neither,
}

impl Escape {
    pub(crate) fn half(&self) -> Half {
        match self.code & 0xffff_fc00 {
            0xd800 if self.hex => Half::Lead,
            0xdc00 if self.hex => Half::Trail,
            _ => Half::Neither,
        }
    }
}

/// Undoes the escape whose backslash is before `at`; `None` when the text ends inside it.
pub(crate) fn decode_escape(bytes: &[u8], at: usize) -> Result<Option<Escape>, Fault> {
    let Some(letter) = bytes.get(at) else { return Ok(None) };
    let plain = |code: u8| Escape { code: u32::from(code), hex: false, end: at + 1 };
    let digits = match letter {
        b'b' => return Ok(Some(plain(8))),
        b't' => return Ok(Some(plain(9))),
        b'n' => return Ok(Some(plain(10))),
        b'f' => return Ok(Some(plain(12))),
        b'r' => return Ok(Some(plain(13))),
        b'u' => 4,
        b'U' => 6,
        // Any other character stands for itself; only its first byte is taken here.
        other => return Ok(Some(plain(*other))),
    };
    let mut code = 0;
    for index in at + 1..=at + digits {
        let Some(byte) = bytes.get(index) else { return Ok(None) };
        let Some(digit) = char::from(*byte).to_digit(16) else {
            return Err(Fault::new(at - 1, format!("expected {digits} hexadecimal digits")));
        };
        code = code << 4 | digit;
    }
    Ok(Some(Escape { code, hex: true, end: at + 1 + digits }))
}
