//! The end of a run's server, and a replica in its place.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use weir_model::{Address, ServerRestart};
use weir_process::PathError;
use weir_server::Promotion;

use super::{ServerHandle, lock};
use crate::RunError;
use crate::target::Successor;

/// Time limit for a replica to apply the changes that it has received.
const APPLY_LIMIT: Duration = Duration::from_mins(5);

impl ServerHandle {
    /// Kills the server, makes `successor` a primary, and lets it answer where the server did: its socket gets a
    /// second name. Connections find it there by themselves.
    ///
    /// # Errors
    ///
    /// A replica that cannot be made a primary; then nothing answers.
    pub(crate) fn fail_over(
        &self,
        successor: &Successor,
    ) -> Result<(ServerRestart, Promotion), RunError> {
        let Some(successor) = successor.take() else {
            return Err(RunError::Interrupted);
        };
        let Some(server) = lock(&self.0.server).take() else {
            return Err(RunError::Interrupted);
        };
        let began = Instant::now();
        lock(&self.0.earlier_log).push_str(&server.log_tail());
        server.kill();
        let stop_s = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let endpoint = successor.endpoint();
        let promotion = weir_server::promote(&self.0.binary, &endpoint, APPLY_LIMIT)?;
        if let (Address::Socket(new), Address::Socket(old)) =
            (&endpoint.address, &self.0.endpoint.address)
        {
            symlink(new, old).map_err(PathError::on("make", old))?;
        }
        self.0
            .pid
            .store(successor.pid(), std::sync::atomic::Ordering::Relaxed);
        *lock(&self.0.server) = Some(successor);
        let restart = ServerRestart {
            stop_s,
            start_s: Some(began.elapsed().as_secs_f64()),
        };
        Ok((restart, promotion))
    }
}
