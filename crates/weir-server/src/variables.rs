//! Variables that a server program has, and what it makes of settings.

mod ask;
mod at_start;
mod known;

use std::collections::BTreeMap;

use weir_model::{Flavor, ServerVersion};
use weir_variables::native_options;

use crate::ServerError;
pub use ask::{ServerAnswer, ask};
pub use known::{check_variables, known_variables};

/// `variables` in the names and values of one server ([`weir_variables::native_options`]).
///
/// # Errors
///
/// A variable or a value that this server has no words for.
pub fn translate(
    flavor: Flavor,
    version: ServerVersion,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ServerError> {
    Ok(native_options(flavor, version, variables)?)
}
