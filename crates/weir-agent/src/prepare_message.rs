//! Tables to be made on their way to an agent: all but the password, which travels sealed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_load::{BinaryLog, EndpointMessage, PreparePlan, TableOptions, Workload};
use weir_model::{Secret, WorkloadSpec};
use weir_mysql::Compression;

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
}

impl PrepareMessage {
    pub(crate) fn new(plan: &PreparePlan) -> Self {
        Self {
            server: EndpointMessage::new(&plan.endpoint, &[]),
            workload: plan.workload.spec(),
            tables: plan.tables.clone(),
            threads: plan.threads,
            seed: plan.seed,
            keeps_out_of_binary_log: plan.binary_log == BinaryLog::Off,
            compression: plan.compression,
            only: plan.only.clone(),
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
    use weir_model::{Address, Endpoint, Tls, WorkloadName};

    use super::*;

    #[test]
    fn a_plan_of_tables_arrives_as_it_was_without_its_password() {
        let endpoint = Endpoint {
            address: Address::Tcp("db1".to_owned(), 3306),
            user: "weir".to_owned(),
            password: Secret::new("sesame-42"),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        };
        let mut plan = PreparePlan::new(endpoint, WorkloadName::OltpReadWrite);
        plan.tables.tables = 7;
        plan.tables.table_options = "ROW_FORMAT=COMPRESSED".to_owned();
        plan.threads = 6;
        plan.seed = u64::MAX;
        plan.binary_log = BinaryLog::Off;
        plan.compression = Some(Compression::Zstd);
        let plan = plan.deal(3).unwrap().remove(1);
        let written = serde_json::to_string(&PrepareMessage::new(&plan)).unwrap();
        assert!(!written.contains("sesame"), "{written}");
        let read: PrepareMessage = serde_json::from_str(&written).unwrap();
        let arrived = read.plan(plan.endpoint.password.clone()).unwrap();
        assert_eq!(format!("{arrived:?}"), format!("{plan:?}"));
    }
}
