//! Disk: size of the data files, their growth, and the room beside them, if they are on this host.

use std::path::Path;
use std::time::Instant;

use super::finding::{CounterValue, Finding, Unit, Weight};
use super::reader::Reader;
use crate::innodb_view::innodb_view;
use crate::{ServerError, space_available};

/// Free space that the growth of the window fills sooner is a problem, seconds: a window is too short to tell of days.
const SOON_S: f64 = 3600.0;

/// Size of the data files at the beginning of a window.
#[derive(Debug)]
pub(super) struct Disk {
    before: Option<f64>,
    at: Instant,
}

impl Disk {
    pub(super) fn start(reader: &mut Reader) -> Result<Self, ServerError> {
        Ok(Self {
            before: size(reader)?,
            at: Instant::now(),
        })
    }

    /// Size now, growth since the beginning, and free space at `data_dir`.
    pub(super) fn end(
        &self,
        reader: &mut Reader,
        data_dir: Option<&Path>,
    ) -> Result<Vec<Finding>, ServerError> {
        let Some(before) = self.before else {
            return Ok(Vec::new());
        };
        let after = size(reader)?.unwrap_or(before);
        let growth = (after - before).max(0.0) / self.at.elapsed().as_secs_f64();
        let free = data_dir.and_then(|directory| space_available(directory).ok());
        Ok(vec![judge(after, growth, free.map(|free| free.0 as f64))])
    }
}

/// Bytes of all tablespaces of `InnoDB`.
fn size(reader: &mut Reader) -> Result<Option<f64>, ServerError> {
    let greeting = reader.greeting();
    let query = format!(
        "SELECT IFNULL(SUM(FILE_SIZE), 0) FROM {} weir_look",
        innodb_view(&greeting, "TABLESPACES")
    );
    let answer = reader.rows::<(f64,)>(&query);
    let rows = reader.if_permitted(
        "size of the data",
        "GRANT PROCESS ON *.* TO the account",
        answer,
    )?;
    Ok(rows.and_then(|rows| rows.first().map(|(size,)| *size)))
}

fn judge(size: f64, growth: f64, free: Option<f64>) -> Finding {
    let is_problem = free.is_some_and(|free| growth > 0.0 && free / growth < SOON_S);
    let (weight, text) = if is_problem {
        (
            Weight::Problem,
            "at this growth the disk is full within an hour",
        )
    } else {
        (Weight::Fact, "")
    };
    let mut readings = vec![
        CounterValue::new("FILE_SIZE", size, Unit::Bytes),
        CounterValue::new("growth of FILE_SIZE a second", growth, Unit::Bytes),
    ];
    readings.extend(free.map(|free| CounterValue::new("free at datadir", free, Unit::Bytes)));
    Finding::new(
        "data",
        weight,
        text,
        readings,
        "information_schema, tablespaces of InnoDB",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_that_fills_the_disk_within_an_hour_is_a_problem() {
        let weight = |growth: f64, free| judge(1e9, growth, free).weight;
        assert_eq!(weight(1e7, Some(1e10)), Weight::Problem);
        assert_eq!(weight(1e6, Some(1e12)), Weight::Fact);
        assert_eq!(weight(0.0, Some(1.0)), Weight::Fact);
        assert_eq!(weight(1e6, None), Weight::Fact);
    }
}
