//! Loads that Weir itself makes: the fit names what made them.

use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use weir_capture::Literals;
use weir_load::{PreparePlan, TableOptions, prepare};
use weir_model::{Distribution, Endpoint, Flavor, SysbenchWorkload, WorkloadName};
use weir_mysql::{Gate, StatementText};
use weir_replay::fit::{FitLimits, Tables, compare, fit};
use weir_workload::{KeyOrder, KeyStream, Keys, ScriptInputs, Workload, seeded};

use crate::written::{Log, parameter, workload};

const ROWS: u64 = 50_000;

/// Transactions of one of sysbench's workloads, as text.
fn log_of(name: WorkloadName, distribution: Distribution, transactions: usize) -> Log {
    let inputs = ScriptInputs {
        tables: 1,
        rows: ROWS,
        connections: 1,
        seed: 1,
        auto_increment: true,
    };
    let sysbench = SysbenchWorkload {
        distribution,
        ..SysbenchWorkload::from(name)
    };
    let script = Workload::from(sysbench).script(&inputs).unwrap();
    let texts: Vec<_> = script.statements.iter().map(|one| one.sql(0)).collect();
    let readings = texts.iter().map(|text| StatementText::read(text));
    let readings: Vec<_> = readings.collect();
    let mut rng = seeded(5, 0);
    let mut log = Log::new();
    for number in 0..transactions {
        for drawn in script.draw(&mut rng) {
            let mut sql = Vec::new();
            let mut values = drawn.values.iter();
            for piece in readings[drawn.statement].pieces() {
                sql.extend(piece.as_bytes());
                if let Some(value) = values.next() {
                    value.get().put_literal(&mut sql);
                }
            }
            log.query(8 + number as u32 % 4, &String::from_utf8(sql).unwrap());
        }
    }
    log
}

/// The table that the statements are about.
fn fill(endpoint: &Endpoint) {
    let plan = PreparePlan {
        tables: TableOptions {
            rows: ROWS,
            distribution: Distribution::Uniform,
            ..TableOptions::default()
        },
        ..PreparePlan::new(endpoint.clone(), WorkloadName::OltpReadWrite)
    };
    prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
}

fn assert_names(text: &str, distribution: Distribution) {
    let name = format!("distribution = \"{}\"", distribution.name().as_str());
    assert!(text.contains(&name), "{name}: {text}");
    let near = |name: &str, real: f64| {
        let found = parameter(text, name);
        assert!((found / real - 1.0).abs() <= 0.05, "{name} {found}: {text}");
    };
    match distribution {
        Distribution::Uniform => {}
        Distribution::Gaussian { iterations } => near("iterations", iterations.into()),
        Distribution::Special {
            hot_rows_percent,
            hot_keys_percent,
            ..
        } => {
            near("hot_rows_percent", hot_rows_percent.into());
            near("hot_keys_percent", hot_keys_percent.into());
        }
        Distribution::Pareto { h } => near("h", h),
        Distribution::Zipfian { exponent } => near("exponent", exponent),
    }
}

#[test]
fn workloads_of_weirs_own_are_named_with_their_parameters() {
    use WorkloadName::{
        OltpDelete, OltpPointSelect, OltpReadOnly, OltpReadWrite, OltpUpdateIndex,
        OltpUpdateNonIndex, OltpWriteOnly, SelectRandomPoints, SelectRandomRanges,
    };
    let zipfian = |exponent: f64| Distribution::Zipfian { exponent };
    let (server, directory) = weir_testing::start(Flavor::Mysql);
    let endpoint = server.endpoint();
    fill(&endpoint);
    let mut reader = weir_testing::connect(&endpoint);
    for (name, distribution, transactions) in [
        (OltpPointSelect, Distribution::Uniform, 8_000),
        (OltpPointSelect, zipfian(0.9), 8_000),
        (OltpPointSelect, Distribution::default(), 8_000),
        (OltpUpdateNonIndex, Distribution::Pareto { h: 0.2 }, 8_000),
        (OltpUpdateIndex, zipfian(1.2), 8_000),
        (OltpDelete, Distribution::Gaussian { iterations: 12 }, 8_000),
        (OltpReadOnly, Distribution::Uniform, 1_500),
        (OltpWriteOnly, Distribution::Pareto { h: 0.1 }, 4_000),
        (OltpReadWrite, Distribution::Uniform, 1_500),
        (SelectRandomPoints, Distribution::Uniform, 800),
        (SelectRandomRanges, Distribution::Uniform, 800),
    ] {
        let path = directory.path().join("test.weircap");
        let _ = std::fs::remove_file(&path);
        let capture = log_of(name, distribution, transactions).capture(&directory, Literals::Keep);
        let tables = Tables {
            connection: &mut reader,
            schema: &endpoint.database,
        };
        let fitted = fit(&capture, Some(tables)).unwrap();
        let text = &fitted.text;
        assert_names(text, distribution);
        assert!(fitted.share_of_transactions > 0.99, "{name}: {fitted:?}");
        let comparison = compare(&capture, None, &workload(text), &FitLimits::default()).unwrap();
        assert!(comparison.holds(), "{name}: {comparison:#?}");
        if name == OltpReadOnly {
            // Ranges are a hundred rows wide.
            assert!(text.contains("BETWEEN ? AND (? + 99)"), "{text}");
        }
        if name == OltpReadWrite {
            // The row that is deleted is inserted again.
            let mut values = fitted.values.iter();
            let again = values.any(|value| value.source.starts_with("as before"));
            assert!(again, "{:?}", fitted.values);
        }
    }
}

