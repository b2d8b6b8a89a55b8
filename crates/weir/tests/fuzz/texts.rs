//! Texts that users write: option files, studies, workloads, drive profiles, statements, command lines.

use weir_model::{Distribution, DriveProfile, FileWorkload, Flavor, WorkloadSpec};
use weir_mysql::{
    ClientConfig, FileChoice, Gate, OptionFile, Permissions, StatementText, difference_sources,
};
use weir_study::{Overrides, StudyFile, resolve};
use weir_workload::{Drawer, RowWriter, ScriptInputs, Workload, seeded};

use crate::{fuzz, repository};

const OPTION_FILE: &str = "\u{feff}[client]\r\nuser = bench\npassword = \"a # b\"\n\
    !include /nowhere/my.cnf\n[client-mariadb]\nsocket='/run/x.sock' # y\nssl-mode=VERIFY_CA\n\
    loose_skip_ssl\nport=3306\n[weir]\nthreads = 64\ntable-size=1e6\nrate-ramp=100..5000:60s\n\
    [mysql]\nprompt=\\u@\\h\\_\nprotocol=tcp\npassword\n";

#[test]
fn option_files() {
    let words = [
        "[client]",
        "[weir]",
        "!include",
        "!includedir",
        "password",
        "socket=",
        "loose-",
        "\\s",
    ];
    fuzz(
        "option files",
        vec![OPTION_FILE.into()],
        &words,
        |_, path| {
            for flavor in [None, Some(Flavor::Mysql), Some(Flavor::Mariadb)] {
                let read = ClientConfig::default().read(FileChoice::Only(path), flavor);
                read.map(drop).unwrap_or_default();
            }
            OptionFile::read_without_groups(path)
                .map(drop)
                .unwrap_or_default();
            let file = path.to_string_lossy();
            let line = [
                "oltp_read_only".to_owned(),
                format!("--defaults-file={file}"),
                "run".to_owned(),
            ];
            weir_sysbench::parse(&line, &ClientConfig::default())
                .map(drop)
                .unwrap_or_default();
        },
    );
}

#[test]
fn login_files() {
    // A key of 20 bytes, a length, and what it enciphers: what is behind is refused, however long it says it is.
    let mut file = vec![0; 4];
    file.extend(0..20);
    file.extend(16_u32.to_le_bytes());
    file.extend([7; 16]);
    fuzz("login files", vec![file], &[], |_, path| {
        let config = ClientConfig {
            login_file: Some(path.to_owned()),
            ..ClientConfig::default()
        };
        config
            .read(FileChoice::None, None)
            .map(drop)
            .unwrap_or_default();
    });
}

#[test]
fn studies() {
    let words = [
        "[factors]",
        "[load]",
        "[data]",
        "rows = ",
        "scale = \"1/500\"",
        "threads",
        "rate",
        "\"1G\"",
        "\"30m\"",
        "[[claims]]",
        "[repeat]",
        "until",
        "within_server",
        "workload",
        "[[negative_controls]]",
        "drive",
    ];
    let mut seeds = repository("studies", ".toml");
    seeds.extend(repository("crates/weir-judge/fixtures/rules", ".toml"));
    fuzz("studies", seeds, &words, |input, _| {
        let text = String::from_utf8_lossy(input);
        let Ok(file) = StudyFile::parse("study.toml", &text) else {
            return;
        };
        let plan = resolve("study.toml", &file, &Overrides::default(), &|_| {
            Ok(Flavor::Mysql)
        });
        plan.map(drop).unwrap_or_default();
    });
}

