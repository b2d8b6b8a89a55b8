//! The server: address, rules, routes, and its end.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::guard::{Guard, guarded, is_private};
use crate::library::Library;
use crate::state::AppState;
use crate::study_runner::StudyRunner;
use crate::{ServeError, Token, api};

/// Interval at which the server looks for its end.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Options of the server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Folder of the results.
    pub results: PathBuf,
    /// Folder of the studies that can be started.
    pub studies: PathBuf,
    /// The `weir` program, which studies are run with.
    pub weir: PathBuf,
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The token that is needed; by default none on loopback and a new one elsewhere.
    pub token: Option<Token>,
    /// Names under which the server may be asked, besides localhost and addresses.
    pub host_names: Vec<String>,
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<AppState>,
    generated: Option<Token>,
}

impl Server {
    /// Takes the address.
    ///
    /// # Errors
    /// If the folder of results is missing, or the address cannot be listened on.
    pub fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        if !options.results.is_dir() {
            return Err(ServeError::NoFolder {
                path: options.results,
            });
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(options.listen));
        let listener = listener.map_err(|source| ServeError::Listen {
            address: options.listen,
            source,
        })?;
        let address = listener.local_addr()?;
        let is_open = options.token.is_none() && !is_private(address);
        let generated = is_open.then(Token::generate);
        let token = options.token.or_else(|| generated.clone());
        Ok(Self {
            runtime,
            listener,
            address,
            state: Arc::new(AppState {
                runner: StudyRunner::new(options.weir, options.results.clone()),
                library: Library::new(options.results),
                studies: options.studies,
                guard: Arc::new(Guard::new(token, options.host_names)),
            }),
            generated,
        })
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that was made because others can reach the address, to be told once.
    pub fn generated_token(&self) -> Option<&Token> {
        self.generated.as_ref()
    }

    /// Answers until `stop` is true; then a study that was started here is stopped in order.
    ///
    /// # Errors
    /// If connections can no longer be accepted.
    pub fn run(self, stop: &'static AtomicBool) -> Result<(), ServeError> {
        let app = Router::new()
            .merge(api::routes())
            .layer(from_fn_with_state(Arc::clone(&self.state.guard), guarded))
            .with_state(Arc::clone(&self.state));
        let stopped = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_INTERVAL).await;
            }
        };
        // Not gracefully: a live view is a request that never ends.
        let answered = self.runtime.block_on(async {
            tokio::select! {
                answered = axum::serve(self.listener, app).into_future() => answered,
                () = stopped => Ok(()),
            }
        });
        self.state.runner.end();
        self.runtime.shutdown_background();
        Ok(answered?)
    }
}
