//! The live view as server-sent events (WHATWG HTML, "Server-sent events").

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{Stream, unfold};

use super::reading;
use crate::live;
use crate::state::AppState;

/// Interval of looks at the files of running studies while a page watches.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// One message at once, then one whenever something has changed.
pub(super) async fn live(
    State(state): State<Arc<AppState>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let watching = (state, None::<String>);
    let messages = unfold(watching, |(state, mut told)| async move {
        loop {
            if told.is_some() {
                tokio::time::sleep(LOOK_INTERVAL).await;
            }
            let own = state.runner.own();
            let look = move |state: &AppState| Ok(live::now(&state.library, own));
            let now = reading(&state, look).await.ok();
            let now = now.and_then(|now| serde_json::to_string(&now).ok())?;
            if told.as_ref() != Some(&now) {
                told = Some(now.clone());
                return Some((Ok(Event::default().data(now)), (state, told)));
            }
        }
    });
    Sse::new(messages).keep_alive(KeepAlive::default())
}
