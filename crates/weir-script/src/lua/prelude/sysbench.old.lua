-- What scripts for sysbench 0.5 find, which 1.0.20 still has: global functions on one connection for each state.
local core = ...
if sysbench.version ~= "1.0.20" then return end

thread_id = sysbench.tid
test = sysbench.cmdline.script_path
mysql_table_engine = "innodb"
myisam_max_rows = 1000000
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

local rand = sysbench.rand
sb_rand, sb_rand_str = rand.default, rand.string
sb_rand_uniform, sb_rand_gaussian, sb_rand_special = rand.uniform, rand.gaussian, rand.special
function sb_rnd() return rand.uniform(0, 0x7fffffff) end
function sb_rand_uniq(low, high)
  local number
  repeat number = rand.unique() until number >= low and number <= high
  return number
end

local con
local function connection()
  if not con then db_connect() end
  return con
end

-- What the connection's own methods raise tells more than scripts of this age look at; their lines are the same.
function db_connect()
  local driver = sysbench.sql.driver()
  db_driver = driver:name()
  con = driver:connect()
end
function db_disconnect()
  if con then con:disconnect() end
  con = nil
end
function db_query(text) connection():query(text) end
function db_bulk_insert_init(text) return connection():bulk_insert_init(text) end
function db_bulk_insert_next(text) return connection():bulk_insert_next(text) end
function db_bulk_insert_done() return connection():bulk_insert_done() end

-- Values are read from the table at each execution.
local values_of = setmetatable({}, { __mode = "k" })
function db_prepare(text) return connection():prepare(text) end
function db_bind_param(statement, values)
  local bound = {}
  for position, value in ipairs(values) do
    local kind = type(value) == "number" and sysbench.sql.type.INT or sysbench.sql.type.CHAR
    bound[position] = statement:bind_create(kind)
  end
  statement:bind_param(unpack(bound))
  values_of[statement] = { values, bound }
end
function db_bind_result() end
function db_execute(statement)
  local known = values_of[statement]
  if known then
    for position, parameter in ipairs(known[2]) do parameter:set(known[1][position]) end
  end
  return statement:execute()
end
function db_store_results() end
function db_free_results(result) if result ~= nil then result:free() end end
function db_close(statement) statement:close() end

sysbench.db = {
  connect = db_connect, disconnect = db_disconnect, query = db_query, bulk_insert_init = db_bulk_insert_init,
  bulk_insert_next = db_bulk_insert_next, bulk_insert_done = db_bulk_insert_done, prepare = db_prepare,
  bind_param = db_bind_param, bind_result = db_bind_result, execute = db_execute,
  store_results = db_store_results, free_results = db_free_results, close = db_close,
  DB_ERROR_NONE = DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION = DB_ERROR_RESTART_TRANSACTION,
  DB_ERROR_FAILED = DB_ERROR_FAILED,
}
