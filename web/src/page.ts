// The JSON that weir-report writes into the page (crates/weir-report/src/page.rs), key by key.
//
// The types come from the schema, and the schema is strict: a key too many or too few fails the test
// on `fixtures/result.json`, which a Rust test keeps up to date.

import * as v from "valibot";

const number = v.nullable(v.number());
/** A value with the lowest and the highest repetition. */
const spread = v.nullable(v.tuple([v.number(), v.number(), v.number()]));
/** Lowest and highest repetition. */
const range = v.nullable(v.tuple([v.number(), v.number()]));
const texts = v.record(v.string(), v.string());

export const finding = v.strictObject({
  rule: v.string(),
  severity: v.picklist(["warning", "inconclusive", "error"]),
  message: v.string(),
});

export const answer = v.strictObject({
  factor: v.string(),
  level: v.string(),
  baseline: v.string(),
  what: v.string(),
  context: v.string(),
  metric: v.string(),
  ratio: number,
  ratio_low: number,
  ratio_high: number,
  ratio_text: v.string(),
  interval_text: v.string(),
  pairs: v.number(),
  verdict: v.picklist(["effect", "inconclusive", "invalid"]),
  verdict_name: v.string(),
  sentence: v.string(),
  notes: v.array(v.string()),
  warnings: v.array(finding),
  warns_again: v.array(v.string()),
});

const findingView = v.strictObject({
  ...finding.entries,
  severity_name: v.string(),
  concerns: v.array(v.string()),
});

const cell = v.strictObject({
  label: v.string(),
  levels: texts,
  drive: v.nullable(v.string()),
  threads: v.number(),
  variables: texts,
  repetitions: v.number(),
  queries_per_s_mean: number,
  queries_per_s_min: number,
  queries_per_s_max: number,
  queries_per_s_low: number,
  queries_per_s_high: number,
  transactions_per_s_mean: number,
  limiter: v.nullable(
    v.strictObject({
      kind: v.picklist([
        "server_cpu",
        "client_cpu",
        "drive_read",
        "drive_write",
        "flush",
        "lock",
        "network",
        "memory",
        "offered_rate",
        "other_processes",
        "unexplained",
      ]),
      name: v.string(),
      explanation: v.string(),
      repetitions: v.number(),
    }),
  ),
  utilization: v.nullable(
    v.strictObject({
      host_cpu: number,
      server_cores: number,
      client_cpu: number,
      drive_cores: number,
      drive_read: number,
      drive_write: number,
      iowait: number,
      steal: number,
      other_cores: number,
    }),
  ),
  latency_ms: v.nullable(
    v.strictObject({ mean: number, p50: number, p95: number, p99: number, p999: number, max: number, p95_range: range, p99_range: range }),
  ),
  errors: v.number(),
});

/** A time for which a probe gave no samples. */
export const gap = v.strictObject({ source: v.string(), from_s: number, to_s: number, reason: v.string() });

const run = v.strictObject({
  cell: v.number(),
  repetition: v.number(),
  started_at: v.string(),
  measured_s: number,
  queries_per_s: number,
  transactions_per_s: number,
  latency_ms_p99: number,
  errors: v.number(),
  limiter: v.string(),
  limiter_explanation: v.string(),
  limiter_evidence: v.string(),
  gaps: v.array(gap),
  server_log: v.string(),
  commands: v.array(v.string()),
  variables_changed: texts,
  series: v.strictObject({
    first_bin: v.number(),
    queries_per_s: v.array(number),
    latency_ms_p99: v.array(number),
  }),
  stalls: v.array(v.tuple([v.number(), v.number()])),
});

const traffic = v.strictObject({
  cell: v.number(),
  kinds: v.array(
    v.strictObject({
      name: v.string(),
      reads_per_s: spread,
      read_mb_per_s: spread,
      writes_per_s: spread,
      write_mb_per_s: spread,
      flushes_per_s: spread,
      read_latency_us_mean: spread,
      write_latency_us_mean: spread,
      flush_latency_us_mean: spread,
    }),
  ),
  media_bytes_per_host_byte: spread,
  compressed_fraction: number,
  lateness_us_p50: number,
  lateness_us_p99: number,
  late_share: number,
});

const counter = v.strictObject({ metric: v.nullable(v.string()), title: v.string(), unit: v.string(), by_cell: v.array(spread) });

const claim = v.strictObject({
  source: v.string(),
  says: v.string(),
  published: v.string(),
  context: v.string(),
  measured: v.nullable(v.string()),
  agreement: v.picklist(["agrees", "disagrees", "cannot_say"]),
  agreement_name: v.string(),
  why: v.string(),
});

