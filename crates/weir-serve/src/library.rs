//! The results in one folder: found by walking it, summed up, judged when a page asks.
//!
//! What is known of a result is kept as long as its file has the same length and time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use weir_judge::RESULT_FILE;
use weir_model::{StudyResult, Verdict};
use weir_store::Store;
use weir_store::progress::PROGRESS_FILE;

use crate::api_error::ApiError;
use crate::file_cache::{FileCache, Stamp, stamp};

/// Depth of results below the folder at most.
const DEPTH_MAX: usize = 3;
/// The folder is walked no more often than this.
const WALK_INTERVAL: Duration = Duration::from_secs(2);
/// Reports that are kept; one of a hundred runs has a megabyte.
const REPORTS_MAX: usize = 16;
/// Results that are kept without their samples, to be compared; one of 2,000 runs has some 20 MB.
const COMPARED_MAX: usize = 8;
/// Of a result that takes longer to read, what a page may ask for is made before it asks.
const SLOW: Duration = Duration::from_millis(50);

/// All results below one folder.
#[derive(Debug)]
pub(crate) struct Library {
    root: PathBuf,
    index: Mutex<Index>,
    reports: FileCache<Arc<str>>,
    compared: FileCache<Arc<StudyResult>>,
    comparisons: FileCache<Arc<str>, (Stamp, Stamp)>,
    /// Held by the thread that judges: two would judge the same result.
    judging: Mutex<()>,
}

#[derive(Debug, Default)]
struct Index {
    walked: Option<Instant>,
    /// Rises whenever an entry changes.
    version: u64,
    /// Name -> entry.
    entries: BTreeMap<String, Entry>,
    /// Folders in which a study may be running.
    running: Vec<(String, PathBuf)>,
}

#[derive(Debug, Clone)]
struct Entry {
    file: PathBuf,
    stamp: Stamp,
    summary: Summary,
    is_judged: bool,
    /// True if its report is still to be made, before a page asks.
    is_slow: bool,
}

/// A result in a line.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Summary {
    /// Folder, below the library's.
    name: String,
    title: String,
    question: String,
    server: String,
    drives: Vec<String>,
    started_at: String,
    runs: usize,
    runs_planned: usize,
    /// The first comparison's sentence; empty until it is judged.
    headline: String,
    verdict: Option<Verdict>,
    /// Name of the first comparison; the same in all results of one study.
    comparison: String,
    /// Ratio, and the ends of the 95 % interval.
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// Reason that it cannot be read.
    problem: Option<String>,
}

impl Library {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            index: Mutex::default(),
            reports: FileCache::new(REPORTS_MAX),
            compared: FileCache::new(COMPARED_MAX),
            comparisons: FileCache::new(COMPARED_MAX),
            judging: Mutex::default(),
        }
    }

    /// All results, the latest first, with what tells this list from the next.
    pub(crate) fn list(&self) -> (u64, Vec<Summary>) {
        let index = self.walked();
        let entries = index.entries.values();
        let mut list: Vec<_> = entries.map(|entry| entry.summary.clone()).collect();
        list.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        (index.version, list)
    }

    /// Returns the version that tells the present list from others.
    pub(crate) fn version(&self) -> u64 {
        self.walked().version
    }

    /// Folders in which a study may be running, with their names.
    pub(crate) fn running(&self) -> Vec<(String, PathBuf)> {
        self.walked().running.clone()
    }

    /// The file of the result called `name`: a key of what was found, never a path from outside.
    pub(crate) fn file(&self, name: &str) -> Result<PathBuf, ApiError> {
        let index = self.walked();
        let entry = index.entries.get(name);
        let entry = entry.ok_or_else(|| ApiError::unknown("result", name))?;
        Ok(entry.file.clone())
    }

    /// The report of the result called `name`, as one page.
    pub(crate) fn report(&self, name: &str) -> Result<Arc<str>, ApiError> {
        let file = self.file(name)?;
        let stamp = stamp(&file);
        if let Some(page) = self.reports.get(name, &stamp) {
            return Ok(page);
        }
        let page: Arc<str> = weir_report::html(&weir_judge::read_result(&file)?)?.into();
        self.reports.put(name, stamp, Arc::clone(&page));
        Ok(page)
    }

    /// Two results set against each other, with the verdicts of `weir compare`, as JSON.
    pub(crate) fn comparison(&self, first: &str, second: &str) -> Result<Arc<str>, ApiError> {
        let files = [self.file(first)?, self.file(second)?];
        let stamps = (stamp(&files[0]), stamp(&files[1]));
        let names = format!("{first}\n{second}");
        if let Some(known) = self.comparisons.get(&names, &stamps) {
            return Ok(known);
        }
        let first = self.to_compare(first, &files[0], stamps.0)?;
        let second = self.to_compare(second, &files[1], stamps.1)?;
        let compared = weir_judge::compare_results(&first, &second, None);
        let json: Arc<str> = weir_report::comparison_json(&compared)?.into();
        self.comparisons.put(&names, stamps, Arc::clone(&json));
        Ok(json)
    }

    /// The result called `name` without its samples.
    fn to_compare(
        &self,
        name: &str,
        file: &Path,
        stamp: Stamp,
    ) -> Result<Arc<StudyResult>, ApiError> {
        if let Some(result) = self.compared.get(name, &stamp) {
            return Ok(result);
        }
        let result = Arc::new(weir_judge::read_for_comparison(file)?);
        self.compared.put(name, stamp, Arc::clone(&result));
        Ok(result)
    }

    /// Judges the results without verdicts, unless a thread is at it; then makes the reports
    /// that a reader would have to wait for.
    pub(crate) fn judge_all(&self) {
        let Ok(_alone) = self.judging.try_lock() else {
            return;
        };
        while self.judge_next() {}
        for name in self.slow() {
            // A page that asks for it gets the reason why it cannot be made.
            let _ = self.report(&name);
        }
    }

    /// Judges one result that was not yet, the latest first; whether there was one.
    fn judge_next(&self) -> bool {
        let next = {
            let index = self.walked();
            let open = index.entries.values().filter(|entry| !entry.is_judged);
            open.max_by(|a, b| a.summary.started_at.cmp(&b.summary.started_at))
                .cloned()
        };
        let Some(mut entry) = next else {
            return false;
        };
        // Reading takes long; no request waits for it.
        let began = Instant::now();
        match weir_judge::read_for_comparison(&entry.file) {
            Ok(result) => {
                entry.summary.judged(&result);
                entry.is_slow = began.elapsed() >= SLOW;
                if entry.is_slow {
                    let name = &entry.summary.name;
                    self.compared.put(name, entry.stamp, Arc::new(result));
                }
            }
            Err(error) => entry.summary.problem = Some(error.to_string()),
        }
        entry.is_judged = true;
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let known = index.entries.get_mut(&entry.summary.name);
        if let Some(known) = known.filter(|known| known.stamp == entry.stamp) {
            *known = entry;
            index.version += 1;
        }
        true
    }

    /// The latest results that took long to read and have not been named here before, as many as
    /// reports are kept.
    fn slow(&self) -> Vec<String> {
        let mut index = self.walked();
        let slow = index.entries.values_mut().filter(|entry| entry.is_slow);
        let mut slow: Vec<_> = slow
            .map(|entry| {
                entry.is_slow = false;
                (entry.summary.started_at.clone(), entry.summary.name.clone())
            })
            .collect();
        slow.sort_by(|a, b| b.cmp(a));
        slow.truncate(REPORTS_MAX);
        slow.into_iter().map(|(_, name)| name).collect()
    }

    fn walked(&self) -> MutexGuard<'_, Index> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if index.walked.is_none_or(|at| at.elapsed() >= WALK_INTERVAL) {
            index.walk(&self.root);
            index.walked = Some(Instant::now());
        }
        index
    }
}

