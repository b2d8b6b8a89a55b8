//! `weir explain`.

use serde_json::{Value, json};
use weir_judge::{RULES, Rule};
use weir_report::table;

use crate::cli::ExplainArguments;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &ExplainArguments) -> anyhow::Result<Outcome> {
    match &arguments.rule {
        Some(name) => {
            let rule = Rule::by_id(name.parse()?);
            if arguments.json {
                output::line(serde_json::to_string_pretty(&as_json(rule))?)?;
            } else {
                explain(rule)?;
            }
        }
        None if arguments.json => {
            let all: Vec<_> = RULES.into_iter().map(as_json).collect();
            output::line(serde_json::to_string_pretty(&all)?)?;
        }
        None => {
            let row = |rule: &Rule| {
                vec![
                    rule.id.to_string(),
                    rule.title.to_owned(),
                    rule.severity_words(),
                ]
            };
            let rows: Vec<_> = RULES.into_iter().map(row).collect();
            output::text(table(&["rule", "asks", "severity"], &rows))?;
        }
    }
    Ok(Outcome::Done)
}

fn explain(rule: &Rule) -> anyhow::Result<()> {
    output::line(format_args!(
        "{}: {} ({})\n",
        rule.id,
        rule.title,
        rule.severity_words()
    ))?;
    output::line(format_args!("checked:    {}\n", rule.checked))?;
    output::line(format_args!("why:        {}\n", rule.reason))?;
    output::line(format_args!("what to do: {}\n", rule.remedy))?;
    output::line(format_args!("reference:  {}", rule.reference))
}

fn as_json(rule: &Rule) -> Value {
    json!({
        "rule": rule.id,
        "asks": rule.title,
        "severities": rule.severities,
        "checked": rule.checked,
        "why": rule.reason,
        "what_to_do": rule.remedy,
        "reference": rule.reference,
    })
}
