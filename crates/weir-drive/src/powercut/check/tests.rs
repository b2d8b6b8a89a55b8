//! Witness, writer and check beside each other, on a folder that nothing cuts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::powercut::witness::Witness;
use crate::powercut::witness_link::WitnessLink;
use crate::powercut::witness_message::{Event, FORMAT, RunStart};
use crate::powercut::writer::{WriteOptions, Writer};
use crate::powercut::{RunId, StorageIdentity};

struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn data(&self) -> PathBuf {
        let data = self.folder.path().join("data");
        fs::create_dir_all(&data).unwrap();
        data
    }

    /// Runs `body` beside a witness; also returns its notices.
    fn beside_witness<T>(&self, body: impl FnOnce(&str) -> T) -> (T, Vec<String>) {
        let witness = Witness::bind("127.0.0.1:0", &self.log()).unwrap();
        let address = witness.address().unwrap().to_string();
        let (stop, notices) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let notice = |line: &str| notices.lock().unwrap().push(line.to_owned());
        let done = std::thread::scope(|scope| {
            scope.spawn(|| witness.serve(&stop, &notice));
            let done = body(&address);
            stop.store(true, Ordering::Relaxed);
            done
        });
        (done, notices.into_inner().unwrap())
    }

    fn writer(&self, witness: &str) -> Writer {
        let options = WriteOptions {
            directory: self.data(),
            witness: witness.to_owned(),
            pages: 8,
        };
        Writer::prepare(&options).unwrap()
    }

    fn check(&self, cut: CutKind) -> Result<CheckReport, PowercutError> {
        check(&CheckOptions {
            directory: self.data(),
            log: self.log(),
            verdict: self.folder.path().join("verdict.json"),
            cut,
        })
    }

    /// Waits until the log has `wanted`.
    fn wait_for(&self, wanted: impl Fn(&LoggedRun) -> bool) {
        let patience = Instant::now() + Duration::from_secs(30);
        loop {
            let logged = LoggedRuns::read(&self.log()).unwrap_or_default();
            if logged.runs.values().any(&wanted) {
                return;
            }
            assert!(Instant::now() < patience, "the log does not say it");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn has_written(run: &LoggedRun) -> bool {
    let lanes = run.start.lanes.iter();
    let mut acknowledged = lanes.map(|lane| run.acknowledged[usize::from(*lane)]);
    acknowledged.all(|sequence| sequence > 20)
}

/// The run's writer loses its witness, as if the network were cut.
#[test]
fn a_writer_stops_when_its_witness_goes_away_and_what_it_wrote_is_judged() {
    let world = World::new();
    let (stop, ready) = (AtomicBool::new(false), AtomicBool::new(false));
    let failed = std::thread::scope(|scope| {
        let ((writer, handle), _) = world.beside_witness(|address| {
            let writer = std::sync::Arc::new(world.writer(address));
            let of_thread = std::sync::Arc::clone(&writer);
            let (stop, ready) = (&stop, &ready);
            let handle =
                scope.spawn(move || of_thread.run(stop, || ready.store(true, Ordering::Relaxed)));
            world.wait_for(has_written);
            (writer, handle)
        });
        assert!(writer.needed() < writer.free());
        handle.join().unwrap().unwrap_err().to_string()
    });
    assert!(ready.load(Ordering::Relaxed));
    // Its last writes were no later than its end. Without the mark of that it looks as if it had been cut.
    let ended = world.check(CutKind::Detach).unwrap_err().to_string();
    assert!(ended.contains("stopped before any cut"), "{ended}");
    let [run] = RunDirectory::find(&world.data())
        .unwrap()
        .try_into()
        .unwrap();
    fs::remove_file(run.path.join("ended")).unwrap();
    assert!(failed.starts_with("witness at `127.0.0.1:"), "{failed}");
    assert_eq!(failed.lines().count(), 1);
    let same_boot = world.check(CutKind::Power).unwrap_err();
    assert!(matches!(same_boot, PowercutError::NotCut(_)), "{same_boot}");
    let report = world.check(CutKind::Detach).unwrap();
    let tallies = report.verdict.tallies();
    assert!(tallies.len() >= 9, "{tallies:?}");
    for tally in tallies {
        assert_eq!((tally.cuts, tally.lost, tally.torn), (1, 0, 0), "{tally:?}");
        assert_eq!((tally.out_of_order, tally.damaged), (0, 0), "{tally:?}");
    }
    // The folder of a run that no check has seen is gone: all that was acknowledged is lost.
    fs::remove_dir_all(&run.path).unwrap();
    let gone = world.check(CutKind::Detach).unwrap().verdict.tallies();
    assert!(gone.iter().all(|tally| tally.lost == 1), "{gone:?}");
    // One that a check has seen was its user's to remove.
    report
        .verdict
        .write(&world.folder.path().join("verdict.json"))
        .unwrap();
    assert_eq!(
        world.check(CutKind::Detach).unwrap().verdict,
        report.verdict
    );
}

#[test]
fn a_run_that_its_user_stops_is_no_cut() {
    let world = World::new();
    let (done, notices) = world.beside_witness(|address| {
        let writer = world.writer(address);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| writer.run(&stop, || ()));
            world.wait_for(has_written);
            let at_work = world.check(CutKind::Detach).unwrap_err().to_string();
            assert!(at_work.contains("still at work"), "{at_work}");
            stop.store(true, Ordering::Relaxed);
            running.join().unwrap()
        })
    });
    done.unwrap();
    assert!(notices[0].contains("begins"), "{notices:?}");
    let refused = world.check(CutKind::Detach).unwrap_err().to_string();
    assert!(refused.contains("stopped before any cut"), "{refused}");
}

