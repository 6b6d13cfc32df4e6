/** Requests to the provider, and its answers. */

import { Failure } from "./failure.ts";
import { decode, encode } from "./utf8.ts";

/** A piece of a request's body: bytes, a text, or a blob that the host holds (as it is, or in base64, or in base64url). */
export type Segment = string | Uint8Array | { blob: string; as?: "raw" | "base64" | "base64url" };

/** One request. The host adds the credentials, and refuses hosts that connector.toml does not name. */
export interface Request {
  /** Upper case; "GET" if it is left out. */
  method?: string;
  /** Absolute, without a user and a fragment; see `url`. */
  url: string;
  /** A value that is undefined or null is left out. */
  headers?: Readonly<Record<string, string | null | undefined>>;
  /** A body as it is. */
  body?: string | Uint8Array | readonly Segment[];
  /** A body as JSON, in place of `body`. */
  json?: unknown;
  /** The slot of connector.toml whose credentials are added; "none" adds nothing. */
  auth?: string;
  /** Milliseconds for the whole exchange; the host has its own limit. */
  timeoutMs?: number;
  /** Most bytes of the answer's body; the host has its own limit. */
  maxBytes?: number;
  /** Units that the request uses of its bucket in `[limits]` of connector.toml, 1 to 1,000,000; 1 if it is left out. */
  units?: number;
  /**
   * The host renews the token before it sends the request, as after a 401: for a provider that refused the token inside of another answer,
   * such as in a part of a batch. No token is requested if it has been renewed since, and if it cannot be renewed the request is sent as it
   * is. A 401 of this request is the connector's to read. A second renewal in one call does nothing.
   */
  renewed?: boolean;
  /** Values for the host by name, at most 32 of together 4 KiB. It ignores names that it does not know. */
  extra?: Readonly<Record<string, string>>;
}

/** The pairs for the host as they go out. */
export function extraOf({ extra = {}, units, renewed }: Request): [string, string][] {
  const pairs = Object.entries(extra);
  if (units !== undefined) pairs.push(["units", String(units)]);
  if (renewed === true) pairs.push(["credentials", "renewed"]);
  return pairs;
}

/** The headers and the body of a request as they go out. */
export function content(request: Request): { headers: [string, string][]; body: readonly Segment[] } {
  const given = Object.entries(request.headers ?? {});
  const headers = given.filter((header): header is [string, string] => typeof header[1] === "string");
  if (request.json !== undefined) {
    return { headers: [...headers, ["content-type", "application/json"]], body: [JSON.stringify(request.json)] };
  }
  const { body = [] } = request;
  return { headers, body: typeof body === "string" || body instanceof Uint8Array ? [body] : body };
}

/** The provider's answer, whatever its status; 3xx too, because nothing follows a redirect by itself. */
export class Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  /** The body was longer than the limit, and is cut off. */
  readonly truncated: boolean;
  /** Pairs of a name and a value from the host. */
  readonly extra: readonly (readonly [string, string])[];

  constructor(
    status: number,
    headers: readonly (readonly [string, string])[],
    body: Uint8Array | string,
    truncated = false,
    extra: readonly (readonly [string, string])[] = [],
  ) {
    this.status = status;
    this.headers = headers;
    this.body = typeof body === "string" ? encode(body) : body;
    this.truncated = truncated;
    this.extra = extra;
  }

  /** The status is 2xx. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The first header of this name, in lower case. */
  header(name: string): string | undefined {
    return this.headers.find(([found]) => found === name)?.[1];
  }

  /** The body as text; what is not UTF-8 is replaced. */
  text(): string {
    return decode(this.body);
  }

  /**
   * The body as JSON: an object that has these members, or, where none is named, an object or an array. Anything else is failure
   * "unavailable". What the members hold is the provider's word: nothing checks that it is a `T`.
   */
  json<T extends object>(...members: (keyof T & string)[]): T {
    if (this.truncated) throw new Failure("unavailable", "the provider's answer is too large to be read");
    let value: unknown;
    try {
      value = JSON.parse(this.text());
    } catch (error) {
      throw new Failure("unavailable", "the provider's answer is not JSON", { detail: { error: String(error) } });
    }
    if (typeof value !== "object" || value === null) throw new Failure("unavailable", "the provider's answer is no JSON object");
    const missing = members.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) throw new Failure("unavailable", `the provider's answer has no ${missing}`);
    return value as T;
  }
}

/** An answer whose body went into a blob of the host. */
export interface BlobInfo {
  /** Good for this call; an answer names it as `{ $blob: id }`. */
  id: string;
  size: number | null;
  contentType: string | null;
  status: number;
  headers: readonly (readonly [string, string])[];
}

/** Why there is no answer: the codes of `wit/http.wit`. */
export class SendError extends Error {
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, retryAfterMs?: number) {
    super(message);
    this.name = "SendError";
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** As the answer of an operation. */
  failure(): Failure {
    const wait = this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs };
    switch (this.code) {
      case "auth-expired":
        return new Failure("auth-expired", this.message, wait);
      case "denied":
        return new Failure("forbidden", this.message, wait);
      case "timeout":
        return new Failure("timeout", this.message, wait);
      case "connect":
      case "too-large":
      case "too-many-requests":
      case "unavailable":
        return new Failure("unavailable", this.message, wait);
      default:
        return new Failure("internal", this.message, wait);
    }
  }
}
