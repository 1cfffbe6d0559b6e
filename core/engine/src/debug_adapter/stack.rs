//! The stack as it is told: frames with their places, and the variables of the first of them, within bounds.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Arrivals, BETWEEN_LOOKS, Fault, ToldFrame, Want, arrived, client::Client};
use crate::ring::cut;

/// Frames whose variables are told. Each costs the editor some of its own frames.
const VARIABLE_FRAMES: usize = 8;

/// Most variables of one scope.
const MAX_VARIABLES: usize = 64;

/// Longest value, in bytes.
const MAX_VALUE_BYTES: usize = 1024;

/// Longest name of a variable, a type, a function or a file, in bytes.
const MAX_NAME_BYTES: usize = 512;

/// Longest line of a source, in bytes.
const MAX_LINE_BYTES: usize = 512;

/// Largest source that is read for its lines, in bytes.
const MAX_SOURCE_BYTES: u64 = 4 * 1024 * 1024;

/// Most bytes of all names and values together.
const MAX_BYTES: usize = 192 * 1024;

/// Looks at variables that are not there yet, at most.
const MAX_LOOKS: usize = 400;

/// What the engine writes for an object, with a number of its own making.
const OBJECT: &str = "<EncodedObjectAsID#";

/// The stack of a game that stands.
#[derive(Debug, Serialize)]
pub struct Stack {
    /// How many frames there are.
    pub frame_count: usize,
    /// The first of them, innermost first.
    pub frames: Vec<Frame>,
    /// Whether something was left out.
    pub truncated: bool,
}

/// One frame.
#[derive(Debug, Serialize)]
pub struct Frame {
    /// Its place, 0 is innermost.
    pub index: usize,
    /// The function.
    pub function: String,
    /// Where it stands, where that was asked for.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// What it holds, of the first frames.
    #[serde(flatten)]
    pub scopes: Option<Scopes>,
}

/// Where a frame stands.
#[derive(Debug, Serialize)]
pub struct Position {
    /// `res://` where the file is one of the project, else what the engine calls it.
    pub file: String,
    /// From 1.
    pub line: i64,
    /// The text of the line in the file as it is now. None where the script is in no file of its own.
    pub source_line: Option<String>,
}

/// What a frame holds.
#[derive(Debug, Serialize)]
pub struct Scopes {
    /// Parameters and variables of the function.
    pub locals: Variables,
    /// Variables of the script, and `self`; of the innermost frame alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Variables>,
    /// Globals that the engine tells; of the innermost frame alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globals: Option<Variables>,
}

/// The variables of one scope.
#[derive(Debug, Default, Serialize)]
pub struct Variables {
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub variables: Vec<Variable>,
}

/// One variable.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The engine's name of its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value as the engine writes it; null for an object, which is told by its type alone.
    pub value: Option<String>,
    /// Whether the value is longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub value_truncated: bool,
}

#[derive(Deserialize)]
struct ToldScopes {
    scopes: Vec<ToldScope>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldScope {
    #[serde(default)]
    name: String,
    variables_reference: i64,
}

#[derive(Deserialize)]
struct ToldVariables {
    variables: Vec<ToldVariable>,
}

#[derive(Deserialize)]
struct ToldVariable {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: String,
    #[serde(default, rename = "type")]
    kind: String,
}

/// Tells frames, and asks for their variables.
pub(super) fn read(client: &mut Client, want: &Want, told: Vec<ToldFrame>) -> Stack {
    let mut teller = Teller { want, left: MAX_BYTES, cut: false, sources: BTreeMap::new() };
    let frame_count = told.len();
    let ids: Vec<i64> = told.iter().map(|frame| frame.id).take(VARIABLE_FRAMES).collect();
    let mut frames: Vec<Frame> = told
        .into_iter()
        .take(want.max_frames)
        .enumerate()
        .map(|(index, frame)| teller.frame(index, frame))
        .collect();
    if teller.variables(client, &ids, &mut frames).is_err() {
        teller.cut = true;
    }
    let truncated = teller.cut || frames.len() < frame_count;
    Stack { frame_count, frames, truncated }
}

/// What is left of the bounds while a stack is told.
struct Teller<'w> {
    want: &'w Want,
    left: usize,
    cut: bool,
    /// Texts of sources; none for what is no file of the project, or a large one.
    sources: BTreeMap<String, Option<String>>,
}

