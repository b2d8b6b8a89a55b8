-- The table `sysbench`: what every script finds before its first line runs.
local core = ...

ffi = require("ffi")
bit = require("bit")

ffi.cdef [[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
typedef enum {
  SQL_TYPE_NONE, SQL_TYPE_TINYINT, SQL_TYPE_SMALLINT, SQL_TYPE_INT, SQL_TYPE_BIGINT, SQL_TYPE_FLOAT, SQL_TYPE_DOUBLE,
  SQL_TYPE_TIME, SQL_TYPE_DATE, SQL_TYPE_DATETIME, SQL_TYPE_TIMESTAMP, SQL_TYPE_CHAR, SQL_TYPE_VARCHAR
} sql_bind_type_t;
typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_t;
typedef struct { const char *sname; const char *lname; } sql_driver;
typedef struct no_result no_result;
typedef struct {
  sql_error_t error; int sql_errno; const char *sql_state; const char *sql_errmsg; const sql_driver *driver; void *own;
} sql_connection;
typedef struct { uint32_t len; const char *ptr; } sql_value;
typedef struct { void *ptr; const sql_value *values; } sql_row;
typedef struct { sql_connection *connection; void *own; } sql_statement;
typedef struct {
  sql_bind_type_t type; void *buffer; unsigned long *data_len; unsigned long max_len; char *is_null;
} sql_bind;
typedef struct {
  uint32_t nrows; uint32_t nfields; sql_connection *connection; sql_statement *statement; sql_row row; void *own;
} sql_result;
typedef struct histogram sb_histogram_t;
const sql_driver *db_create(const char *name);
int db_destroy(const sql_driver *driver);
sql_connection *db_connection_create(const sql_driver *driver);
int db_connection_close(sql_connection *con);
int db_connection_reconnect(sql_connection *con);
void db_connection_free(sql_connection *con);
sql_result *db_query(sql_connection *con, const char *text, size_t length);
const sql_row *db_fetch_row(sql_result *result);
int db_free_results(sql_result *result);
int db_bulk_insert_init(sql_connection *con, const char *text, size_t length);
int db_bulk_insert_next(sql_connection *con, const char *text, size_t length);
int db_bulk_insert_done(sql_connection *con);
sql_statement *db_prepare(sql_connection *con, const char *text, size_t length);
int db_bind_param(sql_statement *statement, sql_bind *values, size_t count);
int db_bind_result(sql_statement *statement, sql_bind *values, size_t count);
sql_result *db_execute(sql_statement *statement);
int db_close(sql_statement *statement);
sb_histogram_t *sb_histogram_new(size_t size, double min, double max);
void sb_histogram_delete(sb_histogram_t *histogram);
void sb_histogram_update(sb_histogram_t *histogram, double value);
void sb_histogram_print(sb_histogram_t *histogram);
void sb_print_test_options(void);
void sb_counter_inc(int thread, sb_counter_type counter);
bool sb_more_events(int thread);
void sb_event_start(int thread);
void sb_event_stop(int thread);
uint32_t sb_rand_default(uint32_t low, uint32_t high);
uint32_t sb_rand_uniform(uint32_t low, uint32_t high);
uint32_t sb_rand_gaussian(uint32_t low, uint32_t high);
uint32_t sb_rand_pareto(uint32_t low, uint32_t high);
uint32_t sb_rand_special(uint32_t low, uint32_t high);
uint32_t sb_rand_zipfian(uint32_t low, uint32_t high);
uint32_t sb_rand_unique(void);
uint64_t sb_rand_uniform_uint64(void);
double sb_rand_uniform_double(void);
void sb_rand_str(const char *template, char *out);
uint32_t sb_rand_varstr(char *out, uint32_t min, uint32_t max);
]]

local C = ffi.C

sysbench = {
  tid = core.tid,
  version = core.version,
  version_string = "sysbench " .. core.version,
  error = { NONE = 0, RESTART_EVENT = 1 },
  hooks = {},
  cmdline = {
    argv = core.argv, command = core.command, script_path = core.script_path,
    options = {}, commands = {}, PARALLEL_COMMAND = true,
    ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5,
    ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8,
  },
  rand = {
    default = function(low, high) return C.sb_rand_default(low, high) end,
    uniform = function(low, high) return C.sb_rand_uniform(low, high) end,
    gaussian = function(low, high) return C.sb_rand_gaussian(low, high) end,
    pareto = function(low, high) return C.sb_rand_pareto(low, high) end,
    special = function(low, high) return C.sb_rand_special(low, high) end,
    zipfian = function(low, high) return C.sb_rand_zipfian(low, high) end,
    unique = function() return C.sb_rand_unique() end,
    uniform_double = function() return C.sb_rand_uniform_double() end,
    uniform_uint64 = function() return C.sb_rand_uniform_uint64() end,
    string = core.random_string,
    varstring = core.variable_string,
  },
}

-- The loop of a thread; a script may replace it.
function thread_run(tid)
  local restart, protected = sysbench.error.RESTART_EVENT, core.protected or pcall
  local wait, more_events = core.wait, core.operation.MORE_EVENTS
  while wait(more_events) do
    C.sb_event_start(tid)
    local ok, result
    repeat
      ok, result = protected(event, tid)
      if not ok then
        if type(result) ~= "table" or result.errcode ~= restart then error(result, 0) end
        local hook = sysbench.hooks.before_restart_event
        if hook then hook(result) end
      end
    until ok
    if result then return end
    C.sb_event_stop(tid)
  end
end

-- Where modules are looked for: the usual places, then the script's folder, then those of Weir's own.
package.path, package.cpath = core.package_path, core.package_cpath
table.insert(package.loaders, function(name)
  local text = core.module(name)
  if text then return assert(loadstring(text, "@" .. name .. ".lua")) end
  return "\n\tno module '" .. name .. (core.kept and "' in the study's plan" or "' of Weir's own")
end)

-- In a study, files are those of its plan, by their names or by what follows the folder.
if core.kept then
  local function kept(path)
    local name = path
    while true do
      local text = core.kept(name)
      if text then return loadstring(text, "@" .. path) end
      local rest = name:match("^[^/]*/(.+)$")
      if not rest then return nil, "cannot open " .. path .. ": the study's plan does not have it" end
      name = rest
    end
  end
  loadfile = kept
  function dofile(path)
    local chunk, why = kept(path)
    if not chunk then error(why, 2) end
    return chunk()
  end
end
