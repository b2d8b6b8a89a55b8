//! Watching a server and its host: it reads, in a thread of its own, and changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use async_nats::Subject;
use tokio::sync::mpsc::UnboundedSender;
use weir_probe::{HostProbe, Probe, ProcessProbe, Readings};
use weir_process::monotonic_ns;
use weir_server::FoundServer;

use super::job::Event;
use crate::messages::{ActiveWatch, Answer, ProcessId, Sample, WatchOrder};

/// A watch without a question for so long is over: its conductor is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// A source that is watched: the host of a server, or one of the sources of a server that this agent started.
pub(super) struct Watch {
    id: String,
    questions: Sender<Option<Subject>>,
    /// True if it was asked: one that only found the server is not worth a message.
    is_read: bool,
}

impl Watch {
    /// Finds the server on this host; an error says why there is nothing to watch.
    pub(super) fn start(
        order: &WatchOrder,
        own: &ProcessId,
        events: UnboundedSender<Event>,
    ) -> Result<(Self, ActiveWatch), String> {
        let FoundServer { pid, data_dir } = order.server.find()?;
        let data = data_dir.as_deref();
        let device = data.and_then(weir_probe::block_device);
        let states = weir_server::unsaid_of_host(order.server.writes_directly, Some(pid), data);
        let of_run = order.client.seen_by(own).into_iter().chain([pid]);
        let figures = Figures {
            first: Box::new(HostProbe::of_run(data_dir, of_run)),
            second: Some(ProcessProbe::server(pid)),
            readings: Readings::default(),
        };
        let watch = Self::spawn(figures, events)?;
        let watched = ActiveWatch {
            watch: watch.id.clone(),
            device,
            states,
        };
        Ok((watch, watched))
    }

    /// Asks `probe` of a server that this agent started.
    pub(super) fn of_own_server(
        probe: Box<dyn Probe>,
        events: UnboundedSender<Event>,
    ) -> Result<Self, String> {
        let figures = Figures {
            first: probe,
            second: None,
            readings: Readings::default(),
        };
        Self::spawn(figures, events)
    }

    fn spawn(figures: Figures, events: UnboundedSender<Event>) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{number}", monotonic_ns());
        let (questions, receiver) = channel();
        let ended = id.clone();
        std::thread::Builder::new()
            .name("weir-watch".to_owned())
            .spawn(move || {
                answer(figures, &receiver, &events);
                let _ = events.send(Event::WatchEnded { id: ended });
            })
            .map_err(|error| error.to_string())?;
        Ok(Self {
            id,
            questions,
            is_read: false,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Asks for figures; returns true if the answer will come.
    pub(super) fn ask(&mut self, reply: Option<Subject>) -> bool {
        self.is_read = true;
        self.questions.send(reply).is_ok()
    }
}

/// Answers until there are no more questions.
fn answer(
    mut figures: Figures,
    questions: &Receiver<Option<Subject>>,
    events: &UnboundedSender<Event>,
) {
    loop {
        match questions.recv_timeout(PATIENCE) {
            Ok(reply) => {
                let answer = Box::new(figures.now());
                let _ = events.send(Event::Sampled { reply, answer });
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Figures that are read.
struct Figures {
    /// Without it there is no sample.
    first: Box<dyn Probe>,
    /// Until it ends.
    second: Option<ProcessProbe>,
    readings: Readings,
}

impl Figures {
    fn now(&mut self) -> Answer {
        let readings = &mut self.readings;
        if let Err(error) = self.first.sample(readings) {
            readings.discard();
            return Answer::Refused {
                why: error.to_string(),
            };
        }
        if let Some(server) = &mut self.second
            && let Err(error) = server.sample(readings)
        {
            readings.lose(server.name(), error);
            self.second = None;
        }
        let values = readings.pending();
        let values = values.map(|(metric, of, value)| (metric.to_owned(), of.to_owned(), value));
        let values = values.collect();
        let lost = readings.take_losses().into_iter();
        let lost = lost.map(|loss| (loss.source, loss.error.to_string()));
        let sample = Sample {
            values,
            lost: lost.collect(),
        };
        readings.discard();
        Answer::Sample(sample)
    }
}
