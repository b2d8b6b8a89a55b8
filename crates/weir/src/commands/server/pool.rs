//! `weir server pool`.

use serde_json::json;
use weir_model::Bytes;
use weir_mysql::Gate;
use weir_server::{Instances, Session};

use crate::cli::PoolArguments;
use crate::output;

pub(super) fn execute(arguments: &PoolArguments) -> anyhow::Result<()> {
    let endpoint = Instances::open()?.endpoint(&arguments.name)?;
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
        output::line(format_args!("{}: {what}", arguments.name))?;
    }
    output::line(format_args!(
        "{}: buffer pool {}: {} of data, {} of it not yet written",
        arguments.name,
        pool.size,
        bytes(pool.pages_data),
        bytes(pool.pages_dirty)
    ))
}
