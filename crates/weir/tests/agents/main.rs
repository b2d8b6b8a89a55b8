//! Agents as processes on hosts of their own: network namespaces on a bridge, with clocks of their own.

mod faults;
mod hosts;
mod ssh;
mod study;
