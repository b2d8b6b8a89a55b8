//! pt-online-schema-change, where it is installed.

use std::path::PathBuf;

use crate::skipped;

const NAME: &str = "pt-online-schema-change";

/// The program, on the path or where `scripts/setup.sh --tests` puts it; without it, `test` is named as left out.
pub fn schema_change_tool(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let data = data.or(home).unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain([data.join("weir/percona-toolkit")])
        .map(|directory| directory.join(NAME))
        .find(|program| program.is_file());
    if found.is_none() {
        skipped(test, "no pt-online-schema-change (percona-toolkit)");
    }
    found
}
