// What the server answers (crates/weir-serve/src/api.rs), read strictly, and how it is asked.

import * as v from "valibot";
import { answer, finding, gap, panelHead, timeline } from "../page";

const number = v.nullable(v.number());
const texts = v.record(v.string(), v.string());

const summary = v.strictObject({
  name: v.string(),
  title: v.string(),
  question: v.string(),
  server: v.string(),
  drives: v.array(v.string()),
  started_at: v.string(),
  runs: v.number(),
  runs_planned: v.number(),
  headline: v.string(),
  verdict: v.nullable(v.picklist(["effect", "inconclusive", "invalid"])),
  problem: v.nullable(v.string()),
});

const study = v.strictObject({ name: v.string(), title: v.string(), question: v.string() });

const second = v.strictObject({
  time_s: v.number(),
  queries_per_s: v.number(),
  latency_ms_p50: v.number(),
  latency_ms_p95: v.number(),
  latency_ms_p99: v.number(),
});

const running = v.strictObject({
  name: v.string(),
  is_own: v.boolean(),
  title: v.string(),
  question: v.string(),
  started_at: v.string(),
  step: v.string(),
  step_share: number,
  runs_done: v.number(),
  runs_total: v.number(),
  time_left_s: v.number(),
  run: v.nullable(
    v.strictObject({
      position: v.number(),
      label: v.string(),
      repetition: v.number(),
      seconds: v.array(second),
      limits: v.nullable(v.strictObject({ limiter: v.string(), explanation: v.string(), evidence: v.string() })),
    }),
  ),
  finished: v.array(
    v.strictObject({
      position: v.number(),
      label: v.string(),
      repetition: v.number(),
      queries_per_s: v.number(),
      latency_ms_p99: v.number(),
      limiter: v.string(),
    }),
  ),
});

const live = v.strictObject({
  running: v.array(running),
  own: v.nullable(
    v.strictObject({
      study: v.string(),
      pid: v.number(),
      is_running: v.boolean(),
      is_stopping: v.boolean(),
      ended: v.nullable(v.string()),
      lines: v.array(v.string()),
    }),
  ),
  results_version: v.number(),
});

const runLine = v.object({
  cell: v.number(),
  label: v.string(),
  repetition: v.number(),
  started_at: v.string(),
  queries_per_s: number,
  latency_ms_p99: number,
  limiter: v.string(),
});

const runPage = v.strictObject({
  ...runLine.entries,
  title: v.string(),
  measured_s: number,
  limiter_explanation: v.string(),
  limiter_evidence: v.string(),
  panels: v.array(panelHead),
  timeline,
  gaps: v.array(gap),
  server_log: v.string(),
  variables: texts,
  variables_changed: texts,
  commands: v.array(v.string()),
});

const compared = v.strictObject({
  basis: v.string(),
  differences: v.array(v.string()),
  answers: v.array(answer),
  findings: v.array(v.strictObject({ ...finding.entries, severity_name: v.string() })),
});

export type Summary = v.InferOutput<typeof summary>;
export type Study = v.InferOutput<typeof study>;
export type Live = v.InferOutput<typeof live>;
export type Running = v.InferOutput<typeof running>;
export type RunPage = v.InferOutput<typeof runPage>;
export type RunLine = v.InferOutput<typeof runLine>;
export type Compared = v.InferOutput<typeof compared>;

/** A request that the server refused, with its words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init);
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    const said = v.safeParse(v.object({ error: v.string() }), body);
    throw new Refused(response.status, said.success ? said.output.error : `the server answered ${response.status}`);
  }
  return response;
}

async function read<T>(path: string, schema: v.GenericSchema<unknown, T>): Promise<T> {
  return v.parse(schema, await (await ask(path)).json());
}

/** What changes must carry; only a page of this server can read it. */
async function post(path: string, body: unknown): Promise<void> {
  const { page_secret } = await read("/api/session", v.object({ page_secret: v.string() }));
  const headers = { "content-type": "application/json", "x-weir-page": page_secret };
  await ask(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const query = (parameters: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(parameters).map(([key, value]) => [key, String(value)])).toString();

export const api = {
  results: () => read("/api/results", v.object({ version: v.number(), results: v.array(summary) })),
  studies: () => read("/api/studies", v.object({ studies: v.array(study) })),
  runs: (result: string) =>
    read(`/api/runs?${query({ result })}`, v.object({ title: v.string(), runs: v.array(runLine) })),
  run: (parameters: Record<string, string | number>) => read(`/api/run?${query(parameters)}`, runPage),
  compare: (a: string, b: string) => read(`/api/compare?${query({ a, b })}`, compared),
  start: (name: string) => post("/api/studies/start", { study: name }),
  stop: () => post("/api/studies/stop", {}),
  login: async (token: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await ask("/api/login", { method: "POST", headers, body: JSON.stringify({ token }) });
  },
};

/** Reads a message of the live view. */
export function parseLive(text: string): Live {
  return v.parse(live, JSON.parse(text));
}

/** Address of a report; its name may have slashes, which separate folders. */
export const reportAddress = (name: string): string =>
  `/report/${name.split("/").map(encodeURIComponent).join("/")}`;
