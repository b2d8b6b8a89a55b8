-- Selects by key.
require("oltp_common")

sysbench.cmdline.options.point_selects[2] = 1

function prepare_statements() prepare_point_selects() end

function event()
  execute_point_selects()
  check_reconnect()
end
