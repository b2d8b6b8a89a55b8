//! Paths of the API. Reads are GET and change nothing; docs/serve.md lists all of it.

mod changes;
mod events;
mod pages;
mod reads;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};

use crate::api_error::ApiError;
use crate::guard::LOGIN;
use crate::state::AppState;

#[cfg(test)]
pub(crate) use reads::{Results, Session, Studies};

pub(crate) fn routes() -> Router<Arc<AppState>> {
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
    state: &Arc<AppState>,
    read: impl FnOnce(&AppState) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let state = Arc::clone(state);
    let read = tokio::task::spawn_blocking(move || read(&state)).await;
    read.unwrap_or_else(|error| {
        let message = format!("the server failed ({error}); report it as a bug of weir");
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}
