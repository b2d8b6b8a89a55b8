//! Many crash states of one recording, made, recovered and judged, some at a time.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use weir_model::Doublewrite;
use weir_process::{PathError, WorkDirectory};

use crate::choose_cuts::choose;
use crate::cut::{Choice, Cut, Moment};
use crate::disk_space::{HEADROOM, check_room, workers};
use crate::durable_image::DurableImage;
use crate::error::CrashError;
use crate::expected_rows::ExpectedRows;
use crate::explore_options::ExploreOptions;
use crate::ground_truth::GroundTruth;
use crate::judge::{Judge, Recovery};
use crate::record::TestRecording;
use crate::torn_page::{self, TornPage};
use crate::verdict::StateResult;
use crate::{sparse_files, test_settings};

/// A state that is ready to be recovered.
struct CrashState {
    number: u32,
    choice: Choice,
    cut_ns: u64,
    home: PathBuf,
    digest: u32,
    truth: GroundTruth,
}

/// Makes and judges all states; `on_result` sees each as it is done and says whether to go on.
///
/// The results are in the order of the states' numbers; all of them, unless `on_result` ended it.
///
/// # Errors
///
/// A recording that cannot be read, a server that cannot be started, or `stop`.
pub fn explore(
    recorded: &TestRecording,
    options: &ExploreOptions,
    stop: &AtomicBool,
    on_result: &mut dyn FnMut(&StateResult) -> bool,
) -> Result<Vec<StateResult>, CrashError> {
    let choices = choices(recorded, options)?;
    let work = WorkDirectory::create(&options.work, "states")?;
    let workers = workers();
    check_room(&recorded.base(), &options.work)?;
    let expected = ExpectedRows::new(recorded.ledger.seed, recorded.ledger.shape);
    let judge = judge(recorded, options, &expected, stop)?;
    let ended = AtomicBool::new(false);
    let is_over = || ended.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
    let mut results = thread::scope(|scope| {
        let (make, made) = sync_channel::<CrashState>(0);
        // Shared by the workers only: when all have ended, the maker is told so.
        let made = Arc::new(Mutex::new(made));
        let (judged, results) = sync_channel(workers);
        for _ in 0..workers {
            let (judge, judged, made) = (&judge, judged.clone(), Arc::clone(&made));
            scope.spawn(move || work_off(judge, &made, &judged));
        }
        drop((made, judged));
        let (choices, place, is_over) = (&choices, work.path(), &is_over);
        let maker =
            scope.spawn(move || make_states(recorded, options, choices, place, &make, is_over));
        let mut kept = Vec::new();
        for result in results {
            let result: StateResult = result?;
            if !on_result(&result) {
                ended.store(true, Ordering::Relaxed);
            }
            kept.push(result);
        }
        maker
            .join()
            .expect("invariant: making states reports, it does not panic")?;
        Ok::<_, CrashError>(kept)
    })?;
    if stop.load(Ordering::Relaxed) {
        return Err(CrashError::Stopped);
    }
    results.sort_by_key(|result| result.state);
    Ok(results)
}

/// Recovers and judges what the server had written when the recording ended, without any cut: number 0.
/// Damage there is the server's own doing.
///
/// # Errors
///
/// As [`explore`].
pub fn judge_uncut(
    recorded: &TestRecording,
    options: &ExploreOptions,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let options = ExploreOptions {
        cut: Cut::ProcessKill,
        ..options.clone()
    };
    let work = WorkDirectory::create(&options.work, "states")?;
    let mut image = durable_image(recorded, &options, work.path())?;
    follow(&mut image, &mut recorded.recording.events(), u64::MAX)?;
    let choice = Choice {
        position: image.position,
        branch: 0,
        outcomes: None,
        moment: Moment::Any,
    };
    let made = make_state(&image, &options, 0, choice, work.path().join("uncut"))?;
    judge_made(recorded, &options, made, stop)
}

