//! The text of a first study of one's own.

use anyhow::bail;

use crate::cli::Question;

/// The word for the host's own storage.
pub(crate) const HOST: &str = "host";

/// Answers that a starter study is made of.
#[derive(Debug, Clone)]
pub(crate) struct Starter {
    /// As `server.flavor`.
    pub(crate) server: String,
    pub(crate) question: Question,
    /// Emulated drives; none: the host's own storage.
    pub(crate) drives: Vec<String>,
}

impl Starter {
    /// The study as TOML with comments, to be kept in the file `name`.
    pub(crate) fn text(&self, name: &str) -> anyhow::Result<String> {
        self.check()?;
        let parts = [
            self.head(name),
            self.study(),
            self.server(),
            self.data(),
            self.load(),
            self.factors(),
            REPEAT.to_owned(),
        ];
        Ok(parts.join("\n"))
    }

    fn is_external(&self) -> bool {
        self.server.contains("://")
    }

    fn check(&self) -> anyhow::Result<()> {
        let drives = self.drives.len();
        if self.is_external() {
            if !matches!(self.question, Question::Flush | Question::Threads) {
                bail!(
                    "a study of your own server cannot ask this (it needs a restart or another server); use --question \
                     flush or threads, or --server mysql"
                );
            }
            if drives > 0 {
                bail!(
                    "your own server has its own storage: no drive is emulated for it; use --storage {HOST}"
                );
            }
        }
        match self.question {
            Question::Drives if drives < 2 => bail!(
                "--question drives needs two emulated drives; use --storage intel-p3700-400gb,aws-gp3 (`weir drive \
                 list` has all)"
            ),
            Question::Drives => Ok(()),
            _ if drives > 1 => bail!(
                "--storage: {drives} drives for a question that is not about drives; name one, or use --question drives"
            ),
            _ => Ok(()),
        }
    }

    fn head(&self, name: &str) -> String {
        let options = match (self.is_external(), self.drives.is_empty()) {
            (true, _) => " --allow-config --dry-run",
            (false, true) => " --work /mnt/nvme/weir",
            (false, false) => "",
        };
        let run = match (self.is_external(), self.drives.is_empty()) {
            (true, _) => "prints what it would change on your server; without --dry-run: runs it",
            (false, true) => "runs it on the drive of that folder",
            (false, false) => "runs it",
        };
        format!(
            "# {}\n#\n#   weir plan {name}\n#       what it would do, how long that takes, and what the rules say\n#   \
             weir run {name}{options}\n#       {run}\n#\n# All keys: docs/study-reference.md\n",
            self.question()
        )
    }

    fn question(&self) -> &'static str {
        match self.question {
            Question::Doublewrite => "What does innodb_doublewrite = OFF gain?",
            Question::Flush => "What does innodb_flush_log_at_trx_commit = 2 gain?",
            Question::Pool => "What does a larger buffer pool gain?",
            Question::Threads => "How many connections does the server use?",
            Question::Drives => "Which drive is faster?",
            Question::Servers => "Which server is faster?",
            Question::Index => "What does an index on sbtest1 (c) do to all statements?",
            Question::Upgrade => "Which statements get slower?",
        }
    }

    fn study(&self) -> String {
        let title = match self.question {
            Question::Doublewrite => "Doublewrite off",
            Question::Flush => "Redo flush at commit",
            Question::Pool => "Buffer pool",
            Question::Threads => "Connections",
            Question::Drives => "Drives",
            Question::Servers => "MySQL and MariaDB",
            Question::Index => "An index",
            Question::Upgrade => "An upgrade",
        };
        format!(
            "[study]\ntitle = \"{title}\"\nquestion = \"{}\"\n",
            self.question()
        )
    }

    fn server(&self) -> String {
        let flavor = match self.question {
            Question::Servers => String::new(),
            _ => format!(
                "flavor = {}   # mysql, mariadb, \"mysql 8.4\", a program's path, or your server's URL\n",
                quoted(&self.server)
            ),
        };
        if self.is_external() {
            return format!("[server]\n{flavor}");
        }
        let pool = match self.question {
            Question::Pool => "",
            _ => "innodb_buffer_pool_size = \"48M\"          # the data are five times as large\n",
        };
        format!(
            "[server]\n{flavor}\n[server.config]                           # variables of all runs, as in an option \
             file\n{pool}innodb_redo_log_capacity = \"64M\"\ninnodb_flush_method = \"O_DIRECT\"          # reads and \
             writes reach the drive, not the page cache\n"
        )
    }

    fn data(&self) -> String {
        let scale = if self.drives.is_empty() {
            ""
        } else {
            "scale = { drive = \"1/25\" }    # a few cores cannot feed a whole data-centre drive; latencies stay\n"
        };
        let workload = match self.question {
            Question::Doublewrite | Question::Flush => "oltp_write_only",
            Question::Pool => "oltp_read_only",
            Question::Threads
            | Question::Drives
            | Question::Servers
            | Question::Index
            | Question::Upgrade => "oltp_read_write",
        };
        let change = match self.question {
            Question::Index => INDEX,
            _ => "",
        };
        format!(
            "[data]\nworkload = \"{workload}\"  # sysbench's, or a file of your own: docs/workloads.md\ntables = \
             2\nrows = 500_000                # per table\n{scale}{change}"
        )
    }

    fn load(&self) -> String {
        let threads = match self.question {
            Question::Threads => "",
            _ => "threads = 32\n",
        };
        format!(
            "[load]\n{threads}distribution = \"uniform\"      # all rows alike; zipfian: some are hot\nwarmup = {{ \
             at_least = \"35s\", at_most = \"10m\" }}   # until throughput is steady\nmeasure = \"60s\"               \
             # 300s or more for stalls and p99.9\n"
        )
    }

    fn factors(&self) -> String {
        let asked = match self.question {
            Question::Doublewrite => "innodb_doublewrite = [\"ON\", \"OFF\"]\n",
            Question::Flush => "innodb_flush_log_at_trx_commit = [1, 2]\n",
            Question::Pool => "innodb_buffer_pool_size = [\"64M\", \"128M\", \"256M\"]\n",
            Question::Threads => "threads = [1, 8, 32]\n",
            Question::Servers => &format!("server = {}\n", self.servers()),
            Question::Index => "before = [\"none\", \"index\"]\n",
            Question::Drives | Question::Upgrade => "",
        };
        let drives: Vec<_> = self.drives.iter().map(|drive| quoted(drive)).collect();
        let drives = match drives.as_slice() {
            [] => String::new(),
            drives => format!("drive = [{}]\n", drives.join(", ")),
        };
        format!(
            "[factors]                     # the first level is the baseline; all combinations run\n{asked}{drives}"
        )
    }

    /// The server that was named, and one of the other flavor.
    fn servers(&self) -> String {
        let is_mariadb = self.server.contains("mariadb");
        let other = if is_mariadb { "mysql" } else { "mariadb" };
        format!("[{}, {}]", quoted(&self.server), quoted(other))
    }
}

/// A change of the data, made once before all runs that have it.
const INDEX: &str = "\n[[data.before]]               # of your own tables and statements: docs/an-index.md\nname = \
                     \"index\"\nstatement = \"ALTER TABLE sbtest.sbtest1 ADD INDEX c (c)\"\n";

const REPEAT: &str = "[repeat]\nruns = 3                      # 5 or more for effects below 20 %\n";

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
