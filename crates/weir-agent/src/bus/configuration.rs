//! The configuration of `nats-server`.

use std::path::Path;

use crate::bus::subjects::{Subjects, inbox_of};

/// Room for results that were not merged yet.
const STORE: &str = "1GB";

/// A member of the crew.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Public key (nkey).
    pub(crate) public: String,
}

/// The configuration of the server.
pub(crate) struct Configuration<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// Folder of the keys, as the server sees it.
    pub(crate) folder: &'a Path,
    /// Folder of the server's store.
    pub(crate) store: &'a Path,
    pub(crate) subjects: &'a Subjects,
    pub(crate) conductor: &'a Member,
    pub(crate) agents: &'a [Member],
}

impl Configuration<'_> {
    pub(crate) fn text(&self) -> String {
        let folder = |name: &str| quoted(&self.folder.join(name).display().to_string());
        let mut users = self.conductor_user();
        for agent in self.agents {
            users += &self.agent_user(agent);
        }
        format!(
            "# Written by `weir bus up`.\n\
             host: {}\nport: {}\nmax_payload: 1MB\nlogtime: true\n\
             jetstream {{ store_dir: {}, max_file_store: {STORE}, max_memory_store: 64MB }}\n\
             tls {{ cert_file: {}, key_file: {}, timeout: 5 }}\n\
             authorization {{\n  timeout: 5\n  users: [\n{users}  ]\n}}\n",
            quoted(self.host),
            self.port,
            quoted(&self.store.display().to_string()),
            folder("certificate.pem"),
            folder("key.pem"),
        )
    }

    /// The conductor leads the crew and keeps its results.
    fn conductor_user(&self) -> String {
        let everything = self.subjects.everything();
        let inbox = format!("{}.>", inbox_of(&self.conductor.name));
        user(
            &self.conductor.public,
            &[&everything, "$JS.API.>", "$JS.ACK.>"],
            &[&everything, &inbox],
        )
    }

    /// An agent reads its own orders, and writes under its own name.
    fn agent_user(&self, agent: &Member) -> String {
        let (name, subjects) = (&agent.name, self.subjects);
        let inbox = format!("{}.>", inbox_of(name));
        user(
            &agent.public,
            &[&subjects.beat(name), &subjects.result("*", name)],
            &[
                &subjects.orders(name),
                &subjects.clock(name),
                &subjects.all(),
                &inbox,
            ],
        )
    }
}

fn user(public: &str, publish: &[&str], subscribe: &[&str]) -> String {
    format!(
        "    {{ nkey: {public}, permissions: {{\n        publish: {{ allow: [{}] }}\n        \
         subscribe: {{ allow: [{}] }}\n        allow_responses: {{ max: 4, expires: \"15m\" }} }} }}\n",
        list(publish),
        list(subscribe)
    )
}

fn list(subjects: &[&str]) -> String {
    let quoted: Vec<_> = subjects.iter().map(|subject| quoted(subject)).collect();
    quoted.join(", ")
}

/// A text as the configuration wants it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
