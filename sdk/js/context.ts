/** What one call may know and touch. */

import { Failure } from "./failure.ts";
import type { Connection, Instant } from "./given.ts";
import { type BlobInfo, type Request, type Response, SendError } from "./http.ts";

export type Level = "error" | "warn" | "info" | "debug";

/** The names in `extra` of the response for `Context.noteWait`. */
const WAIT_MS = "wait-ms";
const BUCKET = "bucket";

/** The end of a text that names an instant. */
const OFFSET = /\d(Z|[+-]\d\d:\d\d)$/i;

/** A reading of the clocks of a time zone. */
export interface LocalTime {
  /** Without an offset: "2026-05-01T09:00:00"; with a fraction where the instant has one. */
  dateTime: string;
  /** The difference to UTC: "+02:00". */
  offset: string;
}

/** Everything outside the connector: in the sandbox the host, in a test whatever the test gives. */
export interface Host {
  /** Throws a `SendError` where there is no answer. */
  send(request: Request): Response;
  sendMany(requests: readonly Request[], mostAtOnce: number): (Response | SendError)[];
  sendToBlob(request: Request, decode: string, maxBytes: number): BlobInfo;
  nowMs(): number;
  /** Milliseconds since 1970-01-01T00:00:00Z; a `RangeError` where there is no such zone or time. */
  instantMs(local: string, zone: string): number;
  /** A `RangeError` where there is no such zone. */
  localTime(instantMs: number, zone: string): LocalTime;
  randomBytes(length: number): Uint8Array;
  log(level: Level, message: string, fields: Readonly<Record<string, string>>): void;
  blobSize(id: string): number | null;
  readBlob(id: string, offset: number, length: number): Uint8Array | null;
  createBlob(content: Uint8Array, contentType: string | null): string | null;
  reached(step: "handed-over" | "accepted"): void;
}

/** Of one call, beside its arguments. */
export interface Call {
  connection?: Partial<Connection>;
  cursor?: string | null;
  idempotencyKey?: string | null;
  deadlineMs?: number;
  /** Pairs of a name and a value, see `Context.requestExtra`. */
  extra?: readonly (readonly [string, string])[];
}

/** One call: whose connection it is, where it goes on, and the way out. */
export class Context {
  /** What the host knows of the connection: its settings, and the addresses that are "self". */
  readonly connection: Connection;
  /** A cursor that this connector returned earlier for the same operation. */
  readonly cursor: string | null;
  /** Changes alone: equal for repeated attempts at one change. */
  readonly idempotencyKey: string | null;
  /** Milliseconds that the call had left when it began. */
  readonly deadlineMs: number;
  /** The rest of what the host offers. */
  readonly host: Host;
  /** The pairs that were added to `extra` of the response so far. */
  readonly responseExtra: [string, string][] = [];
  readonly #requestExtra: readonly (readonly [string, string])[];

  constructor(host: Host, call: Call = {}) {
    this.host = host;
    this.connection = { settings: {}, addresses: [], username: null, ...call.connection };
    this.cursor = call.cursor ?? null;
    this.idempotencyKey = call.idempotencyKey ?? null;
    this.deadlineMs = call.deadlineMs ?? 30_000;
    this.#requestExtra = call.extra ?? [];
  }

  /**
   * The value that the host gave under this name in `extra` of the request (`wit/types.wit`), the first one if there are several. An older
   * host may not know the name.
   */
  requestExtra(name: string): string | undefined {
    return this.#requestExtra.find(([given]) => given === name)?.[1];
  }

  /**
   * Adds a pair to `extra` of the response. The host ignores names that it does not know, and takes at most 32 pairs of together 4 KiB; more
   * is an error of the connector. A failure has no `extra`.
   */
  addResponseExtra(name: string, value: string): void {
    this.responseExtra.push([name, value]);
  }

  /**
   * Notes that the provider wants to be left alone for so many milliseconds, where an answer says so that is no failure: parts of a batch may
   * be refused inside of a 200. The answer of this call counts; no call that the bucket concerns is made before the time is over, an hour at
   * most. `bucket`: one of `[limits]` in connector.toml; without it the whole account. The longest of several waits is kept. A failure has a
   * wait of its own, `retryAfterMs`.
   */
  noteWait(ms: number, bucket?: string): void {
    const noted = this.responseExtra.find(([name]) => name === WAIT_MS);
    if (noted !== undefined && Number(noted[1]) >= ms) return;
    const others = this.responseExtra.filter(([name]) => name !== WAIT_MS && name !== BUCKET);
    const wait: [string, string][] = [[WAIT_MS, String(Math.max(0, Math.round(ms)))]];
    if (bucket !== undefined) wait.push([BUCKET, bucket]);
    this.responseExtra.splice(0, this.responseExtra.length, ...others, ...wait);
  }

