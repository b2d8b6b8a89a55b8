//! Weir: the command line.

fn main() {}
