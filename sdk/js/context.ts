/** What one call may know and touch. */

import { Failure } from "./failure.ts";
import type { Connection } from "./given.ts";
import { type BlobInfo, type Request, type Response, SendError } from "./http.ts";

export type Level = "error" | "warn" | "info" | "debug";

/** Everything outside the connector: in the sandbox the host, in a test whatever the test gives. */
export interface Host {
  /** Throws a `SendError` where there is no answer. */
  send(request: Request): Response;
  sendMany(requests: readonly Request[], mostAtOnce: number): (Response | SendError)[];
  sendToBlob(request: Request, decode: string, maxBytes: number): BlobInfo;
  nowMs(): number;
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

  constructor(host: Host, call: Call = {}) {
    this.host = host;
    this.connection = { settings: {}, addresses: [], username: null, ...call.connection };
    this.cursor = call.cursor ?? null;
    this.idempotencyKey = call.idempotencyKey ?? null;
    this.deadlineMs = call.deadlineMs ?? 30_000;
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
