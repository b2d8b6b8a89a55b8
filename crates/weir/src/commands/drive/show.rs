//! `weir drive show`: a profile in words and as the TOML that a user copies.

use weir_model::{DriveProfile, Faults};
use weir_report::data_sheet;

use crate::output;

/// The words are comments, so that the whole output is a profile.
pub(super) fn execute(profile: &DriveProfile) -> anyhow::Result<()> {
    output::text(words(profile)?)?;
    output::text(toml::to_string_pretty(profile)?)
}

fn words(profile: &DriveProfile) -> anyhow::Result<String> {
    let words = profile.validation().words();
    let mut lines: Vec<String> = words
        .map(|words| format!("This profile {words}."))
        .into_iter()
        .collect();
    lines.extend([profile.title.clone(), String::new()]);
    let sheet = data_sheet(profile);
    lines.extend(sheet.iter().map(|(label, text)| format!("{label}: {text}")));
    let table = toml::Table::try_from(Faults::default())?;
    let faults: Vec<_> = table.keys().map(String::as_str).collect();
    lines.push(format!(
        "Faults: none until `weir drive set` makes some of {}",
        faults.join(", ")
    ));
    let comment = |line: &String| format!("# {line}").trim_end().to_owned() + "\n";
    Ok(lines.iter().map(comment).collect::<String>() + "\n")
}
