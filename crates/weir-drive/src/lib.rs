//! The emulated drive: device model, deadline scheduler and FUSE front end.
