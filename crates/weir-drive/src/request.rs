//! Kinds of a request of the kernel.

/// Bytes that one request reads or writes at most: a database page, and the bulk writes of a doublewrite buffer, in one.
/// (Reads are as long as the kernel's 256 pages of `FUSE_DEFAULT_MAX_PAGES_LIMIT`.)
pub(crate) const REQUEST_BYTES_MAX: u32 = 1 << 20;
