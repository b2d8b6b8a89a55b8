//! Which servers the model describes: settings that it has no terms for are refused, not ignored.

use std::collections::BTreeMap;

use crate::PredictError;

/// A variable that has to have one of these values, and what the model takes for granted because of it.
struct Granted {
    name: &'static str,
    values: &'static [&'static str],
    why: &'static str,
}

const GRANTED: [Granted; 3] = [
    Granted {
        name: "innodb_page_size",
        values: &["16384", "16K"],
        why: "pages are taken to be 16 KiB",
    },
    Granted {
        name: "innodb_old_blocks_pct",
        values: &["37"],
        why: "37 % of a pool's list is taken to be its old part",
    },
    Granted {
        name: "innodb_random_read_ahead",
        values: &["OFF", "0"],
        why: "pages are taken to be read when they are asked for",
    },
];

/// An error if a server with these variables, by their names, is outside of the model.
pub fn check_variables(variables: &BTreeMap<String, String>) -> Result<(), PredictError> {
    for granted in &GRANTED {
        let Some(value) = variables.get(granted.name) else {
            continue;
        };
        let mut values = granted.values.iter();
        if !values.any(|known| known.eq_ignore_ascii_case(value)) {
            return Err(PredictError::Outside {
                what: granted.name,
                value: value.clone(),
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
