//! The queues that a transaction stands in: for a processor, for the drive, and for its commit.

use crate::DriveAbility;
use crate::network::{Network, Resource, Station};
use crate::writes::{WriteSettings, Writes};

/// Demands of a transaction on the host, as a run has measured them.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Demands {
    /// Cores that serve.
    pub cores: u32,
    /// Processor time of a transaction whose pages are all in the pool, seconds.
    pub cpu_s: f64,
    /// More of it for each page that is read, seconds.
    pub cpu_s_per_miss: f64,
    /// Processor time that an emulated drive takes of the same cores for each page that is read or written,
    /// seconds; 0 for a real one.
    pub emulation_s: f64,
    /// Time that a transaction waits for neither processor nor drive, seconds.
    pub wait_s: f64,
    /// The most connections that were measured.
    pub connections_max: u32,
}

/// Transactions that read so many pages on a drive.
#[derive(Clone, Copy)]
pub(crate) struct Queues<'a> {
    /// Demands of each on the host.
    pub(crate) demands: &'a Demands,
    /// Write settings of the server.
    pub(crate) settings: &'a WriteSettings,
    pub(crate) drive: &'a DriveAbility,
    /// Pages that each reads.
    pub(crate) misses: f64,
}

impl Queues<'_> {
    /// The network of queues, with the `writes` of a transaction.
    pub(crate) fn network(self, writes: Writes) -> Network {
        let Self {
            demands,
            drive,
            misses,
            ..
        } = self;
        let saturated_s = drive.busy_s(misses, writes.pages, writes.sequential_bytes)
            + writes.log_writes * drive.log_write_s;
        let reading_s = misses * drive.read_s;
        // As many servers as let the idle drive take its latency and the saturated one its
        // throughput; what is left over is time beside the queue.
        let servers = (reading_s / saturated_s.max(f64::MIN_POSITIVE))
            .floor()
            .max(1.0);
        let on_drive_s = servers * saturated_s;
        // An emulated drive works within the latency that it gives: others have the core no sooner, but who
        // reads waits no longer.
        let emulation_s = (misses + writes.pages) * demands.emulation_s;
        Network {
            stations: vec![
                Station {
                    resource: Resource::Processor,
                    servers: demands.cores,
                    demand_s: demands.cpu_s + misses * demands.cpu_s_per_miss + emulation_s,
                    variability: 1.0,
                },
                Station {
                    resource: Resource::Drive,
                    servers: servers as u32,
                    demand_s: on_drive_s,
                    // A drive's service is the same for each page.
                    variability: 0.0,
                },
            ],
            delay_s: demands.wait_s - emulation_s + self.beside_queue_s(reading_s, on_drive_s),
            commit_s: if self.settings.durable_commits && self.settings.redo_bytes > 0.0 {
                drive.commit_s
            } else {
                0.0
            },
        }
    }

    /// Time of the reads that the drive's queue does not have.
    ///
    /// It is below zero where a limit of the rate is slower than the latency: an operation is over
    /// before the next one may begin, and what the connection does in between, for an exponential
    /// time, is not waited for.
    fn beside_queue_s(self, reading_s: f64, on_drive_s: f64) -> f64 {
        let misses = self.misses;
        if reading_s >= on_drive_s || misses <= 0.0 {
            return reading_s - on_drive_s;
        }
        let gap_s = (on_drive_s - reading_s) / misses;
        let used_s = |mean_s: f64| mean_s * -(-gap_s / mean_s.max(f64::MIN_POSITIVE)).exp_m1();
        let slice_s = self.demands.cpu_s / (misses + 1.0);
        // One of the pauses between reads is that between two transactions.
        let between = misses.min(1.0);
        -(misses - between) * used_s(slice_s)
            - between * used_s(2.0 * slice_s + self.demands.wait_s)
    }
}