/// Orders: transactions of two kinds, with lines as many as they come, keys that follow from others, and hot products
/// anywhere.
fn orders() -> Log {
    let mut log = Log::new();
    let products = Keys::new(Distribution::Zipfian { exponent: 0.9 }, 20_000)
        .unwrap()
        .in_order(KeyOrder::scattered(20_000));
    let mut customers = KeyStream::new(Distribution::Uniform, 5_000, 3).unwrap();
    let mut rng = seeded(9, 0);
    for number in 0..3_000_u64 {
        let session = 8 + number as u32 % 5;
        let product = products.next(&mut rng);
        if number % 4 == 0 {
            let customer = customers.next().unwrap();
            log.query(session, "BEGIN");
            log.query(
                session,
                &format!("SELECT name FROM customer WHERE id = {customer} FOR UPDATE"),
            );
            for line in 0..=(number / 4 % 3) {
                let product = if line == 0 {
                    product
                } else {
                    products.next(&mut rng)
                };
                log.query(
                    session,
                    &format!("UPDATE product SET stock = stock - 1 WHERE id = {product}"),
                );
            }
            let at = log.next_time();
            log.query(
                session,
                &format!("INSERT INTO purchase (customer_id, at, status) VALUES ({customer}, '{at}', 'open')"),
            );
            log.query(session, "COMMIT");
        } else {
            log.query(
                session,
                &format!("SELECT price FROM product WHERE id = {product} LIMIT 20"),
            );
        }
    }
    log
}

#[test]
fn transactions_with_their_links_are_found() {
    let directory = TempDir::new().unwrap();
    let capture = orders().capture(&directory, Literals::Keep);
    let fitted = fit(&capture, None).unwrap();
    let text = &fitted.text;
    assert!(text.contains("order = \"scattered\""), "{text}");
    assert!(text.contains("\"now\""), "{text}");
    assert!(text.contains("LIMIT 20"), "{text}");
    assert!(
        text.contains("letters = [4, 4]") && !text.contains("open"),
        "{text}"
    );
    // Three lengths of a purchase and the look.
    assert_eq!(fitted.kinds, 4, "{text}");
    let links = fitted
        .values
        .iter()
        .filter(|value| value.source.starts_with("as before"))
        .count();
    assert_eq!(links, 3, "{:?}", fitted.values);
    let comparison = compare(&capture, None, &workload(text), &FitLimits::default()).unwrap();
    assert!(comparison.holds(), "{comparison:#?}");

    // Another load is not taken for it.
    let other = text
        .replace("order = \"scattered\"", "order = \"descending\"")
        .replace("exponent = 0.", "exponent = 1.");
    let comparison = compare(&capture, None, &workload(&other), &FitLimits::default()).unwrap();
    assert!(!comparison.holds(), "{comparison:#?}");
    let only_looks = "[[transactions]]\nname = \"look\"\nstatements = [{ sql = \"SELECT price FROM product WHERE id = ? \
                      LIMIT ?\", values = [{ integer = [1, 20000] }, { integer = [20, 20] }] }]";
    let comparison = compare(&capture, None, &workload(only_looks), &FitLimits::default()).unwrap();
    let beyond: Vec<_> = comparison
        .figures
        .iter()
        .filter(|figure| !figure.holds())
        .map(|figure| &figure.name)
        .collect();
    assert!(beyond.len() >= 4, "{beyond:?}");
}

#[test]
fn what_a_cut_capture_lacks_is_counted() {
    let directory = TempDir::new().unwrap();
    let capture = orders().capture(&directory, Literals::Keep);
    let whole = std::fs::read(&capture).unwrap();
    std::fs::write(&capture, &whole[..whole.len() * 2 / 3]).unwrap();
    let fitted = fit(&capture, None).unwrap();
    let left_out = |what: &str| {
        fitted
            .left_out
            .iter()
            .any(|(found, _)| found.contains(what))
    };
    assert!(left_out("last whole block"), "{:?}", fitted.left_out);
    assert!(fitted.text.contains("last whole block"), "{}", fitted.text);
}

#[test]
fn a_capture_without_values_or_transactions_is_refused() {
    let directory = TempDir::new().unwrap();
    let capture = orders().capture(&directory, Literals::Drop);
    let refused = fit(&capture, None).unwrap_err().to_string();
    assert!(refused.contains("--literals drop"), "{refused}");
    let directory = TempDir::new().unwrap();
    let mut log = Log::new();
    log.query(8, "SHOW TABLES");
    let capture = log.capture(&directory, Literals::Keep);
    let refused = fit(&capture, None).unwrap_err().to_string();
    assert!(refused.contains("no whole transaction"), "{refused}");
}
