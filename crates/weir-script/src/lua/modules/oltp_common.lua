-- Tables, statements and options that the tests share. Written for Weir from what scripts rely on: a script of
-- one's own requires this module, defines prepare_statements() and event(), and calls the functions below.

if sysbench.cmdline.command == nil then
  error("no command; write one of prepare, prewarm, run, cleanup, help")
end

sysbench.cmdline.options = {
  tables = { "Number of tables", 1 },
  table_size = { "Rows of each table", 10000 },
  range_size = { "Rows of a range", 100 },
  range_selects = { "Whether ranges are selected at all", true },
  point_selects = { "Selects by key in a transaction", 10 },
  simple_ranges = { "Selects of a range in a transaction", 1 },
  sum_ranges = { "Sums over a range in a transaction", 1 },
  order_ranges = { "Sorted ranges in a transaction", 1 },
  distinct_ranges = { "Distinct values of a range in a transaction", 1 },
  index_updates = { "Updates of the indexed column in a transaction", 1 },
  non_index_updates = { "Updates of another column in a transaction", 1 },
  delete_inserts = { "Pairs of a delete and an insert in a transaction", 1 },
  auto_inc = { "Whether the server chooses keys of new rows", true },
  skip_trx = { "Whether statements commit by themselves", false },
  secondary = { "An ordinary index in the place of the primary key", false },
  create_secondary = { "Whether column k has an index", true },
  reconnect = { "Connect again after so many events, 0 for never", 0 },
  mysql_storage_engine = { "Storage engine", "innodb" },
  create_table_options = { "Appended to CREATE TABLE", "" },
}

local types = sysbench.sql.type
local groups = "###########"

-- Each statement with a type for each of its parameters; text has a length.
local statements = {
  point_selects = { "SELECT c FROM sbtest%u WHERE id=?", types.INT },
  simple_ranges = { "SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ?", types.INT, types.INT },
  sum_ranges = { "SELECT SUM(k) FROM sbtest%u WHERE id BETWEEN ? AND ?", types.INT, types.INT },
  order_ranges = { "SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", types.INT, types.INT },
  distinct_ranges = { "SELECT DISTINCT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", types.INT, types.INT },
  index_updates = { "UPDATE sbtest%u SET k=k+1 WHERE id=?", types.INT },
  non_index_updates = { "UPDATE sbtest%u SET c=? WHERE id=?", { types.CHAR, 120 }, types.INT },
  deletes = { "DELETE FROM sbtest%u WHERE id=?", types.INT },
  inserts = { "INSERT INTO sbtest%u (id, k, c, pad) VALUES (?, ?, ?, ?)", types.INT, types.INT,
    { types.CHAR, 120 }, { types.CHAR, 60 } },
}

local function text_of_groups(count)
  return sysbench.rand.string(groups .. ("-" .. groups):rep(count - 1))
end

function get_c_value() return text_of_groups(10) end
function get_pad_value() return text_of_groups(5) end

local function any_table() return sysbench.rand.uniform(1, sysbench.opt.tables) end
local function any_id() return sysbench.rand.default(1, sysbench.opt.table_size) end

-- The tables of this thread: every n-th of n threads.
local function own_tables()
  local number = sysbench.tid % sysbench.opt.threads + 1 - sysbench.opt.threads
  return function()
    number = number + sysbench.opt.threads
    if number <= sysbench.opt.tables then return number end
  end
end

function init()
  assert(event ~= nil, "this module is to be required by a script that defines event()")
end

function create_table(drv, con, number)
  local opt = sysbench.opt
  local id, key = "INTEGER NOT NULL", opt.secondary and "KEY xid" or "PRIMARY KEY"
  if opt.auto_inc then id = id .. " AUTO_INCREMENT" end
  print(string.format("Creating table 'sbtest%d'...", number))
  con:query(string.format(
    "CREATE TABLE sbtest%d (id %s, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, " ..
    "pad CHAR(60) DEFAULT '' NOT NULL, %s (id)) ENGINE = %s %s",
    number, id, key, opt.mysql_storage_engine, opt.create_table_options))
  if opt.table_size > 0 then
    print(string.format("Inserting %d records into 'sbtest%d'", opt.table_size, number))
  end
  con:bulk_insert_init(string.format("INSERT INTO sbtest%d (%sk, c, pad) VALUES", number,
    opt.auto_inc and "" or "id, "))
  for row = 1, opt.table_size do
    local first = opt.auto_inc and "" or (row .. ", ")
    con:bulk_insert_next(string.format("(%s%d, '%s', '%s')", first,
      sysbench.rand.default(1, opt.table_size), get_c_value(), get_pad_value()))
  end
  con:bulk_insert_done()
  if opt.create_secondary then
    print(string.format("Creating a secondary index on 'sbtest%d'...", number))
    con:query(string.format("CREATE INDEX k_%d ON sbtest%d (k)", number, number))
  end
end

function cmd_prepare()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for number in own_tables() do create_table(drv, con, number) end
end

