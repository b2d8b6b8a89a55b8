//! The host: processors, pressure, memory, block devices, network, and the space for the data.

mod cpu;
mod devices;
mod memory;
mod network;
mod pressure;
mod processes;
mod storage;
mod vmstat;

use std::path::PathBuf;

use crate::probe_parts::{Part, Parts};
use crate::{Probe, ProbeError, Readings};

pub use cpu::processor;
pub use memory::{Memory, memory};
pub use storage::block_device;

/// Reads the host's counters. Sources that this host lacks (pressure in a kernel without it) are
/// named once.
#[derive(Debug)]
pub struct HostProbe(Parts<()>);

impl HostProbe {
    /// The host that this runs on, with the space left at `data`.
    pub fn new(data: Option<PathBuf>) -> Self {
        Self::of_run(data, None)
    }

    /// As [`Self::new`]; `processes` are of the run, too, beside this one and its children.
    pub fn of_run(data: Option<PathBuf>, processes: impl IntoIterator<Item = u32>) -> Self {
        let mut parts: Vec<Box<dyn Part<()>>> = vec![
            Box::new(cpu::Cpu::default()),
            Box::new(memory::MemoryInfo::default()),
            Box::new(vmstat::VmStat::default()),
            Box::new(devices::Devices::default()),
            Box::new(network::Network::default()),
            Box::new(pressure::Pressure::default()),
            Box::new(processes::Processes::new(processes)),
        ];
        if let Some(path) = data {
            parts.push(Box::new(storage::Storage::new(path)));
        }
        Self(Parts::new(parts))
    }
}

impl Probe for HostProbe {
    fn name(&self) -> &'static str {
        "host"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        // A file of /proc is there or it is not.
        self.0.read(&mut (), readings, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use weir_model::metrics;

    use super::*;

    #[test]
    fn this_host_can_be_read_and_its_time_passes() {
        let mut probe = HostProbe::new(Some(std::env::temp_dir()));
        let mut readings = Readings::default();
        probe.sample(&mut readings).unwrap();
        let idle = |readings: &Readings| {
            let times = [
                metrics::HOST_CPU_USER,
                metrics::HOST_CPU_SYSTEM,
                metrics::HOST_CPU_IDLE,
                metrics::HOST_CPU_IOWAIT,
            ];
            times
                .map(|metric| readings.value(metric).unwrap())
                .iter()
                .sum::<f64>()
        };
        let first = idle(&readings);
        for metric in [
            metrics::HOST_CONTEXT_SWITCHES,
            metrics::HOST_MEMORY_CACHED,
            metrics::HOST_STORAGE_AVAILABLE,
        ] {
            assert!(readings.value(metric).unwrap() > 0.0, "{}", metric.name);
        }
        assert!(
            readings
                .value_of(metrics::HOST_CORE_CPU_USER, "0")
                .is_some()
        );
        readings.discard();
        std::thread::sleep(std::time::Duration::from_millis(100));
        probe.sample(&mut readings).unwrap();
        assert!(idle(&readings) > first);
    }
}
