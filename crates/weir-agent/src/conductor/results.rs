//! The stream that keeps what agents counted until it is merged: a bus that dies and comes back loses nothing of it.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};

use crate::agent_pool::AgentPool;
use crate::error::AgentError;

/// Results that no conductor has asked for are kept for so long.
const MAX_AGE: Duration = Duration::from_hours(24);
/// Room for them.
const MAX_BYTES: i64 = 512 << 20;
/// For so long the server knows a report that comes again.
const DUPLICATES: Duration = Duration::from_mins(2);
/// Time after which a delivered message that is not acknowledged comes again.
const REDELIVERED: Duration = Duration::from_secs(5);

/// The reports of one run.
pub(crate) struct Results {
    stream: Stream,
    consumer: Consumer<pull::Config>,
    subject: String,
    name: String,
}

impl Results {
    pub(crate) async fn subscribe(crew: &AgentPool, run: &str) -> Result<Self, AgentError> {
        let failed = |what: &'static str| {
            move |error: &dyn std::fmt::Display| AgentError::Host {
                what,
                why: error.to_string(),
            }
        };
        let context = async_nats::jetstream::new(crew.client.clone());
        let config = Config {
            name: crew.subjects.result_stream().to_owned(),
            subjects: vec![crew.subjects.result("*", "*")],
            storage: StorageType::File,
            // What was merged makes room: a run of days needs no more of it than one of minutes.
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_age: MAX_AGE,
            max_bytes: MAX_BYTES,
            duplicate_window: DUPLICATES,
            ..Config::default()
        };
        let stream = open(&context, config).await;
        let stream = stream.map_err(|why| failed("make the stream of results")(&why))?;
        let subject = crew.subjects.result(run, "*");
        let name = format!("run-{run}");
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: subject.clone(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: REDELIVERED,
            max_ack_pending: 4_096,
            inactive_threshold: MAX_AGE,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await;
        Ok(Self {
            consumer: consumer.map_err(|error| failed("read the stream of results")(&error))?,
            stream,
            subject,
            name,
        })
    }

    /// Returns the stream of messages; it ends with the connection, and is asked for again.
    pub(crate) async fn messages(&self) -> Option<pull::Stream> {
        let builder = self.consumer.stream();
        let builder = builder
            .heartbeat(Duration::from_secs(1))
            .expires(Duration::from_secs(5));
        builder.messages().await.ok()
    }

    /// Drops what was merged.
    pub(crate) async fn forget(self) {
        let _ = self.stream.delete_consumer(&self.name).await;
        let _ = self.stream.purge().filter(self.subject).await;
    }
}

/// The stream with these settings. One that an earlier version of Weir made differently is made anew: no run reads
/// another's results.
async fn open(context: &Context, config: Config) -> Result<Stream, String> {
    let open = async || {
        let stream = context.get_or_create_stream(config.clone()).await;
        stream.map_err(|error| error.to_string())
    };
    let found = open().await?;
    if found.cached_info().config.retention == config.retention {
        return Ok(found);
    }
    let deleted = context.delete_stream(&config.name).await;
    deleted.map_err(|error| error.to_string())?;
    open().await
}

/// The id of a message.
pub(crate) fn id_of(headers: Option<&HeaderMap>) -> Option<&str> {
    let value = headers?.get(async_nats::header::NATS_MESSAGE_ID)?;
    Some(value.as_str())
}
