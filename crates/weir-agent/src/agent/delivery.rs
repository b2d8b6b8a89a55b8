//! Delivers reports: in their order, each until the bus has stored it.
//!
//! The load does not wait for the bus: reports queue in memory, some KB for each reactor and second.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{self, Context, message::PublishMessage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::messages::report_id;

/// Longest wait for the bus to say that it has stored one.
const ACKNOWLEDGED: Duration = Duration::from_secs(3);
/// Pause before the next try.
const RETRY: Duration = Duration::from_millis(200);

/// The way for the reports of a run; it ends when its sender is dropped and all is delivered.
pub(super) fn start(
    client: &Client,
    subject: String,
    run: &str,
    agent: &str,
) -> UnboundedSender<Vec<u8>> {
    let (sender, reports) = unbounded_channel();
    let context = jetstream::new(client.clone());
    let (run, agent) = (run.to_owned(), agent.to_owned());
    tokio::spawn(async move { deliver(&context, &subject, &run, &agent, reports).await });
    sender
}

async fn deliver(
    context: &Context,
    subject: &str,
    run: &str,
    agent: &str,
    mut reports: UnboundedReceiver<Vec<u8>>,
) {
    let mut number = 0;
    while let Some(report) = reports.recv().await {
        let id = report_id(run, agent, number);
        // A report that was stored but not acknowledged is dropped by its id.
        while !is_stored(context, subject, &id, &report).await {
            tokio::time::sleep(RETRY).await;
        }
        number += 1;
    }
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
