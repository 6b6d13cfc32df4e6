/** From a call of the host to a method of the connector, and back. */

import { helpFor } from "./absent.ts";
import { Context, type Host } from "./context.ts";
import { Failure } from "./failure.ts";
import { type Answer, type Connector, OPERATIONS, type Surface, type Verb } from "./surfaces.ts";

/** `types.request` of the host's interface. */
export interface HostRequest {
  op: string;
  /** JSON of `{ connection, args }`. */
  body: string;
  cursor: string | null;
  idempotencyKey: string | null;
  deadlineMs: number;
  /** Pairs of a name and a value, see `Context.requestExtra`. */
  extra?: [string, string][];
}

/** `types.response`. */
export interface HostResponse {
  /** JSON of the operation's answer. */
  body: string;
  cursor: string | null;
  more: boolean;
  extra: [string, string][];
}

/** `types.failure`: what a call of the host throws. */
export interface HostFailure {
  code: string;
  message: string;
  retryAfterMs: number | null;
  httpStatus: number | null;
  detail: string | null;
}

/** Does what the host asks for. Throws a `HostFailure`, and nothing else. */
export function dispatch(
  connector: Connector,
  host: Host,
  [surface, verb]: readonly [Surface, Verb],
  request: HostRequest,
): HostResponse {
  try {
    return answer(connector, host, [surface, verb], request);
  } catch (error) {
    throw told(host, error);
  }
}

function answer(
  connector: Connector,
  host: Host,
  [surface, verb]: readonly [Surface, Verb],
  request: HostRequest,
): HostResponse {
  // Of the lifecycle there is one operation, whatever it is called.
  const op = verb === "check" ? "check" : request.op;
  const operations = OPERATIONS[surface][verb] ?? {};
  const known = Object.hasOwn(operations, op) ? operations[op] : undefined;
  if (known === undefined) throw Failure.unsupported(`the operation ${JSON.stringify(request.op)}`);
  const [name, kind] = known;
  const methods = (connector[surface] ?? {}) as Readonly<Record<string, unknown>>;
  const method = methods[name];
  if (typeof method !== "function") {
    throw Failure.unsupported(`the operation ${JSON.stringify(request.op)}`);
  }
  const { connection, args } = read(request.body);
  const { cursor, idempotencyKey, deadlineMs, extra = [] } = request;
  const context = new Context(host, { connection, cursor, idempotencyKey, deadlineMs, extra });
  const done: unknown = method.call(methods, context, args);
  if (done instanceof Promise) {
    throw new TypeError(`${surface}.${name} returns a promise: a connector's methods are not async, and send() waits for the answer`);
  }
  const { responseExtra } = context;
  if (kind === "nothing") return { body: "null", cursor: null, more: false, extra: responseExtra };
  if (typeof done !== "object" || done === null) throw new TypeError(`${surface}.${name} returns ${String(done)} instead of its answer`);
  if (kind === "whole") return { body: JSON.stringify(done), cursor: null, more: false, extra: responseExtra };
  const page = done as Answer<unknown>;
  if (page.body === undefined) throw new TypeError(`${surface}.${name} returns no page: its answer is { body, cursor, more }`);
  return { body: JSON.stringify(page.body), cursor: page.cursor ?? null, more: page.more ?? false, extra: responseExtra };
}

function read(body: string): { connection: object; args: unknown } {
  let call: { connection?: object; args?: unknown };
  try {
    call = JSON.parse(body) as typeof call;
  } catch {
    throw new Failure("invalid", "the call's body is not JSON");
  }
  return { connection: call.connection ?? {}, args: call.args ?? {} };
}

function told(host: Host, error: unknown): HostFailure {
  if (error instanceof Failure) {
    const detail = error.detail === undefined ? null : JSON.stringify(error.detail);
    const { code, message, retryAfterMs = null, httpStatus = null } = error;
    return { code, message, retryAfterMs: retryAfterMs === null ? null : Math.round(retryAfterMs), httpStatus, detail: detail ?? null };
  }
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const help = helpFor(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const fields = { stack, ...(help === undefined ? {} : { help }) };
  host.log("error", said, fields);
  const detail = JSON.stringify({ error: said, ...fields });
  return { code: "internal", message: "the connector has a bug", retryAfterMs: null, httpStatus: null, detail };
}
