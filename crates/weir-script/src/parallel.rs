//! A command that runs in all threads at once, each with an interpreter of its own.

use std::sync::Arc;

use crate::host::Part;
use crate::states::with_options;
use crate::world::World;

/// Threads that failed, by their numbers; each has said why.
pub(crate) fn run(world: &Arc<World>, command: &str) -> Vec<u32> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..world.threads())
            .map(|number| {
                std::thread::Builder::new()
                    .name(format!("script-{number}"))
                    .spawn_scoped(scope, move || run_one(world, command, number))
            })
            .collect();
        let mut failed = Vec::new();
        for (number, thread) in (0..).zip(threads) {
            let is_done = match thread {
                Ok(thread) => thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(error) => {
                    let why = error.to_string().to_lowercase();
                    world.log.fatal(&format!("no thread for the script: {why}"));
                    false
                }
            };
            if !is_done {
                failed.push(number);
            }
        }
        failed
    })
}

fn run_one(world: &Arc<World>, command: &str, number: u32) -> bool {
    let state = with_options(world, number, &Part::default());
    let done = state.and_then(|state| state.call_command(command));
    done.unwrap_or_else(|error| {
        world.log.fatal(&error.to_string());
        false
    })
}
