-- Each thread fills a table of its own by inserts of many rows.
local row = 0

function prepare()
  local con = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.threads do
    print(string.format("Creating table 'sbtest%d'...", number))
    con:query(string.format("CREATE TABLE IF NOT EXISTS sbtest%d (id INTEGER NOT NULL, " ..
      "k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))", number))
  end
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.threads do
    print(string.format("Dropping table 'sbtest%d'...", number))
    con:query("DROP TABLE IF EXISTS sbtest" .. number)
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  con:bulk_insert_init("INSERT INTO sbtest" .. (sysbench.tid + 1) .. " VALUES")
end

function event()
  row = row + 1
  con:bulk_insert_next(string.format("(%d, %d)", row, row))
end

function thread_done()
  con:bulk_insert_done()
  con:disconnect()
end
