//! How long the restore of a data directory takes: `bench_restore FROM TO`, where TO is absent. Run it
//! on a file system with reflinks and on one without; `docs/journal/` has what came out.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::path::Path;
use std::time::Instant;

use weir_server::{ServerError, copy_directory, space_occupied};

fn main() -> Result<(), ServerError> {
    let mut words = std::env::args().skip(1);
    let (from, to) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (from, to) = (Path::new(&from), Path::new(&to));
    let size = space_occupied(from)?;
    let began = Instant::now();
    copy_directory(from, to)?;
    println!("{size} in {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}
