//! A whole crash test: recording, states, the positive control, the verdict.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use weir_model::{Atomicity, Bytes, Doublewrite, DriveProfile, Flavor};
use weir_process::PathError;
use weir_server::ServerBinary;

use crate::content::Shape;
use crate::cut::Cut;
use crate::device_rules::DeviceRules;
use crate::error::CrashError;
use crate::explore::{explore, judge_changed, judge_uncut, replay};
use crate::explore_options::ExploreOptions;
use crate::record::{RecordOptions, TestRecording, record};
use crate::test_settings::{self, DOUBLEWRITE, FLUSH_LOG, Variables};
use crate::verdict::{StateResult, Tally, Verdict};

/// Number of the way in which tests are kept. It went up when the recorded server's own words for its settings
/// came in, without which the verdict is about no known server.
pub const FORMAT: u32 = 2;
/// States that the control may take until it has found the damage that must be there.
const CONTROL_STATES: u32 = 200;
/// Folders of the recordings in a test's folder.
const RECORDING: &str = "recording";
const CONTROL: &str = "control";

/// Options of a test.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// The server.
    pub server: ServerBinary,
    /// The drive's profile, which says how long things take and what it keeps.
    pub drive: DriveProfile,
    /// Power cut or process kill.
    pub cut: Cut,
    /// The device's rules; [`DeviceRules::for_profile`] reads them from the profile.
    pub rules: DeviceRules,
    /// `innodb_doublewrite`.
    pub doublewrite: String,
    /// `innodb_flush_log_at_trx_commit`.
    pub flush_log_at_trx_commit: u8,
    /// Further variables of the server.
    pub variables: Variables,
    /// The database.
    pub shape: Shape,
    /// Number of states.
    pub states: u32,
    /// Seed of everything.
    pub seed: u64,
    /// Time for which the clients write.
    pub duration: Duration,
    /// The most that a recording may take.
    pub recording_limit: Bytes,
    /// Judge all states, also after the first failure.
    pub all: bool,
    /// Folder of the test: recordings, ledgers, results.
    pub out: PathBuf,
    /// Directory of servers, drives and states; memory is best.
    pub work: PathBuf,
    /// The program that mounts drives.
    pub weir: PathBuf,
}

impl TestOptions {
    /// Returns true if the folder has a recording that the same test can go on from.
    pub fn has_recording(&self) -> bool {
        TestRecording::is_in(&self.out.join(RECORDING)) && !file(&self.out).exists()
    }
}

/// Everything about a crash test; `crash-test.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrashTest {
    /// Number of the way in which it is kept: [`FORMAT`]. A file of another one can be looked at and its states
    /// made again; it counts for no switch.
    #[serde(default)]
    pub format: u32,
    /// Setting of the test.
    pub setting: Setting,
    /// Settings of the positive control; `None`: the test is its own control.
    pub control_setting: Option<Setting>,
    /// Tally of the states.
    pub tally: Tally,
    /// The control's states.
    pub control: Option<Tally>,
    /// The answer.
    pub verdict: Verdict,
    /// Acknowledged commits of the recording.
    pub commits: u64,
    /// Transactions of order entry in it.
    #[serde(default)]
    pub order_entry_transactions: u64,
    /// Events of the recording.
    pub events: u64,
    /// Seconds in which the states were made and judged, without recording and control.
    pub judging_s: f64,
    /// All states.
    pub states: Vec<StateResult>,
    /// All states of the control.
    pub control_states: Vec<StateResult>,
}

/// Setting of a test, from which its states can be made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Path of the server.
    pub server: PathBuf,
    /// Flavor of the server.
    pub flavor: Flavor,
    /// Version of the server.
    pub version: String,
    /// Name of the drive's profile.
    pub drive: String,
    /// Kind of the cut.
    pub cut: Cut,
    /// Rules of the device.
    pub rules: DeviceRules,
    /// The settings that the server was started with.
    pub variables: Variables,
    /// Values that the server then showed of the settings that decide the effect of a power cut on
    /// its pages ([`crate::DECISIVE_SETTINGS`]).
    #[serde(default)]
    pub said: Variables,
    /// States that were chosen.
    pub states: u32,
    /// Seed of places and outcomes.
    pub seed: u64,
    /// Folder of the recording, in the test's folder.
    pub recording: String,
    /// Complaints of `CHECK TABLE` about the recorded database without any cut.
    #[serde(default)]
    pub own_complaints: Vec<String>,
}

