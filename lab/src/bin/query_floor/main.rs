//! The floor of a client: point selects by a loop that sends and receives, and does nothing else.
//!
//! `make bench-load` runs it as the arm `floor`. It knows the length of a reply from the first one, so it parses
//! nothing; it measures no latency. What it costs is what the kernel takes for a request and a reply. It prints the two
//! lines of sysbench's report that are read.

#![allow(clippy::print_stdout)] // a program

mod by_epoll;
mod by_ring;
mod login;

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use clap::{Parser, ValueEnum};

use login::{Account, Client};

/// Asks a server for rows of sysbench's tables, as cheaply as the kernel allows.
#[derive(Debug, Parser)]
struct Options {
    /// The server's Unix socket
    #[arg(long, conflicts_with = "port")]
    socket: Option<PathBuf>,
    /// The server's port of 127.0.0.1
    #[arg(long, required_unless_present = "socket")]
    port: Option<u16>,
    /// An account without a password
    #[arg(long)]
    user: String,
    /// The schema of the tables
    #[arg(long)]
    schema: String,
    /// Tables sbtest1, sbtest2, ...
    #[arg(long, default_value_t = 1)]
    tables: u32,
    /// Rows of a table
    #[arg(long, default_value_t = 10_000)]
    table_size: u32,
    /// Connections
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Length of the run (s)
    #[arg(long, default_value_t = 5)]
    time: u64,
    /// Threads that drive the connections
    #[arg(long, default_value_t = 1)]
    loops: u32,
    /// How they wait
    #[arg(long, value_enum, default_value_t = By::Epoll)]
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// One read and one write for each query
    Epoll,
    /// Requests and replies of many connections in one call
    Ring,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let account = Account {
        socket: options.socket.clone(),
        port: options.port.unwrap_or_default(),
        user: options.user.clone(),
        schema: options.schema.clone(),
        tables: options.tables,
    };
    let loops = options.loops.clamp(1, options.threads.max(1));
    let mut shares: Vec<Vec<Client>> = (0..loops).map(|_| Vec::new()).collect();
    for number in 0..options.threads {
        let client = Client::connect(&account, options.table_size, number.into());
        let client = client.with_context(|| format!("while connection {number} logged in"))?;
        shares[(number % loops) as usize].push(client);
    }
    let began = Instant::now();
    let until = began + Duration::from_secs(options.time);
    let ask = match options.by {
        By::Epoll => by_epoll::ask,
        By::Ring => by_ring::ask,
    };
    let running: Vec<JoinHandle<anyhow::Result<u64>>> = shares
        .into_iter()
        .map(|share| thread::spawn(move || ask(share, until)))
        .collect();
    let mut queries = 0;
    for one in running {
        queries += one.join().map_err(|_| anyhow!("a loop has panicked"))??;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("queries: {queries}\ntotal time: {seconds:.4}s");
    Ok(())
}
