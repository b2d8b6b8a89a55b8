//! A closed network of queues: how many transactions a second so many connections complete.
//!
//! Mean value analysis (Reiser and Lavenberg 1980), exact for stations of one or several servers
//! (Reiser 1981, with the marginal probabilities of a station with fewer customers than servers).
//! Exact means: for exponential service. Who meets a busy server with constant service waits for
//! half of it and not for all of it (Reiser 1979, "A queueing network analysis of computer
//! communication networks with window flow control"), which is an approximation.
//!
//! The textbook's probability of an empty station is one minus all others, which loses its digits
//! with many servers. Here it is p(0|n) = p(0|n-1) X(n) / X'(n), with the throughput X' of the
//! network without that station (Reiser and Lavenberg's theorem 2): sums and quotients of positive
//! numbers only, for which the networks of all subsets of the stations are solved side by side.

/// The shortest time of a transaction: a network without any has no throughput.
const LEAST_S: f64 = 1e-12;
/// Share of a station's throughput at which more connections add nothing that could be told.
const SATURATED: f64 = 1.0 - 1e-9;

/// Resource that a transaction spends its time at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Processor time.
    Processor,
    /// The drive: its media, for reads and writes together.
    Drive,
    /// Nothing that others queue for.
    Waiting,
}

impl Resource {
    /// As in a table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Processor => "processor",
            Self::Drive => "drive",
            Self::Waiting => "waiting",
        }
    }
}

/// A station: servers with one queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Resource of the station.
    pub resource: Resource,
    /// Servers.
    pub servers: u32,
    /// Service that a transaction needs of one of them, seconds.
    pub demand_s: f64,
    /// Squared coefficient of variation of the service: 1 for exponential, 0 for constant.
    pub variability: f64,
}

impl Station {
    /// The least time between two transactions, seconds.
    fn least_s(&self) -> f64 {
        self.demand_s / f64::from(self.servers.max(1))
    }
}

/// Stations, and time that no queue adds to.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Stations.
    pub stations: Vec<Station>,
    /// Time of a transaction outside of them, seconds.
    pub delay_s: f64,
    /// Time of a write of the log that all who wait for it share, seconds. A commit takes one, and
    /// before it the rest of the one that goes on.
    pub commit_s: f64,
}

/// The network with so many connections.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Flow {
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// Mean time of a transaction, seconds.
    pub response_s: f64,
}

impl Network {
    /// The flow of each number of connections from 1 to `connections`.
    pub fn flows(&self, connections: u32) -> impl Iterator<Item = Flow> + '_ {
        let subsets = 1_usize << self.stations.len();
        let mut solved: Vec<Subset> = (0..subsets).map(|of| Subset::new(self, of)).collect();
        let enough_per_s = SATURATED / self.slowest_s().max(LEAST_S);
        let mut flow = Flow::default();
        (1..=connections).map(move |clients| {
            let clients = f64::from(clients);
            if flow.transactions_per_s >= enough_per_s {
                // Who comes more waits more.
                flow.response_s = clients / flow.transactions_per_s;
                return flow;
            }
            for of in 0..subsets {
                // Subsets with a station less have smaller numbers: they have this many already.
                let (smaller, rest) = solved.split_at_mut(of);
                rest[0].add_client(clients, self, smaller);
            }
            flow = solved[subsets - 1].flow();
            flow
        })
    }

    /// The least time between two transactions, seconds.
    fn slowest_s(&self) -> f64 {
        self.stations
            .iter()
            .map(Station::least_s)
            .fold(0.0, f64::max)
    }

    /// The flow of `connections` connections.
    pub fn flow(&self, connections: u32) -> Flow {
        let last = self.flows(connections.max(1)).last();
        last.expect("invariant: there is at least one connection")
    }

    /// Returns the bottleneck at so many transactions per second: the busiest station, or nothing when none is busy
    /// for more than half of the time.
    pub fn limit(&self, transactions_per_s: f64) -> Resource {
        let busy = |station: &&Station| transactions_per_s * station.least_s();
        let busiest = self.stations.iter();
        let busiest = busiest.max_by(|a, b| busy(a).total_cmp(&busy(b)));
        match busiest {
            Some(station) if busy(&station) > 0.5 => station.resource,
            _ => Resource::Waiting,
        }
    }

    /// The same beside one who keeps the drive busy for `block_s` at a time: a write of the log waits for the end of a
    /// block.
    pub(crate) fn committing_beside(&self, block_s: f64) -> Self {
        let mut held_up = self.clone();
        if self.commit_s > 0.0 {
            held_up.commit_s += block_s;
        }
        held_up
    }
}

