//! A load plan as text, on its way to another process: all but the password, which travels apart.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use weir_model::{LoadSpec, Secret, WorkloadSpec};
use weir_workload::Workload;

use super::endpoint_message::EndpointMessage;
use super::{LoadPlan, ToleratedErrors, reactors_for};
use crate::reactor_kind::ReactorKind;
use crate::share::Share;

/// A load plan as text, for one process: all of it, or a share.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // as in the plan
pub struct PlanMessage {
    workload: WorkloadSpec,
    tables: u32,
    rows: u64,
    load: LoadSpec,
    /// As many on each host; `None`: as suits the host.
    reactors: Option<u32>,
    reactor: ReactorKind,
    interval_ms: u64,
    checkpoints_ms: Vec<u64>,
    max_events: Option<u64>,
    seed: u64,
    auto_increment: bool,
    /// Codes of errors that do not end the run; `None`: all.
    tolerated: Option<Vec<u16>>,
    prepared_statements: bool,
    reconnect: bool,
    reconnect_every: Option<u64>,
    ends_with_sessions: bool,
    short_intervals: bool,
    /// Milliseconds after the beginning of the measurement, and transactions per second from then on.
    rate_changes: Vec<(u64, f64)>,
    init_timeout_ms: u64,
    share: Option<Share>,
    servers: EndpointMessage,
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl PlanMessage {
    /// This share of `plan`, or all of it.
    pub fn new(plan: &LoadPlan, share: Option<Share>) -> Self {
        let usual = reactors_for(plan.load.connections);
        Self {
            workload: plan.workload.spec(),
            tables: plan.tables,
            rows: plan.rows,
            load: plan.load.clone(),
            reactors: (plan.reactors != usual).then_some(plan.reactors),
            reactor: plan.reactor,
            interval_ms: ms(plan.interval),
            checkpoints_ms: plan.checkpoints.iter().copied().map(ms).collect(),
            max_events: plan.max_events,
            seed: plan.seed,
            auto_increment: plan.auto_increment,
            tolerated: match &plan.tolerated {
                ToleratedErrors::Codes(codes) => Some(codes.clone()),
                ToleratedErrors::All => None,
            },
            prepared_statements: plan.prepared_statements,
            reconnect: plan.reconnect,
            reconnect_every: plan.reconnect_every,
            ends_with_sessions: plan.ends_with_sessions,
            short_intervals: plan.short_intervals,
            rate_changes: {
                let changes = plan.rate_changes.iter();
                changes.map(|(at, per_s)| (ms(*at), *per_s)).collect()
            },
            init_timeout_ms: ms(plan.init_timeout),
            share,
            servers: EndpointMessage::new(&plan.endpoint, &plan.more_addresses),
        }
    }

    /// The plan.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn plan(self, password: Secret) -> Result<LoadPlan, String> {
        let (endpoint, more_addresses) = self.servers.endpoint(password)?;
        let mut plan = LoadPlan::new(endpoint, Workload::try_from(&self.workload)?);
        plan.more_addresses = more_addresses;
        (plan.tables, plan.rows) = (self.tables, self.rows);
        plan.load = self.load;
        plan.reactor = self.reactor;
        plan.interval = Duration::from_millis(self.interval_ms);
        let checkpoints = self.checkpoints_ms.into_iter();
        plan.checkpoints = checkpoints.map(Duration::from_millis).collect();
        plan.max_events = self.max_events;
        plan.seed = self.seed;
        plan.auto_increment = self.auto_increment;
        plan.tolerated = self
            .tolerated
            .map_or(ToleratedErrors::All, ToleratedErrors::Codes);
        plan.prepared_statements = self.prepared_statements;
        plan.reconnect = self.reconnect;
        plan.reconnect_every = self.reconnect_every;
        plan.ends_with_sessions = self.ends_with_sessions;
        plan.short_intervals = self.short_intervals;
        let changes = self.rate_changes.into_iter();
        let change = |(at_ms, per_s)| (Duration::from_millis(at_ms), per_s);
        plan.rate_changes = changes.map(change).collect();
        plan.init_timeout = Duration::from_millis(self.init_timeout_ms);
        plan.share = self.share;
        let own = reactors_for(plan.share().count());
        plan.reactors = self.reactors.unwrap_or(own);
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{Address, WorkloadName};

    use super::*;
    use crate::plan::endpoint_message::tests::with_password;

    #[test]
    fn a_plan_arrives_as_it_was_without_its_password() {
        let mut plan = LoadPlan::new(with_password(), WorkloadName::OltpReadWrite);
        plan.more_addresses = vec![Address::Socket("/run/x.sock".into())];
        plan.load.connections = 64;
        plan.load.idle_connections = 3;
        plan.checkpoints = vec![Duration::from_secs(4)];
        plan.max_events = Some(1_000);
        plan.seed = u64::MAX;
        plan.tolerated = ToleratedErrors::All;
        plan.reconnect_every = Some(5);
        plan.ends_with_sessions = true;
        plan.short_intervals = true;
        plan.rate_changes = vec![(Duration::from_secs(3), 50.0)];
        plan.reactors = 3;
        let share = plan.whole().deal(4).remove(1);
        let written = serde_json::to_string(&PlanMessage::new(&plan, Some(share.clone()))).unwrap();
        assert!(!written.contains("sesame"), "{written}");
        let read: PlanMessage = serde_json::from_str(&written).unwrap();
        let arrived = read.plan(plan.endpoint.password.clone()).unwrap();
        plan.share = Some(share);
        assert_eq!(format!("{arrived:?}"), format!("{plan:?}"));
    }
}
