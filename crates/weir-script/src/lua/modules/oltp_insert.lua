-- Inserts of single rows, as text.
require("oltp_common")

sysbench.cmdline.commands.prepare = {
  function() if sysbench.opt.auto_inc then cmd_prepare() else
    local size = sysbench.opt.table_size
    sysbench.opt.table_size = 0
    cmd_prepare()
    sysbench.opt.table_size = size
  end end,
  sysbench.cmdline.PARALLEL_COMMAND,
}

function prepare_statements() end

function event()
  local name = "sbtest" .. sysbench.rand.uniform(1, sysbench.opt.tables)
  local k = sysbench.rand.default(1, sysbench.opt.table_size)
  local c, pad = get_c_value(), get_pad_value()
  if sysbench.opt.auto_inc then
    con:query(string.format("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')", name, k, c, pad))
  else
    -- Numbers of 32 bits without sign, for a column with one.
    local id = sysbench.rand.unique() - 2147483648
    con:query(string.format("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')", name, id, k, c, pad))
  end
  check_reconnect()
end
