//! Steps of a study's server, done by a role of the test's own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weir_agent::bus::CONDUCTOR;
use weir_agent::{
    AgentError, ServerOutcome, ServerReply, ServerRole, ServerSession, ServerStep, ServerWork,
};
use weir_model::{Cell, Plan, Repetition, Secret};
use weir_probe::{Probe, ProcessProbe, Readings};

use super::keys::search;
use super::{VERSION, World};

const PASSWORD: &str = "sesame-of-the-server-0815";

/// Does nothing, and says what it was asked for.
#[derive(Debug, Default)]
struct Role {
    passwords: Mutex<Vec<String>>,
    steps: AtomicU64,
    is_there: AtomicBool,
}

impl ServerRole for Role {
    fn serve(&self, steps: &Receiver<ServerWork>, stop: &AtomicBool) {
        self.is_there.store(true, Ordering::SeqCst);
        for work in steps {
            self.steps.fetch_add(1, Ordering::SeqCst);
            let reply = match &work.step {
                ServerStep::Open { .. } => ServerReply::Opened {
                    servers: Vec::new(),
                    drives: Vec::new(),
                },
                // As long as a load of data, until the conductor wants no more.
                ServerStep::Prepare => {
                    let began = Instant::now();
                    while !stop.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(4) {
                        work.rows.set(began.elapsed().as_millis() as u64 + 1, 4_000);
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    ServerReply::Done
                }
                ServerStep::Begin { .. } => {
                    let password = work.password.as_ref().unwrap().reveal().to_owned();
                    self.passwords.lock().unwrap().push(password);
                    ServerReply::Done
                }
                ServerStep::Watch => {
                    let own = ProcessProbe::server(std::process::id());
                    work.answer(Ok(ServerOutcome::Probes(vec![Box::new(own)])));
                    continue;
                }
                ServerStep::Variables => {
                    work.answer(Err(
                        "variables: none (this is a test); look elsewhere".to_owned()
                    ));
                    continue;
                }
                _ => ServerReply::Done,
            };
            work.answer(Ok(ServerOutcome::Reply(reply)));
        }
        // A server takes a while to stop.
        std::thread::sleep(Duration::from_millis(300));
        self.is_there.store(false, Ordering::SeqCst);
    }
}

fn open() -> ServerStep {
    // What the steps are about is the role's.
    ServerStep::Open {
        plan: Box::new(Plan {
            title: String::new(),
            question: String::new(),
            seed: 1,
            factors: Vec::new(),
            cells: Vec::new(),
            runs: Vec::new(),
            repeat: Repetition::default(),
            search: None,
            screen: None,
            claims: Vec::new(),
            negative_controls: Vec::new(),
            prices: BTreeMap::new(),
            crash_tests: Vec::new(),
        }),
        below_floor: false,
    }
}

#[test]
fn steps_are_done_once_and_end_with_their_conductor() {
    let mut world = World::new(2);
    let role = Arc::new(Role::default());
    let server_role: Arc<dyn ServerRole> = role.clone();
    world.start_server_agent("agent-1", server_role);
    world.start_agent("agent-2", VERSION);
    drop(world.crew_of(2));
    let file = world.folder.join_file(CONDUCTOR);
    let join = |wanted: &str| ServerSession::join(&file, VERSION, wanted);
    let never = AtomicBool::new(false);
    let quiet = &mut |_: u64, _: u64| ();

    for (wanted, why) in [
        ("agent-2", "does not allow `server`"),
        ("agent-9", "no such agent is there"),
    ] {
        let refused = join(wanted).unwrap_err().to_string();
        assert!(
            refused.contains(why) && refused.contains("--allow server"),
            "{refused}"
        );
    }

    let session = join("auto").unwrap();
    session.step(open(), None, &never, quiet).unwrap();
    let mut rows = Vec::new();
    let mut on_rows = |done, total| rows.push((done, total));
    session
        .step(ServerStep::Prepare, None, &never, &mut on_rows)
        .unwrap();
    assert!(rows.len() > 1 && rows.is_sorted(), "{rows:?}");
    // It was asked for again and again, and done once.
    assert_eq!(role.steps.load(Ordering::SeqCst), 2);

    let begin = || ServerStep::Begin {
        cell: Box::new(Cell::default()),
    };
    let password = Secret::new(PASSWORD);
    session
        .step(begin(), Some(&password), &never, quiet)
        .unwrap();
    assert_eq!(*role.passwords.lock().unwrap(), [PASSWORD]);
    let refused = session.step(ServerStep::Variables, None, &never, quiet);
    assert!(
        matches!(&refused, Err(AgentError::Refused { why, .. }) if why.contains("look elsewhere")),
        "{refused:?}"
    );
    let mut probes = session.probes(&never).unwrap();
    let mut readings = Readings::default();
    probes[0].sample(&mut readings).unwrap();
    assert!(
        readings
            .pending()
            .any(|(metric, ..)| metric == "server.memory_bytes")
    );

    // One conductor at a time: the second has the agent when the first is gone.
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let session = join("agent-1").unwrap();
            session
                .step(open(), None, &AtomicBool::new(false), &mut |_, _| ())
                .unwrap();
            session
        });
        std::thread::sleep(Duration::from_millis(500));
        assert!(!second.is_finished());
        drop(session);
        second.join().unwrap()
    });

    // A step that is not wanted any more ends early, and the session with it.
    let stop = AtomicBool::new(false);
    let mut interrupt = |_: u64, _: u64| stop.store(true, Ordering::SeqCst);
    let interrupted = second.step(ServerStep::Prepare, None, &stop, &mut interrupt);
    assert!(
        matches!(interrupted, Err(AgentError::Interrupted)),
        "{interrupted:?}"
    );
    drop(second);
    assert!(
        !role.is_there.load(Ordering::SeqCst),
        "the drop waits for the end"
    );

    // With the agent, too.
    let left = join("auto").unwrap();
    left.step(open(), None, &never, quiet).unwrap();
    let folder = world.folder.path().to_owned();
    world.stop_agents();
    assert!(!role.is_there.load(Ordering::SeqCst));
    drop(left);
    let mut found = Vec::new();
    search(&folder, PASSWORD.as_bytes(), &mut found);
    assert!(found.is_empty(), "{found:?}");
}
