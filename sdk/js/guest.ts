/** The connector as the host sees it: the only file that imports the host's interface. The build makes the entry that calls it. */

import * as blob from "switchboard:connector/blob@1.0.0";
import * as clock from "switchboard:connector/clock@1.0.0";
import * as http from "switchboard:connector/http@1.0.0";
import * as journal from "switchboard:connector/log@1.0.0";
import * as progress from "switchboard:connector/progress@1.0.0";
import * as random from "switchboard:connector/random@1.0.0";
import * as zones from "switchboard:connector/time-zones@1.0.0";

import type { Host, Level } from "./context.ts";
import { dispatch, type HostRequest, type HostResponse } from "./dispatch.ts";
import { install } from "./engine.ts";
import { content, extraOf, type Request, Response, type Segment, SendError } from "./http.ts";
import type { Connector, Surface, Verb } from "./surfaces.ts";
import { decode, encode } from "./utf8.ts";

let isRunning = false;

const host: Host = {
  send(request) {
    try {
      return response(http.send(outgoing(request)));
    } catch (error) {
      throw sendError(error);
    }
  },
  sendMany(requests, mostAtOnce) {
    const answers = http.sendMany(requests.map(outgoing), mostAtOnce);
    return answers.map((answer) => (answer.tag === "ok" ? response(answer.val) : asSendError(answer.val)));
  },
  sendToBlob(request, how, maxBytes) {
    try {
      const { id, size, contentType, status, headers } = http.sendToBlob(outgoing(request), how, maxBytes);
      return { id, size: size ?? null, contentType: contentType ?? null, status, headers: headers.map(header) };
    } catch (error) {
      throw sendError(error);
    }
  },
  nowMs: () => Number(clock.nowMs()),
  instantMs: (local, zone) => converted(() => Number(zones.instant(local, zone))),
  localTime(instantMs, zone) {
    const { dateTime, offset } = converted(() => zones.local(instantMs, zone));
    return { dateTime, offset };
  },
  randomBytes: (length) => random.bytes(length),
  log(level: Level, message, fields) {
    journal.log(level, message, Object.entries(fields));
  },
  blobSize(id) {
    const size = blob.size(id);
    return size === null || size === undefined ? null : Number(size);
  },
  readBlob: (id, offset, length) => blob.read(id, offset, length) ?? null,
  createBlob: (bytes, contentType) => blob.create(bytes, contentType) ?? null,
  reached: (step) => progress.reached(step),
};

install({ nowMs: host.nowMs, randomBytes: host.randomBytes, log: (level, message) => host.log(level, message, {}) }, () => isRunning);

type Exported = (request: HostRequest) => HostResponse;

/** What a component exports, for this connector: one object for each surface. */
export function serve(
  connector: () => Connector,
): Record<Exclude<Surface, "lifecycle" | "watch">, Record<"fetch" | "mutate" | "changes", Exported>> & {
  lifecycle: { check: Exported };
  watch: { mutate: Exported };
} {
  const exported = (surface: Surface, verb: Verb): Exported => (request) => {
    isRunning = true;
    try {
      return dispatch(connector(), host, [surface, verb], request);
    } finally {
      isRunning = false;
    }
  };
  const surface = (name: Surface): Record<"fetch" | "mutate" | "changes", Exported> => ({
    fetch: exported(name, "fetch"),
    mutate: exported(name, "mutate"),
    changes: exported(name, "changes"),
  });
  return {
    tasks: surface("tasks"),
    calendar: surface("calendar"),
    contacts: surface("contacts"),
    email: surface("email"),
    lifecycle: { check: exported("lifecycle", "check") },
    watch: { mutate: exported("watch", "mutate") },
  };
}

function outgoing(request: Request): http.Req {
  const { headers, body } = content(request);
  return {
    method: request.method ?? "GET",
    url: request.url,
    headers: headers.map(([name, value]) => ({ name, value: encode(value) })),
    body: body.map(segment),
    auth: request.auth ?? null,
    timeoutMs: request.timeoutMs ?? null,
    maxBytes: request.maxBytes ?? null,
    extra: extraOf(request),
  };
}

function segment(piece: Segment): http.Segment {
  if (typeof piece === "string") return { tag: "bytes", val: encode(piece) };
  if (piece instanceof Uint8Array) return { tag: "bytes", val: piece };
  const { blob: id, as = "raw" } = piece;
  return { tag: as === "raw" ? "blob" : as === "base64" ? "blob-base64" : "blob-base64url", val: id };
}

function header({ name, value }: http.Header): [string, string] {
  return [name, decode(value)];
}

function response(res: http.Res): Response {
  return new Response(res.status, res.headers.map(header), res.body, res.truncated, res.extra);
}

function asSendError({ code, message, retryAfterMs }: http.Err): SendError {
  return new SendError(code, message, retryAfterMs ?? undefined);
}

/** What the host's interface has thrown: an error that carries an `Err`. */
function sendError(error: unknown): unknown {
  const err = errOf(error);
  return err === undefined ? error : asSendError(err);
}

/** A time that cannot be converted is a `RangeError`, as in the functions of the language. */
function converted<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    const err = errOf(error);
    throw err === undefined ? error : new RangeError(err.message);
  }
}

function errOf(error: unknown): http.Err | undefined {
  const payload = typeof error === "object" && error !== null && "payload" in error ? error.payload : error;
  const isErr = typeof payload === "object" && payload !== null && "code" in payload && typeof payload.code === "string";
  return isErr ? (payload as unknown as http.Err) : undefined;
}