impl Teller<'_> {
    fn frame(&mut self, index: usize, told: ToldFrame) -> Frame {
        let position = self.want.with_position.then(|| self.position(&told));
        Frame { index, function: self.name(&told.name), position, scopes: None }
    }

    fn position(&mut self, told: &ToldFrame) -> Position {
        let path = told.source.as_ref().map_or("", |source| source.path.as_str());
        let file = of_project(path, &self.want.project);
        let source_line = self.source_line(path, told.line);
        Position { file: self.name(&file), line: told.line, source_line }
    }

    /// The text of a line, without what is around it.
    fn source_line(&mut self, path: &str, line: i64) -> Option<String> {
        let place = usize::try_from(line).ok()?.checked_sub(1)?;
        let project = &self.want.project;
        let text = self
            .sources
            .entry(path.to_owned())
            .or_insert_with(|| source(path, project))
            .as_ref()?;
        let line = text.lines().nth(place)?.trim();
        let (line, cut) = head(line, MAX_LINE_BYTES);
        let line = line.to_owned();
        self.took(line.len(), cut);
        Some(line)
    }

    /// Variables of the first frames. The innermost is asked for first, as it matters most, and once more at the
    /// end: the editor's own panel shows the frame that was asked for last.
    ///
    /// Where nobody sees what comes, that frame's are the only ones that are surely its own.
    fn variables(
        &mut self,
        client: &mut Client,
        ids: &[i64],
        frames: &mut [Frame],
    ) -> Result<(), Fault> {
        let sure = if self.want.known.arrivals.is_some() { ids.len() } else { 1 };
        self.cut |= sure < ids.len().min(frames.len());
        for (id, frame) in ids.iter().zip(frames.iter_mut()).take(sure) {
            let (told, came) = self.scopes(client, *id)?;
            if !came {
                self.cut = true;
                return Ok(());
            }
            frame.scopes = Some(self.tell_scopes(client, &told, frame.index == 0)?);
        }
        match ids.first() {
            // All is told by then.
            Some(first) if sure > 1 && frames.len() > 1 => _ = self.scopes(client, *first),
            _ => {}
        }
        Ok(())
    }

    /// Has the game send a frame's variables, and waits for them; whether they have come, where that is seen.
    fn scopes(&self, client: &mut Client, id: i64) -> Result<(ToldScopes, bool), Fault> {
        let known = &self.want.known;
        let before = known.arrivals.as_ref().map(Arrivals::count);
        let told = client.ask("scopes", json!({ "frameId": id }))?;
        let came = match before {
            Some(before) => arrived(client, known, before)?,
            None => true,
        };
        Ok((told, came))
    }

    fn tell_scopes(
        &mut self,
        client: &mut Client,
        told: &ToldScopes,
        whole: bool,
    ) -> Result<Scopes, Fault> {
        let mut of = |name: &str| -> Result<Variables, Fault> {
            let scope = told.scopes.iter().find(|scope| scope.name.eq_ignore_ascii_case(name));
            let Some(scope) = scope else { return Ok(Variables::default()) };
            let told = variables(client, scope.variables_reference)?;
            Ok(self.tell(told))
        };
        Ok(Scopes {
            locals: of("locals")?,
            members: if whole { Some(of("members")?) } else { None },
            globals: if whole { Some(of("globals")?) } else { None },
        })
    }

    fn tell(&mut self, told: Vec<ToldVariable>) -> Variables {
        let count = told.len();
        let mut variables = vec![];
        for one in told.into_iter().take(MAX_VARIABLES) {
            if self.left == 0 {
                break;
            }
            variables.push(self.variable(&one));
        }
        self.cut |= variables.len() < count;
        Variables { count, variables }
    }

    fn variable(&mut self, told: &ToldVariable) -> Variable {
        let (name, kind) = (self.name(&told.name), self.name(&told.kind));
        if told.value.starts_with(OBJECT) {
            return Variable { name, kind, value: None, value_truncated: false };
        }
        let (value, value_truncated) = head(&told.value, MAX_VALUE_BYTES);
        self.took(value.len(), value_truncated);
        Variable { name, kind, value: Some(value.to_owned()), value_truncated }
    }

    fn name(&mut self, name: &str) -> String {
        let (name, cut) = head(name, MAX_NAME_BYTES);
        self.took(name.len(), cut);
        name.to_owned()
    }

    fn took(&mut self, bytes: usize, cut: bool) {
        self.left = self.left.saturating_sub(bytes);
        self.cut |= cut;
    }
}

/// The variables behind a reference. Until the game has sent them, the adapter refuses to know of it.
fn variables(client: &mut Client, reference: i64) -> Result<Vec<ToldVariable>, Fault> {
    let mut looks = 0;
    loop {
        let arguments = json!({ "variablesReference": reference });
        match client.ask::<ToldVariables>("variables", arguments) {
            Ok(told) => return Ok(told.variables),
            Err(Fault::Refused { .. }) if looks < MAX_LOOKS => looks += 1,
            Err(fault) => return Err(fault),
        }
        client.pause(BETWEEN_LOOKS)?;
    }
}

/// The beginning of a text that is no longer than so many bytes, and whether there is more.
fn head(text: &str, most: usize) -> (&str, bool) {
    let head = cut(text, most);
    (head, head.len() < text.len())
}

/// A path as the project calls it.
fn of_project(path: &str, project: &Path) -> String {
    let path = path.replace('\\', "/");
    let project = project.to_string_lossy().replace('\\', "/");
    let inside = path.strip_prefix(project.trim_end_matches('/'));
    match inside.and_then(|inside| inside.strip_prefix('/')) {
        Some(inside) => format!("res://{inside}"),
        None => path,
    }
}

/// The text of a source that is a file of the project, and no large one.
fn source(path: &str, project: &Path) -> Option<String> {
    let file = fs::canonicalize(PathBuf::from(path)).ok()?;
    if !file.starts_with(fs::canonicalize(project).ok()?) {
        return None;
    }
    let about = fs::metadata(&file).ok()?;
    if !about.is_file() || about.len() > MAX_SOURCE_BYTES {
        return None;
    }
    fs::read_to_string(file).ok()
}
