//! What Weir starts on this machine: tied to its parent's life, recorded, ended by id.