#[test]
fn workloads() {
    let words = [
        "{ integer = [1, 9] }",
        "{ unique = [1, 9] }",
        "{ sequence = 1 }",
        "{ pattern = \"#@\" }",
        "\"now\"",
        "\"row\"",
        "\"line\"",
        "{ choice = { a = 1 } }",
        "zipfian",
        "rows = ",
        "[tables.x]",
        "[[transactions]]",
        "weight = ",
        "INSERT INTO t (id) VALUES (?)",
        "BEGIN",
        "text_file = \"/etc/passwd\"",
    ];
    fuzz(
        "workloads",
        repository("workloads", ".toml"),
        &words,
        |input, _| {
            let spec = WorkloadSpec::File(FileWorkload {
                path: "/nowhere/x.toml".into(),
                text: String::from_utf8_lossy(input).into_owned().into(),
                distribution: Distribution::Uniform,
            });
            let Ok(workload) = Workload::try_from(&spec) else {
                return;
            };
            let inputs = ScriptInputs {
                tables: 1,
                rows: 1,
                connections: 1,
                seed: 1,
                auto_increment: true,
            };
            for table in workload
                .tables(&weir_load::TableOptions::default())
                .unwrap()
            {
                let mut out = Vec::new();
                RowWriter::new(&table, 1).line(1, &mut out);
                RowWriter::new(&table, 1).line(table.rows, &mut out);
            }
            let script = workload.script(&inputs).unwrap();
            script.new_numbers();
            let (mut rng, mut scratch) = (seeded(1, 1), Vec::new());
            for transaction in &script.transactions {
                for step in &transaction.steps {
                    let weir_workload::Step::Execute(execution) = step else {
                        continue;
                    };
                    for (_, generator) in &execution.draws {
                        generator.draw(Drawer::default(), &mut rng, &mut scratch);
                    }
                }
            }
        },
    );
}

#[test]
fn drive_profiles() {
    let words = [
        "latency_us = ",
        "\"1T\"",
        "[flash]",
        "[write]",
        "[[curve]]",
        "fill = ",
        "atomicity",
    ];
    fuzz(
        "drive profiles",
        repository("drives", ".toml"),
        &words,
        |input, _| {
            let text = String::from_utf8_lossy(input);
            DriveProfile::parse("drive", &text)
                .map(drop)
                .unwrap_or_default();
        },
    );
}

#[test]
fn statements() {
    let seeds = [
        "INSERT INTO `t` (a, `b c`) VALUES (?, 'it''s ?'), (?, ? + 1) /* ? */ -- ?\n;",
        "SELECT /*!80000 'x' */ \"a\\\"?\" FROM s.t WHERE a BETWEEN ? AND ? # end",
        "UPDATE a.b SET c = ? WHERE d IN (SELECT e FROM f)",
        "SET GLOBAL x = 1, @@SESSION.y = 'z', @a := 2",
        "DELETE FROM t USING t JOIN u; BEGIN",
    ];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    let words = [
        "/*",
        "*/",
        "/*M!",
        "--",
        "#",
        "`",
        "INSERT",
        "VALUES (",
        "CALL",
        "INTO OUTFILE",
    ];
    let gate = Gate::new(Permissions {
        schema: Some("sbtest".to_owned()),
        ..Permissions::default()
    });
    fuzz("statements", seeds, &words, |input, _| {
        let sql = String::from_utf8_lossy(input);
        for text in StatementText::readings(&sql) {
            assert_eq!(text.pieces().len(), text.parameters() + 1);
            text.first_words();
            text.opens_transaction();
            let parameters = text.parameters();
            assert!(
                text.inserted_columns()
                    .iter()
                    .all(|c| c.parameter <= parameters)
            );
        }
        for source in difference_sources(input) {
            assert!(!source.part.is_empty());
        }
        gate.tables_changed(&sql);
        gate.outside_of(&sql);
    });
}

#[test]
fn command_lines() {
    let seeds = [
        "oltp_read_write --tables=8 --table-size=1M --threads=64 --time=60 --mysql-host=a,b --rate=1e3 run",
        "--test=/usr/share/sysbench/oltp_read_write.lua --table-size=1000 --num-threads=8 --max-time=60 run",
        "oltp_point_select:80,oltp_write_only:20 --rand-type=zipfian --percentiles=50,99.9 --rtt=1ms run",
        "--mysql-ignore-errors=1213,2013 --report-checkpoints=1,2 --rate-ramp=1..5:6s oltp_insert prepare",
    ];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    let words = [
        "--", "=", " ", "--rand-", "--mysql-", "--test=", "help", "run", "fileio", "'",
    ];
    fuzz("command lines", seeds, &words, |input, _| {
        let line = String::from_utf8_lossy(input);
        let words: Vec<_> = line
            .split(' ')
            .filter(|word| !word.contains(".toml"))
            .collect();
        let Ok(invocation) = weir_sysbench::parse(&words, &ClientConfig::default()) else {
            return;
        };
        weir_sysbench::command_line(&invocation.plan);
    });
}
