-- For `weir load SCRIPT profile`: notes which line of the script waited, in which call, and for how long. Only what an
-- event does counts.
local core = ...
if not core.profiles then return end

local wait, clock, getinfo, protected = core.wait, core.clock, debug.getinfo, pcall
local own_loop, names = thread_run, {}
for name, number in pairs(core.operation) do names[number] = name:lower():gsub("_", " ") end
local in_event = false

-- The script's line that runs: ours have no file.
local function place()
  for level = 3, 100 do
    local frame = getinfo(level, "Sl")
    if not frame then return "an unknown line" end
    if frame.currentline > 0 and frame.source:sub(1, 1) == "@" then
      return frame.short_src .. ":" .. frame.currentline
    end
  end
end

local function noted(at, call, began, ...)
  core.waited(at, call, clock() - began)
  return ...
end

function core.wait(operation, ...)
  if not in_event then return wait(operation, ...) end
  return noted(place(), names[operation], clock(), wait(operation, ...))
end

-- The whole of an event, by which the shares are counted.
local function ended(began, ...)
  in_event = false
  core.waited("", "", clock() - began)
  return ...
end
function core.protected(...)
  in_event = true
  return ended(clock(), protected(...))
end

-- A loop of the script's own has no events that could be told apart: it is one, with all that it does.
function core.run_events(tid)
  if thread_run == own_loop then return thread_run(tid) end
  in_event = true
  return ended(clock(), thread_run(tid))
end

local function timed(call, run)
  return function(...)
    if not in_event then return run(...) end
    return noted(place(), call, clock(), run(...))
  end
end

-- What waits beside the server.
os.execute, io.popen = timed("os.execute", os.execute), timed("io.popen", io.popen)
local C, real = {}, ffi.C
for _, name in ipairs{ "usleep", "sleep", "nanosleep", "poll", "sb_more_events" } do
  C[name] = timed(name, function(...) return real[name](...) end)
end
setmetatable(C, {
  __index = function(_, name)
    local ok, found = pcall(function() return real[name] end)
    if ok then return found end
    error((found:gsub("^.-:%d+: ", "", 1)), 2)
  end,
  __newindex = function(_, name, value) real[name] = value end,
})
ffi = setmetatable({ C = C }, { __index = ffi })
package.loaded.ffi = ffi
