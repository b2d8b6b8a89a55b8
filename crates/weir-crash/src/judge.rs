//! One crash state: started, recovered, and looked into from end to end.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_innodb::{scan, tablespaces};
use weir_mysql::Connection;
use weir_process::{ProcessIdentity, Signal};
use weir_server::{PrivateServer, ServerBinary, ServerError, StartOptions};

use crate::error::CrashError;
use crate::expected_rows::{ExpectedRows, LedgerReport};
use crate::ledger::Ledger;
use crate::server_clock::{ServerClock, WAIT_MAX};
use crate::{connection, order_entry, workload};

// Patience is in the server's own time ([`ServerClock`]).

/// A recovery that takes longer hangs: the data are small.
const RECOVERY_PATIENCE: Duration = Duration::from_mins(1);
/// Time for which a server that reported a corrupted page may be silent. MySQL 9.7 waits for such a page for ever when
/// it has to apply the redo log to it; others it reads a hundred times, with a dump each, and ends.
const CORRUPTION_PATIENCE: Duration = Duration::from_secs(3);
/// The words of both servers for such a page.
const CORRUPTION: &str = "page corruption";
/// A server that has not answered all questions and ended after so long hangs.
const ANSWER_PATIENCE: Duration = Duration::from_mins(2);
/// Time limit for a server that broke its connections to end.
const ENDING_PATIENCE: Duration = Duration::from_secs(5);
/// Interval of looks for a stop.
const GLANCE: Duration = Duration::from_millis(50);
/// Time for which, and pause after which, a table with a complaint is looked at again.
const CHECK_PATIENCE: Duration = Duration::from_secs(3);
const CHECK_PAUSE: Duration = Duration::from_millis(300);

/// Way in which the server came up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "words")]
pub enum Recovery {
    /// It answered.
    Clean,
    /// It ended by itself and said why.
    Refused(String),
    /// It was ended by a signal, at its start or while its tables were read.
    Crashed(String),
    /// It neither answered nor ended; its last words, if it had any.
    Hung(String),
}

/// Findings in one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Way in which the server came up.
    pub recovery: Recovery,
    /// Output of `CHECK TABLE ... EXTENDED` other than OK.
    pub check_table: Vec<String>,
    /// Records that are marked as deleted and purge has left: no query sees them, and `MariaDB` warns of them.
    #[serde(default)]
    pub garbage_entries: u32,
    /// Pages whose checksum was wrong after recovery and a clean shutdown, as `file: page N`.
    pub damaged_pages: Vec<String>,
    /// The rows against the ledger.
    pub ledger: LedgerReport,
    /// Conditions of order entry that do not hold, each with the first place.
    #[serde(default)]
    pub broken_conditions: Vec<String>,
    /// Seconds from the start of the server to its first answer.
    pub recovery_s: f64,
}

impl Judgement {
    /// Returns true if the database is damaged: anything but lost commits.
    pub fn is_damaged(&self) -> bool {
        self.recovery != Recovery::Clean
            || !self.check_table.is_empty()
            || !self.damaged_pages.is_empty()
            || self.ledger.difference_count > 0
            || !self.broken_conditions.is_empty()
    }

    /// The first thing that is damaged, in the server's words or the lab's.
    pub fn first_damage(&self) -> Option<String> {
        match &self.recovery {
            Recovery::Clean => {
                let found = self.check_table.iter().chain(&self.damaged_pages);
                let found = found.chain(&self.ledger.differences);
                found.chain(&self.broken_conditions).next().cloned()
            }
            Recovery::Refused(words) => Some(format!("refused: {words}")),
            Recovery::Crashed(words) => Some(format!("crashed: {words}")),
            Recovery::Hung(words) => Some(format!("hung: {words}")),
        }
    }

    fn without_a_server(recovery: Recovery, recovery_s: f64) -> Self {
        Self {
            recovery,
            check_table: Vec::new(),
            garbage_entries: 0,
            damaged_pages: Vec::new(),
            ledger: LedgerReport::default(),
            broken_conditions: Vec::new(),
            recovery_s,
        }
    }
}

