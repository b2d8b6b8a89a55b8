//! Options of `weir bus`, `weir agent` and `weir agents`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_agent::{Network, Permission};

#[derive(Debug, Subcommand)]
pub(crate) enum BusCommand {
    /// Start nats-server with keys and certificates of its own, until Ctrl-C; print the join files
    Up(BusUpArguments),
}

#[derive(Debug, Args)]
pub(crate) struct BusUpArguments {
    /// Address and port to listen on; port 0 is a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4222")]
    pub(crate) listen: String,
    /// Address that agents dial, if it differs from --listen: a host, or a host and a port
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) address: Option<String>,
    /// Folder of keys, join files and unfinished results [default: weir/bus in the state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Number of agents that get a join file
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) agents: u32,
}

#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// Join file that `weir bus up` wrote; -: read it from standard input, and end when that is closed
    #[arg(long, value_name = "FILE")]
    pub(crate) join: PathBuf,
    #[command(flatten)]
    pub(crate) owner: OwnerArguments,
}

/// What the owner of an agent's host says and allows, for an agent here or through ssh.
#[derive(Debug, Args)]
pub(crate) struct OwnerArguments {
    /// Servers that an agent may connect to: HOST, HOST:PORT or a network, separated by commas [default: private
    /// networks]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) targets: Vec<Network>,
    /// Largest number of connections of an agent
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_connections: u32,
    /// Labels, by which a load chooses its hosts
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    pub(crate) label: Vec<String>,
    /// What a conductor may do. `load`: a share of a load. `script`: its Lua scripts, too, which are programs.
    /// `probe`: figures of the host and of a server's process. `server`: servers of studies
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "load"
    )]
    pub(crate) allow: Vec<Permission>,
    /// Folder for the data and drives of servers that an agent starts; with --allow server
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Address of the agent's host that these servers listen on, with TLS; a port, if one is to be the same for all
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Start agents on these hosts through ssh, with the bus in a tunnel, until Ctrl-C
    Up(Box<AgentsUpArguments>),
    /// Show the agents of the bus: host, cores, round trip, clock
    List(AgentsArguments),
    /// Check that the agents fit together: versions, clocks, limits
    Check(AgentsArguments),
    /// End all agents of the bus
    Down(AgentsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    /// Join file of the conductor [default: `$WEIR_BUS`, else the one of `weir bus up` on this host]
    #[arg(long, value_name = "FILE")]
    pub(crate) bus: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsUpArguments {
    /// Hosts, as ssh knows them
    #[arg(required = true, value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Command to run as ssh, with its options, such as 'ssh -J bastion'
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub(crate) ssh: String,
    /// The program on the hosts
    #[arg(long, value_name = "PATH", default_value = "weir")]
    pub(crate) weir: String,
    /// Let agents dial the bus's own address, without a tunnel
    #[arg(long)]
    pub(crate) direct: bool,
    #[command(flatten)]
    pub(crate) owner: OwnerArguments,
    /// Join file of the conductor [default: `$WEIR_BUS`, else the one of `weir bus up` on this host]
    #[arg(long, value_name = "FILE")]
    pub(crate) bus: Option<PathBuf>,
}

fn label(text: &str) -> Result<String, String> {
    let is_label = weir_model::is_label(text);
    is_label
        .then(|| text.to_owned())
        .ok_or_else(|| "must be KEY=VALUE, of letters, digits, `.`, `-` and `_`".to_owned())
}

/// An address, and 0 where no port is given.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let alone = text
        .parse::<IpAddr>()
        .map(|address| SocketAddr::new(address, 0));
    let address = alone.or_else(|_| text.parse::<SocketAddr>());
    match address {
        Ok(address) if address.ip().is_unspecified() => {
            Err("must be one address of this host".to_owned())
        }
        Ok(address) => Ok(address),
        Err(_) => {
            Err("must be an IP address of this host, such as 10.0.0.9 or 10.0.0.9:3307".to_owned())
        }
    }
}