/// Makes state number `state` once more, in the new folder `directory`: its data lie in `data`.
///
/// The same recording, options and number give the same bytes: the digest shows it.
///
/// # Errors
///
/// As [`explore`].
pub fn replay(
    recorded: &TestRecording,
    options: &ExploreOptions,
    state: u32,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let choice = choice(recorded, options, state)?;
    let work = WorkDirectory::create(&options.work, "states")?;
    let mut image = durable_image(recorded, options, work.path())?;
    follow(
        &mut image,
        &mut recorded.recording.events(),
        choice.position,
    )?;
    let made = make_state(&image, options, state, choice, directory.to_owned())?;
    judge_copy(recorded, options, made, &work, stop)
}

/// Recovers and judges a copy of `directory`, which [`replay`] made as state `state` and a user changed since.
///
/// # Errors
///
/// As [`explore`].
pub fn judge_changed(
    recorded: &TestRecording,
    options: &ExploreOptions,
    state: u32,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let choice = choice(recorded, options, state)?;
    let mut cut_ns = 0;
    for event in recorded.recording.events() {
        let event = event?;
        if event.sequence >= choice.position {
            break;
        }
        cut_ns = event.at_ns;
    }
    let made = CrashState {
        number: state,
        choice,
        cut_ns,
        home: directory.to_owned(),
        digest: digest(directory)?,
        truth: GroundTruth::default(),
    };
    let work = WorkDirectory::create(&options.work, "states")?;
    judge_copy(recorded, options, made, &work, stop)
}

/// Recovery changes the data, so it gets a copy of its own.
fn judge_copy(
    recorded: &TestRecording,
    options: &ExploreOptions,
    made: CrashState,
    work: &WorkDirectory,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let home = work.path().join("judged");
    weir_server::copy_directory(&made.home, &home)?;
    judge_made(recorded, options, CrashState { home, ..made }, stop)
}

/// Recovers and judges one state alone; its directory is used up by it.
fn judge_made(
    recorded: &TestRecording,
    options: &ExploreOptions,
    made: CrashState,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let expected = ExpectedRows::new(recorded.ledger.seed, recorded.ledger.shape);
    judge_state(&judge(recorded, options, &expected, stop)?, made)
}

/// The recorded server with the recorded settings, and what it must come up with.
fn judge<'a>(
    recorded: &'a TestRecording,
    options: &'a ExploreOptions,
    expected: &'a ExpectedRows,
    stop: &'a AtomicBool,
) -> Result<Judge<'a>, CrashError> {
    let data = weir_server::space_occupied(&recorded.base())?;
    let own = test_settings::cheap_start(options.server.flavor);
    let own = test_settings::known_to(&options.server, own)?;
    Ok(Judge {
        binary: &options.server,
        variables: test_settings::of_the_judgement(own, &options.variables, data),
        expected,
        ledger: &recorded.ledger,
        own_complaints: &options.own_complaints,
        stop,
    })
}

fn choices(recorded: &TestRecording, options: &ExploreOptions) -> Result<Vec<Choice>, CrashError> {
    choose(&recorded.recording, recorded.began_ns, options)
}

fn choice(
    recorded: &TestRecording,
    options: &ExploreOptions,
    state: u32,
) -> Result<Choice, CrashError> {
    let choices = choices(recorded, options)?;
    let states = choices.len() as u32;
    let index = state.checked_sub(1).filter(|&index| index < states);
    Ok(choices[index.ok_or(CrashError::NoSuchState { state, states })? as usize])
}

fn durable_image(
    recorded: &TestRecording,
    options: &ExploreOptions,
    place: &Path,
) -> Result<DurableImage, CrashError> {
    let directory = place.join("durable");
    weir_server::copy_directory(&recorded.base(), &directory)?;
    sparse_files::dig(&directory)?;
    let recording = &recorded.recording;
    let page_bytes = options.page_bytes();
    Ok(DurableImage::new(
        &directory,
        recording,
        options.rules,
        page_bytes,
    ))
}

