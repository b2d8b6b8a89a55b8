-- Counts of several ranges of the indexed column at once.
require("oltp_common")

sysbench.cmdline.options.number_of_ranges = { "Ranges of a select", 10 }
sysbench.cmdline.options.delta = { "Last minus first value of a range", 5 }

function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  local count = sysbench.opt.number_of_ranges
  local ranges = ("k BETWEEN ? AND ? OR "):rep(count - 1) .. "k BETWEEN ? AND ?"
  stmt = con:prepare("SELECT count(k) FROM sbtest1 WHERE " .. ranges)
  ends = {}
  for position = 1, 2 * count do ends[position] = stmt:bind_create(sysbench.sql.type.INT) end
  stmt:bind_param(unpack(ends))
end

function thread_done()
  stmt:close()
  con:disconnect()
end

function event()
  for position = 1, #ends, 2 do
    local first = sysbench.rand.default(1, sysbench.opt.table_size)
    ends[position]:set(first)
    ends[position + 1]:set(first + sysbench.opt.delta)
  end
  stmt:execute()
end
