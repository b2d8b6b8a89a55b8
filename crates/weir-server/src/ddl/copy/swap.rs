//! The swap of the tables: one RENAME, which others see at once or not at all.

use std::thread;
use std::time::{Duration, Instant};

use weir_mysql::Connection;

use super::change_keys::ChangeKeys;
use super::layout::Layout;
use super::leftover::Names;
use super::{TableCopier, persist};
use crate::ddl::DdlError;

/// Between two looks whether the RENAME waits.
const LOOK: Duration = Duration::from_millis(2);
/// Time within which it has to be seen.
const SEEN_WITHIN: Duration = Duration::from_secs(10);

/// Both tables are equal at any time, so they are swapped at once.
pub(super) fn rename(connection: &mut Connection, names: &Names) -> Result<(), DdlError> {
    let swap = swap(names);
    persist(|| connection.run(&swap))?;
    Ok(())
}

fn swap(names: &Names) -> String {
    let Names {
        table, new, old, ..
    } = names;
    format!("RENAME TABLE {table} TO {old}, {new} TO {table}")
}

/// Writes wait while the last changes are read; the RENAME that waits with them goes first when they may go on: a
/// metadata lock that excludes others is granted before those that it excludes. It has to be seen waiting for the table
/// itself, which it locks first, as its name sorts before those of the copies: where it waited for another name, writes
/// got through to the old table and were lost (6 of 6 on MySQL 9.7.4 and MariaDB 10.11.19, 2026-11-25; 0 of 80 so).
///
/// A table of the old name stands in its way until it is seen: if the lock is lost before, the RENAME fails and nothing
/// is swapped.
pub(super) fn cut_over(
    copier: &TableCopier,
    changes: &mut ChangeKeys,
    names: &Names,
    layout: &Layout,
) -> Result<u64, DdlError> {
    let mut locker = copier.connect()?;
    let mut renamer = copier.connect()?;
    let mut watcher = copier.connect()?;
    let Names {
        table, new, old, ..
    } = names;
    watcher.run(format!("CREATE TABLE {old} (a INT) ENGINE = InnoDB"))?;
    let lock = format!("LOCK TABLES {table} WRITE, {new} WRITE");
    persist(|| locker.run(&lock))?;
    changes.read(copier, layout)?;
    let applied = changes.apply_locked(&mut locker, names, layout)?;
    let swap = swap(names);
    let id = renamer.id();
    thread::scope(|scope| {
        let renaming = scope.spawn(move || renamer.run(&swap).map(drop));
        let let_go = wait_until_it_waits(&mut watcher, id)
            .and_then(|()| Ok(locker.ping()?))
            .and_then(|()| Ok(watcher.run(format!("DROP TABLE {old}"))?));
        // Also after a failure: the RENAME finds the old name taken, and fails.
        let unlocked = locker.run("UNLOCK TABLES");
        let renamed = renaming
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match renamed {
            // It was seen waiting for the lock, so nothing was written after the last changes.
            Ok(()) => Ok(applied),
            Err(error) => {
                let_go?;
                unlocked?;
                Err(error.into())
            }
        }
    })
}

fn wait_until_it_waits(watcher: &mut Connection, id: u32) -> Result<(), DdlError> {
    let began = Instant::now();
    let look = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id} AND STATE LIKE 'Waiting for table%lock'"
    );
    while watcher.first::<u64>(&look)? != Some(1) {
        if began.elapsed() > SEEN_WITHIN {
            return Err(DdlError::Table {
                table: "of the swap".to_owned(),
                why: "its RENAME does not wait for the lock".to_owned(),
                remedy: "look whether the server is overloaded",
            });
        }
        thread::sleep(LOOK);
    }
    Ok(())
}
