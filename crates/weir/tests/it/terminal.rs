//! `weir run` on a terminal: a real pseudo-terminal, as a user's window is one.

use std::fs;

use crate::harness::{World, small_study, wait_until};
use crate::window::{COLUMNS, Window};

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// `weir run` of a study, in a window.
fn run(world: &World, study: &str) -> Window {
    let study = world.write("study.toml", study);
    fs::create_dir_all(world.path("work")).unwrap();
    let (out, work) = (world.path("out"), world.path("work"));
    let [study, out, work] = [&study, &out, &work].map(|path| path.to_str().unwrap());
    Window::open(world, &["run", study, "--out", out, "--work", work])
}

/// No line that was drawn is wider than the window.
fn assert_fits(text: &str) {
    let screen = text.split(ENTER).nth(1).unwrap().split(LEAVE).next();
    // The terminal itself adds a carriage return to each line feed.
    for line in screen.unwrap().lines() {
        let plain = line
            .replace("\x1b[H", "")
            .replace("\x1b[K", "")
            .replace("\x1b[J", "")
            .replace("\x1b[?25l", "")
            .replace('\r', "");
        assert!(!plain.contains('\x1b'), "{plain:?}");
        assert!(plain.chars().count() <= usize::from(COLUMNS), "{plain:?}");
    }
}

#[test]
fn ctrl_c_in_a_window_gives_the_terminal_back_as_it_was() {
    let world = World::new();
    let study = small_study("mysql").replace("measure = \"2s\"", "measure = \"30s\"");
    let mut window = run(&world, &study);
    let before = format!("{:?}", window.before);
    wait_until("a bottleneck is shown", || {
        let text = window.text();
        text.rsplit("limited by").next().is_some_and(|rest| {
            text.contains("measuring, second")
                && !rest.trim_start().starts_with("not known")
                && rest.contains(": ")
        })
    });
    window.types("\x03");
    let status = window.child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{}", window.text());
    wait_until("the last words are shown", || {
        let text = window.text();
        text.rsplit_once(LEAVE)
            .is_some_and(|(_, after)| after.contains("stopped"))
    });
    let text = window.text();
    assert_fits(&text);
    let after = text.rsplit(LEAVE).next().unwrap();
    assert!(after.contains("stopped"), "{after:?}");
    assert!(
        !after.contains(ENTER) && !after.contains("\x1b["),
        "{after:?}"
    );
    assert_eq!(format!("{:?}", window.settings()), before);
    world.assert_nothing_left();
}

#[test]
fn at_the_end_of_a_study_the_verdicts_stand_below_what_was_there_before() {
    let world = World::new();
    let study = small_study("mariadb").replace("runs = 3", "runs = 1");
    let mut window = run(&world, &study);
    window.child.wait().unwrap();
    wait_until("the verdicts are shown", || {
        window.text().contains("report: ")
    });
    let text = window.text();
    assert_fits(&text);
    assert!(text.contains("finished runs"), "{text}");
    let after = text.rsplit(LEAVE).next().unwrap();
    // Colours and nothing else: the cursor stays where it is.
    let is_style = |part: &str| {
        let code = part.strip_prefix('[').and_then(|part| part.split_once('m'));
        code.is_some_and(|(code, _)| code.chars().all(|c| c.is_ascii_digit() || c == ';'))
    };
    assert!(
        after.contains("limited by") && after.split('\x1b').skip(1).all(is_style),
        "{after:?}"
    );
    world.assert_nothing_left();
}
