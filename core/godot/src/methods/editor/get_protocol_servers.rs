//! `editor.getProtocolServers`: where the editor's language server and debug adapter listen.

use didi_engine::Answer;
use godot::{
    classes::{EditorInterface, EditorSettings},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{methods::Context, params::Params, surroundings};

/// The debug adapter listens on no other.
const LOCAL: &str = "127.0.0.1";

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let settings = EditorInterface::singleton().get_editor_settings();
    let server = |area: &str, option: &str| {
        settings.as_ref().map_or(Value::Null, |settings| server(settings, area, option))
    };
    let mut adapter = server("network/debug_adapter", "--dap-port");
    if adapter.is_object() {
        adapter["host"] = LOCAL.into();
    }
    Ok(json!({
        "language_server": server("network/language_server", "--lsp-port"),
        "debug_adapter": adapter,
    }))
}

/// The port of the debug adapter, where the engine has one.
pub(crate) fn debug_adapter_port() -> Option<u16> {
    let settings = EditorInterface::singleton().get_editor_settings()?;
    let adapter = server(&settings, "network/debug_adapter", "--dap-port");
    adapter["port"].as_u64().and_then(|port| u16::try_from(port).ok())
}

/// One server; nothing where the engine has no setting for it.
fn server(settings: &Gd<EditorSettings>, area: &str, option: &str) -> Value {
    let port = format!("{area}/remote_port");
    if !settings.has_setting(&port) {
        return Value::Null;
    }
    let settings_port = settings.get_setting(&port).try_to::<i64>().unwrap_or_default();
    let host = format!("{area}/remote_host");
    let host = if settings.has_setting(&host) {
        settings.get_setting(&host).stringify().to_string()
    } else {
        LOCAL.to_owned()
    };
    match from_command_line(option) {
        Some(port) => json!({
            "host": host,
            "port": port,
            "port_source": "command_line",
            "settings_port": settings_port,
        }),
        None => json!({ "host": host, "port": settings_port, "port_source": "editor_settings" }),
    }
}

/// The engine takes such options off its own list, so the process is asked.
fn from_command_line(option: &str) -> Option<u16> {
    let arguments = surroundings::arguments();
    let mut after = arguments.iter().skip_while(|argument| *argument != option).skip(1);
    after.next()?.parse().ok()
}