/// A network of some of the stations, while clients are added.
struct Subset {
    /// A bit for each station of it.
    of: usize,
    /// `(number of the station, its queue)`.
    queues: Vec<(usize, Queue)>,
    per_s: f64,
    response_s: f64,
}

impl Subset {
    fn new(network: &Network, of: usize) -> Self {
        let stations = network.stations.iter().enumerate();
        let own = stations.filter(|(number, _)| of >> number & 1 == 1);
        Self {
            of,
            queues: own
                .map(|(number, station)| (number, Queue::new(station)))
                .collect(),
            per_s: 0.0,
            response_s: 0.0,
        }
    }

    fn add_client(&mut self, clients: f64, network: &Network, smaller: &[Self]) {
        let residence: f64 = self
            .queues
            .iter_mut()
            .map(|(_, queue)| queue.arrive())
            .sum();
        let before_commit_s = network.delay_s + residence;
        // Who arrives sees the log as the others keep it busy.
        let going_on = (self.per_s * network.commit_s).min(1.0);
        let rest = rest_of_write(before_commit_s, network.commit_s);
        let commit_s = network.commit_s * (1.0 + going_on * rest);
        let response_s = before_commit_s + commit_s;
        self.response_s = self.at_the_bound(clients, response_s).max(LEAST_S);
        self.per_s = clients / self.response_s;
        for (number, queue) in &mut self.queues {
            let without = smaller[self.of & !(1 << *number)].per_s;
            queue.settle(self.per_s, without);
        }
    }

    /// Half a service is left, on average, of one that began at any time. A request that comes back to a saturated station comes
    /// when one begins: no throughput is beyond the servers', and what is missing to that is waited there.
    fn at_the_bound(&mut self, clients: f64, response_s: f64) -> f64 {
        let slowest = self
            .queues
            .iter_mut()
            .map(|(_, queue)| queue)
            .max_by(|a, b| a.least_s().total_cmp(&b.least_s()));
        let Some(slowest) = slowest else {
            return response_s;
        };
        let longer_s = (clients * slowest.least_s() - response_s).max(0.0);
        slowest.residence_s += longer_s;
        response_s + longer_s
    }

    fn flow(&self) -> Flow {
        Flow {
            transactions_per_s: self.per_s,
            response_s: self.response_s,
        }
    }
}

/// Returns the rest of the write of the log that goes on when a commit arrives, as a share of it.
///
/// Writes follow one another, and a transaction began when one ended. One that takes an exponential time before its
/// commit arrives anywhere in a write if that time is long, and just after its begin if it is short:
/// 1 - E[time before the commit / time of a write, modulo 1].
fn rest_of_write(before_commit_s: f64, write_s: f64) -> f64 {
    /// Beyond as many writes it is half of one.
    const LONG: f64 = 1e3;
    if before_commit_s > LONG * write_s {
        return 0.5;
    }
    if before_commit_s <= 0.0 {
        return 1.0;
    }
    let writes = before_commit_s / write_s;
    1.0 - writes + (1.0 / writes).exp_m1().recip()
}

/// A station while clients are added.
struct Queue {
    demand_s: f64,
    servers: f64,
    variability: f64,
    /// Mean number of transactions there, with one client less.
    length: f64,
    /// Probability of so many there, for numbers below that of the servers.
    fewer: Vec<f64>,
    residence_s: f64,
}

impl Queue {
    fn new(station: &Station) -> Self {
        let servers = station.servers.max(1);
        let mut fewer = vec![0.0; servers as usize];
        fewer[0] = 1.0;
        Self {
            demand_s: station.demand_s,
            servers: f64::from(servers),
            variability: station.variability,
            length: 0.0,
            fewer,
            residence_s: 0.0,
        }
    }

    /// The least time between two transactions.
    fn least_s(&self) -> f64 {
        self.demand_s / self.servers
    }

    /// Adds a client; returns the time that it stays.
    fn arrive(&mut self) -> f64 {
        let idle: f64 = (0..)
            .zip(&self.fewer)
            .map(|(there, share)| (self.servers - 1.0 - f64::from(there)) * share)
            .sum();
        let all_busy = (1.0 - self.fewer.iter().sum::<f64>()).max(0.0);
        let residual = (1.0 - self.variability) / 2.0 * all_busy;
        self.residence_s = self.least_s() * (1.0 + self.length + idle - residual);
        self.residence_s
    }

