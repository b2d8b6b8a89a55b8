//! `weir predict`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_model::{Duration, Objective};

use super::factor_and_level;

#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// Predict misses, throughput, p99 and bottleneck from a result
    Result(Box<PredictResultArguments>),
    /// Predict misses from a study file, without a run
    Study(PredictStudyArguments),
    /// Predict misses from a trace (`weir drive trace`) of a run with a tiny pool
    Trace(PredictTraceArguments),
    /// Predict misses of other pools from the contents of a live server's pool
    Observe(ObserveArguments),
    /// Record predictions, run three to five of them (or all of --pool x --drive), and report the error
    Verify(VerifyArguments),
}

/// Which pools are asked about.
#[derive(Debug, Args)]
pub(crate) struct PoolsArgument {
    /// Buffer pools: `1G..64G` in doubling steps, or a list [default: the study's, or shares of the data]
    #[arg(long, value_name = "SIZES")]
    pub(crate) pool: Option<String>,
}

/// Which of what else a study varies is asked about.
#[derive(Debug, Args)]
pub(crate) struct LevelsArgument {
    /// Level of another factor, such as `workload=oltp_read_only`; repeatable [default: the first cell's]
    #[arg(long = "where", value_name = "FACTOR=LEVEL", value_parser = factor_and_level)]
    pub(crate) at: Vec<(String, String)>,
}

/// Which drives and connections are asked about.
#[derive(Debug, Args)]
pub(crate) struct PlacesArgument {
    /// Drives: names or paths of profiles [default: the first cell's]
    #[arg(long, value_name = "PROFILES", value_delimiter = ',')]
    pub(crate) drive: Vec<String>,
    /// Connections [default: the first cell's]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) threads: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct PredictResultArguments {
    /// The result to predict from: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) places: PlacesArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Predict for the unscaled study: all rows, whole drives, pools as the study file has them
    #[arg(long)]
    pub(crate) full_size: bool,
    /// Cores of the host to predict for [default: the result's host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Project the next 12 months of the first pool, for data that grow by this percent a month
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) growth: Option<f64>,
    /// Write the result's report with figures of the predictions to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Find the highest throughput of each pool and drive that keeps this latency, such as `p99 <= 10ms`
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Objective>,
    /// Prices in one currency: memory=4 for a GiB, intel-p3700-400gb=1200 for a drive [default: the study's
    /// prices of drives]
    #[arg(long, value_name = "NAME=AMOUNT", value_delimiter = ',', value_parser = name_and_amount)]
    pub(crate) price: Vec<(String, f64)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictStudyArguments {
    /// The study file
    pub(crate) study: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictTraceArguments {
    /// The file of the trace
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub(crate) struct ObserveArguments {
    /// The server: the name of a private one, or your server's URL
    pub(crate) server: String,
    /// Number of looks at the pool
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u32).range(4..))]
    pub(crate) looks: u32,
    /// Time between two looks
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    /// Let your server dump its list of pages, and set the variables that this needs; all are put back
    #[arg(long)]
    pub(crate) allow_config: bool,
    /// Also write how to put each changed setting back to the end of this file, such as one on another host
    #[arg(long, value_name = "FILE", requires = "allow_config")]
    pub(crate) note_to: Option<PathBuf>,
    /// Print the statements that would change your server; send none of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask for the password of your server
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The result to predict from: its folder or its result.sqlite
    pub(crate) result: PathBuf,
    /// Folder of predictions and runs [default: results/verify-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Runs of each prediction, in blocks of random order
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) runs: u32,
    /// Continue the predictions and runs in --out
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) pools: PoolsArgument,
    #[command(flatten)]
    pub(crate) places: PlacesArgument,
    #[command(flatten)]
    pub(crate) levels: LevelsArgument,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `10`, `10%` or `10 %`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("not a percentage above 0, up to 100; write it as `10`".to_owned()),
    }
}

/// `memory=4`.
fn name_and_amount(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=');
    let parts = parts.and_then(|(name, amount)| Some((name.trim(), amount.trim().parse().ok()?)));
    match parts {
        Some((name, amount)) if amount > 0.0 && f64::is_finite(amount) => {
            Ok((name.to_owned(), amount))
        }
        _ => Err("not a price above 0; write it as `memory=4`".to_owned()),
    }
}