/// Judge of states: the same binary and settings as the recorded server, with a pool that is large enough for
/// recovery.
#[derive(Clone, Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) binary: &'a ServerBinary,
    /// Settings of the recovery.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) expected: &'a ExpectedRows,
    pub(crate) ledger: &'a Ledger,
    /// Complaints of `CHECK TABLE` that have nothing to do with a cut.
    pub(crate) own_complaints: &'a [String],
    /// Ctrl-C: what is being judged is given up.
    pub(crate) stop: &'a AtomicBool,
}

impl Judge<'_> {
    /// Recovers and checks the data in `home`/data, cut at `cut_ns`. `home` is used up by it.
    pub(crate) fn judge(&self, home: &Path, cut_ns: u64) -> Result<Judgement, CrashError> {
        let mut options = StartOptions::new(home.join("data"), home.join("server"));
        options.variables.clone_from(&self.variables);
        let started = Instant::now();
        let mut words = String::new();
        let server = self.recover(&options, &mut words);
        let recovery_s = started.elapsed().as_secs_f64();
        if self.stop.load(Ordering::Relaxed) {
            return Err(CrashError::Stopped);
        }
        let server = match server {
            Ok(server) => server,
            Err(ServerError::Start { words, .. }) => {
                return Ok(Judgement::without_a_server(ending(words), recovery_s));
            }
            Err(ServerError::StartTimeout { .. } | ServerError::Interrupted) => {
                if words.is_empty() {
                    words = last_line(&options.run_dir.join("error.log"));
                }
                let hung = Recovery::Hung(words);
                return Ok(Judgement::without_a_server(hung, recovery_s));
            }
            Err(error) => return Err(error.into()),
        };
        let judgement = Judgement::without_a_server(Recovery::Clean, recovery_s);
        let (judged, hung) = self.guarded(server.pid(), || {
            self.look_into(server, home, cut_ns, judgement)
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(CrashError::Stopped);
        }
        let mut judgement = judged?;
        if hung {
            judgement.recovery = Recovery::Hung("it recovered and answers no more".to_owned());
        }
        Ok(judgement)
    }

    /// Starts the server and waits until it answers, or hangs; `words` are its message about a corrupted page.
    fn recover(
        &self,
        options: &StartOptions,
        words: &mut String,
    ) -> Result<PrivateServer, ServerError> {
        let mut server = PrivateServer::launch(self.binary, options)?;
        let mut patience = Patience::new(&server, words);
        server.wait_until_it_answers(WAIT_MAX, &mut |_| {
            if self.stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                patience.glance()
            }
        })?;
        Ok(server)
    }

    /// Does `work` with the server `pid`, which is killed when that takes too long (true) or Ctrl-C comes.
    fn guarded<T>(&self, pid: u32, work: impl FnOnce() -> T) -> (T, bool) {
        let process = ProcessIdentity::for_pid(pid);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let guard = scope.spawn(|| {
                let mut clock = ServerClock::start(pid);
                while !is_over.load(Ordering::Acquire) {
                    let hung = clock.is_past(ANSWER_PATIENCE);
                    if hung || self.stop.load(Ordering::Relaxed) {
                        // If it has ended by itself meanwhile, all the better.
                        let _ = process.map(|process| process.signal(Signal::KILL));
                        return hung;
                    }
                    thread::park_timeout(GLANCE);
                }
                false
            });
            let done = work();
            is_over.store(true, Ordering::Release);
            guard.thread().unpark();
            let hung = guard.join();
            (done, hung.expect("invariant: a guard does not panic"))
        })
    }

    /// Questions, a clean shutdown, and every page's checksum.
    fn look_into(
        &self,
        mut server: PrivateServer,
        home: &Path,
        cut_ns: u64,
        mut judgement: Judgement,
    ) -> Result<Judgement, CrashError> {
        if let Err(error) = self.ask(&server, cut_ns, &mut judgement) {
            // A server that reads a bad page may end itself, or only refuse to go on.
            match ended(&mut server, connection::is_broken(&error)) {
                Some(words) => judgement.recovery = ending(words),
                None => judgement.check_table.push(error.to_string()),
            }
            return Ok(judgement);
        }
        // The guard ends it earlier if it hangs.
        match server.stop(WAIT_MAX) {
            Ok(()) => judgement.damaged_pages = damaged_pages(&home.join("data"))?,
            Err(ServerError::StopTimeout { .. }) => {
                judgement.recovery = Recovery::Hung("it did not shut down".to_owned());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(judgement)
    }

    fn ask(
        &self,
        server: &PrivateServer,
        cut_ns: u64,
        judgement: &mut Judgement,
    ) -> Result<(), weir_mysql::ClientError> {
        let mut connection = connection::connect(&server.endpoint())?;
        let mut clock = ServerClock::start(server.pid());
        let shape = self.ledger.shape;
        let tables = workload::all_tables(shape);
        self.check_tables(&mut connection, tables, &mut clock, judgement)?;
        let sound = judgement.check_table.is_empty();
        judgement.ledger = self
            .expected
            .compare(&mut connection, self.ledger, cut_ns, sound)?;
        if shape.warehouses > 0 {
            let (mut connection, tables) = order_entry::tables(&server.endpoint())?;
            self.check_tables(&mut connection, tables, &mut clock, judgement)?;
            judgement.broken_conditions = order_entry::broken_conditions(&mut connection)?;
        }
        Ok(())
    }

    fn check_tables(
        &self,
        connection: &mut Connection,
        tables: impl IntoIterator<Item = String>,
        clock: &mut ServerClock,
        judgement: &mut Judgement,
    ) -> Result<(), weir_mysql::ClientError> {
        for table in tables {
            let (complaints, garbage) = check(connection, &table, self.own_complaints, clock)?;
            judgement.check_table.extend(complaints);
            judgement.garbage_entries += garbage;
        }
        Ok(())
    }
}

/// Returns the lasting complaints of `CHECK TABLE ... EXTENDED`, but for those that are `known`, and the number of
/// garbage entries.
///
/// Transactions that the cut left open are rolled back, and purged, while the server answers already: a complaint counts
/// if it stays.
fn check(
    connection: &mut Connection,
    table: &str,
    known: &[String],
    clock: &mut ServerClock,
) -> Result<(Vec<String>, u32), weir_mysql::ClientError> {
    let began = clock.elapsed();
    loop {
        let mut rows: Vec<(String, String, String, String)> =
            connection.rows(format!("CHECK TABLE {table} EXTENDED"))?;
        let all = rows.len();
        rows.retain(|(_, _, _, text)| !is_garbage(text));
        let garbage = (all - rows.len()) as u32;
        let told: Vec<_> = rows
            .into_iter()
            .filter(|(_, _, _, text)| text != "OK")
            .map(|(table, _, kind, text)| format!("{table}: {kind}: {text}"))
            .filter(|told| !known.contains(told))
            .collect();
        if told.is_empty() || clock.is_past(began + CHECK_PATIENCE) {
            return Ok((told, garbage));
        }
        thread::sleep(CHECK_PAUSE);
    }
}

/// Warnings of `MariaDB` where purge left records behind: entries without a row, and rows without history. No query
/// sees them, and its authors count them as garbage (MDEV-24402).
const LEFT_BY_PURGE: [&str; 2] = [
    "Clustered index record not found",
    "Unpurged clustered index record",
];

/// Returns true if a warning of `MariaDB` is of a record that purge left behind, marked as deleted
/// (`REC_INFO_DELETED_FLAG`).
fn is_garbage(text: &str) -> bool {
    const DELETED: u32 = 0x20;
    let info_bits = text.split_once("info_bits=").and_then(|(_, rest)| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    LEFT_BY_PURGE.iter().any(|words| text.contains(words))
        && info_bits.is_some_and(|bits| bits & DELETED != 0)
}

/// Ends the wait for a server that does not come up any more.
struct Patience<'a> {
    clock: ServerClock,
    error_log: PathBuf,
    /// Words of the server about a page that it cannot recover from.
    words: &'a mut String,
    /// Length of its log by then, and when it was last heard of, from those words on.
    heard: Option<(usize, Duration)>,
}

impl<'a> Patience<'a> {
    fn new(server: &PrivateServer, words: &'a mut String) -> Self {
        Self {
            clock: ServerClock::start(server.pid()),
            error_log: server.error_log().to_owned(),
            words,
            heard: None,
        }
    }

    fn glance(&mut self) -> ControlFlow<()> {
        self.listen();
        let limit = match self.heard {
            Some((_, at)) => RECOVERY_PATIENCE.min(at + CORRUPTION_PATIENCE),
            None => RECOVERY_PATIENCE,
        };
        if self.clock.is_past(limit) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn listen(&mut self) {
        // It holds dumps of pages, which are no text.
        let log = fs::read(&self.error_log).unwrap_or_default();
        if self.words.is_empty() {
            let text = String::from_utf8_lossy(&log);
            if let Some(line) = text.lines().find(|line| line.contains(CORRUPTION)) {
                line.clone_into(self.words);
            }
        }
        let length = self.heard.map_or(0, |(length, _)| length);
        if !self.words.is_empty() && log.len() > length {
            self.heard = Some((log.len(), self.clock.elapsed()));
        }
    }
}

/// Returns its last words, if it has ended; after `a_moment` if its connections broke, since they do so first.
fn ended(server: &mut PrivateServer, a_moment: bool) -> Option<String> {
    let began = Instant::now();
    loop {
        let words = server.has_exited();
        if words.is_some() || !a_moment || began.elapsed() > ENDING_PATIENCE {
            return words;
        }
        thread::sleep(GLANCE);
    }
}

fn last_line(error_log: &Path) -> String {
    let log = fs::read(error_log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let last = log.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or_default().to_owned()
}

fn ending(words: String) -> Recovery {
    if words.contains("ended by signal") {
        Recovery::Crashed(words)
    } else {
        Recovery::Refused(words)
    }
}

/// Damaged pages, and tablespaces whose first page says so little that no other can be read.
fn damaged_pages(data: &Path) -> Result<Vec<String>, CrashError> {
    let mut damaged = Vec::new();
    for path in tablespaces(data)? {
        let file = path.strip_prefix(data).unwrap_or(&path).display();
        match scan(&path) {
            Ok(report) => damaged.extend(report.damaged.iter().map(|page| {
                let what = format!("{:?}", page.damage).to_lowercase();
                format!("{file}: page {} ({what})", page.number)
            })),
            Err(error) => damaged.push(format!("{file}: page 0 ({error})")),
        }
    }
    Ok(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_marked_as_deleted_are_garbage_and_others_are_missing_rows() {
        let warning = |info_bits| {
            format!(
                "InnoDB: Clustered index record not found for index `k` of table `sbtest`.`crash2`: \
                 COMPACT RECORD(info_bits={info_bits}, 2 fields): {{[4] +u (0xA72B7500),[4]    (0x8000070C)}}"
            )
        };
        let row = "InnoDB: Unpurged clustered index record in table `order_entry`.`new_order`: COMPACT RECORD(info_bits=32, \
                   5 fields): {[4]    (0x80000001),[1] (0x81)}";
        assert!(is_garbage(row) && !is_garbage(&row.replace("info_bits=32", "info_bits=0")));
        assert!(is_garbage(&warning(32)) && is_garbage(&warning(48)));
        assert!(!is_garbage(&warning(0)) && !is_garbage("OK") && !is_garbage("info_bits=32"));
    }
}
