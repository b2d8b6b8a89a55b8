//! `weir server pool compare`.

use serde_json::json;
use weir_report::table;
use weir_server::Instances;
use weir_server::pool_pages::{IndexOverlap, Overlap, PoolServer};

use crate::output;

pub(super) fn execute(from: &str, to: &str, json: bool) -> anyhow::Result<()> {
    let instances = Instances::open()?;
    let from = PoolServer::instance(&instances, from)?;
    let to = PoolServer::instance(&instances, to)?;
    let overlap = weir_server::pool_pages::compare(&from, &to)?;
    if json {
        return output::line(serde_json::to_string_pretty(&document(&overlap))?);
    }
    let rows: Vec<_> = overlap.indexes.iter().map(row).collect();
    let (here, there) = (from.name(), to.name());
    let in_from = format!("in {here}");
    let in_both = format!("and in {there}");
    let header = [
        "table",
        "index",
        "leaf pages",
        "same number",
        &in_from,
        &in_both,
        "share",
    ];
    output::text(table(&header, &rows))?;
    output::line(format_args!(
        "{there} has the keys of {:.1} % of the leaf pages that {here} holds; {:.1} % of all leaf pages have the same \
         number on both",
        overlap.warm_share() * 100.0,
        overlap.corresponding_share() * 100.0
    ))?;
    tell_unknown(overlap.unknown);
    Ok(())
}

/// Says that files were behind the pools.
pub(super) fn tell_unknown(unknown: u32) {
    if unknown > 0 {
        eprintln!(
            "note: {unknown} pages above the leaves are newer in a pool than in its file; what they point to is unknown \
             until the server has written them"
        );
    }
}

/// A table as SQL has it.
fn table_name(index: &IndexOverlap) -> String {
    index.table.replacen('/', ".", 1)
}

fn row(index: &IndexOverlap) -> Vec<String> {
    let share = index.warm as f64 / index.resident.max(1) as f64;
    vec![
        table_name(index),
        index.index.clone(),
        index.leaves.to_string(),
        index.corresponding.to_string(),
        index.resident.to_string(),
        index.warm.to_string(),
        format!("{:.1} %", share * 100.0),
    ]
}

fn document(overlap: &Overlap) -> serde_json::Value {
    let indexes = overlap.indexes.iter().map(|index| {
        json!({
            "table": table_name(index),
            "index": index.index,
            "leaf_pages": index.leaves,
            "corresponding_pages": index.corresponding,
            "resident_pages": index.resident,
            "warm_pages": index.warm,
        })
    });
    json!({
        "indexes": indexes.collect::<Vec<_>>(),
        "warm_share": overlap.warm_share(),
        "corresponding_share": overlap.corresponding_share(),
        "other_pages": overlap.others,
        "unknown_pages": overlap.unknown,
    })
}
