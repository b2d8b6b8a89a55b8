-- Reads what a script declares: { name = { description, default, type, validate } }.
local core = ...
local cmdline = sysbench.cmdline

local function kind_of(default)
  local kinds = { boolean = cmdline.ARG_BOOL, number = cmdline.ARG_DOUBLE, table = cmdline.ARG_LIST }
  return kinds[type(default)] or cmdline.ARG_STRING
end

local function text_of(default)
  if type(default) == "boolean" then return default and "on" or "off" end
  if type(default) == "table" then return table.concat(default, ",") end
  if default ~= nil then return tostring(default) end
end

-- A list of { name, description, type, default }.
function cmdline.read_cmdline_options()
  local found = {}
  if type(cmdline.options) ~= "table" then
    error("wrong type for sysbench.cmdline.options: " .. type(cmdline.options))
  end
  for name, declared in pairs(cmdline.options) do
    if type(name) ~= "string" or type(declared) ~= "table" then
      error("wrong table structure in sysbench.cmdline.options")
    end
    if type(declared[1]) ~= "string" then error("no description for option " .. name) end
    local kind = declared[3] or kind_of(declared[2])
    found[#found + 1] = { name, declared[1], kind, text_of(declared[2]) }
  end
  return found
end

local function command(name)
  local commands = cmdline.commands
  return type(commands) == "table" and commands[name] or nil
end

function cmdline.command_defined(name) return type(command(name)) == "table" end

function cmdline.command_parallel(name)
  local found = command(name)
  return type(found) == "table" and found[2] == cmdline.PARALLEL_COMMAND
end

-- Calls a command or the function of its name.
function cmdline.call_command(name)
  local found = command(name)
  if type(found) == "table" then return found[1]() end
  return _G[name]()
end

function cmdline.print_test_options() io.write(core.option_list(cmdline.read_cmdline_options())) end
