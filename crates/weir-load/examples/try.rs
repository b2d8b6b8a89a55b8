//! Scratch.
use std::sync::atomic::AtomicBool;
use std::time::Duration;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let endpoint = weir_model::Endpoint { address: weir_model::Address::Socket(a[1].clone().into()), user: "root".into(), password: Default::default(), database: "sbtest".into() };
    let stop = AtomicBool::new(false);
    if a[2] == "prepare" {
        let mut p = weir_load::PreparePlan::new(endpoint);
        p.tables = a[3].parse().unwrap(); p.rows = a[4].parse().unwrap(); p.threads = 2;
        let t = std::time::Instant::now();
        weir_load::prepare(&p, &stop, &mut |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
        println!("{:?}", t.elapsed());
        return;
    }
    let mut p = weir_load::LoadPlan::new(endpoint, a[2].parse().unwrap());
    p.tables = a[3].parse().unwrap(); p.rows = a[4].parse().unwrap(); p.connections = a[5].parse().unwrap(); p.measure = Some(Duration::from_secs(a[6].parse().unwrap()));
    p.warmup = Duration::from_secs(1);
    if a.get(7).is_some() { p.distribution = weir_load::Distribution::Uniform; }
    let o = weir_load::run(&p, &stop, &mut |i| eprintln!("{:?}", i.record)).unwrap_or_else(|e| panic!("{e}"));
    println!("tps {:.0} qps {:.0} cpu/query {:.2} us util {:.2} {:?} {:?} batch {} unfinished {}", o.counts.transactions as f64 / o.measured_s, o.counts.queries as f64 / o.measured_s, o.client_cpu_s.iter().sum::<f64>() * 1e6 / o.counts.queries as f64, o.client_utilization(), o.counts, o.latency, o.batch_scheduling, o.unfinished);
}
