// Made of Weir's types by `make types`.

export type Agreement = "agrees" | "disagrees" | "cannot_say";

export type Answer = { factor: string, level: string, baseline: string, 
/**
 * `innodb_doublewrite OFF / ON`.
 */
what: string, 
/**
 * Levels of the other factors; empty if there are none.
 */
context: string, metric: string, ratio: RoundedNumber | null, ratio_low: RoundedNumber | null, ratio_high: RoundedNumber | null, 
/**
 * `1.31x`.
 */
ratio_text: string, 
/**
 * `1.24 to 1.39`; empty without an interval.
 */
interval_text: string, pairs: number, verdict: Verdict, verdict_name: string, sentence: string, 
/**
 * Latencies beside it, and a second opinion that disagrees.
 */
notes: Array<string>, };

export type Arm = { 
/**
 * Levels of the other factors.
 */
label: string, 
/**
 * Ascending.
 */
points: Array<Place>, };

export type Bottleneck = "server_cpu" | "client_cpu" | "drive_read" | "drive_write" | "flush" | "lock" | "network" | "memory" | "offered_rate" | "other_processes" | "unexplained";

export type BottleneckWords = { kind: Bottleneck, name: string, explanation: string, 
/**
 * Repetitions that it limited.
 */
repetitions: number, };

export type CellSummary = { label: string, levels: { [key in string]: string }, drive: string | null, threads: number, 
/**
 * Beyond those that are the same in all cells.
 */
variables: { [key in string]: string }, 
/**
 * Completed repetitions; all else is absent with 0.
 */
repetitions: number, queries_per_s_mean: RoundedNumber | null, queries_per_s_min: RoundedNumber | null, queries_per_s_max: RoundedNumber | null, 
/**
 * The 95 % interval of the mean; absent with one repetition.
 */
queries_per_s_low: RoundedNumber | null, queries_per_s_high: RoundedNumber | null, transactions_per_s_mean: RoundedNumber | null, bottleneck: BottleneckWords | null, utilization: UtilizationMedian | null, latency_ms: LatencyMedian | null, 
/**
 * Failed and repeated transactions, all repetitions together.
 */
errors: number, };

export type CellTraffic = { cell: number, kinds: Array<KindTraffic>, 
/**
 * Bytes that the media wrote per byte that the server wrote.
 */
media_bytes_per_host_byte: Spread | null, 
/**
 * Stored bytes per written byte; 1 without compression.
 */
compressed_fraction: RoundedNumber | null, 
/**
 * Of the worst repetition, as all lateness.
 */
lateness_us_p50: RoundedNumber | null, lateness_us_p99: RoundedNumber | null, late_share: RoundedNumber | null, };

export type ChangedVariable = { name: string, 
/**
 * Value before -> value after; `several` if the runs disagree.
 */
before: string, after: string, 
/**
 * Runs in which it changed.
 */
runs: number, };

export type ClaimView = { source: string, says: string, 
/**
 * `1.48x`, `above 1x`.
 */
published: string, 
/**
 * Levels of the other factors, in words.
 */
context: string, 
/**
 * `1.31x (1.24 to 1.39)`; `None` if it was not measured.
 */
measured: string | null, agreement: Agreement, agreement_name: string, why: string, };

export type CloseUp = { 
/**
 * Middle of each tenth of a second, seconds since the measurement began.
 */
times_s: Array<number>, transactions_per_s: Array<RoundedNumber | null>, latency_ms_p99: Array<RoundedNumber | null>, };

export type ComparisonAnswer = { basis: string, differences: Array<string>, answers: Array<Answer>, ranked: RankedFindings, };

export type CostView = { level: string, 
/**
 * Levels of the other factors, in words.
 */
context: string, price: number, currency: string, queries_per_s_per_price: Spread | null, dominated: boolean, };

export type CounterRow = { 
/**
 * Name of the metric; `None` for what is derived from several.
 */
metric: string | null, title: string, unit: string, 
/**
 * By cell, in the plan's order; absent where no sample was taken.
 */
by_cell: Array<Spread | null>, };

