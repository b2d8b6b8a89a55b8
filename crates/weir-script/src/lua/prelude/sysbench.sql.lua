-- Drivers, connections, statements, parameters and results.
local core = ...
local wait, operation = core.wait, core.operation
local fetch, row = core.fetch, core.row
local QUERY, EXECUTE = operation.QUERY, operation.EXECUTE

sysbench.sql = { type = {}, error = { NONE = 0, IGNORABLE = 1, FATAL = 2 } }
local names = { [0] = "NONE", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIME", "DATE",
  "DATETIME", "TIMESTAMP", "CHAR", "VARCHAR" }
for number, name in pairs(names) do sysbench.sql.type[name] = number end
local kinds = { TINYINT = "integer", SMALLINT = "integer", INT = "integer", BIGINT = "integer",
  FLOAT = "real", DOUBLE = "real", CHAR = "text", VARCHAR = "text" }

local function class(name)
  local methods = {}
  return methods, { __index = methods, __tostring = function() return "<" .. name .. ">" end }
end
local Driver, driver_meta = class("sql_driver")
local Connection, connection_meta = class("sql_connection")
local Statement, statement_meta = class("sql_statement")
local Parameter, parameter_meta = class("sql_param")
local Result, result_meta = class("sql_result")

-- Raises what a failed call means, with the place of the script's line, three levels up.
local function raise(con, text, severity, code, state, message)
  local err = { connection = con, query = text, sql_errno = code, sql_state = state,
    sql_errmsg = message, errcode = sysbench.error.RESTART_EVENT }
  con.error, con.sql_errno, con.sql_state, con.sql_errmsg = 2, code, state, message
  -- This one tells the place of one more call above.
  if severity == 3 then error("SQL API error", 4) end
  local hook = sysbench.hooks.sql_error_ignorable
  if severity == 1 or (hook and hook(err)) then
    con.error = 1
    error(err, 3)
  end
  error(string.format("SQL error, errno = %d, state = '%s': %s", code, state, message), 3)
end

-- A statement without a result set gives a null pointer, which is true in a condition.
ffi.metatype("no_result", {
  __tostring = result_meta.__tostring,
  __index = function(_, key)
    if Result[key] then return Result[key] end
    error("attempt to read '" .. key .. "' of a statement without a result set", 2)
  end,
})
local none = ffi.new("no_result *")

-- A connection has one result; the object of the one before becomes it, so that no statement leaves garbage.
local function result_of(con, number, rows, fields)
  con.error = 0
  if not number then return none end
  local result = con.result_
  result.number_, result.nrows, result.nfields, result.is_free_ = number, rows, fields, false
  return result
end

function sysbench.sql.driver(name)
  name = name or core.driver
  if name ~= "mysql" then
    core.log("fatal", "invalid database driver name: '" .. tostring(name) .. "'")
    error("failed to initialize the DB driver", 2)
  end
  core.uses_sql()
  return setmetatable({ name_ = name }, driver_meta)
end

function Driver:name() return self.name_ end

function Driver:connect()
  local id = wait(operation.CONNECT)
  if not id then error("connection creation failed", 2) end
  local result = setmetatable({ con_ = id, number_ = 0, nrows = 0, nfields = 0, is_free_ = false }, result_meta)
  return setmetatable({ id_ = id, driver = self, error = 0, sql_errno = 0, sql_state = "", sql_errmsg = "",
    result_ = result }, connection_meta)
end

function Connection:query(text)
  local number, rows, fields, state, message = wait(QUERY, self.id_, text)
  if number == false then raise(self, text, rows, fields, state, message) end
  return result_of(self, number, rows, fields)
end

function Connection:query_row(text)
  local number, rows, fields, state, message = wait(QUERY, self.id_, text)
  if number == false then raise(self, text, rows, fields, state, message) end
  if not number or rows == 0 then return nil end
  return row(self.id_, number)
end