-- Reads all rows and the index into the server's memory.
function cmd_prewarm()
  local con = sysbench.sql.driver():connect()
  con:query("SET tmp_table_size = 2*1024*1024*1024")
  con:query("SET max_heap_table_size = 2*1024*1024*1024")
  for number in own_tables() do
    local name = "sbtest" .. number
    print("Prewarming table " .. name)
    con:query("ANALYZE TABLE " .. name)
    con:query(string.format("SELECT AVG(id) FROM (SELECT * FROM %s FORCE KEY (PRIMARY) LIMIT %u) t", name,
      sysbench.opt.table_size))
    con:query(string.format("SELECT COUNT(*) FROM (SELECT * FROM %s WHERE k LIKE '%%0%%' LIMIT %u) t", name,
      sysbench.opt.table_size))
  end
end
cmd_warmup = cmd_prewarm

sysbench.cmdline.commands = {
  prepare = { cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND },
  prewarm = { cmd_prewarm, sysbench.cmdline.PARALLEL_COMMAND },
  warmup = { cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND },
}

function prepare_begin() stmt.begin = con:prepare("BEGIN") end
function prepare_commit() stmt.commit = con:prepare("COMMIT") end
function begin() stmt.begin:execute() end
function commit() stmt.commit:execute() end

function prepare_for_each_table(key)
  local statement = statements[key]
  for number = 1, sysbench.opt.tables do
    local prepared, bound = con:prepare(string.format(statement[1], number)), {}
    for position = 2, #statement do
      local kind = statement[position]
      if type(kind) == "table" then
        bound[position - 1] = prepared:bind_create(kind[1], kind[2])
      else
        bound[position - 1] = prepared:bind_create(kind)
      end
    end
    prepared:bind_param(unpack(bound))
    stmt[number][key], param[number][key] = prepared, bound
  end
end

for key in pairs(statements) do
  _G["prepare_" .. key] = function() prepare_for_each_table(key) end
end
function prepare_delete_inserts()
  prepare_for_each_table("deletes")
  prepare_for_each_table("inserts")
end

local ranges = { "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges" }

function prepare_range_selects()
  if not sysbench.opt.range_selects then return end
  for _, key in ipairs(ranges) do prepare_for_each_table(key) end
end

local function begin_statements()
  stmt, param = {}, {}
  for number = 1, sysbench.opt.tables do stmt[number], param[number] = {}, {} end
  prepare_statements()
end

function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  begin_statements()
end

function close_statements()
  for _, prepared in pairs(stmt) do
    if type(prepared) == "table" and prepared.close == nil then
      for _, one in pairs(prepared) do one:close() end
    else
      prepared:close()
    end
  end
end

function thread_done()
  close_statements()
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.tables do
    print(string.format("Dropping table 'sbtest%d'...", number))
    con:query("DROP TABLE IF EXISTS sbtest" .. number)
  end
end

function execute_point_selects()
  local number = any_table()
  for _ = 1, sysbench.opt.point_selects do
    param[number].point_selects[1]:set(any_id())
    stmt[number].point_selects:execute()
  end
end

local function execute_range(key)
  local number = any_table()
  local bound = param[number][key]
  for _ = 1, sysbench.opt[key] do
    local id = any_id()
    bound[1]:set(id)
    bound[2]:set(id + sysbench.opt.range_size - 1)
    stmt[number][key]:execute()
  end
end
function execute_simple_ranges() execute_range("simple_ranges") end
function execute_sum_ranges() execute_range("sum_ranges") end
function execute_order_ranges() execute_range("order_ranges") end
function execute_distinct_ranges() execute_range("distinct_ranges") end

function execute_range_selects()
  if not sysbench.opt.range_selects then return end
  for _, key in ipairs(ranges) do _G["execute_" .. key]() end
end

function execute_index_updates()
  local number = any_table()
  for _ = 1, sysbench.opt.index_updates do
    param[number].index_updates[1]:set(any_id())
    stmt[number].index_updates:execute()
  end
end

function execute_non_index_updates()
  local number = any_table()
  local bound = param[number].non_index_updates
  for _ = 1, sysbench.opt.non_index_updates do
    bound[1]:set(get_c_value())
    bound[2]:set(any_id())
    stmt[number].non_index_updates:execute()
  end
end

function execute_delete_inserts()
  local number = any_table()
  local inserted = param[number].inserts
  for _ = 1, sysbench.opt.delete_inserts do
    local id = any_id()
    param[number].deletes[1]:set(id)
    inserted[1]:set(id)
    inserted[2]:set(any_id())
    inserted[3]:set(get_c_value())
    inserted[4]:set(get_pad_value())
    stmt[number].deletes:execute()
    stmt[number].inserts:execute()
  end
end

-- On a new connection the statements are gone.
function sysbench.hooks.before_restart_event(err)
  local code = err.sql_errno
  if code == 2006 or code == 2011 or code == 2013 or code == 2055 then begin_statements() end
end

local events = 0
function check_reconnect()
  if not sysbench.opt.reconnect or sysbench.opt.reconnect <= 0 then return end
  events = events + 1
  if events % sysbench.opt.reconnect == 0 then
    close_statements()
    con:reconnect()
    begin_statements()
  end
end