export type DataSheet = { name: string, title: string, figures: Array<Figure>, 
/**
 * Sources of the profile that belong to none of the figures.
 */
other_sources: { [key in string]: string }, };

export type DifferingVariable = { name: string, 
/**
 * By cell, in the plan's order.
 */
by_cell: Array<string>, };

export type Equivalent = { cell: number, from: number, to: RoundedNumber, sentence: string, };

export type EventRow = { combination: string, event: string, outcome: string, duration_s: string, lock_wait_s: string, longest_pause_s: string, throughput_ratio: string, p99_ratio: string, transactions_lost: string, settle_s: string, details: string, };

export type EventSpan = { name: string, from_s: RoundedNumber | null, to_s: RoundedNumber | null, };

export type Fact = { label: string, text: string, };

export type Figure = { label: string, text: string, source: string | null, };

export type FindingView = { rule: RuleId, severity: Severity, severity_name: string, message: string, 
/**
 * The comparisons that it concerns; empty: the whole study.
 */
concerns: Array<string>, };

export type FlameDifference = { 
/**
 * The two levels, in words.
 */
what: string, 
/**
 * Functions whose shares differ most, the largest difference first.
 */
rows: Array<FlameRow>, 
/**
 * Number of samples of both, and what limits them.
 */
facts: Array<string>, 
/**
 * The picture; none of the comparisons beyond the first few.
 */
svg: string | null, };

export type FlameRow = { function: string, baseline: string, level: string, difference: string, };

export type GapView = { source: string, from_s: RoundedNumber | null, to_s: RoundedNumber | null, reason: string, };

export type HostRow = { combination: string, repetition: number, agent: string, connections: number, transactions: string, cpu: string, clock_error_us: string, clock_moved_us: string, began_late_us: string, longest_silence_s: string, };

export type KindTraffic = { name: string, reads_per_s: Spread | null, read_mb_per_s: Spread | null, writes_per_s: Spread | null, write_mb_per_s: Spread | null, flushes_per_s: Spread | null, 
/**
 * Mean modelled latencies; absent without an operation.
 */
read_latency_us_mean: Spread | null, write_latency_us_mean: Spread | null, flush_latency_us_mean: Spread | null, };

export type LatencyMedian = { mean: RoundedNumber | null, p50: RoundedNumber | null, p95: RoundedNumber | null, p99: RoundedNumber | null, p999: RoundedNumber | null, max: RoundedNumber | null, 
/**
 * Lowest and highest repetition.
 */
p95_range: [RoundedNumber, RoundedNumber] | null, p99_range: [RoundedNumber, RoundedNumber] | null, };

export type Page = { title: string, question: string, 
/**
 * `MySQL 9.7.0`, or all that there are.
 */
server: string, started_at: string, seed: number, 
/**
 * The answer in a sentence without its period.
 */
advice: string | null, answers: Array<Answer>, ranked: RankedFindings, findings: Array<FindingView>, cells: Array<CellSummary>, 
/**
 * The share from which a resource stands out in the table of cells.
 */
saturated_share: number, 
/**
 * Length of the steps of all series, seconds.
 */
step_s: number, runs: Array<RunView>, traffic: Array<CellTraffic>, counters: Array<CounterRow>, sweeps: Array<Sweep>, predicted: Array<PredictedThroughput>, percentiles: Array<Percentiles>, costs: Array<CostView>, timelines: Timelines, 
/**
 * Records of the study's events.
 */
events: Array<EventRow>, 
/**
 * Note on the numbers of `events`.
 */
event_note: string, 
/**
 * Load hosts, where several shared the load.
 */
hosts: Array<HostRow>, 
/**
 * Note on the numbers of `hosts`.
 */
host_note: string, 
/**
 * Hosts of servers that the user gives, where agents there sampled them.
 */
server_hosts: Array<ServerHostRow>, 
/**
 * Note on the numbers of `server_hosts`.
 */
server_host_note: string, 
/**
 * Arms of replays by kind of statement.
 */
statements: Array<StatementTable>, 
/**
 * Note on the numbers of `statements`.
 */
statement_note: string, 
/**
 * Differences of the server's stacks, where it was profiled.
 */
flames: Array<FlameDifference>, 
/**
 * Note on the numbers of `flames`.
 */
flame_note: string, 
/**
 * Ranking of a screen's factors.
 */
screen: ScreenTable | null, 
/**
 * Gaps in the samples, a sentence each.
 */
not_measured: Array<string>, 
/**
 * Sentences about several comparisons together.
 */
insights: Array<string>, claims: Array<ClaimView>, setup: Setup, variables: Variables, };

