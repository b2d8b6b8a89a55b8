//! One text of metrics over HTTP, while a command runs.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::{ServeError, openmetrics};

/// Answers `GET /metrics` on a thread of its own until it is dropped.
#[derive(Debug)]
pub struct MetricsEndpoint {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsEndpoint {
    /// Begins to answer on `address` with the present text of `exposition`, in the form of OpenMetrics; port 0 takes a
    /// free one.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn open(
        address: SocketAddr,
        exposition: impl Fn() -> String + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.map_err(|source| ServeError::Metrics { address, source })?;
        let address = listener.local_addr()?;
        let exposition = Arc::new(exposition);
        let answer = move || {
            let text = exposition();
            async move { ([(CONTENT_TYPE, openmetrics::CONTENT_TYPE)], text) }
        };
        let app = Router::new().route("/metrics", get(answer));
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = axum::serve(listener, app).into_future() => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("weir-metrics".to_owned());
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread.spawn(serve)?),
        })
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsEndpoint {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends with the sender; a panic there is no concern of the load.
            let _ = thread.join();
        }
    }
}