  /**
   * The number of this attempt at a change: 1 on the first attempt, 2 or more when an earlier attempt under the same idempotency key may have
   * reached the provider. A connector whose provider has no idempotency keys looks for what that attempt left only then. Always 1 for reads,
   * for the operations of `watch`, and with a host that does not count.
   */
  get attempt(): number {
    const text = this.requestExtra("attempt") ?? "";
    return /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : 1;
  }

  /**
   * The time of the first attempt at this change, Unix milliseconds by the host's clock: what is older at the provider is not what an earlier
   * attempt made. The provider's clock may show a little less. Undefined for reads, for the operations of `watch`, where the host does not
   * know it, such as for messages to send, and with a host of an earlier version.
   */
  get firstAttemptMs(): number | undefined {
    const text = this.requestExtra("first-attempt-ms") ?? "";
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  }

  /** A text among the connection's settings; an empty one counts as missing. */
  setting(name: string): string | undefined {
    const value = this.connection.settings[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** Sends one request. That there is no answer is a failure, a bad status is not. */
  send(request: Request): Response {
    return answered(() => this.host.send(request));
  }

  /** Sends one request and insists on 2xx. `doing` completes "the provider rejected …". */
  sendOk(request: Request, doing: string): Response {
    const response = this.send(request);
    if (!response.ok) throw this.failure(response, doing);
    return response;
  }

  /** Sends several, at most `mostAtOnce` at a time; answers in order, one that failed as its `Failure`. */
  sendMany(requests: readonly Request[], mostAtOnce = 4): (Response | Failure)[] {
    const answers = this.host.sendMany(requests, mostAtOnce);
    return answers.map((answer) => (answer instanceof SendError ? answer.failure() : answer));
  }

  /**
   * Sends one request whose answer goes into a blob of the host, never through the connector's memory. `decode` is "raw",
   * "json-base64:/pointer" or "json-base64url:/pointer" (the content is the base64 text at that JSON pointer).
   */
  sendToBlob(request: Request, decode = "raw", maxBytes = 32 << 20): BlobInfo {
    return answered(() => this.host.sendToBlob(request, decode, maxBytes));
  }

  /** What a bad status means, see `Failure.of`. */
  failure(response: Response, doing: string): Failure {
    return Failure.of(response, doing, this.nowMs());
  }

  /** Milliseconds since 1970-01-01T00:00:00Z, by the host's clock. */
  nowMs(): number {
    return this.host.nowMs();
  }

  /**
   * The instant at which the clocks of a time zone show a local time: `instant("2026-05-01T09:00", "Europe/Berlin")` is
   * "2026-05-01T07:00:00.000Z". A date alone is its midnight. A time that the clocks skip is moved forward by the length of the gap; of a
   * time that they show twice it is the first (RFC 5545, section 3.3.5; "compatible" of Temporal). The zone is an IANA name, or a Windows
   * name. A `RangeError` names a zone that is unknown and a text that is no local time.
   */
  instant(local: string, zone: string): Instant {
    return new Date(this.host.instantMs(local, zone)).toISOString();
  }

  /**
   * The time that the clocks of a time zone show at an instant, which has an offset: `localTime("2026-05-01T07:00:00Z", "Europe/Berlin")`
   * is `{ dateTime: "2026-05-01T09:00:00", offset: "+02:00" }`. A `RangeError` names a zone that is unknown.
   */
  localTime(instant: Instant, zone: string): LocalTime {
    const ms = OFFSET.test(instant) ? Date.parse(instant) : Number.NaN;
    if (Number.isNaN(ms)) throw new RangeError(`${JSON.stringify(instant)} is no instant: write "2026-05-01T07:00:00Z", with Z or an offset`);
    return this.host.localTime(ms, zone);
  }

  /** The host's randomness, at most 65,536 bytes. */
  randomBytes(length: number): Uint8Array {
    return this.host.randomBytes(length);
  }

  /** A line for the connector's author. Never a token, an address or a body. */
  log(level: Level, message: string, fields: Readonly<Record<string, string>> = {}): void {
    this.host.log(level, message, fields);
  }
}

function answered<T>(send: () => T): T {
  try {
    return send();
  } catch (error) {
    throw error instanceof SendError ? error.failure() : error;
  }
}
