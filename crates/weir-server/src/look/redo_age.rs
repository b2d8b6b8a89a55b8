//! Age of the redo log's checkpoint, of servers that have no counter for it.

use super::reader::Reader;
use crate::ServerError;

/// Reads the age from the text of InnoDB's monitor, bytes.
pub(super) fn look(reader: &mut Reader) -> Result<Option<f64>, ServerError> {
    let answer = reader.named_rows("SHOW ENGINE INNODB STATUS");
    let grant = "GRANT PROCESS ON *.* TO the account";
    let rows = reader.if_permitted("age of the redo log", grant, answer)?;
    let text = rows.and_then(|rows| rows.first()?.get("Status").cloned());
    Ok(text.and_then(|text| age(&text)))
}

fn age(monitor: &str) -> Option<f64> {
    let number = |name: &str| -> Option<f64> {
        let line = monitor.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some((number("Log sequence number")? - number("Last checkpoint at")?).max(0.0))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_age_is_the_distance_of_two_positions() {
        let text = "LOG\n---\nLog sequence number 13123045\nLog flushed up to   13123045\nLast checkpoint at  2534301\n";
        assert_eq!(super::age(text), Some(10_588_744.0));
        assert_eq!(super::age("LOG\n"), None);
    }
}
