//! `weir server pool`: its commands and options.

use clap::{Args, Subcommand, ValueEnum};
use weir_model::{Bytes, Duration};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct PoolArguments {
    #[command(subcommand)]
    pub(crate) command: Option<PoolCommand>,
    /// The server
    #[arg(required = true)]
    pub(crate) name: Option<String>,
    /// Change the size while the server runs, and read it back
    #[arg(long, value_name = "SIZE")]
    pub(crate) resize: Option<Bytes>,
    /// Write the list of its pages
    #[arg(long)]
    pub(crate) dump: bool,
    /// Read the pages of this list, and wait
    #[arg(long)]
    pub(crate) load: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PoolCommand {
    /// Compare two pools, by table and index: how warm is the second server for the keys that the first one has?
    Compare {
        /// The server whose pool counts, such as a primary
        from: String,
        /// The other server, such as its replica
        to: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read the pages into one server's pool that have the keys of another server's pool
    Ship(ShipArguments),
}

#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct ShipArguments {
    /// The server whose pool is shipped, such as a primary
    #[arg(required_unless_present = "abort")]
    pub(crate) from: Option<String>,
    /// The server that reads the pages, such as its replica: its name, or your server's URL (--mode keys)
    #[arg(long, value_name = "NAME")]
    pub(crate) to: String,
    /// Share of the pool, the most recently used pages (percent)
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) pct: u8,
    /// Ship again after this time, until Ctrl-C [default: once]
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<Duration>,
    /// How pages are found on the other server
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) mode: ShipMode,
    /// Bytes a second that the other server may read, such as 64M [default: no limit]
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit: Option<Bytes>,
    /// Print what would be read; read nothing
    #[arg(long, conflicts_with_all = ["every", "abort"])]
    pub(crate) plan: bool,
    /// Stop a load that is going on there
    #[arg(long, conflicts_with_all = ["every", "from"])]
    pub(crate) abort: bool,
    /// Print JSON, one line for each shipment
    #[arg(long)]
    pub(crate) json: bool,
    /// Ask for the password of your server
    #[arg(long)]
    pub(crate) ask_password: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShipMode {
    /// `keys` for your server, else `translate`
    Auto,
    /// By page number: the files are copies of each other
    Same,
    /// By the ranges of keys in the files of both
    Translate,
    /// By queries for the ranges of keys; indexes whose first column is an integer
    Keys,
}
