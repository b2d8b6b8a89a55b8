//! Delivers reports: each until the bus has stored it. The conductor puts them in order, by their numbers.
//!
//! The load does not wait for the bus: reports queue in memory, some KB for each reactor and second.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{self, Context, message::PublishMessage};
use futures_util::StreamExt as _;
use futures_util::stream::{iter, unfold};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::messages::report_id;
use crate::report_parts::parts;

/// Longest wait for the bus to say that it has stored one.
const ACKNOWLEDGED: Duration = Duration::from_secs(3);
/// Parts of reports that are under way at a time: a bus 20 ms away would otherwise take 50 a second.
const UNDER_WAY: usize = 8;
/// Pause before the next try.
const RETRY: Duration = Duration::from_millis(200);

/// The way for the reports of a run, and its end: when its sender is dropped and all is delivered.
pub(super) fn start(
    client: &Client,
    subject: String,
    run: &str,
    agent: &str,
) -> (UnboundedSender<Vec<u8>>, JoinHandle<()>) {
    let (sender, reports) = unbounded_channel();
    let context = jetstream::new(client.clone());
    let (run, agent) = (run.to_owned(), agent.to_owned());
    let delivered =
        tokio::spawn(async move { deliver(&context, &subject, &run, &agent, reports).await });
    (sender, delivered)
}

async fn deliver(
    context: &Context,
    subject: &str,
    run: &str,
    agent: &str,
    reports: UnboundedReceiver<Vec<u8>>,
) {
    let reports = unfold(reports, |mut reports| async move {
        let report = reports.recv().await?;
        Some((iter(parts(&report)), reports))
    });
    let stored = reports.flatten().enumerate().map(async |(number, part)| {
        let id = report_id(run, agent, number as u64);
        // A part that was stored but not acknowledged is dropped by its id.
        while !is_stored(context, subject, &id, &part).await {
            tokio::time::sleep(RETRY).await;
        }
    });
    stored.buffer_unordered(UNDER_WAY).collect::<()>().await;
}

async fn is_stored(context: &Context, subject: &str, id: &str, payload: &[u8]) -> bool {
    let message = PublishMessage::build()
        .message_id(id)
        .payload(payload.to_vec().into());
    let stored = async {
        let acknowledged = context
            .send_publish(subject.to_owned(), message)
            .await
            .ok()?;
        acknowledged.await.ok()
    };
    matches!(
        tokio::time::timeout(ACKNOWLEDGED, stored).await,
        Ok(Some(_))
    )
}
