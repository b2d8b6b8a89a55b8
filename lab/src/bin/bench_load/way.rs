//! Way from a tool to the server, in the words of each tool.

use std::fmt;
use std::path::Path;
use std::process::Command;

use crate::server::{ACCOUNT, Server};

/// A way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Socket,
    /// Over the loopback, in clear text.
    Tcp,
    /// The same, encrypted.
    Tls,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Socket => "socket",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        })
    }
}

impl Way {
    /// sysbench's options, which are Weir's, too. sysbench 1.0 takes its certificates from its working directory.
    pub(crate) fn for_sysbench(self, command: &mut Command, server: &Server) {
        match self {
            Self::Socket => {
                command.arg(format!("--mysql-socket={}", server.socket().display()));
            }
            Self::Tcp | Self::Tls => {
                command.arg("--mysql-host=127.0.0.1");
                command.arg(format!("--mysql-port={}", server.port()));
            }
        }
        if self == Self::Tls {
            command
                .arg("--mysql-ssl=on")
                .current_dir(server.certificates());
        }
        command.arg(format!("--mysql-user={ACCOUNT}"));
        command.arg(format!("--mysql-db={}", server.schema()));
    }

    /// The name of a data source of go-sql-driver.
    pub(crate) fn for_go(self, server: &Server) -> String {
        let (schema, port) = (server.schema(), server.port());
        match self {
            Self::Socket => format!("{ACCOUNT}@unix({})/{schema}", server.socket().display()),
            Self::Tcp => format!("{ACCOUNT}@tcp(127.0.0.1:{port})/{schema}"),
            Self::Tls => format!("{ACCOUNT}@tcp(127.0.0.1:{port})/{schema}?tls=skip-verify"),
        }
    }

    /// Options of the servers' own clients.
    pub(crate) fn for_slap(self, command: &mut Command, server: &Server) {
        match self {
            Self::Socket => command.arg(format!("--socket={}", server.socket().display())),
            Self::Tcp | Self::Tls => {
                let port = server.port();
                command.args([
                    "--protocol=tcp",
                    "--host=127.0.0.1",
                    &format!("--port={port}"),
                ])
            }
        };
        command.arg(if self == Self::Tls {
            "--ssl"
        } else {
            "--skip-ssl"
        });
    }

    /// Options of the floor, which does not encrypt.
    pub(crate) fn for_floor(self, command: &mut Command, server: &Server) {
        match self {
            Self::Socket => command.arg("--socket").arg(server.socket()),
            Self::Tcp | Self::Tls => command.arg(format!("--port={}", server.port())),
        };
    }
}

/// Returns the path by which `program` can be called from another folder.
pub(crate) fn absolute(program: &Path) -> std::path::PathBuf {
    if program.components().count() > 1 {
        program
            .canonicalize()
            .unwrap_or_else(|_| program.to_owned())
    } else {
        program.to_owned()
    }
}
