//! Answers as JSON, and the numbers for Prometheus.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use weir_store::Store;

use super::reading;
use crate::api_error::ApiError;
use crate::library::Summary;
use crate::state::AppState;
use crate::studies::Study;
use crate::{live, openmetrics, studies};

/// Points of a curve, if the page does not say how many it can show.
const POINTS: usize = 400;

#[derive(Deserialize)]
pub(super) struct OfResult {
    result: String,
}

#[derive(Deserialize)]
pub(super) struct OfRun {
    result: String,
    cell: usize,
    repetition: u32,
    from: Option<f64>,
    to: Option<f64>,
    points: Option<usize>,
}

#[derive(Deserialize)]
pub(super) struct Two {
    a: String,
    b: String,
}

/// Data that a page needs for changes.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Session {
    page_secret: String,
}

/// The list of results.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Results {
    /// Version that tells it from others.
    version: u64,
    results: Vec<Summary>,
}

/// The list of studies.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Studies {
    studies: Vec<Study>,
}

/// The secret that changes need; only a page of this server can read it.
pub(super) async fn session(State(state): State<Arc<AppState>>) -> Json<Session> {
    let page_secret = state.guard.page_secret().to_owned();
    Json(Session { page_secret })
}

/// All results; those without verdicts are judged meanwhile.
pub(super) async fn results(State(state): State<Arc<AppState>>) -> Result<Json<Results>, ApiError> {
    let (version, results) = reading(&state, |state| Ok(state.library.list())).await?;
    let judge = Arc::clone(&state);
    tokio::task::spawn_blocking(move || judge.library.judge_all());
    Ok(Json(Results { version, results }))
}

/// The runs of a result, in a line each.
pub(super) async fn runs(
    State(state): State<Arc<AppState>>,
    Query(of): Query<OfResult>,
) -> Result<Response, ApiError> {
    let body = reading(&state, move |state| {
        let store = Store::open(&state.library.file(&of.result)?)?;
        Ok(weir_report::runs_json(&store.header()?, &store.records()?)?)
    });
    Ok(as_json(body.await?))
}

/// One run, with its curves between two times.
pub(super) async fn run(
    State(state): State<Arc<AppState>>,
    Query(of): Query<OfRun>,
) -> Result<Response, ApiError> {
    let body = reading(&state, move |state| {
        let store = Store::open(&state.library.file(&of.result)?)?;
        let run = store.run(of.cell, of.repetition)?;
        let run = run.ok_or_else(|| ApiError::unknown("run in result", &of.result))?;
        let window = weir_report::Window {
            from_s: of.from,
            to_s: of.to,
            points: of.points.unwrap_or(POINTS),
        };
        Ok(weir_report::run_json(&store.header()?, &run, window)?)
    });
    Ok(as_json(body.await?))
}

/// Two results set against each other, with the verdicts of `weir compare`.
pub(super) async fn compare(
    State(state): State<Arc<AppState>>,
    Query(two): Query<Two>,
) -> Result<Response, ApiError> {
    let body = reading(&state, move |state| {
        state.library.comparison(&two.a, &two.b)
    })
    .await?;
    Ok(as_json(body.to_string()))
}

/// The studies that can be started.
pub(super) async fn studies(State(state): State<Arc<AppState>>) -> Result<Json<Studies>, ApiError> {
    let studies = reading(&state, |state| Ok(studies::list(&state.studies))).await?;
    Ok(Json(Studies { studies }))
}

/// Returns the running studies, for Prometheus.
pub(super) async fn metrics(State(state): State<Arc<AppState>>) -> Result<Response, ApiError> {
    let text = reading(&state, |state| {
        let results = state.library.list().1.len();
        Ok(openmetrics::exposition(
            &live::progresses(&state.library),
            results,
        ))
    });
    Ok(([(CONTENT_TYPE, openmetrics::CONTENT_TYPE)], text.await?).into_response())
}

fn as_json(body: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
