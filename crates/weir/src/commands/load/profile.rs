//! `weir load --profile=FILE` and `--profile-self=FILE`: flame graphs of the server and of Weir.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Instant;

use anyhow::{Context, bail};
use weir_model::StackCounts;
use weir_mysql::Gate;
use weir_probe::StackSampler;
use weir_report::{flame_graph, wait_graph};
use weir_server::{ServerIdentity, Session};
use weir_sysbench::Invocation;

/// Extension of the file of folded stacks.
const FOLDED: &str = "folded";
/// Extension of the picture of waits.
const WAITS: &str = "waits.svg";

/// Profiles of a run.
pub(super) struct Profiles(Vec<Profile>);

/// A process that is sampled, and the file of its flame graph.
struct Profile {
    title: String,
    file: PathBuf,
    sampler: StackSampler,
}

impl Profiles {
    /// Begins those that the command line asks for.
    pub(super) fn begin(invocation: &Invocation) -> anyhow::Result<Self> {
        let mut profiles = Vec::new();
        if let Some(file) = &invocation.profile {
            let pid = server(invocation)?;
            profiles.push(Profile::begin(format!("Server, process {pid}"), file, pid)?);
        }
        if let Some(file) = &invocation.profile_self {
            profiles.push(Profile::begin("Weir".to_owned(), file, process::id())?);
        }
        Ok(Self(profiles))
    }

    /// The measurement begins at this time.
    pub(super) fn begin_at(&self, at: Instant) {
        for profile in &self.0 {
            profile.sampler.begin_at(at);
        }
    }

    /// Ends them, writes their files and tells what they lack.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.0.into_iter().try_for_each(Profile::finish)
    }
}

impl Profile {
    fn begin(title: String, file: &Path, pid: u32) -> anyhow::Result<Self> {
        if file
            .extension()
            .is_some_and(|extension| extension == FOLDED)
        {
            bail!(
                "--profile: {} (the folded stacks go beside the flame graph); give the flame graph's name, such as \
                 server.svg",
                file.display()
            );
        }
        // A file that cannot be written is known before the run.
        write(file, "")?;
        Ok(Self {
            title,
            file: file.to_owned(),
            sampler: StackSampler::start(pid)?,
        })
    }

    fn finish(self) -> anyhow::Result<()> {
        let profile = self.sampler.finish()?;
        let folded = StackCounts::parse(&profile.folded);
        write(&self.file.with_extension(FOLDED), &profile.folded)?;
        if profile.samples == 0 {
            bail!(
                "{}: no samples (it used less than {:.0} ms of CPU time in the measurement); measure for longer",
                self.title,
                1e3 / profile.frequency_hz as f64
            );
        }
        write(&self.file, &flame_graph(&self.title, &folded)?)?;
        if let Some(picture) = wait_graph(&self.title, &profile)? {
            write(&self.file.with_extension(WAITS), &picture)?;
        }
        eprintln!(
            "note: {}: {} samples, {:.1} s of CPU time: {}",
            self.title,
            profile.samples,
            profile.cpu_s(),
            self.file.display()
        );
        for limit in profile.limits() {
            eprintln!("note: {}: {limit}", self.title);
        }
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))
}

/// The server's process on this host.
fn server(invocation: &Invocation) -> anyhow::Result<u32> {
    let mut session = Session::open(&invocation.plan.endpoint, &Gate::reading())?;
    let found = ServerIdentity::ask(&mut session)?.find();
    let found = found.map_err(|why| {
        anyhow::anyhow!(
            "--profile: cannot find the server's process ({why}); run Weir on the server's host"
        )
    })?;
    Ok(found.pid)
}
