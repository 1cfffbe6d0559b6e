//! Tokens to the parameters of a command: flags, positional values, types.
//!
//! Every defect of a line is reported and not only the first. A defect is data, with a kind and what it is
//! about; [`Problem::text`] is the English for those who know no better. A required parameter that was left
//! out is none of them: that is judged after binding, in every form of a request, by [`missing`].
//!
//! Spec: P-63, binding.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::command::{Command, Parameter, same_name};

mod convert;
#[cfg(test)]
mod tests;

pub use convert::{fits, token};

/// Longest name for which a likely one is looked for, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// What is wrong with a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemKind {
    /// A flag without a name: `--=x`.
    EmptyName,
    /// A flag that needs a value and has none.
    EmptyValue,
    /// `-x` where a positional value stands.
    SingleDash,
    /// The same flag again.
    Duplicate,
    /// No parameter has this name.
    UnknownName,
    /// `name=value` in the place of the parameter `name`.
    BareAssignment,
    /// More positional values than places for them.
    ExcessPositional,
    /// A positional value whose place a flag has taken.
    PositionalConflict,
    /// The parameter can't hold the token.
    TypeMismatch,
    /// A kind that a newer server made up.
    #[serde(other)]
    Unknown,
}

/// One defect of a command line, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The parameter, or the name that is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The token at fault, as typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The declared name that is nearest to the unknown one, if one is near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Places that the flags left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<usize>,
    /// Positional values that were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<usize>,
    /// The declared type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_type: Option<String>,
}

/// What a line's tokens came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bound {
    /// What is echoed: text as typed, `true` for a bare flag, and for untyped parameters what the token looks
    /// like.
    pub stored: Map<String, Value>,
    /// The same, each in the type of its parameter: what the command gets.
    pub values: Map<String, Value>,
}

/// Binds the tokens after a command's name.
///
/// Parameters that were not given are absent, under their declared spelling.
///
/// # Errors
/// Every defect: first those of flags, then those of positional values, each in the order of the tokens, then
/// those of types in the order of the parameters.
pub fn bind<T: AsRef<str>>(command: &Command, tokens: &[T]) -> Result<Bound, Vec<Problem>> {
    let mut binder = Binder { command, given: BTreeMap::new(), problems: vec![] };
    let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
    let positionals = binder.take_flags(&tokens);
    binder.place(&positionals);
    binder.finish()
}

/// The required parameters that an object of parameters leaves out, in their order. Names compare as flags do.
pub fn missing<'c>(command: &'c Command, given: &Map<String, Value>) -> Vec<&'c str> {
    let is_given = |parameter: &&Parameter| given.keys().any(|key| same_name(key, &parameter.name));
    let required = command.parameters.iter().filter(|parameter| parameter.required);
    required.filter(|it| !is_given(it)).map(|parameter| parameter.name.as_str()).collect()
}

/// The English for all problems of one line.
pub fn details(command: &Command, problems: &[Problem]) -> String {
    let mut text = problems.iter().map(|it| it.text(&command.name)).collect::<Vec<_>>().join(" ");
    let lost = |problem: &Problem| {
        problem.kind == ProblemKind::UnknownName && problem.suggestion.is_none()
    };
    if problems.iter().any(lost) && !command.parameters.is_empty() {
        let names: Vec<_> = command.parameters.iter().map(|it| format!("--{}", it.name)).collect();
        text.push_str(" Valid parameters: ");
        text.push_str(&names.join(", "));
        text.push('.');
    }
    text
}

/// A value before it has a type.
#[derive(Debug, Clone, Copy)]
enum Given<'t> {
    /// A token.
    Token(&'t str),
    /// A flag without a value.
    Bare,
    /// A flag whose value is a problem already; its place is taken.
    Spoiled,
}

/// A positional value, and whether `--` came before it.
struct Positional<'t> {
    token: &'t str,
    after_separator: bool,
}

/// What a token is, before any command is known.
enum Word<'t> {
    /// A flag with what it holds or took.
    Flag { token: &'t str, name: &'t str, value: Given<'t> },
    /// A positional value.
    Positional(Positional<'t>),
}

/// Takes flags apart from positional values. A flag takes the next token unless that is a flag, too.
fn words<'t>(tokens: &[&'t str]) -> Vec<Word<'t>> {
    let mut words = vec![];
    let mut rest = tokens.iter().copied().peekable();
    while let Some(token) = rest.next() {
        if token == "--" {
            let positional = |token| Word::Positional(Positional { token, after_separator: true });
            words.extend(rest.map(positional));
            break;
        }
        words.push(match token.strip_prefix("--") {
            None => Word::Positional(Positional { token, after_separator: false }),
            Some(body) => match body.split_once('=') {
                Some((name, "")) => Word::Flag { token, name, value: Given::Spoiled },
                Some((name, value)) => Word::Flag { token, name, value: Given::Token(value) },
                None => {
                    let follower = rest.next_if(|next| !next.starts_with("--"));
                    let value = follower.map_or(Given::Bare, Given::Token);
                    Word::Flag { token, name: body, value }
                }
            },
        });
    }
    words
}

