//! Pages: the application and the reports.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;

use super::reading;
use crate::api_error::ApiError;
use crate::state::AppState;

/// The application without any data, built by `make web`.
const APP: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/dist/serve.html"
));

pub(super) async fn app() -> Html<&'static str> {
    Html(APP)
}

pub(super) async fn report(
    State(state): State<Arc<AppState>>,
    Path(name): Path<String>,
) -> Result<Html<String>, ApiError> {
    let page = reading(&state, move |state| state.library.report(&name)).await?;
    Ok(Html(page.to_string()))
}