/// Takes events until `position` is the next one.
fn follow(
    image: &mut DurableImage,
    events: &mut weir_drive::Events,
    position: u64,
) -> Result<(), CrashError> {
    while image.position < position {
        let Some(event) = events.next() else { break };
        image.advance(&event?)?;
    }
    Ok(())
}

fn make_states(
    recorded: &TestRecording,
    options: &ExploreOptions,
    choices: &[Choice],
    place: &Path,
    make: &SyncSender<CrashState>,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<(), CrashError> {
    let mut image = durable_image(recorded, options, place)?;
    let mut events = recorded.recording.events();
    for (number, &choice) in (1..).zip(choices) {
        if is_over() {
            break;
        }
        follow(&mut image, &mut events, choice.position)?;
        let home = place.join(format!("state-{number}"));
        let made = make_state(&image, options, number, choice, home)?;
        if make.send(made).is_err() {
            break;
        }
    }
    Ok(())
}

fn make_state(
    image: &DurableImage,
    options: &ExploreOptions,
    number: u32,
    choice: Choice,
    home: PathBuf,
) -> Result<CrashState, CrashError> {
    let mut truth = image.branch(&home, options.cut, options.seed, choice)?;
    let doublewrite = test_settings::doublewrite(options.server.flavor, &options.variables);
    if doublewrite == Some(Doublewrite::Repairs) {
        torn_page::note_before(&mut truth.torn_pages, &home)?;
    }
    Ok(CrashState {
        number,
        choice,
        cut_ns: image.at_ns,
        digest: digest(&home)?,
        home,
        truth,
    })
}

fn work_off(
    judge: &Judge<'_>,
    made: &Mutex<Receiver<CrashState>>,
    judged: &SyncSender<Result<StateResult, CrashError>>,
) {
    loop {
        let next = made.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(state) = next else { return };
        if judged.send(judge_state(judge, state)).is_err() {
            return;
        }
    }
}

fn judge_state(judge: &Judge<'_>, made: CrashState) -> Result<StateResult, CrashError> {
    let judgement = judge.judge(&made.home, made.cut_ns)?;
    let mut truth = made.truth;
    if judgement.is_damaged() {
        // A server that had no room is no finding.
        weir_server::check_space(&made.home, HEADROOM)?;
        let is_recovered = matches!(judgement.recovery, Recovery::Clean);
        torn_page::note_after(&mut truth.torn_pages, &made.home, is_recovered);
    } else {
        let pages = truth.torn_pages.iter_mut();
        pages.for_each(TornPage::forget);
    }
    fs::remove_dir_all(&made.home).map_err(PathError::on("remove", &made.home))?;
    Ok(StateResult {
        state: made.number,
        moment: made.choice.moment,
        position: made.choice.position,
        outcomes: made.choice.outcomes,
        digest: made.digest,
        truth,
        judgement,
    })
}

/// CRC-32C over names and contents of all files below `directory`, in the order of their names.
fn digest(directory: &Path) -> Result<u32, CrashError> {
    let mut entries = fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(PathError::on("read", directory))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut buffer = vec![0; 1 << 20];
    let mut sum = 0;
    for entry in entries {
        let path = entry.path();
        sum = crc32c::crc32c_append(sum, entry.file_name().as_encoded_bytes());
        if path.is_dir() {
            sum = crc32c::crc32c_append(sum, &digest(&path)?.to_le_bytes());
        } else {
            let mut file = File::open(&path).map_err(PathError::on("read", &path))?;
            loop {
                let read = file
                    .read(&mut buffer)
                    .map_err(PathError::on("read", &path))?;
                if read == 0 {
                    break;
                }
                sum = crc32c::crc32c_append(sum, &buffer[..read]);
            }
        }
    }
    Ok(sum)
}
