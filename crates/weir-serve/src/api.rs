//! What can be asked for. Reads are GET and change nothing; docs/serve.md lists all of it.

mod changes;
mod events;
mod pages;
mod reads;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};

use crate::answer::Refusal;
use crate::guard::LOGIN;
use crate::server::Desk;

#[cfg(test)]
pub(crate) use reads::{Results, Session, Studies};

pub(crate) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/", get(pages::app))
        .route("/report/{*name}", get(pages::report))
        .route("/metrics", get(reads::metrics))
        .route("/api/session", get(reads::session))
        .route("/api/results", get(reads::results))
        .route("/api/runs", get(reads::runs))
        .route("/api/run", get(reads::run))
        .route("/api/compare", get(reads::compare))
        .route("/api/studies", get(reads::studies))
        .route("/api/live", get(events::live))
        .route(LOGIN, post(changes::login))
        .route("/api/studies/start", post(changes::start))
        .route("/api/studies/stop", post(changes::stop))
}

/// Runs what reads files on another thread, so that the others are answered meanwhile.
async fn reading<T: Send + 'static>(
    desk: &Arc<Desk>,
    read: impl FnOnce(&Desk) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let desk = Arc::clone(desk);
    let read = tokio::task::spawn_blocking(move || read(&desk)).await;
    read.unwrap_or_else(|error| {
        let message = format!("the server failed ({error}); report it as a bug of weir");
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}
