-- Selects of several keys of the indexed column at once.
require("oltp_common")

sysbench.cmdline.options.random_points = { "Keys of a select", 10 }

function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  local marks = ("?, "):rep(sysbench.opt.random_points - 1) .. "?"
  stmt = con:prepare("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (" .. marks .. ")")
  keys = {}
  for position = 1, sysbench.opt.random_points do keys[position] = stmt:bind_create(sysbench.sql.type.INT) end
  stmt:bind_param(unpack(keys))
end

function thread_done()
  stmt:close()
  con:disconnect()
end

function event()
  for _, key in ipairs(keys) do key:set(sysbench.rand.default(1, sysbench.opt.table_size)) end
  stmt:execute()
end
