//! What a key may do on a bus, and what it may not.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::StreamExt as _;
use weir_model::Secret;

use super::{World, null_server, plan};

#[test]
fn a_key_reads_its_own_orders_only_and_passwords_are_stored_nowhere() {
    let mut world = World::new(2);
    world.start_agent("agent-1", super::VERSION);
    world.start_agent("agent-2", super::VERSION);
    let crew = world.crew_of(2);
    let server = null_server(Duration::from_millis(1));
    let mut plan = plan(&server, 4, 2);
    plan.endpoint.password = Secret::new("sesame-4711");

    let spy = world.join_file("agent-2");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let listening = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let client = weir_agent::bus::connect(&spy).await.unwrap();
            let subjects = spy.subjects();
            let mut heard = Vec::new();
            for subject in [
                subjects.orders("agent-1"),
                subjects.everything(),
                ">".to_owned(),
            ] {
                heard.push(client.subscribe(subject).await.unwrap());
            }
            // Orders are not an agent's to give, nor another's signs of life.
            for subject in [
                subjects.orders("agent-1"),
                subjects.all(),
                subjects.beat("agent-1"),
            ] {
                client.publish(subject, "\"down\"".into()).await.unwrap();
            }
            client.flush().await.unwrap();
            ready.send(()).unwrap();
            let mut heard = futures_util::stream::select_all(heard);
            tokio::time::timeout(Duration::from_secs(6), heard.next())
                .await
                .is_ok()
        })
    });
    is_ready.recv().unwrap();
    let never = AtomicBool::new(false);
    let done = crew.run(&plan, 2, false, &never, &mut |_| ()).unwrap();
    assert!(done.outcome.counts.transactions > 0);
    assert!(
        !listening.join().unwrap(),
        "an agent's key reads what is not its own"
    );
    assert_eq!(
        crew.members().unwrap().len(),
        2,
        "an agent's key has sent another home"
    );

    let mut found = Vec::new();
    search(world.folder.path(), b"sesame-4711", &mut found);
    assert!(found.is_empty(), "{found:?}");

    // Another bus's authority or key.
    let other = World::new(1);
    let mut stranger = world.join_file("agent-1");
    stranger.authority = other.join_file("agent-1").authority;
    assert!(
        joins(&stranger).contains("certificate"),
        "{}",
        joins(&stranger)
    );
    let mut stranger = world.join_file("agent-1");
    stranger.seed = other.join_file("agent-1").seed;
    assert!(
        joins(&stranger).contains("uthorization"),
        "{}",
        joins(&stranger)
    );
}

fn joins(join: &weir_agent::bus::JoinFile) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let joined = runtime.unwrap().block_on(weir_agent::bus::connect(join));
    joined.map_or_else(|error| error.to_string(), |_| "it has joined".to_owned())
}

/// Files below `folder` that hold these bytes.
pub(super) fn search(folder: &Path, wanted: &[u8], found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            search(&path, wanted, found);
        } else if fs::read(&path)
            .unwrap_or_default()
            .windows(wanted.len())
            .any(|at| at == wanted)
        {
            found.push(path);
        }
    }
}
