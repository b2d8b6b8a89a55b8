//! Choice among the kernel's ways to wait for sockets.

use serde::{Deserialize, Serialize};

/// Connections of one reactor from which on a round of replies is worth more than the earliest
/// reply: docs/decisions/0001-load-reactors.md, also on TCP, where it is not.
pub(crate) const RING_CONNECTIONS_MIN: u32 = 32;

/// Way in which a reactor waits for its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactorKind {
    /// By the number of connections and by what the kernel allows.
    #[default]
    Auto,
    /// epoll(7): each request is sent and each reply read by itself.
    Epoll,
    /// `io_uring(7)`: requests and replies in rounds. Not for TLS.
    IoUring,
}
