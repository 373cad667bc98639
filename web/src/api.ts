/** The server's HTTP interface, as everseen/serve/api/openapi.json has it: what the page uses of it. */

export type Verdict = "fresh" | "seen" | "late" | "unknown";
export type Tally = Record<Verdict, number>;

export interface CurvePoint {
  keys: number;
  error_rate: number;
}

export interface Structure {
  structure: string;
  keys: number;
  bytes: number;
  bits_per_key: number;
  probes: number;
  cache_lines: number;
  error_rate: number;
  curve: CurvePoint[];
}

export interface PlanAnswer {
  picked: string;
  reason: string;
  structures: Structure[];
  command: string;
  bytes_when_growing?: number;
}

export interface Instance {
  place: string;
  partitions: number;
  keys: number;
  bytes: number;
}

/** What all that is told of a filter has in common. */
export interface FilterFigures {
  name: string;
  url: string;
  keys: number;
  capacity: number;
  error_rate: number;
  error_rate_now: number;
  fill: number;
  layers: number;
  slices: number;
  partitions: number;
  bytes: number;
}

export interface FilterCounters extends FilterFigures {
  adds: number;
  checks: number;
  batches: number;
  verdicts: { add: Tally; check: Tally };
  outages: number;
  instances: Instance[];
}

export interface Filter extends FilterFigures {
  layout: string;
  probes: number;
  hash: string;
  growth: "grow" | "refuse" | "overfill";
  window_ms: number | null;
  window_slices: number | null;
  expires_at_ms: number | null;
  attached: boolean;
}

export interface LayerInfo {
  layer: number;
  layout: string;
  probes: number;
  bits: number;
  bytes: number;
  keys: number;
  capacity: number;
  fill: number;
}

export interface SliceInfo {
  slice: number;
  begins_ms: number | null;
  layers: LayerInfo[];
}

export interface PartitionInfo {
  partition: number;
  place: string;
  keys: number;
  room: number;
  fill: number;
  bytes: number;
  error_rate_now: number;
  slices: SliceInfo[];
}

export interface FilterInfo extends Filter {
  segments: number;
  expected_false_seen: number;
  instances: Instance[];
  partition_list: PartitionInfo[];
}

/** A filter of which nothing is known but why. */
export interface UnreadFilter {
  name: string;
  url: string;
  detail: string;
}

export interface FilterList {
  filters: Filter[];
  damaged: UnreadFilter[];
  /** Nothing is known to be wrong with these. */
  unreachable: UnreadFilter[];
  total: number;
  next: string | null;
}

export interface Stats {
  version: string;
  now_ms: number;
  uptime_seconds: number;
  store: "memory" | "files" | "servers";
  redis_addresses: string[];
  connections: { open: number; accepted: number; refused: number };
  commands: number;
  requests: number;
  keys_added: number;
  keys_checked: number;
  outages: number;
  bytes: number;
  max_bytes: number | null;
  filters: FilterCounters[];
}

export interface ExplainedBit {
  position: number;
  set: boolean;
}

export interface ExplainedPart {
  /** A segment of ours has a slice and a layer, a string of another program's filter a key. */
  slice?: number;
  layer?: number;
  key?: string;
  holds_key: boolean;
  key_bits: ExplainedBit[];
}

export interface Explanation {
  verdict: Verdict;
  // All else is for administrators.
  digest?: string;
  partition?: number;
  reason?: string;
  segments?: ExplainedPart[];
  strings?: ExplainedPart[];
}

/** What the server says of keys. */
export interface Judged {
  verdicts: Verdict[];
}

/** The server answered that it will not. `reason` is the word for programs, the message says what to do. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** Nobody answered. */
export class Away extends Error {}

const tokenKey = "everseen.token";

let token = storedToken();

function storedToken(): string | null {
  try {
    return sessionStorage.getItem(tokenKey);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** Kept until the tab is closed, or, by a browser that keeps nothing, until the page is loaded anew. */
export function setToken(given: string): void {
  token = given;
  try {
    sessionStorage.setItem(tokenKey, given);
  } catch {
    // It is known for now.
  }
}

export function hasToken(): boolean {
  return token !== null;
}

/** A header takes bytes, each as one character: these are the bytes that the server was given the password in. */
export function authorizationOf(password: string): string {
  const bytes = new TextEncoder().encode(password);
  return `Bearer ${Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")}`;
}

interface Question {
  /** Sent as JSON, by POST. */
  body?: unknown;
  signal?: AbortSignal;
}

async function answerOf(path: string, { body, signal }: Question): Promise<Response> {
  const headers: Record<string, string> = token === null ? {} : { Authorization: authorizationOf(token) };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const how = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  try {
    return await fetch(path, { signal, headers, ...how });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away(String(error));
  }
}

/**
 * Asks the server.
 * @throws Refused what the server said, or that it said something else than JSON
 * @throws Away when nobody answers
 */
async function ask<T>(path: string, question: Question): Promise<T> {
  const answer = await answerOf(path, question);
  let body: unknown;
  try {
    body = await answer.json();
  } catch (error) {
    if (question.signal?.aborted) throw error;
    throw new Refused(answer.status, "not_json", `${answer.status} ${answer.statusText}`);
  }
  if (answer.ok) return body as T;
  const problem = body as { reason?: string; detail?: string; title?: string };
  throw new Refused(answer.status, problem.reason ?? "", problem.detail ?? problem.title ?? answer.statusText);
}

/** As ask. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(path, { signal });
}

/** As ask. What is sent stands in no address, which a proxy would write down. */
export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, { body });
}

/**
 * Why a key is fresh or seen; whoever is no administrator is told the verdict alone.
 * @throws as ask
 */
export async function explain(url: string, key: string): Promise<Explanation> {
  try {
    return await post<Explanation>(`${url}/explain`, { key });
  } catch (error) {
    if (!(error instanceof Refused) || error.reason !== "forbidden") throw error;
  }
  const { verdicts } = await post<Judged>(`${url}/check`, { keys: [key] });
  return { verdict: verdicts[0]! };
}