const setup = v.strictObject({
  facts: v.array(v.strictObject({ label: v.string(), text: v.string() })),
  variables: texts,
  drives: v.array(
    v.strictObject({
      name: v.string(),
      title: v.string(),
      figures: v.array(
        v.strictObject({ label: v.string(), text: v.string(), source: v.nullable(v.string()) }),
      ),
      other_sources: texts,
    }),
  ),
  host: texts,
});

const variables = v.strictObject({
  shared: texts,
  differing: v.array(v.strictObject({ name: v.string(), by_cell: v.array(v.string()) })),
  changed: v.array(
    v.strictObject({ name: v.string(), before: v.string(), after: v.string(), runs: v.number() }),
  ),
});

const sweep = v.strictObject({
  title: v.string(),
  is_bytes: v.boolean(),
  arms: v.array(
    v.strictObject({
      label: v.string(),
      points: v.array(v.strictObject({ x: v.number(), level: v.string(), cell: v.number() })),
    }),
  ),
  data_bytes: number,
  equivalents: v.array(
    v.strictObject({ cell: v.number(), from: v.number(), to: v.number(), sentence: v.string() }),
  ),
});

const predicted = v.strictObject({
  title: v.string(),
  drives: v.array(
    v.strictObject({
      drive: v.string(),
      points: v.array(
        v.strictObject({
          pool_bytes: v.number(),
          transactions_per_s: v.number(),
          likely: range,
          measured_transactions_per_s: number,
          latency_ms_p99: number,
          miss_ratio: v.number(),
          limit: v.string(),
        }),
      ),
    }),
  ),
  notes: v.array(v.string()),
});

const percentiles = v.strictObject({
  cell: v.number(),
  transactions: v.number(),
  percents: v.array(v.number()),
  latency_ms: v.array(spread),
});

const cost = v.strictObject({
  level: v.string(),
  context: v.string(),
  price: v.number(),
  currency: v.string(),
  queries_per_s_per_price: spread,
  dominated: v.boolean(),
});

type Curves = (number | null)[][][];

// Thousands of numbers that only figures read: looked at as lists, not one by one.
const curves = v.custom<Curves>((value) => Array.isArray(value) && value.every((panel) => Array.isArray(panel) && panel.every(Array.isArray)), "curves expected");

/** Curves of a run in buckets of equal length; a curve of one value has it in all of them. */
export const timeline = v.strictObject({
  start_s: v.number(),
  step_s: v.number(),
  buckets: v.number(),
  mean: curves,
  low: v.optional(curves),
  high: v.optional(curves),
});

/** What stands over a panel; panels of a group with a name are folded together. */
export const panelHead = v.strictObject({ group: v.string(), title: v.string(), unit: v.string(), series: v.array(v.string()) });

const page = v.strictObject({
  title: v.string(),
  question: v.string(),
  server: v.string(),
  started_at: v.string(),
  seed: v.number(),
  answers: v.array(answer),
  findings: v.array(findingView),
  saturated_share: v.number(),
  cells: v.array(cell),
  step_s: v.number(),
  runs: v.array(run),
  traffic: v.array(traffic),
  counters: v.array(counter),
  sweeps: v.array(sweep),
  predicted: v.array(predicted),
  percentiles: v.array(percentiles),
  costs: v.array(cost),
  timelines: v.strictObject({ panels: v.array(panelHead), panels_left_out: v.number(), runs: v.array(timeline) }),
  not_measured: v.array(v.string()),
  insights: v.array(v.string()),
  claims: v.array(claim),
  setup,
  variables,
});

export type Answer = v.InferOutput<typeof answer>;
export type CellSummary = v.InferOutput<typeof cell>;
export type RunView = v.InferOutput<typeof run>;
export type CellTraffic = v.InferOutput<typeof traffic>;
export type Gap = v.InferOutput<typeof gap>;
export type Sweep = v.InferOutput<typeof sweep>;
export type Predicted = v.InferOutput<typeof predicted>;
export type Spread = v.InferOutput<typeof spread>;
export type Page = v.InferOutput<typeof page>;

/** What stands for all repetitions. */
export const middle = (value: Spread | undefined): number | null => value?.[0] ?? null;

/** Reads the page's JSON; throws with the place of the first thing that does not fit. */
export function parsePage(text: string): Page {
  const result = v.safeParse(page, JSON.parse(text));
  if (result.success) {
    return result.output;
  }
  const issue = result.issues[0];
  throw new Error(`result in the page: \`${v.getDotPath(issue) ?? ""}\`: ${issue.message}`);
}