/// The defects that show without knowing the command: for a client, so that a typing error costs no round trip.
pub fn check_form<T: AsRef<str>>(tokens: &[T]) -> Vec<Problem> {
    let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
    let mut seen: Vec<&str> = vec![];
    let mut problems = vec![];
    for word in words(&tokens) {
        match word {
            Word::Flag { token, name: "", .. } => {
                problems.push(Problem::about_token(ProblemKind::EmptyName, token));
            }
            Word::Flag { name, value, .. } => {
                if seen.iter().any(|before| same_name(before, name)) {
                    problems.push(Problem::about(ProblemKind::Duplicate, name));
                }
                if matches!(value, Given::Spoiled) {
                    problems.push(Problem::about(ProblemKind::EmptyValue, name));
                }
                seen.push(name);
            }
            Word::Positional(Positional { token, after_separator: false })
                if is_single_dash(token) =>
            {
                problems.push(Problem::about_token(ProblemKind::SingleDash, token));
            }
            Word::Positional(_) => {}
        }
    }
    problems
}

struct Binder<'c, 't> {
    command: &'c Command,
    /// By the parameter's index.
    given: BTreeMap<usize, Given<'t>>,
    problems: Vec<Problem>,
}

impl<'t> Binder<'_, 't> {
    /// Takes flags with their values out of the tokens; what is left are positional values.
    fn take_flags(&mut self, tokens: &[&'t str]) -> Vec<Positional<'t>> {
        let mut positionals = vec![];
        for word in words(tokens) {
            match word {
                Word::Flag { token, name, value } => self.take_flag(token, name, value),
                Word::Positional(positional) => positionals.push(positional),
            }
        }
        positionals
    }

    fn take_flag(&mut self, token: &str, name: &str, value: Given<'t>) {
        if name.is_empty() {
            self.problems.push(Problem::about_token(ProblemKind::EmptyName, token));
            return;
        }
        let mut parameters = self.command.parameters.iter().enumerate();
        let Some((index, parameter)) = parameters.find(|(_, it)| same_name(&it.name, name)) else {
            self.problems.push(Problem {
                suggestion: nearest(self.command, name).map(str::to_owned),
                ..Problem::about(ProblemKind::UnknownName, name)
            });
            return;
        };
        if self.given.contains_key(&index) {
            self.problems.push(Problem::about(ProblemKind::Duplicate, &parameter.name));
        }
        let value = match value {
            Given::Bare if !convert::takes_a_bare_flag(&parameter.kind) => Given::Spoiled,
            value => value,
        };
        if matches!(value, Given::Spoiled) {
            self.problems.push(Problem::about(ProblemKind::EmptyValue, &parameter.name));
        }
        self.given.entry(index).or_insert(value);
    }

    /// Gives positional values their places: required parameters first, then optional ones, in the order of
    /// declaration, without those that a flag has set.
    fn place(&mut self, positionals: &[Positional<'t>]) {
        let parameters = &self.command.parameters;
        let (required, optional): (Vec<_>, Vec<_>) =
            (0..parameters.len()).partition(|index| parameters[*index].required);
        let order: Vec<usize> = required.into_iter().chain(optional).collect();
        let free: Vec<usize> =
            order.iter().copied().filter(|index| !self.given.contains_key(index)).collect();
        for (nth, positional) in positionals.iter().enumerate() {
            let slot = free.get(nth).copied();
            if !positional.after_separator && is_single_dash(positional.token) {
                let problem = Problem::about_token(ProblemKind::SingleDash, positional.token);
                self.problems.push(problem);
            } else if let Some(slot) = slot {
                self.fill(slot, positional);
            }
            if nth == free.len() {
                self.overflow(&order, &free, nth, positionals);
            }
        }
    }

    fn fill(&mut self, slot: usize, positional: &Positional<'t>) {
        let name = &self.command.parameters[slot].name;
        let left = positional.token.split_once('=').map(|(left, _)| left);
        if !positional.after_separator && left.is_some_and(|left| same_name(left, name)) {
            self.problems.push(Problem {
                token: Some(positional.token.to_owned()),
                ..Problem::about(ProblemKind::BareAssignment, name)
            });
        } else {
            self.given.insert(slot, Given::Token(positional.token));
        }
    }

    /// Told once, about the first value that has no place.
    fn overflow(
        &mut self,
        order: &[usize],
        free: &[usize],
        nth: usize,
        positionals: &[Positional<'_>],
    ) {
        let token = Some(positionals[nth].token.to_owned());
        let own = order.get(nth).filter(|index| !free.contains(index));
        self.problems.push(match own {
            Some(index) => {
                let name = &self.command.parameters[*index].name;
                Problem { token, ..Problem::about(ProblemKind::PositionalConflict, name) }
            }
            None => Problem {
                token,
                capacity: Some(free.len()),
                given: Some(positionals.len()),
                ..Problem::of(ProblemKind::ExcessPositional)
            },
        });
    }

    fn finish(mut self) -> Result<Bound, Vec<Problem>> {
        let mut bound = Bound::default();
        for (index, given) in std::mem::take(&mut self.given) {
            let Parameter { name, kind, .. } = &self.command.parameters[index];
            let (stored, value) = match given {
                Given::Spoiled => continue,
                Given::Bare => (Value::Bool(true), Value::Bool(true)),
                Given::Token(token) => {
                    let Some(value) = convert::token(kind, token) else {
                        self.problems.push(Problem {
                            token: Some(token.to_owned()),
                            expected_type: Some(kind.type_name().into_owned()),
                            ..Problem::about(ProblemKind::TypeMismatch, name)
                        });
                        continue;
                    };
                    (convert::stored(kind, token), value)
                }
            };
            bound.stored.insert(name.clone(), stored);
            bound.values.insert(name.clone(), value);
        }
        if self.problems.is_empty() { Ok(bound) } else { Err(self.problems) }
    }
}

impl Problem {
    fn of(kind: ProblemKind) -> Self {
        Problem {
            kind,
            name: None,
            token: None,
            suggestion: None,
            capacity: None,
            given: None,
            expected_type: None,
        }
    }

    fn about(kind: ProblemKind, name: &str) -> Self {
        Problem { name: Some(name.to_owned()), ..Problem::of(kind) }
    }

    fn about_token(kind: ProblemKind, token: &str) -> Self {
        Problem { token: Some(token.to_owned()), ..Problem::of(kind) }
    }

    /// The English for it; `command` is the name of the command. Empty for a kind that is not known here.
    pub fn text(&self, command: &str) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let token = self.token.as_deref().unwrap_or_default();
        match self.kind {
            ProblemKind::EmptyName => format!("{token} is a flag without a name."),
            ProblemKind::EmptyValue => format!("--{name} needs a value."),
            ProblemKind::SingleDash => {
                format!("{token} is no flag: write --name, or -- before values that begin with -.")
            }
            ProblemKind::Duplicate => format!("--{name} is given more than once."),
            ProblemKind::UnknownName => {
                let mut text = format!("{command} has no parameter --{name}.");
                if let Some(near) = &self.suggestion {
                    text.push_str(" Did you mean --");
                    text.push_str(near);
                    text.push('?');
                }
                text
            }
            ProblemKind::BareAssignment => format!("{token} names {name}: write --{token}."),
            ProblemKind::ExcessPositional => {
                let (capacity, given) =
                    (self.capacity.unwrap_or_default(), self.given.unwrap_or_default());
                format!(
                    "{command} takes {capacity} argument(s) but {given} were given (starting at '{token}')."
                )
            }
            ProblemKind::PositionalConflict => {
                format!("{token} would be {name}, which --{name} has set already.")
            }
            ProblemKind::TypeMismatch => {
                let wanted = self.expected_type.as_deref().unwrap_or_default();
                format!("--{name} takes {wanted}, and '{token}' is none.")
            }
            ProblemKind::Unknown => String::new(),
        }
    }
}

/// `-x`, which looks like a short flag. There are none; `-5` and `-` are values.
pub fn is_single_dash(token: &str) -> bool {
    matches!(token.as_bytes(), [b'-', letter, ..] if letter.is_ascii_alphabetic())
}

/// The declared name within a third of the longer one's letters, at least one and at most three.
fn nearest<'c>(command: &'c Command, name: &str) -> Option<&'c str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let typed = plain(name);
    let near = command.parameters.iter().filter_map(|parameter| {
        let declared = plain(&parameter.name);
        let longest = typed.len().max(declared.len());
        let allowed = (longest / 3).clamp(1, 3);
        let apart = distance(&typed, &declared);
        (apart <= allowed).then_some((apart, parameter.name.as_str()))
    });
    near.min_by_key(|(apart, _)| *apart).map(|(_, name)| name)
}

/// Letters as they are compared.
fn plain(name: &str) -> Vec<char> {
    name.chars().map(|it| if it == '-' { '_' } else { it.to_ascii_lowercase() }).collect()
}

/// Letters to add, drop or change until one name is the other.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], line + 1);
        for (column, compared) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != compared);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