fn start(world: &World) -> Event {
    Event::Begin(Box::new(RunStart {
        format: FORMAT,
        directory: world.data(),
        pages: 8,
        lanes: vec![0],
        boot: String::new(),
        storage: StorageIdentity::below(&world.data()).unwrap(),
    }))
}

#[test]
fn a_witness_takes_nothing_of_a_run_that_has_not_begun_there() {
    let world = World::new();
    let (run, other) = (RunId(1), RunId(2));
    let flushed = || Event::Flushed {
        lane: 0,
        sequence: 9,
    };
    let refusal = |link: &WitnessLink, event: Event| {
        let told = link.tell(event).and_then(|()| link.wait_for_all());
        told.unwrap_err().to_string()
    };
    world.beside_witness(|address| {
        let link = WitnessLink::connect(address, run).unwrap();
        link.tell(start(&world)).unwrap();
        link.tell(flushed()).unwrap();
        link.wait_for_all().unwrap();
        let stranger = WitnessLink::connect(address, other).unwrap();
        assert!(refusal(&stranger, flushed()).contains("has not begun"));
        let twin = WitnessLink::connect(address, run).unwrap();
        assert!(refusal(&twin, start(&world)).contains("in the log already"));
        let in_use = Witness::bind("127.0.0.1:0", &world.log()).unwrap_err();
        assert!(matches!(in_use, PowercutError::LogInUse(_)), "{in_use}");
    });
    // Nor after a restart of the witness.
    world.beside_witness(|address| {
        let again = WitnessLink::connect(address, run).unwrap();
        assert!(refusal(&again, start(&world)).contains("in the log already"));
    });
    let logged = LoggedRuns::read(&world.log()).unwrap();
    assert_eq!(logged.runs.len(), 1);
    assert_eq!(logged.runs[&run].acknowledged[0], 9);
}

#[test]
fn bytes_of_a_stranger_are_refused_and_leave_no_trace() {
    use std::io::{Read, Write};

    let world = World::new();
    for bytes in [b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![b'x'; 200_000]] {
        world.beside_witness(|address| {
            let mut stranger = std::net::TcpStream::connect(address).unwrap();
            // It may close before all is written.
            let _ = stranger.write_all(&bytes);
            let mut answer = Vec::new();
            let _ = stranger.read_to_end(&mut answer);
        });
    }
    assert_eq!(fs::read(world.log()).unwrap(), b"");
}

#[test]
fn a_line_that_a_killed_witness_left_half_written_costs_only_itself() {
    let world = World::new();
    let run = RunId(1);
    world.beside_witness(|address| {
        let link = WitnessLink::connect(address, run).unwrap();
        link.tell(start(&world)).unwrap();
        link.wait_for_all().unwrap();
    });
    let mut log = fs::read(world.log()).unwrap();
    log.extend_from_slice(b"{\"run\":\"00");
    fs::write(world.log(), log).unwrap();
    drop(Witness::bind("127.0.0.1:0", &world.log()).unwrap());
    let logged = LoggedRuns::read(&world.log()).unwrap();
    assert_eq!((logged.runs.len(), logged.unreadable_lines), (1, 1));
    fs::write(world.log(), "no log\n").unwrap();
    let refused = LoggedRuns::read(&world.log()).unwrap_err().to_string();
    assert!(refused.contains("none of its lines"), "{refused}");
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let world = World::new();
    let refused = |pages, directory| {
        let options = WriteOptions {
            directory,
            witness: "127.0.0.1:1".to_owned(),
            pages,
        };
        let error = Writer::prepare(&options).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1);
        error
    };
    assert!(refused(100, world.data()).contains("--pages 100"));
    assert!(refused(8, world.folder.path().join("absent")).contains("absent"));
    assert!(refused(1 << 24, world.data()).contains("not enough space"));
    let unreachable = world
        .writer("127.0.0.1:1")
        .run(&AtomicBool::new(false), || ());
    assert!(unreachable.unwrap_err().to_string().contains("witness at"));
    assert_eq!(fs::read_dir(world.data()).unwrap().count(), 0);
    let nothing = world.check(CutKind::Detach).unwrap_err().to_string();
    assert!(nothing.contains("log"), "{nothing}");
}