function Connection:prepare(text)
  local number, parameters = wait(operation.PREPARE, self.id_, text)
  if not number then error("SQL API error", 2) end
  return setmetatable({ con_ = self, id_ = number, marks_ = parameters, bound_ = {} }, statement_meta)
end

function Connection:bulk_insert_init(text)
  if not core.begin_bulk(self.id_, text) then error("SQL API error", 2) end
  return true
end

function Connection:bulk_insert_next(text)
  if wait(operation.BULK_NEXT, self.id_, text) == false then
    error("db_bulk_insert_next() failed", 2)
  end
  return true
end

function Connection:bulk_insert_done()
  if wait(operation.BULK_DONE, self.id_) == false then error("db_bulk_insert_done() failed", 2) end
  return true
end

-- Raises the connection's last error, if a call has given no result.
function Connection:check_error(result, text)
  if self.error == 0 or (result ~= nil and result ~= none) then return result end
  local severity = self.sql_errno == 0 and 3 or self.error
  raise(self, text, severity, self.sql_errno, self.sql_state, self.sql_errmsg)
end

function Connection:more_results() return core.has_more(self.id_) end

function Connection:next_result()
  local number, rows, fields, state, message = wait(operation.NEXT_RESULT, self.id_)
  if number == false then raise(self, "", rows, fields, state, message) end
  return result_of(self, number, rows, fields)
end

function Connection:reconnect()
  if wait(operation.RECONNECT, self.id_) == false then error("SQL API error", 2) end
end

function Connection:disconnect() wait(operation.DISCONNECT, self.id_) end

function Statement:bind_create(kind, length)
  local name = kinds[names[kind]]
  if not name then error("Unsupported argument type: " .. tostring(kind), 2) end
  local empty = 0
  if name == "text" then empty = "" end
  return setmetatable({ empty, kind_ = name, length_ = length }, parameter_meta)
end

function Statement:bind_param(...)
  local count = select("#", ...)
  if count == 0 then return nil end
  if count ~= self.marks_ then
    -- No error: the next execution fails, as nothing is bound.
    core.log("fatal", "Wrong number of parameters to mysql_stmt_bind_param")
    return 1
  end
  local told = {}
  self.bound_ = { ... }
  for index, parameter in ipairs(self.bound_) do told[index] = parameter.kind_ end
  core.bind(self.con_.id_, self.id_, told)
end

function Statement:execute()
  local con = self.con_
  local number, rows, fields, state, message = wait(EXECUTE, con.id_, self.id_, self.bound_)
  if number == false then raise(con, "<prepared statement>", rows, fields, state, message) end
  return result_of(con, number, rows, fields)
end

function Statement:next_result() return self.con_:next_result() end

function Statement:close() wait(operation.CLOSE_STATEMENT, self.con_.id_, self.id_) end

-- A parameter has its value at 1, where each execution reads it: numbers are made whole there.
function Parameter:set(value)
  if value == nil then
    self[1] = nil
  elseif self.kind_ == "integer" then
    if type(value) == "number" then
      self[1] = value
    elseif type(value) == "cdata" then
      -- Tells 64-bit numbers by their digits: a double has 53 bits.
      self[1] = tostring(value):gsub("U?LL$", "")
    else
      error("a number is needed, not a " .. type(value), 2)
    end
  elseif self.kind_ == "real" then
    self[1] = tonumber(value)
  else
    local text = tostring(value)
    self[1] = self.length_ and text:sub(1, self.length_) or text
  end
end

function Parameter:set_rand_str(template) self:set(core.random_string(template)) end

function Result:fetch_row()
  if self == none then error("attempt to fetch from a statement without a result set", 2) end
  if self.nrows == 0 then
    core.log("alert", "attempt to fetch row from an empty result set")
    return nil
  end
  return fetch(self.con_, self.number_)
end

function Result:free()
  if self == none or self.is_free_ then
    core.log("alert", "attempt to free an invalid result set")
    error("db_free_results() failed", 2)
  end
  self.is_free_ = true
  core.free(self.con_, self.number_)
end
