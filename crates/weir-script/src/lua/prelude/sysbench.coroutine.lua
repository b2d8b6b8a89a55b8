-- For connections that share a thread: what waits yields to the engine, wherever that is possible. Elsewhere
-- (within require, the comparison of table.sort, the function of gsub, a finaliser) it waits in place.
local core = ...
if not core.yields then return end

local engine = core.mark -- the first value of what the engine's yields give
local yield, resume, create, can_yield = coroutine.yield, coroutine.resume, coroutine.create, coroutine.isyieldable
local settle, sleep = core.settle, core.sleep

-- Hands on, from a coroutine of the script's, what is the engine's.
local function up(word, seconds)
  if can_yield() then return yield(engine, word, seconds) end
  if not word then return settle() end
  sleep(seconds)
end
local function pass(co, ok, mark, ...)
  if ok and mark == engine then return pass(co, resume(co, up(...))) end
  return ok, mark, ...
end
function coroutine.resume(co, ...) return pass(co, resume(co, ...)) end
local function checked(ok, ...)
  if ok then return ... end
  error((...), 0)
end
function coroutine.wrap(body)
  local co = create(body)
  return function(...) return checked(pass(co, resume(co, ...))) end
end

-- Threads that sleep must not hold the others up.
local real = ffi
local sleepers = {
  usleep = function(us) return us / 1e6 end,
  sleep = function(seconds) return seconds end,
  nanosleep = function(time) return tonumber(time.tv_sec) + tonumber(time.tv_nsec) / 1e9 end,
  poll = function(_, count, ms) if count == 0 and ms >= 0 then return ms / 1e3 end end,
}
local C = {}
for name, seconds_of in pairs(sleepers) do
  C[name] = function(...)
    local seconds = can_yield() and seconds_of(...)
    if not seconds then return real.C[name](...) end
    yield(engine, "sleep", tonumber(seconds))
    return 0
  end
end
-- An undeclared name is an error with the script's line.
local function symbol(name) return real.C[name] end
setmetatable(C, {
  __index = function(_, name)
    local ok, found = pcall(symbol, name)
    if ok then
      -- Functions are found once; variables are read each time.
      if type(found) == "cdata" and tostring(real.typeof(found)):find("^ctype<[^*]*%(") then rawset(C, name, found) end
      return found
    end
    error((found:gsub("^.-:%d+: ", "", 1)), 2)
  end,
  __newindex = function(_, name, value) real.C[name] = value end,
})
ffi = setmetatable({ C = C }, { __index = real })
package.loaded.ffi = ffi

local function words(why) return type(why) == "string" and why or "(not a string)" end

-- The events of a thread; each ends with a word to the engine.
function core.events(tid)
  core.note_running()
  local restart, protected = sysbench.error.RESTART_EVENT, core.protected or pcall
  while true do
    local ok, result
    repeat
      ok, result = protected(event, tid)
      if not ok then
        if type(result) ~= "table" or result.errcode ~= restart then yield(engine, "failed", words(result)) end
        local hook = sysbench.hooks.before_restart_event
        if hook then
          local called, why = pcall(hook, result)
          if not called then yield(engine, "failed", words(why)) end
        end
      end
    until ok
    yield(engine, "done", result and true or false)
  end
end

-- A thread's last words.
function core.last_words(tid)
  core.note_running()
  local ok, why = pcall(thread_done, tid)
  if not ok then yield(engine, "unsaid", words(why)) end
  yield(engine, "ended")
end

-- Whether the script has loaded modules that are not Lua.
local registry = debug.getregistry
function core.has_c_modules()
  for name in pairs(registry()) do
    if type(name) == "string" and name:find("^LOADLIB: ") then return true end
  end
  return false
end

-- Whether the script has a loop of its own, which the engine's would not be.
local own_loop = thread_run
function core.has_own_loop() return thread_run ~= own_loop end
