/** What a client and a single call can be given. */

/** Settings of a client. */
export interface ClientOptions {
  /** An API key or access token, or a function that returns one; it is called for every attempt. */
  apiKey: string | (() => string | Promise<string>);
  /** Address of the server; `http://127.0.0.1:8080` by default. */
  baseUrl?: string | undefined;
  /** Milliseconds for each attempt; 30,000 by default. 0 means no limit. Of `getRaw` and `follow`, until the body begins. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt; 2 by default. */
  maxRetries?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Headers of every request. */
  headers?: Record<string, string> | undefined;
  /** Called after each attempt. Entries have no keys, queries or bodies of requests. */
  logger?: ((entry: LogEntry) => void) | undefined;
  /** Replaces the timer that waits before retries and polls; for tests. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Settings of one call. */
export interface RequestOptions {
  /** Text that is new for this write. A repeated call with the same key is executed once. The default is a random key. */
  idempotencyKey?: string | undefined;
  /** The etag that the change is based on. With an older one than the resource has, the call throws a `StaleEtagError`. */
  ifMatch?: string | undefined;
  /** Ends the call, which then throws the signal's `reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt; the client's by default. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt; the client's by default. */
  maxRetries?: number | undefined;
  /** More headers of the request. */
  headers?: Record<string, string> | undefined;
  /** Refuse unknown fields and parameters, and fields that the provider cannot keep, instead of warning about them. */
  strict?: boolean | undefined;
  /** Ask the provider before answering. */
  fresh?: boolean | undefined;
}

/** The query of an operation that has no query parameters in this version: its place before the options. */
export type NoQuery = Record<string, never>;

/** A request by method and path, for operations that this version of the client does not have. */
export interface ApiRequest {
  method: string;
  /** Begins with `/v1/`; ids in it must be encoded. */
  path: string;
  query?: object | undefined;
  /** A value that becomes JSON, or text, bytes, a form or a stream that is sent as it is. A stream is never retried. */
  body?: unknown | undefined;
}

/** One attempt at a request. */
export interface LogEntry {
  method: string;
  path: string;
  /** From 1. */
  attempt: number;
  durationMs: number;
  status?: number | undefined;
  requestId?: string | undefined;
  error?: unknown | undefined;
}
