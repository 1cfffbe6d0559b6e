//! What a client declares that it can do without: the `didi/responseEconomy` extension.
//!
//! Spec: P-26, response economy.

use serde_json::Value;

use super::Economy;

/// The extension's name.
pub const EXTENSION: &str = "didi/responseEconomy";

/// Every value that this server honours.
pub const VALUES: [&str; 2] = ["textCopy", "sessionDescriptor"];

impl Economy {
    /// Reads a client's capabilities. A value that is not known is passed over, and a declaration of another
    /// shape declares nothing.
    pub fn declared(capabilities: &Value) -> Self {
        let omit = &capabilities["extensions"][EXTENSION]["omit"];
        let Some(values) = omit.as_array().filter(|all| all.iter().all(Value::is_string)) else {
            return Economy::default();
        };
        let has = |name: &str| values.iter().any(|value| value == name);
        Economy { omit_text_copy: has(VALUES[0]), omit_session_descriptor: has(VALUES[1]) }
    }

    /// Both declarations together.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Economy {
            omit_text_copy: self.omit_text_copy || other.omit_text_copy,
            omit_session_descriptor: self.omit_session_descriptor || other.omit_session_descriptor,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Economy;

    #[test]
    fn only_a_well_formed_declaration_declares() {
        let read = |omit| {
            let economy =
                Economy::declared(&json!({"extensions": {"didi/responseEconomy": {"omit": omit}}}));
            (economy.omit_text_copy, economy.omit_session_descriptor)
        };
        assert_eq!(read(json!(["textCopy", "later", "sessionDescriptor"])), (true, true));
        assert_eq!(read(json!(["textCopy"])), (true, false));
        assert_eq!(read(json!("textCopy")), (false, false));
        assert_eq!(read(json!(["textCopy", 7])), (false, false));
        assert_eq!(Economy::declared(&json!({})), Economy::default());
    }
}
