//! Servers that the model describes: settings that it has no terms for are refused, not ignored.

use std::collections::BTreeMap;

use weir_model::variables::PAGE_SIZE;
use weir_model::{Flavor, ServerVariables};

use crate::PredictError;

/// A variable that has to have one value, and what the model takes for granted because of it.
struct RequiredSetting {
    name: &'static str,
    value: &'static str,
    why: &'static str,
}

const GRANTED: [RequiredSetting; 3] = [
    RequiredSetting {
        name: PAGE_SIZE,
        value: "16384",
        why: "pages are taken to be 16 KiB",
    },
    RequiredSetting {
        name: "innodb_old_blocks_pct",
        value: "37",
        why: "37 % of a pool's list is taken to be its old part",
    },
    RequiredSetting {
        name: "innodb_random_read_ahead",
        value: "OFF",
        why: "pages are taken to be read when they are asked for",
    },
];

/// An error if a server with these variables, in any spelling, is outside of the model.
///
/// # Errors
///
/// A variable with a value that the model does not know.
pub fn check_variables(variables: &BTreeMap<String, String>) -> Result<(), PredictError> {
    // What these three mean is the same on both.
    let flavor = Flavor::Mysql;
    let found = ServerVariables::written(flavor, variables);
    for granted in &GRANTED {
        let wanted = BTreeMap::from([(granted.name.to_owned(), granted.value.to_owned())]);
        let wanted = ServerVariables::said(flavor, &wanted);
        let Some(value) = found.get(granted.name) else {
            continue;
        };
        if !found.agrees(&wanted, granted.name) {
            return Err(PredictError::Outside {
                what: granted.name,
                value: value.to_owned(),
                why: granted.why,
                remedy: "give a drive trace of a run with a tiny pool for its misses, or ask with that variable's default",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(name: &str, value: &str) -> Result<(), String> {
        let variables = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        check_variables(&variables).map_err(|error| error.to_string())
    }

    #[test]
    fn what_the_model_has_no_terms_for_is_refused_by_name() {
        assert_eq!(checked("innodb_page_size", "16k"), Ok(()));
        assert_eq!(checked("innodb-random-read-ahead", "FALSE"), Ok(()));
        assert_eq!(checked("innodb_io_capacity", "17"), Ok(()));
        for (name, value) in [
            ("innodb_page_size", "4K"),
            ("innodb_old_blocks_pct", "5"),
            ("innodb_random_read_ahead", "ON"),
        ] {
            let error = checked(name, value).unwrap_err();
            assert!(
                error.contains(name) && error.contains(value) && error.contains("trace"),
                "{error}"
            );
        }
    }
}
