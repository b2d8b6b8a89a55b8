//! `weir server pool`.

mod compare;
mod ship;

use serde_json::json;
use weir_model::Bytes;
use weir_mysql::Gate;
use weir_server::{Instances, Session};

use crate::cli::{PoolArguments, PoolCommand};
use crate::output;

pub(super) fn execute(arguments: &PoolArguments) -> anyhow::Result<()> {
    match &arguments.command {
        Some(PoolCommand::Compare { from, to, json }) => compare::execute(from, to, *json),
        Some(PoolCommand::Ship(arguments)) => ship::execute(arguments),
        None => one(arguments),
    }
}

/// Looks at the pool of one server, or changes it.
fn one(arguments: &PoolArguments) -> anyhow::Result<()> {
    let name = arguments.name.as_deref().unwrap_or_default();
    let endpoint = Instances::open()?.endpoint(name)?;
    let mut session = Session::open(&endpoint, &Gate::own())?;
    if arguments.dump {
        session.dump_pool()?;
    }
    if let Some(size) = arguments.resize {
        session.resize_pool(size)?;
    }
    if arguments.load {
        session.load_pool()?;
    }
    let pool = session.pool()?;
    let bytes = |pages: u64| Bytes(pages * pool.page.0);
    if arguments.json {
        return output::line(json!({
            "size_bytes": pool.size,
            "page_bytes": pool.page,
            "pages": pool.pages,
            "pages_data": pool.pages_data,
            "pages_dirty": pool.pages_dirty,
        }));
    }
    let done = [
        (arguments.dump, "its pages are written down"),
        (arguments.resize.is_some(), "its size is changed"),
        (
            arguments.load,
            "the pages that were written down are loaded",
        ),
    ];
    for (_, what) in done.iter().filter(|(is_done, _)| *is_done) {
        output::line(format_args!("{name}: {what}"))?;
    }
    output::line(format_args!(
        "{name}: buffer pool {}: {} of data, {} of it not yet written",
        pool.size,
        bytes(pool.pages_data),
        bytes(pool.pages_dirty)
    ))
}
