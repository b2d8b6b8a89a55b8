//! Whatever changes something; the guard has checked who asks.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::reading;
use crate::api_error::ApiError;
use crate::guard::SESSION;
use crate::state::AppState;
use crate::{live, studies};

#[derive(Deserialize)]
pub(super) struct Login {
    token: String,
}

#[derive(Deserialize)]
pub(super) struct Start {
    study: String,
}

/// Opens a session with the token.
pub(super) async fn login(
    State(state): State<Arc<AppState>>,
    Json(login): Json<Login>,
) -> Result<Response, ApiError> {
    let session = state.guard.open_session(login.token.trim());
    let session = session.ok_or_else(|| {
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "that is not the token of this server",
        )
    })?;
    let cookie = format!("{SESSION}={session}; HttpOnly; SameSite=Strict; Path=/");
    let cookie = HeaderValue::from_str(&cookie)
        .expect("invariant: a session consists of letters and digits");
    Ok(([(SET_COOKIE, cookie)], StatusCode::NO_CONTENT).into_response())
}

/// Starts a study of the folder, if none runs.
pub(super) async fn start(
    State(state): State<Arc<AppState>>,
    Json(start): Json<Start>,
) -> Result<StatusCode, ApiError> {
    let study = reading(&state, move |state| {
        if let Some((name, _)) = live::progresses(&state.library).first() {
            let message =
                format!("a study runs in `{name}`; one at a time, or they disturb each other");
            return Err(ApiError::new(StatusCode::CONFLICT, message));
        }
        let mut known = studies::list(&state.studies).into_iter();
        let wanted = known.find(|study| study.name == start.study);
        wanted.ok_or_else(|| ApiError::unknown("study", &start.study))
    })
    .await?;
    // On this thread, which lives as long as the server: the child is tied to it.
    state.runner.start(&study)?;
    Ok(StatusCode::ACCEPTED)
}

/// Stops the study that was started here.
pub(super) async fn stop(State(state): State<Arc<AppState>>) -> Result<StatusCode, ApiError> {
    state.runner.stop()?;
    Ok(StatusCode::ACCEPTED)
}
