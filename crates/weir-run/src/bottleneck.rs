//! Bottleneck of a run: decided by utilisation and by the connections' places, in the order that
//! `docs/bottleneck.md` gives with its reasons.

use weir_model::{Bottleneck, ConnectionTime, Utilization};

/// From this share of the time on in which some task waited for memory, all other waits are
/// consequences of it.
const MEMORY_STALLED: f64 = 0.20;

/// From this share of the connections on, those that wait for each other's locks are the limit,
/// however busy the rest is: more of anything else would only make the queue longer.
const LOCKED: f64 = 0.50;

/// Below this share of busy connections a load with a rate of its own leaves room.
const OFFERED: f64 = 0.85;

/// From this share of the host's cores on, others limit a run that wants cores and whose connections are nowhere
/// else.
const TAKEN_BY_OTHERS: f64 = 0.25;

/// A place must hold this share of the connections to be called the limit.
const LARGEST_MIN: f64 = 0.30;

/// The resource that limited a run; `has_own_times` if the load had a rate of its own, or followed a capture.
pub(crate) fn bottleneck(used: &Utilization, has_own_times: bool) -> Bottleneck {
    let connections = &used.connections;
    let share = |place: Option<f64>| place.unwrap_or(0.0) / connections.busy.max(f64::MIN_POSITIVE);
    if used.client_cpu >= Utilization::SATURATED {
        Bottleneck::ClientCpu
    } else if used.memory.unwrap_or(0.0) >= MEMORY_STALLED {
        Bottleneck::Memory
    } else if share(connections.lock) >= LOCKED {
        Bottleneck::Lock
    } else if let Some(saturated) = saturated(used) {
        saturated
    } else if has_own_times && connections.busy < OFFERED * connections.all {
        Bottleneck::OfferedRate
    } else {
        match largest(connections, used.client_cores) {
            // In turns, with moments of idleness between.
            Bottleneck::Unexplained if used.wants_cores() => of_cores(used).unwrap_or_else(|| {
                if used.others_share() >= TAKEN_BY_OTHERS {
                    Bottleneck::OtherProcesses
                } else {
                    Bottleneck::Unexplained
                }
            }),
            place => place,
        }
    }
}

/// The most saturated resource, if one is.
fn saturated(used: &Utilization) -> Option<Bottleneck> {
    let of_server = if used.server_cores_allowed > 0.0 {
        used.server_cores / used.server_cores_allowed
    } else {
        0.0
    };
    let cores = of_cores(used).map(|bottleneck| (used.host_cpu, bottleneck));
    [
        (used.drive_write, Bottleneck::DriveWrite),
        (used.drive_read, Bottleneck::DriveRead),
        (of_server, Bottleneck::ServerCpu),
    ]
    .into_iter()
    .chain(cores)
    .filter(|(share, _)| *share >= Utilization::SATURATED)
    .max_by(|a, b| a.0.total_cmp(&b.0))
    .map(|(_, bottleneck)| bottleneck)
}

/// Returns the owner of busy cores: the server unless Weir itself took most of them. If others on the host did, they
/// slow everything down alike and are not what the run went to.
fn of_cores(used: &Utilization) -> Option<Bottleneck> {
    let of_client = if used.client_is_apart {
        0.0
    } else {
        used.client_cores
    };
    let of_weir = of_client + used.drive_cores;
    let is_of_run = used.server_cores + of_weir >= 0.5 * used.host_cpu * used.host_cores;
    is_of_run.then_some(if used.server_cores >= of_weir {
        Bottleneck::ServerCpu
    } else {
        Bottleneck::ClientCpu
    })
}

