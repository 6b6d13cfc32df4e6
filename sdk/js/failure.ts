/** Why a connector could not do something. */

import type { Response } from "./http.ts";

/** The codes that the host knows (`wit/types.wit`). */
export type Code =
  | "auth-expired"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "already-exists"
  | "invalid"
  | "rate-limited"
  | "cursor-expired"
  | "unsupported"
  | "unavailable"
  | "timeout"
  | "internal";

/** What goes with a failure. */
export interface Circumstances {
  /** With "rate-limited" and "unavailable": how long the provider asks to wait, in milliseconds. */
  retryAfterMs?: number;
  /** The provider's status, where there was one. */
  httpStatus?: number;
  /** For the author's log; the API's user sees none of it but the member `reason`. */
  detail?: unknown;
}

/**
 * The answer of an operation that could not be done: throw it. `message` is for the API's user: lower case, without a full stop, without
 * a token, nothing of a provider's body.
 */
export class Failure extends Error {
  readonly code: Code;
  readonly retryAfterMs: number | undefined;
  readonly httpStatus: number | undefined;
  readonly detail: unknown;

  constructor(code: Code, message: string, circumstances: Circumstances = {}) {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.retryAfterMs = circumstances.retryAfterMs;
    this.httpStatus = circumstances.httpStatus;
    this.detail = circumstances.detail;
  }

  /** The same answer under another code, where a provider means something special by a status. */
  withCode(code: Code): Failure {
    const { retryAfterMs, httpStatus, detail } = this;
    return new Failure(code, this.message, defined({ retryAfterMs, httpStatus, detail }));
  }

  /** The provider, or the connector, has no such operation. */
  static unsupported(what: string, detail?: unknown): Failure {
    return new Failure("unsupported", `this connector does not support ${what}`, defined({ detail }));
  }

  /**
   * What a status other than success means, when the provider gives no better reason. `doing` completes "the provider rejected …".
   * `Retry-After` is read as seconds or as a date (RFC 9110, section 10.2.3) against `nowMs`.
   */
  static of(response: Response, doing: string, nowMs: number): Failure {
    const [code, what] = meaning(response.status);
    const retryAfterMs = retryAfter(response.header("retry-after"), nowMs);
    return new Failure(code, `the provider ${what} ${doing} (status ${response.status})`, {
      httpStatus: response.status,
      ...defined({ retryAfterMs }),
    });
  }
}

function meaning(status: number): [Code, string] {
  switch (status) {
    case 401:
      return ["auth-expired", "did not accept the credentials for"];
    case 403:
      return ["forbidden", "does not allow"];
    case 404:
    case 410:
      return ["not-found", "has nothing there for"];
    case 409:
    case 412:
    case 423:
      return ["conflict", "reports a conflict in"];
    case 405:
    case 501:
      return ["unsupported", "does not support"];
    case 408:
    case 504:
      return ["timeout", "took too long for"];
    case 429:
      return ["rate-limited", "asks to wait before"];
    default:
      if (status >= 400 && status < 500) return ["invalid", "rejected"];
      return ["unavailable", status >= 500 && status < 600 ? "failed at" : "gave an unexpected answer to"];
  }
}

/** The longest wait that the host's interface can say, 49 days. */
const LONGEST = 0xffff_ffff;

function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST);
}

/** Without the members that are undefined. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
