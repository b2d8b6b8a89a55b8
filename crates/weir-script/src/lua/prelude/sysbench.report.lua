-- Reports that a script may name as its hooks, and histograms. Times come in seconds.
local function write(...) io.write(string.format(...)) end

function sysbench.report_csv(stat)
  local seconds = stat.time_interval
  local function rate(name) return stat[name] / seconds end
  local queries = (stat.reads + stat.writes + stat.other) / seconds
  write("%.0f,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", stat.time_total, stat.threads_running,
    rate("events"), queries, rate("reads"), rate("writes"), rate("other"), stat.latency_pct * 1000,
    rate("errors"), rate("reconnects"))
end

-- The array ends when its interpreter does.
local json
function sysbench.report_json(stat)
  local start = ",\n"
  if not json then
    start, json = "[\n", newproxy(true)
    getmetatable(json).__gc = function() io.write("\n]\n") io.flush() end
  end
  local seconds = stat.time_interval
  local function rate(name) return stat[name] / seconds end
  local queries = (stat.reads + stat.writes + stat.other) / seconds
  write([[%s  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], start, stat.time_total, stat.threads_running, rate("events"), queries, rate("reads"), rate("writes"),
    rate("other"), stat.latency_pct * 1000, rate("errors"), rate("reconnects"))
end

function sysbench.report_default(stat)
  local seconds = stat.time_interval
  local function rate(name) return stat[name] / seconds end
  local queries = (stat.reads + stat.writes + stat.other) / seconds
  write("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%u%%): %4.2f err/s %4.2f reconn/s: %4.2f\n",
    stat.time_total, stat.threads_running, rate("events"), queries, rate("reads"), rate("writes"), rate("other"),
    sysbench.opt.percentile, stat.latency_pct * 1000, rate("errors"), rate("reconnects"))
end

-- Histograms of logarithmic buckets; what lies outside counts in the first or the last.
local Histogram = {}
local meta = { __index = Histogram, __tostring = function() return "<sb_histogram>" end }
sysbench.histogram = {}

function sysbench.histogram.new(size, min, max)
  local base = math.log(min)
  return setmetatable({ counts_ = {}, size_ = size, base_ = base, step_ = (math.log(max) - base) / (size - 1) }, meta)
end

function Histogram:update(value)
  local bucket = math.floor((math.log(value) - self.base_) / self.step_ + 0.5)
  bucket = math.max(0, math.min(self.size_ - 1, bucket))
  self.counts_[bucket] = (self.counts_[bucket] or 0) + 1
end

function Histogram:print()
  local most = 0
  for _, count in pairs(self.counts_) do most = math.max(most, count) end
  write("       value  ------------- distribution ------------- count\n")
  for bucket = 0, self.size_ - 1 do
    local count = self.counts_[bucket]
    if count then
      local bar = ("*"):rep(math.floor(count / most * 40 + 0.5))
      write("%12.3f |%-40s %u\n", math.exp(self.base_ + bucket * self.step_), bar, count)
    end
  end
end
