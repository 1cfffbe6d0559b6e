//! A command's parameters as the struct that its method declares.

use didi_wire::BridgeError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A call's parameters, unread.
pub(crate) type Params = Map<String, Value>;

/// Reads all parameters; the server has checked them against the tool's schema, so this is a second line.
pub(crate) fn read<T: DeserializeOwned>(params: &Params) -> Result<T, BridgeError> {
    serde_json::from_value(Value::Object(params.clone())).map_err(|error| {
        BridgeError::new(400, "invalid_arguments", format!("the parameters do not fit: {error}"))
    })
}

/// What a flag is that is on unless a caller says otherwise.
pub(crate) fn yes() -> bool {
    true
}
