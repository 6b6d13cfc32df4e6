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

const responses = new WeakMap<object, ResponseInfo>();

/** Returns the answer that a result came with; null for results that did not come from this client. */
export function responseOf(result: unknown): ResponseInfo | null {
  return (typeof result === "object" && result !== null && responses.get(result)) || null;
}

/** Stores the answer that a result came with, so that the result itself stays plain. */
export function remember(result: unknown, response: Response): void {
  if (typeof result !== "object" || result === null) return;
  const { headers, status } = response;
  const age = headers.get("x-data-age");
  responses.set(result, {
    requestId: headers.get("x-request-id"),
    status,
    headers,
    replayed: headers.get("idempotent-replayed") === "true",
    dataSource: headers.get("x-data-source"),
    dataAgeS: age !== null && /^\d+$/.test(age) ? Number(age) : null,
  });
}
