//! The token of a session: it leaves the private descriptor only inside a request, and no log prints it.

use std::fmt;

use subtle::ConstantTimeEq as _;

use crate::hex;

#[cfg(test)]
mod tests;

/// Bytes of a token; twice as many hex digits.
pub const TOKEN_BYTES: usize = 32;

/// The secret of one session.
///
/// It has no `Display` and no `Serialize`, and `Debug` prints `SessionToken(..)`; [`SessionToken::reveal`]
/// is the one way to its text.
#[derive(Clone)]
pub struct SessionToken([u8; 2 * TOKEN_BYTES]);

impl SessionToken {
    /// A token that nobody can guess.
    pub fn random() -> Self {
        Self::from_bytes(hex::random())
    }

    /// A token of given bytes, for tests and replays.
    pub fn from_bytes(bytes: [u8; TOKEN_BYTES]) -> Self {
        let mut digits = [0; 2 * TOKEN_BYTES];
        digits.copy_from_slice(hex::text(&bytes).as_bytes());
        SessionToken(digits)
    }

    /// Reads 64 lower-case hex digits; anything else is no token.
    pub fn parse(text: &str) -> Option<Self> {
        hex::bytes(text).map(Self::from_bytes)
    }

    /// Whether a text is this token, in a time that does not tell where they differ.
    ///
    /// All 64 bytes are compared. A text of another length is refused by its length alone, which is no
    /// secret.
    pub fn matches(&self, text: &str) -> bool {
        self.0.ct_eq(text.as_bytes()).into()
    }

    /// The 64 hex digits, for the private descriptor and for a request on its way out.
    pub fn reveal(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl PartialEq for SessionToken {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SessionToken {}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(..)")
    }
}