/// Nothing is saturated, so most time went where most connections were.
fn largest(connections: &ConnectionTime, client_cores: f64) -> Bottleneck {
    let places = [
        (Some(connections.server_cpu), Bottleneck::ServerCpu),
        (Some(client_cores), Bottleneck::ClientCpu),
        (connections.read, Bottleneck::DriveRead),
        (connections.free_page, Bottleneck::DriveWrite),
        (connections.flush, Bottleneck::Flush),
        (connections.lock, Bottleneck::Lock),
        (connections.network, Bottleneck::Network),
    ];
    let known = places
        .into_iter()
        .filter_map(|(place, bottleneck)| Some((place?, bottleneck)));
    match known.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((place, bottleneck)) if place >= LARGEST_MIN * connections.busy => bottleneck,
        _ => Bottleneck::Unexplained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen connections, none of which is anywhere.
    fn idle() -> Utilization {
        Utilization {
            host_cores: 2.0,
            server_cores_allowed: 2.0,
            connections: ConnectionTime {
                all: 16.0,
                busy: 16.0,
                ..ConnectionTime::default()
            },
            ..Utilization::default()
        }
    }

    fn at(place: impl Fn(&mut ConnectionTime)) -> Utilization {
        let mut used = idle();
        place(&mut used.connections);
        used
    }

    #[test]
    fn the_most_saturated_resource_is_the_bottleneck() {
        let cases = [
            (0.9, 0.0, 0.86, Bottleneck::DriveWrite),
            (0.5, 0.99, 0.0, Bottleneck::DriveRead),
            (0.0, 0.8, 0.97, Bottleneck::ServerCpu),
            (0.8, 0.8, 0.8, Bottleneck::Unexplained),
        ];
        for (drive_write, drive_read, host_cpu, expected) in cases {
            let used = Utilization {
                drive_write,
                drive_read,
                host_cpu,
                server_cores: 1.2,
                client_cores: 0.4,
                ..idle()
            };
            assert_eq!(bottleneck(&used, false), expected, "{used:?}");
        }
    }

    #[test]
    fn saturated_cores_are_whose_who_used_them() {
        let used = |server_cores, client_cores| Utilization {
            host_cpu: 0.97,
            server_cores,
            client_cores,
            ..idle()
        };
        assert_eq!(bottleneck(&used(1.2, 0.7), false), Bottleneck::ServerCpu);
        assert_eq!(bottleneck(&used(0.7, 1.2), false), Bottleneck::ClientCpu);
        // Other programs' work on the host, whose names may be unknown.
        assert_eq!(bottleneck(&used(0.4, 0.1), false), Bottleneck::Unexplained);
        let others = Utilization {
            other_cores: 1.4,
            ..used(0.4, 0.1)
        };
        assert_eq!(bottleneck(&others, false), Bottleneck::OtherProcesses);
        let reading = Utilization {
            connections: at(|c| c.read = Some(9.0)).connections,
            ..others
        };
        assert_eq!(bottleneck(&reading, false), Bottleneck::DriveRead);
        let pinned = Utilization {
            server_cores: 0.98,
            server_cores_allowed: 1.0,
            host_cpu: 0.6,
            ..idle()
        };
        assert_eq!(bottleneck(&pinned, false), Bottleneck::ServerCpu);
    }

    #[test]
    fn without_a_saturated_resource_it_is_where_the_connections_are() {
        let cases = [
            (at(|c| c.read = Some(14.0)), Bottleneck::DriveRead),
            (at(|c| c.flush = Some(9.0)), Bottleneck::Flush),
            (at(|c| c.free_page = Some(9.0)), Bottleneck::DriveWrite),
            (at(|c| c.network = Some(15.0)), Bottleneck::Network),
            (at(|c| c.server_cpu = 6.0), Bottleneck::ServerCpu),
            (at(|c| c.lock = Some(7.0)), Bottleneck::Lock),
            (at(|c| c.read = Some(2.0)), Bottleneck::Unexplained),
        ];
        for (used, expected) in cases {
            assert_eq!(bottleneck(&used, false), expected, "{used:?}");
        }
    }

    #[test]
    fn what_makes_other_waits_comes_first() {
        let busy = Utilization {
            host_cpu: 0.99,
            drive_write: 0.9,
            ..at(|c| c.lock = Some(12.0))
        };
        assert_eq!(bottleneck(&busy, false), Bottleneck::Lock);
        let memory = Utilization {
            memory: Some(0.4),
            ..busy
        };
        assert_eq!(bottleneck(&memory, false), Bottleneck::Memory);
        let client = Utilization {
            client_cpu: 0.95,
            ..memory
        };
        assert_eq!(bottleneck(&client, false), Bottleneck::ClientCpu);
    }

    #[test]
    fn cores_that_are_waited_for_are_the_limit_of_whoever_is_nowhere_else() {
        let used = Utilization {
            host_cpu: 0.7,
            core_wait: Some(0.7),
            server_cores: 1.0,
            drive_cores: 0.3,
            ..idle()
        };
        assert_eq!(bottleneck(&used, false), Bottleneck::ServerCpu);
        let of_drive = Utilization {
            drive_cores: 1.1,
            server_cores: 0.3,
            ..used.clone()
        };
        assert_eq!(bottleneck(&of_drive, false), Bottleneck::ClientCpu);
        let reading = Utilization {
            connections: at(|c| c.read = Some(9.0)).connections,
            ..used.clone()
        };
        assert_eq!(bottleneck(&reading, false), Bottleneck::DriveRead);
        let calm = Utilization {
            core_wait: Some(0.3),
            ..used
        };
        assert_eq!(bottleneck(&calm, false), Bottleneck::Unexplained);
    }

    #[test]
    fn a_rate_that_was_kept_is_the_limit() {
        let used = at(|c| {
            c.busy = 3.0;
            c.flush = Some(2.5);
        });
        assert_eq!(bottleneck(&used, true), Bottleneck::OfferedRate);
        assert_eq!(bottleneck(&used, false), Bottleneck::Flush);
    }
}
