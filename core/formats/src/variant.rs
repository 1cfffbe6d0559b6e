//! The typed view of one value, built on demand from its text.
//!
//! Packed arrays are counted and not built; everything else becomes a tree of bounded depth. Values
//! of a file that was read are known to be well formed, so a failure there means too deep a nesting.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use crate::document::ReferenceKind;
use crate::error::{Fault, FormatError};
use crate::lexer::{Half, Kind, Lexer, Shape, Token, decode_escape, shape_of};
use crate::limits::MAX_VALUE_LEVELS;

mod float;
pub mod json;
#[cfg(test)]
mod tests;
mod write;

pub use write::{escaped, float_text, number_text, write};

/// A value of the engine's text form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// `null` or `nil`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without point or exponent. Beyond 64 bit it saturates, as in the engine.
    Int(i64),
    /// A number with point or exponent, or `inf`, `inf_neg`, `-inf`, `nan`.
    Float(f64),
    /// `"text"`, escapes undone.
    String(Cow<'a, str>),
    /// `&"name"`.
    StringName(Cow<'a, str>),
    /// `NodePath("path")`, or the script form `^"path"`, which the engine refuses in files.
    NodePath(Cow<'a, str>),
    /// `#rrggbb` and its shorter and longer forms, as written.
    HtmlColor(&'a str),
    /// A constructor of numbers such as `Vector2(1, 2)`, or one that this build does not know.
    Construct {
        /// Its name.
        name: &'a str,
        /// Its arguments.
        args: Vec<Value<'a>>,
    },
    /// `PackedInt32Array(...)` and its kind, not built.
    Packed(Packed<'a>),
    /// `[...]`, or `Array[T]([...])`.
    Array {
        /// The type's text between the square brackets, if typed.
        element: Option<&'a str>,
        /// The elements.
        items: Vec<Value<'a>>,
    },
    /// `{...}`, or `Dictionary[K, V]({...})`.
    Dictionary {
        /// The types' texts, if typed.
        types: Option<(&'a str, &'a str)>,
        /// Keys and values, in file order; of equal keys the last wins.
        entries: Vec<(Value<'a>, Value<'a>)>,
    },
    /// `ExtResource(id)`; a number of an old file is given as its text.
    ExtResource(Cow<'a, str>),
    /// `SubResource(id)`.
    SubResource(Cow<'a, str>),
    /// `Resource(path)` or `Resource(uid, path)`: the strings in that order.
    Resource(Vec<Cow<'a, str>>),
    /// `Object(Class, "property": value, ...)`.
    Object {
        /// The class.
        class: &'a str,
        /// Properties in file order; of equal names the last wins.
        properties: Vec<(Cow<'a, str>, Value<'a>)>,
    },
}

/// A packed array that stays text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed<'a> {
    name: &'a str,
    body: &'a str,
    len: usize,
    base64: bool,
}

/// A string with its escapes undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unescaped<'a> {
    /// The text as the engine reads it.
    pub text: Cow<'a, str>,
    /// Whether an escape names a character that the engine does not read as such.
    ///
    /// The engine 4.6 reads `\u00e9` as U+FFFD and `\u4e2d` as a blank; below U+0080 all is well.
    pub lossy: bool,
}

/// Builds the typed view of a value.
///
/// # Errors
/// When the text is not exactly one value, or is nested deeper than [`MAX_VALUE_LEVELS`]. Line and
/// column count from the first byte of `raw`.
pub fn parse(raw: &str) -> Result<Value<'_>, FormatError> {
    let mut builder = Builder { raw, lexer: Lexer::new(raw), level: 0 };
    builder.whole().map_err(|fault| fault.locate(raw.as_bytes()))
}

/// Whether a text is exactly one value that can stand in a file, without blanks around it.
///
/// # Errors
/// When it is not; line and column count from the first byte of `raw`.
pub fn check(raw: &str) -> Result<(), FormatError> {
    let mut lexer = Lexer::new(raw);
    let checked = lexer.skip_value().and_then(|span| {
        if span.range() == (0..raw.len()) {
            return Ok(());
        }
        let (start, end) = (span.start as usize, span.end as usize);
        let offset = if start > 0 { 0 } else { end };
        Err(Fault::new(offset, "something stands beside the value"))
    });
    checked.map_err(|fault| fault.locate(raw.as_bytes()))
}

/// Undoes the escapes of what stands between the quotes of a string, by the engine's rules.
///
/// `\b \t \n \f \r`, `\u` with four hexadecimal digits, `\U` with six; any other character after a
/// backslash is itself. An escape that is cut short or has no hexadecimal digits stays as written;
/// files never hold one.
pub fn unescape(inner: &str) -> Unescaped<'_> {
    let bytes = inner.as_bytes();
    if memchr::memchr(b'\\', bytes).is_none() {
        return Unescaped { text: Cow::Borrowed(inner), lossy: false };
    }
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut lossy = false;
    let mut pos = 0;
    while let Some(at) = memchr::memchr(b'\\', &bytes[pos..]) {
        out.extend_from_slice(&bytes[pos..pos + at]);
        pos += at + 1;
        let Ok(Some(escape)) = decode_escape(bytes, pos) else {
            out.push(b'\\');
            continue;
        };
        // The engine keeps text as bytes here: a code below 256 is one byte of UTF-8, whatever it
        // means alone, and a larger one is a blank. A surrogate pair is one character.
        match u8::try_from(escape.code) {
            Ok(byte) => out.push(byte),
            Err(_) if escape.half() == Half::Lead => {}
            Err(_) => out.push(b' '),
        }
        lossy |= escape.hex && escape.code >= 0x80;
        pos = escape.end;
    }
    out.extend_from_slice(&bytes[pos..]);
    let text = String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Unescaped { text: Cow::Owned(text), lossy }
}

/// The start of a text in at most `max_bytes` bytes, `…` included when it is cut.
pub fn cut(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let mut end = max_bytes.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(if max_bytes < ELLIPSIS.len() {
        String::new()
    } else {
        format!("{}{ELLIPSIS}", &text[..end])
    })
}

const ELLIPSIS: &str = "…";

impl<'a> Value<'a> {
    /// The text of a string, string name or node path.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::StringName(text) | Value::NodePath(text) => Some(text),
            _ => None,
        }
    }

    /// A boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// An integer; a float is not rounded.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    /// A number of either kind. Integers beyond 2^53 lose their last digits.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "documented")]
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array, typed or not.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Value::Array { items, .. } = self { Some(items) } else { None }
    }

    /// The entries of a dictionary, typed or not.
    pub fn as_dictionary(&self) -> Option<&[(Value<'a>, Value<'a>)]> {
        if let Value::Dictionary { entries, .. } = self { Some(entries) } else { None }
    }

    /// A dictionary's value under a text key, or an object's property; the last of equal ones.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        match self {
            Value::Dictionary { entries, .. } => entries
                .iter()
                .rev()
                .find(|(at, _)| at.as_str() == Some(key))
                .map(|(_, value)| value),
            Value::Object { properties, .. } => {
                properties.iter().rev().find(|(at, _)| at == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The strings of an array of strings or of a packed one; `None` when anything else is in it.
    pub fn as_texts(&self) -> Option<Vec<Cow<'a, str>>> {
        match self {
            Value::Array { items, .. } => items.iter().map(Value::text).collect(),
            Value::Packed(packed) => packed.strings(),
            _ => None,
        }
    }

    /// The engine's name of the type, such as `Vector2` or `PackedInt32Array`.
    pub fn type_name(&self) -> &'a str {
        match self {
            Value::Null => "Nil",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::String(_) => "String",
            Value::StringName(_) => "StringName",
            Value::NodePath(_) => "NodePath",
            Value::HtmlColor(_) => "Color",
            Value::Construct { name, .. } => name,
            Value::Packed(packed) => packed.name,
            Value::Array { .. } => "Array",
            Value::Dictionary { .. } => "Dictionary",
            Value::ExtResource(_) | Value::SubResource(_) | Value::Resource(_) => "Resource",
            Value::Object { class, .. } => class,
        }
    }

    /// Elements of an array, packed array or dictionary, or properties of an object.
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Packed(packed) => Some(packed.len),
            Value::Array { items, .. } => Some(items.len()),
            Value::Dictionary { entries, .. } => Some(entries.len()),
            Value::Object { properties, .. } => Some(properties.len()),
            _ => None,
        }
    }

    /// Whether this is a collection without an element.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The value as text of at most `max_bytes` bytes; `…` at the end says that it was cut.
    ///
    /// Numbers and strings are written anew, so this is for reading and not for writing back.
    pub fn preview(&self, max_bytes: usize) -> String {
        let mut out = Bounded { text: String::new(), max_bytes };
        // An error only says that the bound was reached; the text then ends in the mark.
        let _ = write!(out, "{self}");
        out.text
    }

    fn text(&self) -> Option<Cow<'a, str>> {
        match self {
            Value::String(text) | Value::StringName(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_nan() => f.write_str("nan"),
            Value::Float(value) if value.is_infinite() => {
                f.write_str(if *value > 0.0 { "inf" } else { "-inf" })
            }
            Value::Float(value) => write!(f, "{value:?}"),
            Value::String(text) => write_text(f, "", text),
            Value::StringName(text) => write_text(f, "&", text),
            Value::NodePath(text) => write_call(f, "NodePath", text),
            Value::HtmlColor(text) => f.write_str(text),
            Value::Construct { name, args } => {
                write!(f, "{name}(")?;
                write_list(f, args)?;
                f.write_str(")")
            }
            Value::Packed(packed) => write!(f, "{}({})", packed.name, packed.body),
            Value::Array { element, items } => {
                if let Some(element) = element {
                    write!(f, "Array[{element}](")?;
                }
                f.write_str("[")?;
                write_list(f, items)?;
                f.write_str(if element.is_some() { "])" } else { "]" })
            }
            Value::Dictionary { types, entries } => {
                if let Some((key, value)) = types {
                    write!(f, "Dictionary[{key}, {value}](")?;
                }
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(if types.is_some() { "})" } else { "}" })
            }
            Value::ExtResource(id) => write_call(f, "ExtResource", id),
            Value::SubResource(id) => write_call(f, "SubResource", id),
            Value::Resource(paths) => {
                f.write_str("Resource(")?;
                for (index, path) in paths.iter().enumerate() {
                    write_text(f, if index > 0 { ", " } else { "" }, path)?;
                }
                f.write_str(")")
            }
            Value::Object { class, properties } => {
                write!(f, "Object({class}")?;
                for (name, value) in properties {
                    write_text(f, ", ", name)?;
                    write!(f, ": {value}")?;
                }
                f.write_str(")")
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, values: &[Value<'_>]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if index > 0 { ", " } else { "" })?;
    }
    Ok(())
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    write!(f, "{name}(")?;
    write_text(f, "", text)?;
    f.write_str(")")
}

fn write_text(f: &mut fmt::Formatter<'_>, prefix: &str, text: &str) -> fmt::Result {
    write!(f, "{prefix}\"")?;
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\\']) {
        write!(f, "{}\\{}", &rest[..at], &rest[at..=at])?;
        rest = &rest[at + 1..];
    }
    write!(f, "{rest}\"")
}

/// Takes text up to a bound and then refuses more.
struct Bounded {
    text: String,
    max_bytes: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len() + part.len() <= self.max_bytes {
            self.text.push_str(part);
            return Ok(());
        }
        let room = self.max_bytes - self.text.len();
        let mut end = room.min(part.len());
        while !part.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(&part[..end]);
        // Room for the mark may have to come out of text that was taken before.
        let mut keep = self.text.len().min(self.max_bytes.saturating_sub(ELLIPSIS.len()));
        while !self.text.is_char_boundary(keep) {
            keep -= 1;
        }
        self.text.truncate(keep);
        if self.max_bytes >= ELLIPSIS.len() {
            self.text.push_str(ELLIPSIS);
        }
        Err(fmt::Error)
    }
}

