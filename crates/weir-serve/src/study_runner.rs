//! The one study that this server runs: `weir run` as a child, ended by its own id.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use axum::http::StatusCode;
use serde::Serialize;
use weir_process::{ProcessIdentity, Signal, spawn_tied};

use crate::api_error::ApiError;
use crate::studies::Study;

/// Lines of a study's messages that are kept.
const LINES_MAX: usize = 12;

/// Starts studies, one at a time.
#[derive(Debug)]
pub(crate) struct StudyRunner {
    weir: PathBuf,
    /// Folder of the results.
    results: PathBuf,
    current: Mutex<Option<StudyProcess>>,
}

#[derive(Debug)]
struct StudyProcess {
    child: Child,
    identity: Option<ProcessIdentity>,
    study: String,
    lines: Arc<Mutex<VecDeque<String>>>,
    stopping: bool,
    /// Ending of the study; `None` while it runs.
    ended: Option<&'static str>,
}

/// State of the last study that was started here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OwnStudy {
    study: String,
    pid: u32,
    is_running: bool,
    is_stopping: bool,
    /// Ending of the study, in words.
    ended: Option<String>,
    /// Last lines of its output.
    lines: Vec<String>,
}

impl OwnStudy {
    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }
}

impl StudyRunner {
    pub(crate) fn new(weir: PathBuf, results: PathBuf) -> Self {
        Self {
            weir,
            results,
            current: Mutex::default(),
        }
    }

    /// Starts `study`. Call it on a thread that lives as long as the server: the child is tied to it.
    pub(crate) fn start(&self, study: &Study) -> Result<(), ApiError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = current.as_mut() {
            started.look();
            if started.ended.is_none() {
                return Err(ApiError::new(
                    StatusCode::CONFLICT,
                    format!("`{}` is running; one study at a time", started.study),
                ));
            }
        }
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        let out = self.results.join(format!("{}-{now}", study.name));
        *current = Some(self.spawn(study, &out).map_err(|error| {
            let message = format!("cannot start `{}` ({error})", study.name);
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
        })?);
        Ok(())
    }

    fn spawn(&self, study: &Study, out: &Path) -> std::io::Result<StudyProcess> {
        let mut command = Command::new(&self.weir);
        command.arg("run").arg(&study.path).arg("--out").arg(out);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = spawn_tied(&mut command, Signal::TERM)?;
        let lines = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            let lines = Arc::clone(&lines);
            thread::spawn(move || keep_lines(stderr, &lines));
        }
        Ok(StudyProcess {
            identity: ProcessIdentity::for_pid(child.id()),
            child,
            study: study.name.clone(),
            lines,
            stopping: false,
            ended: None,
        })
    }

    /// Asks the study to stop in order; it keeps its complete runs.
    pub(crate) fn stop(&self) -> Result<(), ApiError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = current.as_mut() {
            started.look();
        }
        let Some(started) = current.as_mut().filter(|started| started.ended.is_none()) else {
            return Err(ApiError::new(
                StatusCode::CONFLICT,
                "no study runs that was started here; stop one that was started in a terminal with Ctrl-C there",
            ));
        };
        started.stopping = true;
        if let Some(identity) = started.identity {
            identity.signal(Signal::TERM).map_err(|error| {
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            })?;
        }
        Ok(())
    }

    /// Stops the study, if one runs, and waits until it has taken down all that it started.
    pub(crate) fn end(&self) {
        let _ = self.stop();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = current.as_mut() {
            let _ = started.child.wait();
        }
    }

    /// The last study that was started here.
    pub(crate) fn own(&self) -> Option<OwnStudy> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let started = current.as_mut()?;
        started.look();
        let lines = started.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Some(OwnStudy {
            study: started.study.clone(),
            pid: started.child.id(),
            is_running: started.ended.is_none(),
            is_stopping: started.stopping && started.ended.is_none(),
            ended: started.ended.map(str::to_owned),
            lines: lines.iter().cloned().collect(),
        })
    }
}

impl StudyProcess {
    /// Notes whether the child has ended.
    fn look(&mut self) {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(ended_words(status.code()));
        }
    }
}

/// The exit codes of `weir --help`.
fn ended_words(code: Option<i32>) -> &'static str {
    match code {
        Some(0) => "done",
        Some(3) => "done; a rule forbids a comparison",
        Some(130) => "stopped; complete runs are kept",
        _ => "failed",
    }
}

fn keep_lines(stderr: ChildStderr, lines: &Mutex<VecDeque<String>>) {
    // A path in the study's words may be in another character set than UTF-8.
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_another_character_set_ends_no_reading() {
        let mut command = Command::new("sh");
        command.args(["-c", r"printf 'first\nr\351sultats/x\nlast\n' >&2"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = Mutex::default();
        keep_lines(child.stderr.take().unwrap(), &lines);
        assert!(child.wait().unwrap().success());
        let lines: Vec<_> = lines.into_inner().unwrap().into();
        assert_eq!(lines, ["first", "r\u{fffd}sultats/x", "last"]);
    }
}
