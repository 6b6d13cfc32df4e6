/** A connector's logic without a host: answers are recorded, time stands still, randomness repeats. */

import type { Host, Level, LocalTime } from "./context.ts";
import { type BlobInfo, type Request, type Response, SendError } from "./http.ts";

/** A date, perhaps with a time of day, without an offset. */
const LOCAL = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$/;

/** The difference to UTC, by the time zones of Node. */
function offsetMs(instantMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(instantMs).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === "-" ? -1_000 : 1_000) * (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds));
}

/**
 * A provider made of recorded answers. They are given in order, each for the method and the URL that it was recorded with; a request that
 * was not expected throws.
 */
export class Recorded implements Host {
  /** Every request that was made. */
  readonly requests: Request[] = [];
  /** Every line that was logged. */
  readonly lines: string[] = [];
  /** What the clock says; a test may move it. */
  now = 0;
  readonly #queue: { method: string; url: string; response: Response }[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  #seed = 0;

  /** The next answer. */
  expect(method: string, url: string, response: Response): this {
    this.#queue.push({ method, url, response });
    return this;
  }

  /** The number of answers that no request has used. */
  get left(): number {
    return this.#queue.length;
  }

  send(request: Request): Response {
    this.requests.push(request);
    const next = this.#queue.shift();
    const asked = `${request.method ?? "GET"} ${request.url}`;
    if (next === undefined) throw new Error(`unexpected request: ${asked}`);
    if (asked !== `${next.method} ${next.url}`) throw new Error(`unexpected request: ${asked}, and not ${next.method} ${next.url}`);
    return next.response;
  }

  sendMany(requests: readonly Request[]): (Response | SendError)[] {
    return requests.map((request) => this.send(request));
  }

  sendToBlob(request: Request): BlobInfo {
    const { status, headers, body } = this.send(request);
    const id = this.createBlob(body);
    return { id, size: body.length, contentType: null, status, headers };
  }

  nowMs(): number {
    return this.now;
  }

  instantMs(local: string, zone: string): number {
    const wall = LOCAL.test(local) ? Date.parse(local.length === 10 ? `${local}T00:00Z` : `${local}Z`) : Number.NaN;
    // The engine takes 31 February for 3 March.
    const isThere = !Number.isNaN(wall) && new Date(wall).toISOString().startsWith(local.slice(0, 10));
    if (!isThere) throw new RangeError(`${JSON.stringify(local)} is not a local time, write "2026-05-01T09:00"`);
    // The offsets a day before and a day after: where they differ and neither fits, clocks skip the time.
    const [earlier, later] = [-86_400_000, 86_400_000].map((away) => wall - offsetMs(wall + away, zone)) as [number, number];
    return wall - offsetMs(earlier, zone) === earlier || wall - offsetMs(later, zone) !== later ? earlier : later;
  }

  localTime(instantMs: number, zone: string): LocalTime {
    const offset = offsetMs(instantMs, zone);
    const minutes = Math.abs(Math.trunc(offset / 60_000));
    const two = (number: number): string => String(number).padStart(2, "0");
    return {
      dateTime: new Date(instantMs + offset).toISOString().replace(/(\.000)?Z$/, ""),
      offset: `${offset < 0 ? "-" : "+"}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`,
    };
  }

  randomBytes(length: number): Uint8Array {
    // Repeatable, and that is all a test needs.
    return Uint8Array.from({ length }, () => (this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) >>> 0) >>> 24);
  }

  log(level: Level, message: string, fields: Readonly<Record<string, string>>): void {
    const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
    this.lines.push(`${level} ${message}${shown.join("")}`);
  }

  blobSize(id: string): number | null {
    return this.#blobs.get(id)?.length ?? null;
  }

  readBlob(id: string, offset: number, length: number): Uint8Array | null {
    return this.#blobs.get(id)?.slice(offset, offset + length) ?? null;
  }

  createBlob(content: Uint8Array): string {
    const id = `blob-${this.#blobs.size + 1}`;
    this.#blobs.set(id, content);
    return id;
  }

  reached(): void {}
}
