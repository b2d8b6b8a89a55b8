//! A study's smaller self: what its `[reduced]` table says, put over the rest.
//!
//! A published study has more cells than an afternoon has minutes. `[reduced]` names the levels, times
//! and repetitions of a version that fits; all else stays, so that both ask the same question.

use toml::{Table, Value};
use weir_model::parse_toml;

use crate::{StudyError, StudyFile};

/// The text of the study file called `name` with its `[reduced]` table put over the rest: tables are
/// merged key by key, everything else is replaced. The text is a study file of its own.
///
/// # Errors
/// If the text is no study, or has no `[reduced]` table.
pub fn reduced(name: &str, text: &str) -> Result<String, StudyError> {
    let syntax = |message: String| StudyError::Syntax {
        file: name.to_owned(),
        message,
    };
    // As written first: its errors have line numbers.
    StudyFile::parse(name, text)?;
    let mut study: Table = parse_toml(text).map_err(syntax)?;
    let Some(Value::Table(reduction)) = study.remove("reduced") else {
        return Err(syntax(
            "it has no [reduced] table; add one with the settings of a shorter version, or run it whole"
                .to_owned(),
        ));
    };
    overlay(&mut study, reduction);
    let text = toml::to_string(&study).map_err(|error| syntax(error.to_string()))?;
    StudyFile::parse(&format!("{name}, [reduced]"), &text)?;
    Ok(text)
}

fn overlay(study: &mut Table, reduction: Table) {
    for (key, value) in reduction {
        match (study.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(value)) => overlay(known, value),
            (_, value) => {
                study.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
        [study]
        title = "t"
        question = "q"
        [server]
        [data]
        workload = "oltp_write_only"
        rows = 1000
        [load]
        threads = 64
        warmup = "auto"
        measure = "300s"
        [factors]
        drive = ["intel-p4610", "null"]
        threads = [1, 8, 64]
    "#;

    #[test]
    fn tables_are_merged_and_all_else_is_replaced() {
        let text = format!(
            "{STUDY}\n[reduced]\nload = {{ measure = \"5s\" }}\nfactors = {{ threads = [8] }}\n"
        );
        let study: Table = toml::from_str(&reduced("s", &text).unwrap()).unwrap();
        assert_eq!(study["load"]["measure"].as_str(), Some("5s"));
        assert_eq!(study["load"]["warmup"].as_str(), Some("auto"));
        assert_eq!(study["factors"]["threads"].as_array().unwrap().len(), 1);
        assert_eq!(study["factors"]["drive"].as_array().unwrap().len(), 2);
        assert!(!study.contains_key("reduced"));
    }

    #[test]
    fn a_wrong_key_in_it_is_found_and_a_study_without_it_says_so() {
        let text = format!("{STUDY}\n[reduced.load]\nmesure = \"5s\"\n");
        let error = reduced("s", &text).unwrap_err().to_string();
        assert!(
            error.contains("[reduced]") && error.contains("measure"),
            "{error}"
        );
        let error = reduced("s", STUDY).unwrap_err().to_string();
        assert!(error.contains("no [reduced] table"), "{error}");
    }
}
