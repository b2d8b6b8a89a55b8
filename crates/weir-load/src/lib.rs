//! The load engine: reactors, MySQL wire protocol, workloads, histograms.
