//! scratch
#![allow(clippy::all, clippy::pedantic, clippy::print_stdout, missing_docs, clippy::unwrap_used)]
use weir_load::{Distribution, Mix};
use weir_model::{Flavor, WorkloadName};
use weir_predict::*;
// args: distribution pool_mb hit_us miss_us tick... 
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let dist = match a[1].as_str() {
        "uniform" => Distribution::Uniform,
        "zipfian" => Distribution::Zipfian { exponent: 0.8 },
        "pareto" => Distribution::Pareto { h: 0.2 },
        _ => Distribution::default(),
    };
    let (w, rows) = if a[1] == "text" { (WorkloadName::OltpTextReadOnly, 110_000) } else { (WorkloadName::OltpPointSelect, 200_000) };
    let dist = if a[1]=="text" { Distribution::Uniform } else { dist };
    let mb: f64 = a[2].parse().unwrap();
    let (hit, miss): (f64, f64) = (a[3].parse().unwrap(), a[4].parse().unwrap());
    let ticks: Vec<f64> = a[5..].iter().map(|t| t.parse().unwrap()).collect();
    let maria = std::env::var("MARIA").is_ok();
    let flavor = if maria { Flavor::Mariadb } else { Flavor::Mysql };
    let own: f64 = std::env::var("OWN").map_or(if maria {300.0} else {840.0}, |t| t.parse().unwrap());
    let p = popularity_of(w, &Mix::default(), dist, &TableSet::prepared(w, 4, rows, flavor)).unwrap();
    let all = mb * 64.0 * if maria { 507.0 / 512.0 } else { 1.0 } - p.upper_pages();
    let mut s = PoolSettings::new(all as usize);
    s.reads_in_flight = 8;
    if maria { s.free_least = 768; s.free_most = 1536; }
    for seed in 0..2 {
        let f = Filling { settings: s, own_pages: own, ticks_s: ticks.clone(), depth: 1024, counted_s: (10.0, 16.0), seed }.run(&p, &|m| 1e6 / (hit * (1.0 - m) + miss * m));
        println!("{} {} {:?}", a[1], mb, f);
    }
}
