-- Transactions that only read.
require("oltp_common")

function prepare_statements()
  prepare_point_selects()
  if not sysbench.opt.skip_trx then
    prepare_begin()
    prepare_commit()
  end
  prepare_range_selects()
end

function event()
  if not sysbench.opt.skip_trx then begin() end
  execute_point_selects()
  execute_range_selects()
  if not sysbench.opt.skip_trx then commit() end
  check_reconnect()
end
