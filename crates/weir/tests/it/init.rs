//! `weir init`, `weir completions`, `weir manual`, `--color`.

use std::fs;

use crate::harness::{Weir, World, wait_until};
use crate::window::Window;

const SERVERS: [&str; 3] = ["mysql", "mariadb", "mysql://app@127.0.0.1:3306/bench"];
const QUESTIONS: [&str; 8] = [
    "doublewrite",
    "flush",
    "pool",
    "threads",
    "drives",
    "servers",
    "index",
    "upgrade",
];
const STORAGE: [&str; 3] = ["host", "intel-p3700-400gb", "intel-p3700-400gb,aws-gp3"];

/// Whether a study of this makes sense: a server of the user's keeps its storage, and is not started again.
fn makes_sense(server: &str, question: &str, storage: &str) -> bool {
    if server.contains("://") {
        return ["flush", "threads"].contains(&question) && storage == "host";
    }
    // `weir upgrade` writes the study of an upgrade.
    question != "upgrade" && (question == "drives") == storage.contains(',')
}

#[test]
fn every_combination_is_a_study_that_plan_accepts_or_one_line_says_why_not() {
    let world = World::new();
    let mut made = 0;
    for server in SERVERS {
        for question in QUESTIONS {
            for storage in STORAGE {
                let study = world.path("made.toml");
                let name = study.to_str().unwrap();
                let flags = [
                    "--server",
                    server,
                    "--question",
                    question,
                    "--storage",
                    storage,
                ];
                let init = || Weir::in_world(&world).args(["init", name]).args(flags);
                if !makes_sense(server, question, storage) {
                    let error = init().fails();
                    assert!(
                        error.contains("; use ") || error.contains("; name "),
                        "{error}"
                    );
                    assert!(!study.exists(), "{flags:?}");
                    continue;
                }
                init().succeeds();
                let plan = Weir::in_world(&world).args(["plan", name]).succeeds();
                assert!(
                    !plan.stdout.contains("\nerror "),
                    "{flags:?}: {}",
                    plan.stdout
                );
                assert!(plan.stdout.contains("time:"), "{flags:?}: {}", plan.stdout);
                let again = init().fails();
                assert!(again.contains("it exists"), "{again}");
                fs::remove_file(&study).unwrap();
                made += 1;
            }
        }
    }
    assert_eq!(made, 28);
}

#[test]
fn without_a_terminal_a_missing_answer_is_an_option_that_is_named() {
    let world = World::new();
    let study = world.path("made.toml");
    let error = Weir::in_world(&world)
        .args(["init", study.to_str().unwrap(), "--server", "mysql"])
        .fails();
    assert!(
        error.contains("--question is missing") && error.contains("doublewrite, flush"),
        "{error}"
    );
    for (server, storage, word) in [
        ("postgres", "host", "must be `mysql`"),
        (
            "mysql",
            "intel-p3700-400bg",
            "did you mean `intel-p3700-400gb`?",
        ),
    ] {
        let error = Weir::in_world(&world)
            .args(["init", study.to_str().unwrap(), "--question", "pool"])
            .args(["--server", server, "--storage", storage])
            .fails();
        assert!(error.contains(word) && !study.exists(), "{error}");
    }
    let output = Weir::in_world(&world).args(["run"]).output();
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("weir init"), "{}", output.stderr);
}

#[test]
fn on_a_terminal_it_asks_and_takes_numbers_and_own_words() {
    let world = World::new();
    let study = world.path("asked.toml");
    let mut window = Window::open(&world, &["init", study.to_str().unwrap()]);
    for (question, answer) in [
        ("Which server?", "2\r"),
        ("What do you want to find out?", "pool\r"),
        ("Which storage?", "\r"),
    ] {
        wait_until("a question is shown", || {
            let text = window.text();
            text.rsplit(question)
                .next()
                .is_some_and(|rest| text.contains(question) && rest.trim_end().ends_with("[1]"))
        });
        window.types(answer);
    }
    assert!(window.child.wait().unwrap().success(), "{}", window.text());
    let text = fs::read_to_string(study).unwrap();
    for part in [
        "flavor = \"mariadb\"",
        "innodb_buffer_pool_size = [\"64M\"",
        "drive = [\"intel-p3700-400gb\"]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = Weir::new().args(["completions", shell]).succeeds().stdout;
        assert!(
            script.contains("crash-test") && script.contains("flashback"),
            "{shell}"
        );
    }
    let bash = Weir::new().args(["completions", "bash"]).succeeds().stdout;
    let file = world.write("weir.bash", &bash);
    let line = format!(
        ". {} && COMP_WORDS=(weir exp) COMP_CWORD=1 && _weir weir exp weir && echo \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let completed = std::process::Command::new("bash")
        .args(["-c", &line])
        .output()
        .unwrap();
    let completed = String::from_utf8(completed.stdout).unwrap();
    assert_eq!(completed.trim(), "explain");

    let pages = world.path("man");
    Weir::new()
        .args(["manual", pages.to_str().unwrap()])
        .succeeds();
    let page = fs::read_to_string(pages.join("weir-run.1")).unwrap();
    assert!(
        page.contains(".TH weir-run 1") && page.contains("work"),
        "{page}"
    );
    assert!(pages.join("weir.1").exists() && pages.join("weir-crash-test-run.1").exists());
}
