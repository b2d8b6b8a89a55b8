//! State that all requests share.

use std::path::PathBuf;
use std::sync::Arc;

use crate::guard::Guard;
use crate::library::Library;
use crate::study_runner::StudyRunner;

/// Everything that a request may need.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) library: Library,
    pub(crate) runner: StudyRunner,
    pub(crate) studies: PathBuf,
    pub(crate) guard: Arc<Guard>,
}
