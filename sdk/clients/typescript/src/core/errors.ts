/** The errors that a call can end with. */
import type { ErrorBody, ErrorCode, ErrorDetail, ProviderError as ProviderAnswer } from "../generated/types.js";

/** The base of all errors of this client. */
export class SwitchboardError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server could not be reached, or the connection broke. */
export class ConnectionError extends SwitchboardError {}

/** The server did not answer in time. */
export class TimeoutError extends SwitchboardError {}

/** An answer that is not a success. */
export class ApiError extends SwitchboardError {
  readonly status: number;
  /** Branch on this. A newer server may have codes that are not in the list. Null if the answer is not one of the API. */
  readonly code: ErrorCode | (string & {}) | null;
  readonly type: string | null;
  /** The field or parameter at fault. */
  readonly param: string | null;
  /** Each fault, where there are several. */
  readonly details: ErrorDetail[];
  readonly requestId: string | null;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  /** The time that the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** What the provider answered, if it refused the call. */
  readonly provider: ProviderAnswer | null;
  /** The body: JSON where it is JSON, else text. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown) {
    const error = envelope(body);
    super(error?.message || (isRedirect(status) ? redirected(headers) : `the server answered ${status} with a body that is not the API's`));
    this.status = status;
    this.code = error?.code ?? null;
    this.type = error?.type ?? null;
    this.param = error?.param ?? null;
    this.details = Array.isArray(error?.details) ? error.details : [];
    this.requestId = error?.request_id ?? headers.get("x-request-id");
    this.retryable = error?.retryable ?? GATEWAY_STATUSES.includes(status);
    this.retryAfterMs = retryAfterMs(headers);
    this.provider = error?.provider ?? null;
    this.body = body;
  }
}

/** The key is missing, wrong, expired or revoked. */
export class AuthenticationError extends ApiError {}
/** The key may not do this. */
export class PermissionError extends ApiError {}
/** There is no such resource. */
export class NotFoundError extends ApiError {}
/** A conflict with the state of the resource. */
export class ConflictError extends ApiError {}
/** The resource has changed since it was read. */
export class StaleEtagError extends ConflictError {
  /** The version that the resource has now. */
  readonly currentEtag: string | null;

  constructor(status: number, headers: Headers, body: unknown) {
    super(status, headers, body);
    this.currentEtag = envelope(body)?.current_etag ?? null;
  }
}
/** The idempotency key was used for another request, or its first request is still running. */
export class IdempotencyError extends ConflictError {}
/** The user has to authorize the connection again. */
export class ReauthRequiredError extends ConflictError {}
/** Too many requests. */
export class RateLimitError extends ApiError {}
/** The request is wrong. */
export class InvalidRequestError extends ApiError {}
/** The provider failed or refused the call. */
export class ProviderError extends ApiError {}
/** The server failed, or something else answered in its place. */
export class ServerError extends ApiError {}

/** Statuses after which the same request may succeed, where the answer does not say whether it may: those of proxies. */
const GATEWAY_STATUSES = [408, 429, 502, 503, 504];

const BY_CODE = new Map<unknown, typeof ApiError>([
  ["stale_etag", StaleEtagError],
  ["idempotency_key_reused", IdempotencyError],
  ["idempotency_in_progress", IdempotencyError],
  ["reauth_required", ReauthRequiredError],
]);
const BY_STATUS = new Map<number, typeof ApiError>([
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [429, RateLimitError],
]);

/** Returns the error of an answer, as the class that its code or status has. */
export function errorOf(status: number, headers: Headers, body: unknown): ApiError {
  const error = envelope(body);
  const byType = error?.type === "provider_error" && status !== 429 ? ProviderError : undefined;
  const byClass = status >= 400 && status < 500 ? InvalidRequestError : ServerError;
  const kind = BY_CODE.get(error?.code) ?? byType ?? BY_STATUS.get(status) ?? byClass;
  return new kind(status, headers, body);
}

/** Returns the error in a body, also one of RFC 6749 as the token endpoint has it. */
function envelope(body: unknown): Partial<ErrorBody> | null {
  const error = (body as { error?: unknown } | null)?.error;
  if (typeof error === "string") {
    return { code: error, message: (body as { error_description?: string }).error_description ?? error };
  }
  return typeof error === "object" ? error : null;
}

/** Browsers show a redirect that is not followed as the status 0. */
function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400);
}

function redirected(headers: Headers): string {
  return `the server redirects to ${headers.get("location") ?? "another address"}: redirects are not followed, change baseUrl`;
}

/** Returns `Retry-After` in milliseconds: seconds, or an HTTP date by the server's clock. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get("retry-after");
  if (!text) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // `Date.parse` takes "1.5" for a day.
  const ms = /^\w{3}, .+ GMT$/.test(text) ? Date.parse(text) - (Date.parse(headers.get("date") ?? "") || Date.now()) : NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
