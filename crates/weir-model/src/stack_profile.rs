//! Stacks of a process that were sampled while it computed.

use serde::{Deserialize, Serialize};

/// Sampled stacks of a process, with all that the sampler knows to be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StackProfile {
    /// Samples per second of a thread's CPU time.
    pub frequency_hz: u64,
    /// Samples taken.
    pub samples: u64,
    /// Samples whose stack ends before the function that begins a thread: a function without frame pointers hides its
    /// callers.
    pub cut: u64,
    /// Samples that the kernel had no room for.
    pub lost: u64,
    /// Threads that could not be sampled.
    pub threads_without: u64,
    /// True if the kernel's part of the stacks was permitted.
    pub has_kernel: bool,
    /// Folded stacks: a line each, functions from the thread's name inwards with `;` between them, a space and the
    /// number of samples. Kept beside the result and not in its JSON.
    #[serde(skip)]
    pub folded: String,
    /// Threads that did not run, five times a second: folded lines of a thread's name, its state and its place in the
    /// kernel. Kept beside the result alone.
    #[serde(skip)]
    pub waits: String,
    /// Waits whose place the kernel did not tell.
    #[serde(default)]
    pub waits_hidden: u64,
}

impl StackProfile {
    /// CPU time that its samples stand for, seconds.
    pub fn cpu_s(&self) -> f64 {
        self.samples as f64 / self.frequency_hz.max(1) as f64
    }

    /// Facts about it that limit its use, a phrase each.
    pub fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        if self.cut > 0 {
            let percent = 100.0 * self.cut as f64 / self.samples.max(1) as f64;
            limits.push(format!(
                "{percent:.0} % of the stacks are cut: a function without frame pointers hides its callers"
            ));
        }
        if self.lost > 0 {
            limits.push(format!("{} samples were lost", self.lost));
        }
        if self.threads_without > 0 {
            limits.push(format!(
                "{} threads could not be sampled (locked memory; raise kernel.perf_event_mlock_kb)",
                self.threads_without
            ));
        }
        if !self.has_kernel {
            limits.push(
                "the kernel's functions are missing (kernel.perf_event_paranoid is above 1)"
                    .to_owned(),
            );
        }
        if self.waits_hidden > 0 {
            limits.push(format!(
                "{} waits have no place (the kernel tells wchan to root and to the server's own user)",
                self.waits_hidden
            ));
        }
        limits
    }
}
