//! `didi status` and `didi list`: which instances there are, and whether they are ready.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};

use super::{
    link::{project_folder, within},
    outcome::Trouble,
    output::Report,
};
use crate::{
    cancel::Cancel,
    cli::{Options, client::StatusOptions},
    pipeline::client::{
        Ask, Client, Failure,
        find::{self, Found, NotFound, Wanted},
    },
    source,
};

const VERB: &str = "status";
/// How long one instance may take to say how it is.
const ASK_LIMIT: Duration = Duration::from_secs(3);
/// Between two looks of `--until-ready`.
const BETWEEN: Duration = Duration::from_millis(500);
const UNTIL_READY: Duration = Duration::from_secs(300);

/// `didi list`.
pub fn list(options: &Options) -> Report {
    let found = find::list(&options.pipelines(), &Cancel::default());
    let rows: Vec<Value> = found.iter().map(row).collect();
    let data = json!({"instances": found.iter().map(Found::public).collect::<Vec<_>>()});
    Report::of("list", data, rows.into())
}

fn row(found: &Found) -> Value {
    let mut row = find::identity(&found.descriptor);
    row["version"] = found.descriptor.engine_version.clone().into();
    row["kind"] = found.descriptor.instance.kind().into();
    row["process"] = found.process.as_str().into();
    row
}

/// `didi status`.
pub fn run(options: &Options, wish: &StatusOptions, cancel: &Cancel) -> Report {
    attempt(options, wish, cancel).unwrap_or_else(|trouble| Report::failed(VERB, trouble))
}

fn attempt(options: &Options, wish: &StatusOptions, cancel: &Cancel) -> Result<Report, Trouble> {
    if wish.timeout.is_some() && !wish.until_ready {
        let message = "`--timeout` is how long `--until-ready` waits, and that is not given";
        return Err(Trouble::new("STATUS_TIMEOUT_REQUIRES_UNTIL_READY", 2, message)
            .hint("add --until-ready, or leave --timeout out"));
    }
    let project = wish.project_path.as_ref().or(options.project.as_ref());
    let project = project.map(|named| project_folder(named)).transpose()?;
    let deadline = within(wish.timeout.map_or(UNTIL_READY, Duration::from_secs));
    loop {
        let report = look(options, wish, project.as_deref(), cancel)?;
        let is_ready = report.troubles.is_empty();
        if is_ready || !wish.until_ready || source::now() + BETWEEN >= deadline {
            return Ok(report);
        }
        if cancel.wait(BETWEEN) {
            return Err(Failure::Cancelled { sent: false }.into());
        }
    }
}

fn look(
    options: &Options,
    wish: &StatusOptions,
    project: Option<&Path>,
    cancel: &Cancel,
) -> Result<Report, Trouble> {
    let mut found = meant(options, project, cancel)?;
    if let Some(port) = wish.port {
        found.retain(|it| it.descriptor.port == port);
    }
    let rows: Vec<Value> = found.iter().map(|it| ask(it, cancel)).collect();
    let mut report = Report::of(VERB, json!({"instances": rows}), rows.clone().into());
    report.troubles.extend(judge(&rows, wish, project));
    Ok(report)
}

fn meant(
    options: &Options,
    project: Option<&Path>,
    cancel: &Cancel,
) -> Result<Vec<Found>, Trouble> {
    let places = options.pipelines();
    let Some(project) = project else {
        let mut found = find::list(&places, cancel);
        found.retain(Found::runs);
        // One that only the working folder leads to is seen, too.
        let here = std::env::current_dir().ok();
        let near = here.and_then(|here| find::above(&here, cancel).ok());
        found.extend(near.filter(|near| found.iter().all(|known| !known.is_same(near))));
        return Ok(found);
    };
    match find::find(&Wanted::Project(project.to_owned()), &places, cancel) {
        Ok(found) => Ok(vec![found]),
        Err(NotFound::Nothing { .. }) => Ok(vec![]),
        Err(other) => Err(other.into()),
    }
}

/// One instance with what it says of itself.
fn ask(found: &Found, cancel: &Cancel) -> Value {
    let mut row = find::identity(&found.descriptor);
    row["state"] = "unreachable".into();
    row["version"] = found.descriptor.engine_version.clone().into();
    let Ok(client) = Client::new(found, cancel) else { return row };
    match client.once(Ask::get("/api/status"), within(ASK_LIMIT)) {
        Ok(answer) if answer.status == 200 => {
            let said = answer.json().unwrap_or_default();
            row["state"] = said["status"].as_str().unwrap_or("unknown").into();
            if let Some(dialog) = said.get("dialog").filter(|dialog| !dialog.is_null()) {
                row["dialog"] = dialog.clone();
            }
        }
        Ok(answer) => row["state"] = format!("status {}", answer.status).into(),
        Err(failure) => row["why"] = failure.to_string().into(),
    }
    row
}

/// Whether all is well.
fn judge(rows: &[Value], wish: &StatusOptions, project: Option<&Path>) -> Option<Trouble> {
    if rows.is_empty() {
        return Some(nobody(wish, project));
    }
    let is = |row: &Value, state: &str| row["state"] == state;
    if rows.iter().all(|row| is(row, "unreachable")) {
        let message = "no instance answers, though their processes are there";
        return Some(
            Trouble::new("STATUS_ALL_UNREACHABLE", 6, message)
                .hint("they may load their code anew; `didi status --until-ready` waits"),
        );
    }
    let busy: Vec<_> = rows.iter().filter(|row| !is(row, "ready")).collect();
    let first = busy.first()?;
    let message = format!(
        "{} is {}",
        first["project"].as_str().unwrap_or("an instance"),
        first["state"].as_str().unwrap_or("unknown")
    );
    Some(Trouble::new("STATUS_NOT_READY", 6, message).hint(if is(first, "blocked_by_dialog") {
        "somebody has to answer the dialog that is open there"
    } else {
        "`didi status --until-ready` waits"
    }))
}

/// Nobody, or an editor that has the project open and does not say yet where it listens.
fn nobody(wish: &StatusOptions, project: Option<&Path>) -> Trouble {
    let open = find::open_projects();
    let same =
        |it: &Path| project.is_some_and(|project| it.canonicalize().is_ok_and(|it| it == project));
    let is_open = if project.is_some() { open.iter().any(|it| same(it)) } else { !open.is_empty() };
    if is_open && wish.port.is_none() {
        return Trouble::new(
            "STATUS_PIPELINE_LOAD_PENDING",
            6,
            "an editor runs and does not listen yet",
        )
        .hint("it still loads, or its project lacks the package com.unity.pipeline");
    }
    Trouble::new("STATUS_NO_INSTANCES", 6, "no instance runs")
        .hint("open the project in its editor, or start `didi pipeline serve`")
}
