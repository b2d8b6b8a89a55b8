// Made of Weir's types by `make types`.

export type ErrorBody = { error: string, };

export type LimitsNow = { bottleneck: string, explanation: string, evidence: string, };

export type Live = { 
/**
 * Studies that run in the library's folder, wherever they were started.
 */
running: Array<LiveStudy>, 
/**
 * The study that was started here last.
 */
own: OwnStudy | null, 
/**
 * Changes whenever the list of results does.
 */
results_version: number, };

export type LiveRun = { position: number, label: string, repetition: number, queries_per_s: number, latency_ms_p99: number, bottleneck: string, };

export type LiveStudy = { name: string, 
/**
 * True if it was started here and can be stopped here.
 */
is_own: boolean, title: string, question: string, started_at: string, step: string, step_share: number | null, runs_done: number, runs_total: number, time_left_s: number, run: Run | null, finished: Array<LiveRun>, };

export type OwnStudy = { study: string, pid: number, is_running: boolean, is_stopping: boolean, 
/**
 * Ending of the study, in words.
 */
ended: string | null, 
/**
 * Last lines of its output.
 */
lines: Array<string>, };

export type Results = { 
/**
 * Version that tells it from others.
 */
version: number, results: Array<Summary>, };

export type Run = { position: number, label: string, repetition: number, seconds: Array<Second>, limits: LimitsNow | null, };

export type Second = { 
/**
 * End of the second, seconds since the measurement began; 0 or less in the warm-up.
 */
time_s: number, 
/**
 * Statements completed per second.
 */
queries_per_s: number, 
/**
 * Median latency of transactions, milliseconds.
 */
latency_ms_p50: number, 
/**
 * 95th percentile.
 */
latency_ms_p95: number, 
/**
 * 99th percentile.
 */
latency_ms_p99: number, };

export type Session = { page_secret: string, };

export type Studies = { studies: Array<Study>, };

export type Study = { 
/**
 * The file's name without `.toml`.
 */
name: string, title: string, question: string, };

export type Summary = { 
/**
 * Folder, below the library's.
 */
name: string, title: string, question: string, server: string, drives: Array<string>, started_at: string, runs: number, runs_planned: number, 
/**
 * The first comparison's sentence; empty until it is judged.
 */
headline: string, verdict: Verdict | null, 
/**
 * Name of the first comparison; the same in all results of one study.
 */
comparison: string, 
/**
 * Ratio, and the ends of the 95 % interval.
 */
ratio: number | null, ratio_low: number | null, ratio_high: number | null, 
/**
 * Reason that it cannot be read.
 */
problem: string | null, };

export type Verdict = "effect" | "equal" | "inconclusive" | "invalid";
