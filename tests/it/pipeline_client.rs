//! The Pipeline's client: the program against a scripted Unity, and against Didi's own server.

mod exits;
mod forms;
mod jobs;
mod pack;
mod same;
mod status;

use didi_tests::server::Ran;
use serde_json::Value;

/// The envelope that a run printed.
pub(crate) fn envelope(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The code of the first error of a run.
pub(crate) fn code(ran: &Ran) -> String {
    envelope(ran)["errors"][0]["code"].as_str().unwrap_or_default().to_owned()
}
