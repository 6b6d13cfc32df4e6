/** What is known of an answer beside its body. */

/** The answer that a result came with. */
export interface ResponseInfo {
  /** Name it when you ask for help. */
  requestId: string | null;
  status: number;
  headers: Headers;
  /** This is the answer to an earlier request with the same idempotency key. */
  replayed: boolean;
  /** `local`: the server's copy; `provider`: the request waited for the provider. */
  dataSource: string | null;
  /** The provider had the data so before so many seconds. */
  dataAgeS: number | null;
}

/** Of each result what is known of its answer, or the answer's head that it is read from when somebody asks. */
const responses = new WeakMap<object, ResponseInfo | ResponseHead>();

class ResponseHead {
  constructor(readonly status: number, readonly headers: Headers) {}

  info(): ResponseInfo {
    const { headers, status } = this;
    const age = headers.get("x-data-age");
    return {
      requestId: headers.get("x-request-id"),
      status,
      headers,
      replayed: headers.get("idempotent-replayed") === "true",
      dataSource: headers.get("x-data-source"),
      dataAgeS: age !== null && /^\d+$/.test(age) ? Number(age) : null,
    };
  }
}

/** Returns the answer that a result came with; null for results that did not come from this client. */
export function responseOf(result: unknown): ResponseInfo | null {
  if (typeof result !== "object" || result === null) return null;
  const found = responses.get(result);
  if (!(found instanceof ResponseHead)) return found ?? null;
  const info = found.info();
  responses.set(result, info);
  return info;
}

/** Stores the answer that a result came with, so that the result itself stays plain. */
export function remember(result: unknown, response: Response): void {
  if (typeof result === "object" && result !== null) responses.set(result, new ResponseHead(response.status, response.headers));
}
