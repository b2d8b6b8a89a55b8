//! What an agent tells of its host.

use rustix::process::{Resource, getrlimit};
use rustix::system::{sysinfo, uname};

use crate::allowance::Allowance;
use crate::messages::Facts;

pub(super) fn of_this_host(version: &str, allowance: &Allowance, sealing_key: String) -> Facts {
    let (system, info) = (uname(), sysinfo());
    Facts {
        version: version.to_owned(),
        host: system.nodename().to_string_lossy().into_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from) as u32,
        memory_bytes: info.totalram * u64::from(info.mem_unit),
        files: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
        kernel: system.release().to_string_lossy().into_owned(),
        max_connections: allowance.max_connections(),
        targets: allowance.words().to_owned(),
        sealing_key,
    }
}
