//! Requests as bytes.

use proptest::prelude::*;
use weir_model::{Address, LoadSpec, WorkloadName};
use weir_mysql::{Gate, WireRows};

use super::*;
use crate::LoadError;
use crate::plan::LoadPlan;
use crate::testing::{meter, nowhere};
use weir_workload::{C_BYTES, PAD_BYTES, seeded};

/// Three transactions of one of two connections, as bytes.
fn requests(seed: u64, connection: u64) -> Vec<Vec<u8>> {
    requests_of(WorkloadName::OltpReadWrite, seed, connection)
}

fn requests_of(workload: WorkloadName, seed: u64, connection: u64) -> Vec<Vec<u8>> {
    requests_of_plan(&plan(workload, seed, 2), connection as u32)
}

fn plan(workload: WorkloadName, seed: u64, connections: u32) -> LoadPlan {
    LoadPlan {
        tables: 4,
        rows: 1_000,
        seed,
        load: LoadSpec {
            connections,
            ..LoadSpec::default()
        },
        ..LoadPlan::new(nowhere(), workload)
    }
}

/// Three transactions of connection `number` of a plan.
fn requests_of_plan(plan: &LoadPlan, number: u32) -> Vec<Vec<u8>> {
    let script = plan.script().unwrap();
    let statements = Statements::prepare(&script, |wanted| {
        Ok::<_, LoadError>((1..).map(Some).take(wanted.len()).collect())
    })
    .unwrap();
    let templates = Arc::new(Templates::new(script));
    let steps = templates.steps(0);
    let mut session = CompiledSession::new(templates, statements, number);
    let (meter, mut rng) = (meter(), plan.random_of(number));
    let (address, gate) = (Address::Socket("/nowhere".into()), Gate::own());
    let done = Reply::Done { affected_rows: 1 };
    let mut requests = Vec::new();
    for index in 0..3 * steps {
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        let rows = WireRows::default();
        let to = (&address, &gate);
        let mut turn = Turn::new(&mut out, &mut rng, &mut scratch, &meter, to, &rows);
        let step = if index % steps == 0 {
            session.begin(&mut turn)
        } else {
            session.replied(&done, &[], &mut turn)
        };
        assert!(matches!(step, Step::Request { .. }));
        requests.push(out);
    }
    requests
}

/// Returns the requests of all connections of a plan's share, in no meaningful order.
fn requests_of_share(plan: &LoadPlan) -> Vec<Vec<u8>> {
    let numbers = plan.share().connections;
    numbers
        .flat_map(|number| requests_of_plan(plan, number))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    // Acceptance S10, with the keys and all other values of the requests.
    #[test]
    fn agents_draw_what_one_process_draws(
        workload in proptest::sample::select(vec![
            WorkloadName::OltpReadWrite,
            WorkloadName::OltpPointSelect,
            WorkloadName::OltpInsert,
        ]),
        seed in 1_u64..,
        connections in 1_u32..20,
        agents in 1_u32..6,
    ) {
        let whole = plan(workload, seed, connections);
        let mut one = requests_of_share(&whole);
        let shares = whole.whole().deal(agents).into_iter().map(|share| LoadPlan {
            share: Some(share),
            ..whole.clone()
        });
        let mut all: Vec<_> = shares.flat_map(|share| requests_of_share(&share)).collect();
        one.sort();
        all.sort();
        prop_assert!(one == all, "as multisets");
    }
}

#[test]
fn the_same_seed_asks_the_same_and_another_does_not() {
    assert_eq!(requests(1, 0), requests(1, 0));
    assert_ne!(requests(1, 0), requests(2, 0));
    assert_ne!(requests(1, 0), requests(1, 1));
}

#[test]
fn types_are_sent_with_a_statements_first_execution_only() {
    let requests = requests(1, 0);
    let mut seen = std::collections::HashSet::new();
    for request in &requests {
        let (id, body) = (&request[5..9], &request[14..]);
        // Begin and commit have no parameters; others: a bitmap byte, then the flag.
        if let Some(flag) = body.get(1) {
            assert_eq!(*flag == 1, seen.insert(id.to_vec()));
        }
    }
    assert!(seen.len() >= 9);
}

#[test]
fn a_delete_and_its_insert_name_the_same_row() {
    let requests = requests(5, 0);
    // Steps 17 and 18 of 20. The key is the delete's last and the insert's first parameter.
    for transaction in requests.chunks(20) {
        let (delete, insert) = (&transaction[17], &transaction[18]);
        let key = &delete[delete.len() - 4..];
        let first = insert.len() - (4 + 4 + 1 + 119 + 1 + 59);
        assert_eq!(key, &insert[first..first + 4]);
    }
}

#[test]
fn ranges_end_within_the_parameters_type() {
    let mut place = Place::new(0, 1);
    let mut end = |first, more| {
        place.slots[0].set(Value::Integer(first));
        let end = Parameter::SlotPlus(0, more);
        value(&end, &place, &mut seeded(1, 1), &mut Vec::new()) == Value::Integer(104)
    };
    assert!(end(5, 99) && end(104, 0) && !end(5, 100));
    let largest = i64::from(i32::MAX);
    place.slots[0].set(Value::Integer(largest - 1));
    let end = Parameter::SlotPlus(0, 99);
    let end = value(&end, &place, &mut seeded(1, 1), &mut Vec::new()) == Value::Integer(largest);
    assert!(end);
}

#[test]
fn an_appended_row_is_text_with_a_key_of_the_servers_choosing() {
    for request in requests_of(WorkloadName::OltpInsert, 3, 0) {
        let (header, payload) = request.split_at(4);
        assert_eq!(usize::from(header[0]), payload.len());
        assert_eq!(payload[0], 3, "COM_QUERY");
        let sql = std::str::from_utf8(&payload[1..]).unwrap();
        let values = sql
            .strip_prefix("INSERT INTO sbtest")
            .and_then(|sql| sql[1..].strip_prefix(" (id, k, c, pad) VALUES (0, "))
            .unwrap_or_else(|| panic!("{sql}"));
        let parts: Vec<_> = values.split(", ").collect();
        assert!(
            (1..=1_000).contains(&parts[0].parse::<u32>().unwrap()),
            "{sql}"
        );
        assert_eq!(parts[1].trim_matches('\'').len(), C_BYTES, "{sql}");
        assert_eq!(
            parts[2].trim_end_matches("')").trim_matches('\'').len(),
            PAD_BYTES
        );
    }
}

/// The integers at the end of a request.
fn integers(request: &[u8], count: usize) -> Vec<u32> {
    request[request.len() - 4 * count..]
        .chunks(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

#[test]
fn random_points_and_ranges_come_from_the_connections_part_of_the_table() {
    for (connection, part) in [(0, 0..=500), (1, 500..=1_000)] {
        for request in requests_of(WorkloadName::SelectRandomPoints, 4, connection) {
            let points = integers(&request, 10);
            assert!(
                points.iter().all(|point| part.contains(point)),
                "{points:?}"
            );
        }
        for request in requests_of(WorkloadName::SelectRandomRanges, 4, connection) {
            for range in integers(&request, 20).chunks(2) {
                assert!(part.contains(&range[0]), "{range:?}");
                assert_eq!(range[1], range[0] + 5);
            }
        }
    }
}
