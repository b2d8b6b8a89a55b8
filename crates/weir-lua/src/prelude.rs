//! Our own Lua, which runs in each state before the script. Its chunks' names show in messages.

/// Name and text of each chunk, in the order in which they run.
pub(crate) const CHUNKS: [(&str, &str); 7] = [
    ("sysbench.lua", include_str!("prelude/sysbench.lua")),
    (
        "sysbench.coroutine.lua",
        include_str!("prelude/sysbench.coroutine.lua"),
    ),
    (
        "sysbench.profile.lua",
        include_str!("prelude/sysbench.profile.lua"),
    ),
    (
        "sysbench.cmdline.lua",
        include_str!("prelude/sysbench.cmdline.lua"),
    ),
    ("sysbench.sql.lua", include_str!("prelude/sysbench.sql.lua")),
    (
        "sysbench.report.lua",
        include_str!("prelude/sysbench.report.lua"),
    ),
    ("sysbench.old.lua", include_str!("prelude/sysbench.old.lua")),
];
