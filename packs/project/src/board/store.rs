//! Reading and writing a board's file, `.didi/blackboard/<board>.json`.
//!
//! Several server processes share a board. A change is made on what was read and written only if the file
//! still holds it, so that a lost race is seen, read again and tried again. A read makes no file.
//!
//! Spec: P-51, boards.

use std::time::Duration;

use didi_plugin_api::{digest::sha256_hex, prelude::*};

use super::{Board, MAX_BOARD_BYTES};

/// How often a change is tried before the board counts as busy.
const TRIES: u64 = 40;
/// Longest pause between two tries, in milliseconds.
const MAX_PAUSE_MS: u64 = 20;
/// Longest name of a board, in characters.
const MAX_NAME_CHARS: usize = 64;
/// Largest value that a preview or a refusal shows whole, in bytes of JSON.
const MAX_SHOWN_BYTES: usize = 16 * 1024;

/// A board as it was found.
pub(crate) struct Found {
    pub(crate) board: Board,
    /// Whether the board was ever written.
    pub(crate) exists: bool,
    expect: Expect,
}

/// Whether an edit changed the board, with what it found out.
pub(crate) enum Edit<T> {
    Changed(T),
    /// Nothing is written.
    Same(T),
}

/// Reads a board; a board that nobody wrote is empty.
pub(crate) fn load(ctx: &Ctx<'_>, name: &str) -> Result<Found, Refusal> {
    let path = place(ctx, name)?;
    let now_ms = ctx.now_ms();
    let Some(bytes) = read(ctx, &path)? else {
        return Ok(Found {
            board: Board::empty(name, now_ms),
            exists: false,
            expect: Expect::Absent,
        });
    };
    let board = parse(name, &path, &bytes, now_ms)?;
    Ok(Found { board, exists: true, expect: Expect::Sha256(sha256_hex(&bytes)) })
}

/// Changes a board. `edit` may run several times, each time on the board as it then is. Answers the board
/// as the disk holds it.
pub(crate) fn change<T>(
    ctx: &Ctx<'_>,
    name: &str,
    edit: impl Fn(&mut Board) -> Result<Edit<T>, Refusal>,
) -> Result<(Board, T), Refusal> {
    let path = place(ctx, name)?;
    for attempt in 0..TRIES {
        ctx.check()?;
        std::thread::sleep(Duration::from_millis(attempt.min(MAX_PAUSE_MS)));
        let Found { mut board, expect, .. } = load(ctx, name)?;
        let outcome = match edit(&mut board)? {
            Edit::Same(outcome) => return Ok((board, outcome)),
            Edit::Changed(outcome) => outcome,
        };
        let bytes = board.seal()?;
        match ctx.project().write(&path, &bytes, expect) {
            Ok(written) => return Ok((read_back(&board, &path, &bytes, &written)?, outcome)),
            Err(refusal) if lost_race(&refusal) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let message = format!("other writers changed the board `{name}` before each of {TRIES} tries");
    Err(Refusal::new(codes::PROJECT_FILE_BUSY, message).retry_after_ms(1_000))
}

/// What a change would do: the same edit on a copy, and nothing is written.
pub(crate) fn preview<T>(
    ctx: &Ctx<'_>,
    name: &str,
    subject: String,
    look: impl Fn(&Board) -> Option<Value>,
    edit: impl Fn(&mut Board) -> Result<Edit<T>, Refusal>,
) -> Result<Target, Refusal> {
    let Found { board, .. } = load(ctx, name)?;
    let before = look(&board);
    let mut after = board;
    if let Edit::Changed(_) = edit(&mut after)? {
        after.seal()?;
    }
    let shown = |value: Option<Value>| value.map_or(Value::Null, |value| brief(&value));
    let exists = before.is_some();
    Ok(Target::read(subject, exists, shown(before)).after(shown(look(&after))))
}

/// A value that is small enough to be shown, else its size and digest.
pub(crate) fn brief(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_SHOWN_BYTES {
        return value.clone();
    }
    json!({"_truncated": true, "size_bytes": text.len(), "sha256": sha256_hex(text.as_bytes())})
}

fn place(ctx: &Ctx<'_>, name: &str) -> Result<ProjectPath, Refusal> {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(legal) {
        let message = format!(
            "`{}` is no name of a board: 1 to {MAX_NAME_CHARS} letters, digits, `_` and `-`",
            name.escape_debug()
        );
        return Err(Refusal::invalid("board", message));
    }
    ctx.project().resolve(&format!("res://.didi/blackboard/{name}.json"), "board")
}

fn read(ctx: &Ctx<'_>, path: &ProjectPath) -> Result<Option<Vec<u8>>, Refusal> {
    if path.is_dir() {
        return Err(unreadable(path, "it is a folder"));
    }
    match ctx.project().read(path, MAX_BOARD_BYTES as u64) {
        Err(refusal) if refusal.code == codes::NOT_FOUND => Ok(None),
        found => found.map(Some),
    }
}

fn parse(name: &str, path: &ProjectPath, bytes: &[u8], now_ms: u64) -> Result<Board, Refusal> {
    Board::parse(name, bytes, now_ms).map_err(|why| unreadable(path, &why))
}

fn unreadable(path: &ProjectPath, why: &str) -> Refusal {
    let message = format!("the board's file `{}` can't be understood: {why}", path.res_path());
    Refusal::new(codes::UNPROCESSABLE, message)
        .no_remedy("the file has to be repaired or moved away by hand; a board is never reset")
}

fn lost_race(refusal: &Refusal) -> bool {
    refusal.code == codes::CONFLICT || refusal.code == codes::ALREADY_EXISTS
}

/// The board that the disk holds, proven by the digest that the host read back.
fn read_back(
    board: &Board,
    path: &ProjectPath,
    bytes: &[u8],
    written: &Written,
) -> Result<Board, Refusal> {
    if written.sha256 != sha256_hex(bytes) {
        let message = format!("`{}` does not hold what was written", written.path);
        return Err(Refusal::new(codes::INTERNAL_ERROR, message)
            .no_remedy("the server is at fault, not the call"));
    }
    parse(&board.name, path, bytes, board.now_ms())
}
