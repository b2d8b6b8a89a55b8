//! Tables to be made on their way to an agent: all but the password, which travels sealed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_load::{BinaryLog, PreparePlan, TableOptions, Workload};
use weir_model::{Secret, WorkloadSpec};
use weir_mysql::Compression;

use crate::endpoint_message::EndpointMessage;

/// A plan of tables as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PrepareMessage {
    server: EndpointMessage,
    workload: WorkloadSpec,
    tables: TableOptions,
    threads: u32,
    seed: u64,
    keeps_out_of_binary_log: bool,
    compression: Option<Compression>,
    only: Option<BTreeSet<usize>>,
    /// Whether to write also to a server that is a replica or read-only.
    pub(crate) writes_replicas: bool,
}

impl PrepareMessage {
    pub(crate) fn new(plan: &PreparePlan, writes_replicas: bool) -> Self {
        Self {
            server: EndpointMessage::new(&plan.endpoint, &[]),
            workload: plan.workload.spec(),
            tables: plan.tables.clone(),
            threads: plan.threads,
            seed: plan.seed,
            keeps_out_of_binary_log: plan.binary_log == BinaryLog::Off,
            compression: plan.compression,
            only: plan.only.clone(),
            writes_replicas,
        }
    }

    /// The plan; an error says what is wrong with it.
    pub(crate) fn plan(self, password: Secret) -> Result<PreparePlan, String> {
        let (endpoint, _) = self.server.endpoint(password)?;
        let mut plan = PreparePlan::new(endpoint, Workload::try_from(&self.workload)?);
        plan.tables = self.tables;
        plan.threads = self.threads;
        plan.seed = self.seed;
        if self.keeps_out_of_binary_log {
            plan.binary_log = BinaryLog::Off;
        }
        plan.compression = self.compression;
        plan.only = self.only;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use weir_model::WorkloadName;

    use super::*;
    use crate::endpoint_message::tests::with_password;

    #[test]
    fn a_plan_of_tables_arrives_as_it_was_without_its_password() {
        let mut plan = PreparePlan::new(with_password(), WorkloadName::OltpReadWrite);
        plan.tables.tables = 7;
        plan.tables.table_options = "ROW_FORMAT=COMPRESSED".to_owned();
        plan.threads = 6;
        plan.seed = u64::MAX;
        plan.binary_log = BinaryLog::Off;
        plan.compression = Some(Compression::Zstd);
        let plan = plan.deal(3).unwrap().remove(1);
        let written = serde_json::to_string(&PrepareMessage::new(&plan, true)).unwrap();
        assert!(!written.contains("sesame"), "{written}");
        let read: PrepareMessage = serde_json::from_str(&written).unwrap();
        let arrived = read.plan(plan.endpoint.password.clone()).unwrap();
        assert_eq!(format!("{arrived:?}"), format!("{plan:?}"));
    }
}
