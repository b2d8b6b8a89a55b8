//! Answers as JSON, and the numbers for Prometheus.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use weir_store::Store;

use super::reading;
use crate::answer::Refusal;
use crate::library::Summary;
use crate::server::Desk;
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

/// What a page needs for changes.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Session {
    page_secret: String,
}

/// The list of results.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Results {
    /// What tells it from others.
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
pub(super) async fn session(State(desk): State<Arc<Desk>>) -> Json<Session> {
    let page_secret = desk.guard.page_secret().to_owned();
    Json(Session { page_secret })
}

/// All results; those that nobody has judged yet are judged meanwhile.
pub(super) async fn results(State(desk): State<Arc<Desk>>) -> Result<Json<Results>, Refusal> {
    let (version, results) = reading(&desk, |desk| Ok(desk.library.list())).await?;
    let judge = Arc::clone(&desk);
    tokio::task::spawn_blocking(move || judge.library.judge_all());
    Ok(Json(Results { version, results }))
}

/// The runs of a result, in a line each.
pub(super) async fn runs(
    State(desk): State<Arc<Desk>>,
    Query(of): Query<OfResult>,
) -> Result<Response, Refusal> {
    let body = reading(&desk, move |desk| {
        let store = Store::open(&desk.library.file(&of.result)?)?;
        Ok(weir_report::runs_json(&store.header()?, &store.records()?)?)
    });
    Ok(as_json(body.await?))
}

/// One run, with its curves between two times.
pub(super) async fn run(
    State(desk): State<Arc<Desk>>,
    Query(of): Query<OfRun>,
) -> Result<Response, Refusal> {
    let body = reading(&desk, move |desk| {
        let store = Store::open(&desk.library.file(&of.result)?)?;
        let run = store.run(of.cell, of.repetition)?;
        let run = run.ok_or_else(|| Refusal::unknown("run in result", &of.result))?;
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
    State(desk): State<Arc<Desk>>,
    Query(two): Query<Two>,
) -> Result<Response, Refusal> {
    let body = reading(&desk, move |desk| desk.library.comparison(&two.a, &two.b)).await?;
    Ok(as_json(body.to_string()))
}

/// The studies that can be started.
pub(super) async fn studies(State(desk): State<Arc<Desk>>) -> Result<Json<Studies>, Refusal> {
    let studies = reading(&desk, |desk| Ok(studies::list(&desk.studies))).await?;
    Ok(Json(Studies { studies }))
}

/// What runs now, for Prometheus.
pub(super) async fn metrics(State(desk): State<Arc<Desk>>) -> Result<Response, Refusal> {
    let text = reading(&desk, |desk| {
        let results = desk.library.list().1.len();
        Ok(openmetrics::exposition(
            &live::progresses(&desk.library),
            results,
        ))
    });
    Ok(([(CONTENT_TYPE, openmetrics::CONTENT_TYPE)], text.await?).into_response())
}

fn as_json(body: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
