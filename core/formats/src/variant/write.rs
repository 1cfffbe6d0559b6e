//! Values as the engine writes them.
//!
//! Observed on 4.6.3 with `var_to_str`: strings raw but for backslash and quote, numbers in the shortest
//! form that reads back, dictionaries over several lines. What is written is read by every 4.x engine.

use std::fmt::Write as _;

use super::{Packed, Value};

/// Decimal digits before the point beyond which the engine writes an exponent.
const MAX_PLAIN_DIGITS: i32 = 15;
/// Zeros after the point from which on the engine writes an exponent.
const MAX_LEADING_ZEROS: i32 = 4;

/// A value in the engine's text form, its own line ends being `eol`.
///
/// Line ends inside strings are text and stay as they are.
pub fn write(value: &Value<'_>, eol: &str) -> String {
    let mut writer = Writer { out: String::new(), eol };
    writer.value(value);
    writer.out
}

/// A float as the engine writes one that stands alone: `1.0`, `0.5`, `1e+20`, `inf`, `inf_neg`, `nan`.
///
/// All digits that the number needs. The engine leaves some out where a number would fit into 32 bit.
pub fn float_text(value: f64) -> String {
    let text = number_text(value);
    let whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if whole { text + ".0" } else { text }
}

/// A float as the engine writes it inside a constructor: `1`, `0.5`.
pub fn number_text(value: f64) -> String {
    special(value).unwrap_or_else(|| super::float::text(value, plain))
}

/// A component of a type that the engine keeps in 32 bit, rounded to those.
pub(crate) fn single_text(value: f64) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "the engine rounds alike")]
    let single = value as f32;
    special(f64::from(single)).unwrap_or_else(|| plain(&format!("{single:e}")))
}

fn special(value: f64) -> Option<String> {
    let text = if value.is_nan() {
        "nan"
    } else if value.is_infinite() {
        // `-inf` is not read by engines before 4.4.
        if value > 0.0 { "inf" } else { "inf_neg" }
    } else if value == 0.0 {
        "0"
    } else {
        return None;
    };
    Some(text.into())
}

/// Rust's shortest digits, `-1.25e-7`, in the engine's layout.
fn plain(scientific: &str) -> String {
    let (sign, rest) = match scientific.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", scientific),
    };
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|letter| *letter != '.').collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1;
    let place = |digits: i32| usize::try_from(digits).unwrap_or(0);
    if point > MAX_PLAIN_DIGITS || point <= -MAX_LEADING_ZEROS {
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{direction}{:02}", exponent.abs());
    }
    if point <= 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(place(-point)));
    }
    if point >= count {
        return format!("{sign}{digits}{}", "0".repeat(place(point - count)));
    }
    let (whole, fraction) = digits.split_at(place(point));
    format!("{sign}{whole}.{fraction}")
}

/// A string in quotes as the engine writes values: raw, over several lines where it has them.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
    out
}

/// A string in quotes as the engine writes names, paths, header attributes and packed strings: on one line.
///
/// Of the engine's escapes only those that its own reader undoes are used.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

struct Writer<'e> {
    out: String,
    eol: &'e str,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Int(value) => self.out.push_str(&value.to_string()),
            Value::Float(value) => self.out.push_str(&float_text(*value)),
            Value::String(text) => self.out.push_str(&quoted(text)),
            Value::StringName(text) => {
                self.out.push('&');
                self.out.push_str(&escaped(text));
            }
            Value::NodePath(text) => self.call("NodePath", &escaped(text)),
            Value::HtmlColor(text) => self.out.push_str(text),
            Value::Construct { name, args } => {
                self.open(name, "(");
                self.list(args, true);
                self.out.push(')');
            }
            Value::Packed(Packed { name, body, .. }) => self.call(name, body),
            Value::Array { element, items } => {
                if let Some(element) = element {
                    self.open("Array[", element);
                    self.out.push_str("](");
                }
                self.out.push('[');
                self.list(items, false);
                self.out.push_str(if element.is_some() { "])" } else { "]" });
            }
            Value::Dictionary { types, entries } => {
                if let Some((key, value)) = types {
                    let _ = write!(self.out, "Dictionary[{key}, {value}](");
                }
                self.entries(entries);
                if types.is_some() {
                    self.out.push(')');
                }
            }
            Value::ExtResource(id) => self.reference("ExtResource", id),
            Value::SubResource(id) => self.reference("SubResource", id),
            Value::Resource(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| escaped(path)).collect();
                self.call("Resource", &paths.join(", "));
            }
            Value::Object { class, properties } => {
                self.open("Object(", class);
                for (name, value) in properties {
                    self.open(",", &quoted(name));
                    self.out.push(':');
                    self.value(value);
                }
                self.out.push(')');
                self.out.push_str(self.eol);
            }
        }
    }

    fn open(&mut self, name: &str, bracket: &str) {
        self.out.push_str(name);
        self.out.push_str(bracket);
    }

    fn call(&mut self, name: &str, body: &str) {
        self.open(name, "(");
        self.out.push_str(body);
        self.out.push(')');
    }

    fn reference(&mut self, name: &str, id: &str) {
        self.call(name, &escaped(id));
    }

    fn list(&mut self, values: &[Value<'_>], bare: bool) {
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            match value {
                Value::Float(number) if bare => self.out.push_str(&number_text(*number)),
                value => self.value(value),
            }
        }
    }

    fn entries(&mut self, entries: &[(Value<'_>, Value<'_>)]) {
        if entries.is_empty() {
            self.out.push_str("{}");
            return;
        }
        self.out.push('{');
        self.out.push_str(self.eol);
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
                self.out.push_str(self.eol);
            }
            self.value(key);
            self.out.push_str(": ");
            self.value(value);
        }
        self.out.push_str(self.eol);
        self.out.push('}');
    }
}
