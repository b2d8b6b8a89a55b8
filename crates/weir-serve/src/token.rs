//! Secrets of this server: generated, or from a file; compared in constant time, never printed by
//! `Debug`.

use std::fmt;
use std::fs;
use std::path::Path;

use rand::distr::{Alphanumeric, SampleString};
use subtle::ConstantTimeEq;

use crate::ServeError;

/// Letters and digits of a generated token: 190 bits.
const LENGTH: usize = 32;
/// A token that a person chose is no shorter.
const LENGTH_MIN: usize = 16;

/// Token that opens the server to a reader.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new random one.
    pub fn generate() -> Self {
        Self(Alphanumeric.sample_string(&mut rand::rng(), LENGTH))
    }

    /// The first line of the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, or its first line is too short for a token.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        let refused = |why: String| ServeError::TokenFile {
            path: path.to_owned(),
            why,
        };
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let token = text.lines().next().unwrap_or_default().trim();
        if token.len() < LENGTH_MIN {
            return Err(refused(format!(
                "its first line has {} characters",
                token.len()
            )));
        }
        Ok(Self(token.to_owned()))
    }

    /// The secret itself, to be printed once for the user who started the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}
