//! What scripts write as native workloads do: JSON, logs of latencies, latencies by statement.

use weir_model::Flavor;

use crate::beside::Bench;

const SCRIPT: &str = "
function thread_init()
  con = sysbench.sql.driver():connect()
  statement = con:prepare('SELECT ?')
  number = statement:bind_create(sysbench.sql.type.INT)
  statement:bind_param(number)
  print('a line of the script')
end
function event()
  number:set(7)
  statement:execute()
  con:query('SELECT 1 + ' .. sysbench.tid)
end";

#[test]
fn json_and_logs_of_latencies_are_as_for_native_workloads() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", SCRIPT);
    for driving in ["os", "reactor"] {
        let words = format!(
            "x.lua --threads=4 --time=2 --lua-threads={driving} --json --hdr-log=x.hdr --csv=x.csv run"
        );
        let run = bench.ours(&words);
        assert_eq!(run.code, Some(0), "{run:?}");
        let json: serde_json::Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", run.stdout));
        assert_eq!(json["workload"], "x.lua");
        assert_eq!(json["connections"], 4);
        let transactions = json["counts"]["transactions"].as_u64().unwrap();
        assert!(transactions > 0);
        assert_eq!(json["intervals"].as_array().unwrap().len(), 2);
        let kinds = json["kinds"].as_array().unwrap();
        let count = |name: &str| {
            let kind = kinds.iter().find(|kind| kind["name"] == name);
            kind.unwrap_or_else(|| panic!("{kinds:?}"))["count"]
                .as_u64()
                .unwrap()
        };
        for name in ["SELECT ?", "SELECT ? + ?"] {
            // A statement of an event that is under way at either end.
            assert!(
                count(name).abs_diff(transactions) <= 8,
                "{driving} {kinds:?}"
            );
        }
        assert!(run.stderr.contains("a line of the script"), "{run:?}");
        let log = std::fs::read_to_string(bench.folder().join("x.hdr")).unwrap();
        assert!(log.contains("Tag=statement:SELECT_?_+_?,"), "{log}");
        let csv = std::fs::read_to_string(bench.folder().join("x.csv")).unwrap();
        let third = |line: &str| line.split(',').nth(2).unwrap().parse::<u64>().unwrap();
        assert_eq!(
            csv.lines().skip(1).map(third).sum::<u64>(),
            transactions,
            "{csv}"
        );
        let words = format!("x.lua --time=1 --statement-latency --lua-threads={driving} run");
        let run = bench.ours(&words);
        assert!(run.stdout.contains("    SELECT ? + ?: "), "{run:?}");
    }
}