impl Index {
    fn walk(&mut self, root: &Path) {
        let mut folders = Vec::new();
        find(root, "", 0, &mut folders);
        self.running = folders
            .iter()
            .filter(|(_, folder)| folder.join(PROGRESS_FILE).is_file())
            .cloned()
            .collect();
        let mut old = std::mem::take(&mut self.entries);
        for (name, folder) in folders {
            let file = folder.join(RESULT_FILE);
            if !file.is_file() {
                continue;
            }
            let stamp = stamp(&file);
            let known = old.remove(&name).filter(|entry| entry.stamp == stamp);
            let entry = known.unwrap_or_else(|| {
                self.version += 1;
                Entry::read(&name, file, stamp)
            });
            self.entries.insert(name, entry);
        }
        self.version += old.len() as u64;
    }
}

impl Entry {
    fn read(name: &str, file: PathBuf, stamp: Stamp) -> Self {
        let mut summary = Summary {
            name: name.to_owned(),
            ..Summary::default()
        };
        let read = || {
            let store = Store::open(&file)?;
            Ok::<_, weir_store::StoreError>((store.header()?, store.completed()?.len()))
        };
        match read() {
            Ok((header, runs)) => summary.head(&header, runs),
            Err(error) => summary.problem = Some(error.to_string()),
        }
        Self {
            is_judged: summary.problem.is_some(),
            is_slow: false,
            file,
            stamp,
            summary,
        }
    }
}

impl Summary {
    fn head(&mut self, header: &StudyResult, runs: usize) {
        self.title.clone_from(&header.plan.title);
        self.question.clone_from(&header.plan.question);
        self.server = weir_report::server_names(header);
        self.drives = header
            .drives
            .iter()
            .map(|drive| drive.title.clone())
            .collect();
        self.started_at.clone_from(&header.started_at);
        self.runs = runs;
        self.runs_planned = header.plan.runs.len();
    }

    fn judged(&mut self, result: &StudyResult) {
        if let Some(first) = weir_judge::first_comparison(result) {
            self.headline = weir_report::sentence(&first);
            self.verdict = Some(first.verdict);
            self.comparison = weir_report::comparison_name(&first);
            self.ratio = Some(first.ratio).filter(|ratio| ratio.is_finite());
            (self.ratio_low, self.ratio_high) = (first.ratio_low, first.ratio_high);
        }
    }
}

/// Folders below `folder`, itself included; links are not followed.
fn find(folder: &Path, name: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    found.push((
        if name.is_empty() { "." } else { name }.to_owned(),
        folder.to_owned(),
    ));
    if depth == DEPTH_MAX {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let child = entry.file_name().to_string_lossy().into_owned();
        if child.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = if name.is_empty() {
            child
        } else {
            format!("{name}/{child}")
        };
        find(&entry.path(), &name, depth + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_listed_with_its_reason_and_no_name_leads_outside() {
        let home = tempfile::tempdir().unwrap();
        let results = home.path().join("results");
        let deep = results.join("2026/march");
        fs::create_dir_all(&deep).unwrap();
        for folder in [&deep, &home.path().to_owned()] {
            fs::write(folder.join(RESULT_FILE), "rubbish ".repeat(100)).unwrap();
        }
        let library = Library::new(results);
        let (version, list) = library.list();
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].name, "2026/march");
        assert!(list[0].problem.is_some());
        assert!(
            !library.judge_next(),
            "what cannot be read is not read again"
        );
        assert_eq!(library.version(), version);
        for name in ["..", "../", "2026/../..", "/", ""] {
            assert!(library.file(name).is_err(), "{name}");
        }
        assert!(library.report("2026/march").is_err());
    }
}
