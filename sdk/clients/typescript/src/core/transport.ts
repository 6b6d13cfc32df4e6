/** Requests: headers, attempts, waits between them, and the reading of answers. */
import { API_VERSION } from "../generated/resources.js";
import { VERSION } from "../version.js";
import { ApiError, ConnectionError, SwitchboardError, TimeoutError, errorOf } from "./errors.js";
import type { ApiRequest, ClientOptions, LogEntry, RequestOptions } from "./options.js";
import { queryString } from "./path.js";
import { remember } from "./response.js";

const DEFAULT_BASE_URL = "http://127.0.0.1:8080";
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 2;
/** First wait before a retry; it doubles each time. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** The longest `Retry-After` that a call waits for. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The longest time of a timer: a longer one ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends requests; one for each client. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;

  constructor(options: ClientOptions) {
    if (!options?.apiKey) throw new TypeError("apiKey is missing: pass an API key, or a function that returns one");
    this.#options = options;
    this.#baseUrl = address(options.baseUrl ?? DEFAULT_BASE_URL);
    this.sleep = options.sleep ?? sleep;
  }

  /** Sends a request and returns the JSON of its answer; undefined if the answer has no body. */
  json<T>(request: ApiRequest, options?: RequestOptions): Promise<T> {
    return this.#call(request, options, async (response) => {
      const text = await response.text();
      const value = parse(text);
      if (value === undefined && text !== "") throw errorOf(response.status, response.headers, text);
      remember(value, response);
      return value as T;
    });
  }

  /** Sends a request and returns nothing. */
  async none(request: ApiRequest, options?: RequestOptions): Promise<void> {
    await this.#call(request, options, (response) => response.arrayBuffer());
  }

  /** Sends a request and returns its answer, whose body the caller reads. */
  raw(request: ApiRequest, options?: RequestOptions): Promise<Response> {
    return this.#call(request, options, async (response) => response);
  }

  async #call<T>(
    request: ApiRequest,
    options: RequestOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    // Anything else could lead to another host.
    if (!request.path.startsWith("/")) throw new TypeError("a path begins with /");
    const { body, contentType } = encode(request.body);
    const headers = this.#headers(options, contentType);
    const isStream = typeof ReadableStream !== "undefined" && body instanceof ReadableStream;
    const retries = isStream ? 0 : (options.maxRetries ?? this.#options.maxRetries ?? DEFAULT_RETRIES);
    const url = this.#baseUrl + request.path + queryString(request.query);
    for (let attempt = 1; ; attempt++) {
      options.signal?.throwIfAborted();
      const start = this.#options.logger ? performance.now() : 0;
      const log = this.#options.logger && ((seen: Partial<LogEntry>) => {
        const durationMs = Math.round(performance.now() - start);
        try {
          this.#options.logger?.({ method: request.method, path: request.path, attempt, durationMs, ...seen });
        } catch {
          // What the server has done does not fail because of a log.
        }
      });
      try {
        const { apiKey } = this.#options;
        const authorization = `Bearer ${checkedKey(typeof apiKey === "function" ? await apiKey() : apiKey)}`;
        if (headers instanceof Headers) headers.set("authorization", authorization);
        else headers["authorization"] = authorization;
        // A redirect would take the body to another host, or make a GET of a write.
        const init: RequestInit = { method: request.method, headers, body: body ?? null, redirect: "manual" };
        return await this.#attempt(url, isStream ? { ...init, duplex: "half" } as RequestInit : init, options, read, log);
      } catch (error) {
        log?.(error instanceof ApiError ? { status: error.status, error } : { error });
        const wait = attempt > retries ? null : waitAfter(error, attempt);
        if (wait === null) throw error;
        await this.sleep(wait, options.signal);
      }
    }
  }

  /** One attempt. Its timeout ends when the answer was read. */
  async #attempt<T>(
    url: string,
    init: RequestInit,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
    log: ((seen: Partial<LogEntry>) => void) | undefined,
  ): Promise<T> {
    const { signal } = options;
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    // It may have been aborted while the key was fetched.
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    let isLate = false;
    const late = () => {
      isLate = true;
      controller.abort();
    };
    const timer = timeoutMs > 0 ? setTimeout(late, Math.min(timeoutMs, MAX_TIMER_MS)) : undefined;
    let isStreaming = false;
    try {
      const send = this.#options.fetch ?? globalThis.fetch;
      init.signal = controller.signal;
      const response = await send(url, init);
      if (!response.ok) {
        const text = await response.text();
        throw errorOf(response.status, response.headers, parse(text) ?? text);
      }
      const result = await read(response);
      isStreaming = (result as unknown) === response;
      if (log) {
        const requestId = response.headers.get("x-request-id");
        log({ status: response.status, ...(requestId === null ? {} : { requestId }) });
      }
      return result;
    } catch (error) {
      if (error instanceof SwitchboardError) throw error;
      if (signal?.aborted) throw signal.reason;
      const where = `${init.method} ${new URL(url).host}`;
      if (isLate) throw new TimeoutError(`${where}: no answer within ${timeoutMs} ms`, { cause: error });
      throw new ConnectionError(`${where}: ${reason(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      // The body of an answer that the caller reads still ends with the caller's signal.
      if (!isStreaming) signal?.removeEventListener("abort", abort);
    }
  }

  #headers(options: RequestOptions, contentType: string | undefined): Headers | Record<string, string> {
    const { ifMatch, idempotencyKey } = options;
    if (idempotencyKey === "") throw new TypeError("idempotencyKey is empty");
    const own: Record<string, string> = { accept: "application/json" };
    if (contentType) own["content-type"] = contentType;
    if (ifMatch !== undefined) own["if-match"] = ifMatch;
    if (options.strict) own["prefer"] = "handling=strict";
    if (options.fresh) own["cache-control"] = "no-cache";
    if (idempotencyKey !== undefined) own["idempotency-key"] = idempotencyKey;
    if (AGENT) own["user-agent"] = AGENT;
    const { headers: all } = this.#options;
    const isPlain = all === undefined && options.headers === undefined && ifMatch === undefined && this.#options.fetch === undefined;
    if (isPlain && (idempotencyKey === undefined || /^[!-~]+$/.test(idempotencyKey))) return own;
    // Wrong values are refused here: in `fetch` they would look like a failed connection.
    const headers = new Headers(own);
    for (const [name, value] of Object.entries({ ...all, ...options.headers })) headers.set(name, value);
    return headers;
  }
}

/** Returns the address of a server without the slashes at its end. */
function address(baseUrl: string): string {
  const { protocol, search, hash, username, href } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || search || hash || username) {
    throw new TypeError("baseUrl must be an address such as https://api.example.com, without a name, a query or a fragment");
  }
  return href.replace(/\/+$/, "");
}

/** Returns the key if it fits into a header: the error of `fetch` would show it. */
function checkedKey(key: string): string {
  if (!/^[!-~]+$/.test(key)) throw new TypeError("the API key is empty, or has spaces or characters that are not ASCII");
  return key;
}

/** Returns a new idempotency key. */
export function newKey(): string {
  // `randomUUID` is missing on pages without https.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the wait before the next attempt, in milliseconds; null if the error is not retried. */
function waitAfter(error: unknown, attempt: number): number | null {
  if (error instanceof ApiError) {
    if (!error.retryable) return null;
    if (error.retryAfterMs !== null) return error.retryAfterMs > MAX_RETRY_AFTER_MS ? null : error.retryAfterMs;
  } else if (!(error instanceof ConnectionError || error instanceof TimeoutError)) {
    return null;
  }
  return backoff(attempt);
}

/** Returns the wait after so many failures, at random between its half and its whole. */
export function backoff(failures: number, longest = MAX_WAIT_MS): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), longest) * (0.5 + Math.random() / 2);
}

function encode(body: unknown): { body?: BodyInit; contentType?: string } {
  if (body === undefined) return {};
  if (typeof body === "string" || body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob) return { body };
  if (body instanceof ReadableStream || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    return { body: body as BodyInit, contentType: "application/octet-stream" };
  }
  return { body: JSON.stringify(body), contentType: "application/json" };
}

/** Returns the value of a JSON text; undefined for anything else. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the innermost message: `fetch` itself only says "fetch failed". */
function reason(error: unknown): string {
  let cause = error as { message?: string; code?: string; cause?: unknown } | undefined;
  while (cause?.cause) cause = cause.cause as typeof cause;
  return cause?.message || cause?.code || String(error);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, Math.min(ms, MAX_TIMER_MS));
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

/** The `User-Agent`; empty in browsers, which have their own and would ask the server's leave for another. */
const AGENT = (() => {
  const versions = (globalThis as { process?: { versions?: Record<string, string | undefined> } }).process?.versions;
  const runtime = versions && ["bun", "deno", "node"].find((name) => versions[name]);
  return runtime ? `switchboard-js/${VERSION} (api ${API_VERSION}; ${runtime} ${versions[runtime]})` : "";
})();