impl<'a> Packed<'a> {
    /// The constructor's name as written, such as `PackedInt32Array` or `PoolByteArray`.
    pub fn type_name(&self) -> &'a str {
        self.name
    }

    /// What stands between the brackets.
    pub fn body(&self) -> &'a str {
        self.body
    }

    /// Elements: bytes, numbers, strings, vectors or colours. A vector cut short is not counted.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the bytes are written as base64, which the engine does from format 4 on.
    pub fn is_base64(&self) -> bool {
        self.base64
    }

    /// The numbers in file order, read as they are asked for; none for strings and base64.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + use<'a> {
        let mut lexer = Lexer::new(self.body);
        std::iter::from_fn(move || {
            loop {
                let token = lexer.next().ok()?;
                match token.kind {
                    Kind::Number | Kind::Word => return scalar(lexer.slice(token)).as_f64(),
                    Kind::Mark(b',') => {}
                    _ => return None,
                }
            }
        })
    }

    /// The strings of a packed array of strings; `None` for any other kind.
    pub fn strings(&self) -> Option<Vec<Cow<'a, str>>> {
        if shape_of(self.name) != Shape::PackedStrings {
            return None;
        }
        let mut lexer = Lexer::new(self.body);
        let mut strings = Vec::with_capacity(self.len);
        loop {
            let token = lexer.next().ok()?;
            match token.kind {
                Kind::String => strings.push(string_text(lexer.slice(token))),
                Kind::Mark(b',') => {}
                _ => return Some(strings),
            }
        }
    }
}

