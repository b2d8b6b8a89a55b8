//! Events of a study's timeline: read, and checked against the cells in which they happen.

use weir_model::{Cell, DataSource, EventKind, Plan, TimelineEvent, Warm, WorkloadSpec, nearest};

use super::{Resolver, check_name};
use crate::StudyError;

impl Resolver<'_> {
    /// All events of the study file.
    pub(super) fn events(&self) -> Result<Vec<TimelineEvent>, StudyError> {
        let mut events: Vec<TimelineEvent> = Vec::new();
        for section in &self.file.events {
            let name = &section.name;
            let error = |why| self.error("events.name", format!("`{name}`"), why);
            check_name(name, events.iter().map(|event| event.name.as_str())).map_err(error)?;
            let event = section.resolve();
            let event = event.map_err(|(key, value, why)| {
                self.error(&format!("events.{name}.{key}"), value, why)
            })?;
            let leaves_traces = event.kind.changes_tables() || event.kind.ends_server();
            if leaves_traces && !self.file.repeat.within_server.is_empty() {
                return Err(error(
                    "runs that share a server would find what it left; leave within_server out",
                ));
            }
            events.push(event);
        }
        Ok(events)
    }

    /// Each event must be within its run, about a table that there is, and happen in at least one cell; a setting
    /// `event.KEY` must be one of an event.
    pub(super) fn check_events(
        &self,
        plan: &Plan,
        events: &[TimelineEvent],
    ) -> Result<(), StudyError> {
        for event in plan.cells.iter().flat_map(|cell| {
            let timeline = cell.spec.timeline.iter();
            timeline.map(move |event| (cell, event))
        }) {
            self.check_event(event.0, event.1)?;
        }
        let happens = |event: &&TimelineEvent| {
            let mut all = plan.cells.iter().flat_map(|cell| &cell.spec.timeline);
            all.any(|other| other.name == event.name)
        };
        match events.iter().find(|event| !happens(event)) {
            Some(event) => {
                let why = "no level of factor `event` names it; leave it out, or add a level";
                Err(self.error("events.name", format!("`{}`", event.name), why))
            }
            None => Ok(()),
        }
    }

    /// Checks the needs of an event's kind against its cell.
    fn check_kind(&self, cell: &Cell, event: &TimelineEvent) -> Result<(), StudyError> {
        let wrong = |key: &str, value: String, why: &str| {
            let key = format!("events.{}.{key}", event.name);
            Err(self.error(&key, value, why.to_owned()))
        };
        match &event.kind {
            EventKind::Rate { rate } if cell.spec.load.pace.rate().is_none() => {
                let why = "a closed loop has no rate; add `rate` to [load]";
                wrong("rate", rate.to_string(), why)
            }
            EventKind::Rate { rate } if !(*rate > 0.0 && rate.is_finite()) => {
                wrong("rate", rate.to_string(), "must be above 0")
            }
            EventKind::Failover { .. } if cell.spec.topology.replicas().is_empty() => wrong(
                "kind",
                "`failover`".to_owned(),
                "no replica takes over; add `replicas = 1` to [server]",
            ),
            EventKind::Failover {
                warm: Warm::OwnReads(_),
            } if !matches!(cell.spec.workload, WorkloadSpec::Sysbench(_)) => wrong(
                "warm",
                "`own reads`".to_owned(),
                "needs one of sysbench's workloads",
            ),
            EventKind::Drive { .. } if cell.spec.primary().drive.is_none() => wrong(
                "kind",
                "`drive`".to_owned(),
                "no drive is emulated; add the factor `drive`",
            ),
            _ => Ok(()),
        }
    }

    fn check_event(&self, cell: &Cell, event: &TimelineEvent) -> Result<(), StudyError> {
        let key = |key| format!("events.{}.{key}", event.name);
        let measure = cell.spec.load.measure;
        if event.at >= measure {
            let why = format!("must be before the end of the measurement, {measure}");
            return Err(self.error(&key("at"), event.at, why));
        }
        self.check_kind(cell, event)?;
        let Some(table) = event.kind.table() else {
            return Ok(());
        };
        // A script's and a snapshot's are known only when it runs; the server then says what is missing.
        if matches!(
            cell.spec.data.source,
            DataSource::Lua | DataSource::Snapshot { .. }
        ) {
            return Ok(());
        }
        let tables = tables(&cell.spec.data.source);
        if tables.iter().any(|known| known == table) {
            return Ok(());
        }
        let why = match nearest(table, tables.iter().map(String::as_str)) {
            Some(near) => format!("no such table; did you mean `{near}`?"),
            None => format!("no such table; the workload has {}", some_of(&tables)),
        };
        Err(self.error(&key("table"), format!("`{table}`"), why))
    }
}

/// Names of the tables.
fn tables(source: &DataSource) -> Vec<String> {
    match source {
        DataSource::Sysbench { tables, .. } => (1..=*tables)
            .map(|number| format!("sbtest{number}"))
            .collect(),
        DataSource::File { sizes } | DataSource::OrderEntry { sizes } => {
            sizes.iter().map(|size| size.name.clone()).collect()
        }
        DataSource::Lua | DataSource::Snapshot { .. } => Vec::new(),
    }
}

/// The first and the last of many.
fn some_of(tables: &[String]) -> String {
    match tables {
        [first, .., last] if tables.len() > 3 => format!("{first} to {last}"),
        all => all.join(", "),
    }
}