    /// The flow with that client is known, and what it would be without this station.
    fn settle(&mut self, per_s: f64, without_per_s: f64) {
        self.length = per_s * self.residence_s;
        let offered = per_s * self.demand_s;
        for there in (1..self.fewer.len()).rev() {
            self.fewer[there] = offered / there as f64 * self.fewer[there - 1];
        }
        self.fewer[0] *= (per_s / without_per_s).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(servers: u32, demand_s: f64) -> Station {
        Station {
            resource: Resource::Drive,
            servers,
            demand_s,
            variability: 1.0,
        }
    }

    /// M/M/c//N, the repairman's problem, in its closed form: `clients` that think for `think_s`
    /// and queue for `servers`.
    fn repairman(clients: u32, servers: u32, service_s: f64, think_s: f64) -> f64 {
        let mut weight = 1.0;
        let (mut sum, mut busy) = (1.0, 0.0);
        for there in 1..=clients {
            let serving = f64::from(there.min(servers));
            weight *= f64::from(clients - there + 1) / think_s * service_s / serving;
            sum += weight;
            busy += weight * serving;
        }
        busy / sum / service_s
    }

    #[test]
    fn one_station_is_the_repairmans_problem() {
        for (servers, clients) in [(1, 1), (1, 20), (2, 8), (4, 64), (50, 30), (50, 200)] {
            let network = Network {
                stations: vec![station(servers, 0.002)],
                delay_s: 0.005,
                commit_s: 0.0,
            };
            let found = network.flow(clients).transactions_per_s;
            let exact = repairman(clients, servers, 0.002, 0.005);
            assert!(
                (found / exact - 1.0).abs() < 1e-6,
                "{servers} {clients}: {found} {exact}"
            );
        }
    }

    #[test]
    fn the_operational_bounds_hold() {
        let network = Network {
            stations: vec![station(1, 0.001), station(3, 0.0025)],
            delay_s: 0.004,
            commit_s: 0.0,
        };
        for (clients, flow) in (1..).zip(network.flows(100)) {
            let bound = (f64::from(clients) / 0.0075).min(1000.0);
            assert!(flow.transactions_per_s <= bound * (1.0 + 1e-9), "{clients}");
        }
        let mut constant = network.clone();
        constant.stations[0].variability = 0.0;
        for flow in constant.flows(100) {
            assert!(flow.transactions_per_s <= 1000.0 * (1.0 + 1e-9), "{flow:?}");
        }
        let flow = network.flow(100);
        assert!(flow.transactions_per_s > 999.0, "{flow:?}");
        assert_eq!(network.limit(flow.transactions_per_s), Resource::Drive);
        assert_eq!(network.limit(100.0), Resource::Waiting);
    }

    /// Percona's sweep of 2018 (Percona-Lab-results/201803-sysbench-tpcc-myrocks @b3183c0): 56
    /// connections, 5 to 100 GB of pool, one SATA drive. Three constants, fitted to the curve: the
    /// drive's bandwidth from its plateau, the time outside of it from the largest pool, and what a
    /// read waits when the drive is loaded. A check of the form, not a forecast.
    #[test]
    fn the_sweep_of_2018_has_the_form_of_a_network() {
        const BANDWIDTH_KB_PER_S: f64 = 450_500.0;
        const READ_WAIT_S: f64 = 0.0011;
        const OUTSIDE_S: f64 = 0.009_37;
        let sweep = [
            (849.1, 244_754.0, 218_343.0),
            (1321.9, 290_603.0, 171_635.0),
            (1808.2, 311_726.0, 148_395.0),
            (2275.4, 313_852.0, 146_829.0),
            (2968.1, 316_891.0, 144_707.0),
            (3867.6, 318_405.0, 132_858.0),
            (4756.6, 276_342.0, 98_371.0),
            (5527.9, 217_727.0, 42_532.0),
            (5984.6, 184_806.0, 3_480.0),
            (5949.2, 187_185.0, 3_811.0),
            (5961.2, 184_868.0, 1_998.0),
        ];
        for (measured, written_kb_per_s, read_kb_per_s) in sweep {
            let kb = (written_kb_per_s + read_kb_per_s) / measured;
            let misses = read_kb_per_s / measured / 16.0;
            let network = Network {
                stations: vec![station(1, kb / BANDWIDTH_KB_PER_S)],
                delay_s: OUTSIDE_S + misses * READ_WAIT_S,
                commit_s: 0.0,
            };
            let error = network.flow(56).transactions_per_s / measured - 1.0;
            assert!(
                error.abs() <= 0.03,
                "{measured} per second: {:.1} %",
                error * 100.0
            );
        }
    }
}
