//! placeholder
/// x
#[derive(Debug)]
pub struct NullServer;
/// x
#[derive(Debug)]
pub struct NullServerBehavior;