export type PanelHead = { group: string, title: string, unit: string, series: Array<string>, };

export type Percentiles = { cell: number, transactions: number, 
/**
 * Per cent of transactions that were as fast.
 */
percents: Array<number>, 
/**
 * Of all repetitions together, with the lowest and the highest of them; milliseconds.
 */
latency_ms: Array<Spread | null>, };

export type Place = { x: number, level: string, cell: number, };

export type PredictedDrive = { 
/**
 * The profile's name.
 */
drive: string, 
/**
 * Points of the drive, by pool.
 */
points: Array<PredictedPoint>, };

export type PredictedPoint = { 
/**
 * Size of the pool.
 */
pool_bytes: number, 
/**
 * Transactions per second.
 */
transactions_per_s: number, 
/**
 * Between which they are likely.
 */
likely: [number, number] | null, 
/**
 * Throughput of the result's own runs of this place.
 */
measured_transactions_per_s: number | null, 
/**
 * 99th percentile of their time.
 */
latency_ms_p99: number | null, 
/**
 * Share of page references that miss.
 */
miss_ratio: number, 
/**
 * Bottleneck.
 */
limit: string, };

export type PredictedThroughput = { 
/**
 * Title of the figure: `16 connections`.
 */
title: string, 
/**
 * A line for each drive.
 */
drives: Array<PredictedDrive>, 
/**
 * Notes for a reader, a sentence each.
 */
notes: Array<string>, };

export type RankedFindings = { 
/**
 * Findings that refuse a verdict, besides those already in the verdict's sentence.
 */
refused: Array<RuleLine>, could_change: Array<RuleLine>, 
/**
 * `2 more notes (R7, R17): ...`; empty without notes.
 */
notes: string, };

export type RoundedNumber = number;

export type RuleId = "R1" | "R2" | "R3" | "R4" | "R5" | "R6" | "R7" | "R8" | "R9" | "R10" | "R11" | "R12" | "R13" | "R14" | "R15" | "R16" | "R17" | "R18" | "R19" | "R20" | "R21" | "R22" | "R23" | "R24" | "drive" | "profile" | "hosts";

export type RuleLine = { rule: RuleId, text: string, };

export type RunLine = { cell: number, label: string, repetition: number, started_at: string, queries_per_s: RoundedNumber | null, latency_ms_p99: RoundedNumber | null, bottleneck: string, };

export type RunPage = { title: string, measured_s: RoundedNumber | null, bottleneck_explanation: string, bottleneck_evidence: string, panels: Array<PanelHead>, timeline: Timeline, gaps: Array<GapView>, server_log: string, variables: { [key in string]: string }, variables_changed: { [key in string]: string }, commands: Array<string>, cell: number, label: string, repetition: number, started_at: string, queries_per_s: RoundedNumber | null, latency_ms_p99: RoundedNumber | null, bottleneck: string, };

export type RunView = { cell: number, repetition: number, started_at: string, measured_s: RoundedNumber | null, queries_per_s: RoundedNumber | null, transactions_per_s: RoundedNumber | null, latency_ms_p99: RoundedNumber | null, errors: number, bottleneck: string, bottleneck_explanation: string, bottleneck_evidence: string, gaps: Array<GapView>, events: Array<EventSpan>, 
/**
 * Tenths of a second around its events, of a first repetition.
 */
close_up: CloseUp | null, 
/**
 * The end of the server's error log.
 */
server_log: string, 
/**
 * Every command of the run, in order.
 */
commands: Array<string>, variables_changed: { [key in string]: string }, series: Series, 
/**
 * Begin and end of each stall, seconds since the measurement began.
 */
stalls: Array<[number, number]>, };

