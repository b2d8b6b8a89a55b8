//! Settings of the user's servers that a killed weir left changed: told by every command until they
//! are put back.

use weir_model::ServerUrl;
use weir_server::{LeftChanged, forget_left_changed, put_back_left};

use super::external_server;

/// A line for each of them, with what puts it back.
pub(crate) fn lines() -> Vec<String> {
    weir_server::left_changed().iter().map(line).collect()
}

fn line(left: &LeftChanged) -> String {
    format!(
        "{}: {} is still changed (the weir that changed it at {} was killed); run `weir clean --put-back`, or \
         send `{}` there yourself and run `weir clean --forget-settings`",
        left.server, left.variable, left.changed_at, left.statement
    )
}

/// Forgets all of them.
pub(crate) fn forget() -> Option<String> {
    match forget_left_changed() {
        0 => None,
        count => Some(format!("forgot {count} settings that were left changed")),
    }
}

/// Puts all of them back, server by server: what was done or failed, and whether nothing failed.
pub(crate) fn put_back(ask_password: bool) -> anyhow::Result<(Vec<String>, bool)> {
    let left = weir_server::left_changed();
    if left.is_empty() {
        return Ok((Vec::new(), true));
    }
    let config = external_server::client_config(ask_password)?;
    let put_back_one = |left: &LeftChanged| -> anyhow::Result<()> {
        let url: ServerUrl = left.server.parse().map_err(anyhow::Error::msg)?;
        Ok(put_back_left(
            &mut external_server::open(&url, &config)?,
            left,
        )?)
    };
    let mut is_complete = true;
    let lines = left.iter().map(|left| match put_back_one(left) {
        Ok(()) => format!("put back on {}: {}", left.server, left.statement),
        Err(error) => {
            is_complete = false;
            format!("{}, which failed: {error}", line(left))
        }
    });
    let lines = lines.collect();
    Ok((lines, is_complete))
}