/// Progress of the test, for a display.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The clients write for so long.
    Recording(Duration),
    /// A recording is done, or was there already.
    Recorded(&'a TestRecording),
    /// The control begins.
    Control,
    /// A state was judged: its result, and how many there are to be.
    Judged(&'a StateResult, u32),
}

/// Makes the test; whatever it started is gone when this returns.
///
/// # Errors
///
/// A server, a drive or a file that fails, or `stop`.
pub fn test(
    options: &TestOptions,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<CrashTest, CrashError> {
    let mut setting = setting(options, RECORDING)?;
    // What this server cannot do is said before anything is made.
    weir_server::translate(setting.flavor, options.server.version, &setting.variables)?;
    take_folder(options)?;
    let recorded = make_recording(options, &setting, stop, watch)?;
    setting.said = recorded.said.clone();
    setting.own_complaints = own_complaints(options, &setting, &recorded, stop)?;
    let lost_is_failure = options.flush_log_at_trx_commit == 1;
    let began = Instant::now();
    let states = judge_all(options, &setting, &recorded, stop, &mut |result| {
        watch(Progress::Judged(result, setting.states));
        options.all || !result.has_failed(lost_is_failure)
    })?;
    let judging_s = began.elapsed().as_secs_f64();
    let (control_setting, control_states) = control(options, &setting, &recorded, stop, watch)?;
    let tally = Tally::count(&states);
    let control = control_setting
        .is_some()
        .then(|| Tally::count(&control_states));
    let test = CrashTest {
        format: FORMAT,
        verdict: Verdict::new(&states, control.as_ref(), lost_is_failure),
        commits: recorded.ledger.acknowledged() as u64,
        order_entry_transactions: recorded.ledger.order_entry_transactions,
        events: recorded.recording.event_count(),
        judging_s,
        setting,
        control_setting,
        tally,
        control,
        states,
        control_states,
    };
    test.write(&options.out)?;
    Ok(test)
}

/// The same drive without its atomicity, doublewrite off: there must be damage, or the test is blind.
///
/// A test with doublewrite off gives its own recording to the control; a test that is such a drive
/// already is its own control.
fn control(
    options: &TestOptions,
    setting: &Setting,
    recorded: &TestRecording,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<(Option<Setting>, Vec<StateResult>), CrashError> {
    let mut control = Setting {
        states: CONTROL_STATES,
        cut: Cut::Power,
        ..setting.clone()
    };
    control.rules.atomicity = Atomicity::default();
    let doublewrite = test_settings::doublewrite(setting.flavor, &setting.variables);
    let is_off = doublewrite == Some(Doublewrite::Off);
    if is_off && control.rules == setting.rules && setting.cut == Cut::Power {
        return Ok((None, Vec::new()));
    }
    watch(Progress::Control);
    let own;
    let recorded = if is_off {
        recorded
    } else {
        CONTROL.clone_into(&mut control.recording);
        let off = test_settings::variables(&[(DOUBLEWRITE, "OFF")]);
        control.variables = test_settings::with_asked(control.variables, &off);
        own = make_recording(options, &control, stop, watch)?;
        control.said = own.said.clone();
        control.own_complaints = own_complaints(options, &control, &own, stop)?;
        &own
    };
    let states = judge_all(options, &control, recorded, stop, &mut |result| {
        watch(Progress::Judged(result, CONTROL_STATES));
        !result.judgement.is_damaged()
    })?;
    Ok((Some(control), states))
}

/// The negative control: what is wrong with the recorded database though nothing was cut. `CHECK TABLE` may
/// complain (`MariaDB` 10.11 was seen to leave entries of an index behind whose rows were purged); anything else,
/// and the states would say nothing about the drive.
fn own_complaints(
    options: &TestOptions,
    setting: &Setting,
    recorded: &TestRecording,
    stop: &AtomicBool,
) -> Result<Vec<String>, CrashError> {
    let explore_options = explore_options(setting, options.server.clone(), &options.work);
    let mut judgement = judge_uncut(recorded, &explore_options, stop)?.judgement;
    let complaints = std::mem::take(&mut judgement.check_table);
    match judgement.first_damage() {
        Some(why) => Err(CrashError::DamagedUncut { why }),
        None => Ok(complaints),
    }
}

/// Makes state `number` of the test in `folder` once more, in the new directory `target`.
///
/// # Errors
///
/// A folder that holds no test, a state that is not in it, or as [`test`].
pub fn replay_state(
    folder: &Path,
    (of_control, number): (bool, u32),
    work: &Path,
    target: &Path,
    stop: &AtomicBool,
) -> Result<(StateResult, Option<StateResult>), CrashError> {
    let test = CrashTest::read(folder)?;
    let (setting, states) = match (&test.control_setting, of_control) {
        (Some(control), true) => (control, &test.control_states),
        _ => (&test.setting, &test.states),
    };
    let (recorded, options) = open(folder, setting, work)?;
    let again = replay(&recorded, &options, number, target, stop)?;
    let before = states.iter().find(|state| state.state == number).cloned();
    Ok((again, before))
}

/// Judges what lies in `directory` as state `number` of the test in `folder`: for experiments with other bytes
/// than the cut left.
///
/// # Errors
///
/// As [`replay_state`].
pub fn judge_changed_state(
    folder: &Path,
    number: u32,
    work: &Path,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<StateResult, CrashError> {
    let test = CrashTest::read(folder)?;
    let (recorded, options) = open(folder, &test.setting, work)?;
    judge_changed(&recorded, &options, number, directory, stop)
}

fn open(
    folder: &Path,
    setting: &Setting,
    work: &Path,
) -> Result<(TestRecording, ExploreOptions), CrashError> {
    let recorded = TestRecording::open(&folder.join(&setting.recording))?;
    let server = weir_server::find(Some(&setting.server))?;
    let server = weir_server::choose(&server, setting.flavor)?.clone();
    Ok((recorded, explore_options(setting, server, work)))
}

/// A test's mark.
#[derive(Deserialize)]
struct TestMark {
    #[serde(default)]
    format: u32,
    #[serde(rename = "setting")]
    _setting: IgnoredAny,
}

impl CrashTest {
    /// Reads the test in `folder`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no test.
    pub fn read(folder: &Path) -> Result<Self, CrashError> {
        let path = file(folder);
        let text = fs::read(&path).map_err(PathError::on("read", &path))?;
        Self::parse(&path, &text)
    }

    /// Reads a test that is to count for a server: what `weir crash-test run --json` printed to `path`, of this
    /// version's format.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no test of this format.
    pub fn read_verdict(path: &Path) -> Result<Self, CrashError> {
        let text = fs::read(path).map_err(PathError::on("read", path))?;
        let marked: Result<TestMark, _> = serde_json::from_slice(&text);
        match marked {
            Ok(TestMark { format, .. }) if format != FORMAT => Err(CrashError::OtherFormat {
                path: path.to_owned(),
                found: format,
                known: FORMAT,
            }),
            _ => Self::parse(path, &text),
        }
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Self, CrashError> {
        serde_json::from_slice(text).map_err(|error| CrashError::Unreadable {
            path: path.to_owned(),
            why: error.to_string(),
        })
    }

    fn write(&self, folder: &Path) -> Result<(), CrashError> {
        let path = file(folder);
        let text = serde_json::to_vec_pretty(self).expect("invariant: all keys are text");
        Ok(fs::write(&path, text).map_err(PathError::on("write", &path))?)
    }
}

/// Makes `folder` this test's own, also if another one begins at the same time. A test that ended after its
/// recording may go on there.
fn take_folder(options: &TestOptions) -> Result<(), CrashError> {
    let folder = &options.out;
    fs::create_dir_all(folder).map_err(PathError::on("create", folder))?;
    let recording = folder.join(RECORDING);
    match fs::create_dir(&recording) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if options.has_recording() {
                return Ok(());
            }
            Err(CrashError::FolderTaken {
                folder: folder.to_owned(),
            })
        }
        created => Ok(created.map_err(PathError::on("create", &recording))?),
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("crash-test.json")
}

fn setting(options: &TestOptions, recording: &str) -> Result<Setting, CrashError> {
    Ok(Setting {
        server: options.server.path.clone(),
        flavor: options.server.flavor,
        version: options.server.version.to_string(),
        drive: options.drive.name.clone(),
        cut: options.cut,
        rules: options.rules,
        variables: variables(options)?,
        said: Variables::new(),
        states: options.states,
        seed: options.seed,
        recording: recording.to_owned(),
        own_complaints: Vec::new(),
    })
}

fn variables(options: &TestOptions) -> Result<Variables, CrashError> {
    let own = test_settings::of_the_test(options.server.flavor);
    let mut variables = test_settings::known_to(&options.server, own)?;
    let flush = options.flush_log_at_trx_commit.to_string();
    variables.extend(test_settings::variables(&[
        (FLUSH_LOG, &flush),
        (DOUBLEWRITE, &options.doublewrite),
    ]));
    Ok(test_settings::with_asked(variables, &options.variables))
}

fn make_recording(
    options: &TestOptions,
    setting: &Setting,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<TestRecording, CrashError> {
    let record_options = RecordOptions {
        server: options.server.clone(),
        variables: setting.variables.clone(),
        drive: setting.drive.clone(),
        shape: options.shape,
        seed: options.seed,
        duration: options.duration,
        limit: options.recording_limit,
        out: options.out.join(&setting.recording),
        work: options.work.clone(),
        weir: options.weir.clone(),
    };
    let recorded = if let Some(kept) = TestRecording::kept(&record_options)? {
        kept
    } else {
        watch(Progress::Recording(options.duration));
        record(&record_options, stop)?
    };
    watch(Progress::Recorded(&recorded));
    Ok(recorded)
}

fn judge_all(
    options: &TestOptions,
    setting: &Setting,
    recorded: &TestRecording,
    stop: &AtomicBool,
    on_result: &mut dyn FnMut(&StateResult) -> bool,
) -> Result<Vec<StateResult>, CrashError> {
    let explore_options = explore_options(setting, options.server.clone(), &options.work);
    explore(recorded, &explore_options, stop, on_result)
}

fn explore_options(setting: &Setting, server: ServerBinary, work: &Path) -> ExploreOptions {
    ExploreOptions {
        server,
        variables: setting.variables.clone(),
        rules: setting.rules,
        cut: setting.cut,
        states: setting.states,
        seed: setting.seed,
        own_complaints: setting.own_complaints.clone(),
        work: work.to_owned(),
    }
}
