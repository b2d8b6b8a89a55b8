//! Answer to a request that is refused or fails: a status and one line.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use weir_judge::JudgeError;
use weir_report::ReportError;

/// A request that was not done, and why.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    /// Nothing is known under a name.
    pub(crate) fn unknown(what: &str, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("no {what} `{name}`"))
    }
}

/// Form of an error as JSON.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ErrorBody {
    error: String,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let refused = ErrorBody {
            error: self.message,
        };
        (self.status, Json(refused)).into_response()
    }
}

impl From<JudgeError> for ApiError {
    fn from(error: JudgeError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<ReportError> for ApiError {
    fn from(error: ReportError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<weir_store::StoreError> for ApiError {
    fn from(error: weir_store::StoreError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}
