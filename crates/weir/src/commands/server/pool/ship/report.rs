//! Report of a shipment, in words and in JSON.

use std::time::Duration;

use serde_json::json;
use weir_model::Bytes;
use weir_server::pool_pages::{KeyShipment, Mode, Shipment};

use crate::commands::server::pool::compare::tell_unknown;
use crate::output;

/// A shipment, with the names of both servers.
pub(super) struct Report {
    from: String,
    to: String,
    /// Time for which the second server read; `None`: it did not.
    took: Option<Duration>,
    what: What,
}

enum What {
    Pages(Mode, Shipment),
    Keys(KeyShipment),
}

impl Report {
    pub(super) fn of_pages(
        (from, to): (&str, &str),
        mode: Mode,
        shipment: Shipment,
        took: Option<Duration>,
    ) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            took,
            what: What::Pages(mode, shipment),
        }
    }

    pub(super) fn of_keys(
        (from, to): (&str, &str),
        shipment: KeyShipment,
        took: Option<Duration>,
    ) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            took,
            what: What::Keys(shipment),
        }
    }

    pub(super) fn tell(&self, json: bool) -> anyhow::Result<()> {
        match &self.what {
            What::Pages(mode, shipment) => {
                tell_unknown(shipment.unknown);
                if json {
                    return output::line(self.pages_document(*mode, shipment));
                }
                output::text(self.pages_text(*mode, shipment))
            }
            What::Keys(shipment) if json => output::line(json!({
                "from": self.from,
                "to": self.to,
                "mode": "keys",
                "listed_pages": shipment.listed,
                "ranges": shipment.ranges.queries.len(),
                "pages": shipment.ranges.pages(),
                "left_out_pages": shipment.ranges.left_out,
                "other_pages": shipment.ranges.others,
                "page_bytes": shipment.page,
                "load_s": self.took.map(|took| took.as_secs_f64()),
            })),
            What::Keys(shipment) => output::text(self.keys_text(shipment)),
        }
    }

    fn done(&self) -> String {
        match self.took {
            Some(took) => format!("{} has read them in {:.1} s", self.to, took.as_secs_f64()),
            None => "nothing was read".to_owned(),
        }
    }

    fn pages_text(&self, mode: Mode, shipment: &Shipment) -> String {
        let (from, to) = (&self.from, &self.to);
        let counts = shipment.translation.counts;
        let pages = shipment.translation.pages.len();
        let size = Bytes(pages as u64 * shipment.page.0);
        let left_out = match shipment.left_out {
            0 => String::new(),
            count => format!("{count} pages are left out: they do not fit into the pool of {to}\n"),
        };
        format!(
            "{from} lists {} pages: {} of tables that {to} has, of which {} ({:.1} %) have a place there, {} of them by \
             rank\n{:.1} % of the leaf pages have the same number and keys on both (mode {})\n{left_out}{pages} pages \
             ({size}); {}\n",
            shipment.listed,
            counts.shared,
            counts.placed,
            counts.coverage() * 100.0,
            counts.by_rank,
            shipment.correspondence * 100.0,
            name(mode),
            self.done()
        )
    }

    fn keys_text(&self, shipment: &KeyShipment) -> String {
        let ranges = &shipment.ranges;
        let left_out = match ranges.left_out {
            0 => String::new(),
            count => format!(
                "{count} leaf pages are left out: the first column of their index is no integer\n"
            ),
        };
        format!(
            "{} lists {} pages\n{left_out}{} leaf pages in {} ranges of keys (mode keys); {}\n",
            self.from,
            shipment.listed,
            ranges.pages(),
            ranges.queries.len(),
            self.done()
        )
    }

    fn pages_document(&self, mode: Mode, shipment: &Shipment) -> serde_json::Value {
        let counts = shipment.translation.counts;
        json!({
            "from": self.from,
            "to": self.to,
            "mode": name(mode),
            "listed_pages": shipment.listed,
            "ignored_lines": shipment.ignored,
            "other_pages": counts.others,
            "shared_pages": counts.shared,
            "placed_pages": counts.placed,
            "placed_by_rank": counts.by_rank,
            "unplaced_pages": counts.unplaced(),
            "coverage": counts.coverage(),
            "correspondence": shipment.correspondence,
            "unknown_pages": shipment.unknown,
            "left_out_pages": shipment.left_out,
            "pages": shipment.translation.pages.len(),
            "page_bytes": shipment.page,
            "dump_s": shipment.dump_time.as_secs_f64(),
            "translate_s": shipment.translate_time.as_secs_f64(),
            "load_s": self.took.map(|took| took.as_secs_f64()),
        })
    }
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Same | Mode::Numbers => "same",
        Mode::Translate => "translate",
    }
}