/// A string token's text, escapes undone.
fn string_text(token: &str) -> Cow<'_, str> {
    let quote = token.find('"').unwrap_or(0);
    unescape(&token[quote + 1..token.len() - 1]).text
}

/// A number or constant.
fn scalar(word: &str) -> Value<'_> {
    match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "inf" => Value::Float(f64::INFINITY),
        "-inf" | "inf_neg" => Value::Float(f64::NEG_INFINITY),
        "nan" => Value::Float(f64::NAN),
        number if number.contains(['.', 'e']) => Value::Float(float(number)),
        number if number.ends_with(|last: char| last.is_ascii_digit()) => Value::Int(int(number)),
        _ => Value::Null,
    }
}

fn float(number: &str) -> f64 {
    // The engine takes an exponent without digits for none.
    let number = number.trim_end_matches(['e', '+', '-']);
    float::read(number)
}

fn int(number: &str) -> i64 {
    let beyond = if number.starts_with('-') { i64::MIN } else { i64::MAX };
    number.parse().unwrap_or(beyond)
}

/// Builds a tree, by recursion of bounded depth.
struct Builder<'a> {
    raw: &'a str,
    lexer: Lexer<'a>,
    level: usize,
}

impl<'a> Builder<'a> {
    fn whole(&mut self) -> Result<Value<'a>, Fault> {
        let first = self.lexer.next()?;
        let value = self.value(first)?;
        let rest = self.lexer.next()?;
        if rest.kind == Kind::End {
            return Ok(value);
        }
        let found = self.lexer.describe(rest);
        Err(Fault::new(rest.start, format!("expected the end of the value, found {found}")))
    }

    fn value(&mut self, token: Token) -> Result<Value<'a>, Fault> {
        let text = self.lexer.slice(token);
        match token.kind {
            Kind::String => Ok(Value::String(string_text(text))),
            Kind::StringName => Ok(Value::StringName(string_text(text))),
            Kind::NodePath => Ok(Value::NodePath(string_text(text))),
            Kind::Number => Ok(scalar(text)),
            Kind::Color => Ok(Value::HtmlColor(text)),
            Kind::Word if crate::lexer::is_constant(text) => Ok(scalar(text)),
            Kind::Word => self.nested(token, |builder| builder.constructor(token)),
            Kind::Mark(b'[') => self.nested(token, |builder| {
                Ok(Value::Array { element: None, items: builder.items(b']')? })
            }),
            Kind::Mark(b'{') => self.nested(token, |builder| {
                Ok(Value::Dictionary { types: None, entries: builder.entries()? })
            }),
            _ => {
                let found = self.lexer.describe(token);
                Err(Fault::new(token.start, format!("expected a value, found {found}")))
            }
        }
    }

    fn nested(
        &mut self,
        token: Token,
        build: impl FnOnce(&mut Self) -> Result<Value<'a>, Fault>,
    ) -> Result<Value<'a>, Fault> {
        if self.level == MAX_VALUE_LEVELS {
            let message = format!("the value is nested deeper than {MAX_VALUE_LEVELS} levels");
            return Err(Fault::new(token.start, message));
        }
        self.level += 1;
        let value = build(self);
        self.level -= 1;
        value
    }

    fn constructor(&mut self, word: Token) -> Result<Value<'a>, Fault> {
        let name = self.lexer.slice(word);
        match shape_of(name) {
            Shape::Object => self.object(),
            Shape::TypedArray => {
                let [element, _] = self.lexer.type_list(1)?;
                self.lexer.expect(b'[')?;
                let items = self.items(b']')?;
                self.lexer.expect(b')')?;
                Ok(Value::Array { element: Some(element), items })
            }
            Shape::TypedDictionary => {
                let [key, value] = self.lexer.type_list(2)?;
                self.lexer.expect(b'{')?;
                let entries = self.entries()?;
                self.lexer.expect(b')')?;
                Ok(Value::Dictionary { types: Some((key, value)), entries })
            }
            Shape::Unknown => {
                self.lexer.unknown_opening(word)?;
                Ok(Value::Construct { name, args: self.items(b')')? })
            }
            shape => self.flat(word, shape),
        }
    }

    fn flat(&mut self, word: Token, shape: Shape) -> Result<Value<'a>, Fault> {
        let name = self.lexer.slice(word);
        let flat = self.lexer.flat(word, shape)?;
        let body = &self.raw[flat.body.0..flat.body.1];
        let packed = |len| Value::Packed(Packed { name, body, len, base64: flat.base64 });
        Ok(match shape {
            Shape::PackedNumbers(per) => packed(flat.count / per),
            Shape::PackedBytes | Shape::PackedStrings => packed(flat.count),
            Shape::Text => Value::NodePath(first_text(body)),
            Shape::Reference(ReferenceKind::External) => Value::ExtResource(first_text(body)),
            Shape::Reference(ReferenceKind::Internal) => Value::SubResource(first_text(body)),
            Shape::Resource => {
                let strings =
                    Packed { name: "PackedStringArray", body, len: flat.count, base64: false };
                Value::Resource(strings.strings().unwrap_or_default())
            }
            _ => Value::Construct { name, args: numbers(body) },
        })
    }

    fn object(&mut self) -> Result<Value<'a>, Fault> {
        let class = self.lexer.object_class()?;
        let mut properties = Vec::new();
        let mut comma = true;
        while let Some(key) = self.element(&mut comma, b')')? {
            self.lexer.property_name(key)?;
            let value = self.lexer.next()?;
            properties.push((string_text(self.lexer.slice(key)), self.value(value)?));
        }
        Ok(Value::Object { class: self.lexer.slice(class), properties })
    }

    fn items(&mut self, close: u8) -> Result<Vec<Value<'a>>, Fault> {
        let mut items = Vec::new();
        let mut comma = false;
        while let Some(token) = self.element(&mut comma, close)? {
            items.push(self.value(token)?);
        }
        Ok(items)
    }

    fn entries(&mut self) -> Result<Vec<(Value<'a>, Value<'a>)>, Fault> {
        let mut entries = Vec::new();
        let mut comma = false;
        while let Some(token) = self.element(&mut comma, b'}')? {
            let key = self.value(token)?;
            self.lexer.expect(b':')?;
            let token = self.lexer.next()?;
            entries.push((key, self.value(token)?));
        }
        Ok(entries)
    }

    fn element(&mut self, comma: &mut bool, close: u8) -> Result<Option<Token>, Fault> {
        self.lexer.element_token(comma, close)
    }
}

/// The first string or number of a text, as text.
fn first_text(body: &str) -> Cow<'_, str> {
    let mut lexer = Lexer::new(body);
    match lexer.next() {
        Ok(token) if token.kind == Kind::String => string_text(lexer.slice(token)),
        Ok(token) => Cow::Borrowed(lexer.slice(token)),
        Err(_) => Cow::Borrowed(""),
    }
}

fn numbers(body: &str) -> Vec<Value<'_>> {
    let mut lexer = Lexer::new(body);
    let mut values = Vec::new();
    while let Ok(token) = lexer.next() {
        match token.kind {
            Kind::Number | Kind::Word => values.push(scalar(lexer.slice(token))),
            Kind::Mark(b',') => {}
            _ => break,
        }
    }
    values
}