export type Runs = { title: string, runs: Array<RunLine>, };

export type ScreenEffectView = { ratio: RoundedNumber | null, ratio_low: RoundedNumber | null, ratio_high: RoundedNumber | null, 
/**
 * `1.31x (1.27 to 1.35)`.
 */
text: string, is_sure: boolean, };

export type ScreenRow = { factor: string, 
/**
 * `128M -> 2G`.
 */
change: string, 
/**
 * An effect in each metric.
 */
effects: Array<ScreenEffectView>, 
/**
 * Outcome in words.
 */
then: string, };

export type ScreenTable = { 
/**
 * Names of the metrics, as columns.
 */
metrics: Array<string>, rows: Array<ScreenRow>, 
/**
 * Difference of one run from the next, pairs that act together, and winners that were left out.
 */
notes: Array<string>, };

export type Series = { first_bin: number, queries_per_s: Array<RoundedNumber | null>, 
/**
 * The worst second of a bin.
 */
latency_ms_p99: Array<RoundedNumber | null>, };

export type ServerHostRow = { combination: string, repetition: number, agent: string, cores: string, busy: string, stolen: string, device: string, others: string, missing: string, };

export type Setup = { facts: Array<Fact>, 
/**
 * Variables that the study sets to the same in all cells.
 */
variables: { [key in string]: string }, drives: Array<DataSheet>, host: { [key in string]: string }, };

export type Severity = "note" | "warning" | "inconclusive" | "error";

export type Spread = [RoundedNumber, RoundedNumber, RoundedNumber];

export type StatementRow = { verdict: string, ratio: string, p99_ratio: string, baseline_ms: string, level_ms: string, share: string, 
/**
 * Plans, if both arms find the rows in another way, and differences of the results.
 */
why: string, statement: string, };

export type StatementTable = { 
/**
 * The two arms.
 */
what: string, 
/**
 * Fidelity of both replays: baseline, level.
 */
fidelity: Array<string>, 
/**
 * Number of kinds that are surely worse, surely better, equal, and none of them.
 */
counts: string, 
/**
 * Those that differ in something, and of the others those with the most time.
 */
rows: Array<StatementRow>, };

export type Sweep = { 
/**
 * `buffer pool` or `connections`.
 */
title: string, is_bytes: boolean, arms: Array<Arm>, 
/**
 * Bytes of the data, where the quantity is memory.
 */
data_bytes: number | null, equivalents: Array<Equivalent>, };

export type Timeline = { start_s: number, step_s: number, buckets: number, mean: Array<Array<Array<RoundedNumber | null>>>, 
/**
 * Present where buckets hold several samples and the reader can ask for more.
 */
low?: Array<Array<Array<RoundedNumber | null>>>, high?: Array<Array<Array<RoundedNumber | null>>>, };

export type Timelines = { panels: Array<PanelHead>, 
/**
 * Panels that a report of so many runs has no room for.
 */
panels_left_out: number, 
/**
 * By run, in the order of the runs.
 */
runs: Array<Timeline>, };

export type UtilizationMedian = { host_cpu: RoundedNumber | null, server_cores: RoundedNumber | null, client_cpu: RoundedNumber | null, drive_cores: RoundedNumber | null, drive_read: RoundedNumber | null, drive_write: RoundedNumber | null, iowait: RoundedNumber | null, steal: RoundedNumber | null, other_cores: RoundedNumber | null, };

export type Variables = { 
/**
 * Name -> value, the same in every run.
 */
shared: { [key in string]: string }, 
/**
 * Variables on which at least two runs disagree.
 */
differing: Array<DifferingVariable>, 
/**
 * Variables that the load left different.
 */
changed: Array<ChangedVariable>, };

export type Verdict = "effect" | "equal" | "inconclusive" | "invalid";
