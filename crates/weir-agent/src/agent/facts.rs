//! Facts about its host that an agent reports.

use rustix::process::{Resource, getrlimit};
use rustix::system::{sysinfo, uname};

use super::AgentOptions;
use crate::messages::Facts;
use crate::own_process::own_process;

pub(super) fn of_this_host(options: &AgentOptions, sealing_key: String) -> Facts {
    let allowance = &options.allowance;
    let (system, info) = (uname(), sysinfo());
    Facts {
        version: options.version.clone(),
        labels: options.labels.clone(),
        host: system.nodename().to_string_lossy().into_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from) as u32,
        memory_bytes: info.totalram * u64::from(info.mem_unit),
        files: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
        kernel: system.release().to_string_lossy().into_owned(),
        processor: weir_probe::processor().unwrap_or_default(),
        allows: allowance.permissions().to_vec(),
        process: own_process(),
        max_connections: allowance.max_connections(),
        targets: allowance.words().to_owned(),
        sealing_key,
    }
}
