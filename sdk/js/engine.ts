/**
 * Replaces what the engine of a connector (QuickJS) lacks or has: the clock, the randomness and the console become the host's. The
 * engine runs the connector's modules while it is built and keeps what they made, so none of the three is there outside of a call.
 */

import { refuseLocales } from "./absent.ts";
import type { Level } from "./context.ts";
import { decode, encode } from "./utf8.ts";

/** The host's side. */
export interface Surroundings {
  nowMs(): number;
  randomBytes(length: number): Uint8Array;
  log(level: Level, message: string): void;
}

/** Puts them in place. `isRunning` says whether a call is under way. */
export function install(surroundings: Surroundings, isRunning: () => boolean): void {
  const within = (what: string): void => {
    if (!isRunning()) throw new Error(`${what} is not available while the connector is built: use it within a call`);
  };
  const nowMs = (): number => {
    within("the time");
    return surroundings.nowMs();
  };
  clock(nowMs);
  refuseLocales();
  Math.random = () => {
    within("randomness");
    const bytes = surroundings.randomBytes(8);
    const [high, low] = [0, 4].map((at) => new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0)) as [number, number];
    // 53 bits, as many as a number holds.
    return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
  };
  const line = (level: Level) => (...parts: unknown[]): void => {
    if (isRunning()) surroundings.log(level, parts.map(String).join(" "));
  };
  const console = { debug: line("debug"), log: line("info"), info: line("info"), warn: line("warn"), error: line("error") };
  for (const [name, value] of Object.entries({ console, performance: { now: nowMs }, TextEncoder: Encoder, TextDecoder: Decoder })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

/** `Date` with the host's clock: its local time is UTC. */
function clock(nowMs: () => number): void {
  const Native = Date;
  const HostDate = function (this: unknown, ...given: unknown[]): unknown {
    if (new.target === undefined) return new Native(nowMs()).toString();
    return Reflect.construct(Native, given.length === 0 ? [nowMs()] : given, new.target);
  } as unknown as DateConstructor;
  Object.defineProperty(HostDate, "prototype", { value: Native.prototype });
  Object.defineProperty(Native.prototype, "constructor", { value: HostDate, configurable: true, writable: true });
  Object.assign(HostDate, { now: nowMs, parse: Native.parse, UTC: Native.UTC });
  globalThis.Date = HostDate;
}

/** WHATWG's encoder, as far as it does not need streams. */
class Encoder {
  readonly encoding = "utf-8";
  encode(text = ""): Uint8Array {
    return encode(text);
  }
}

/** WHATWG's decoder of UTF-8, as far as it does not need streams. */
class Decoder {
  readonly encoding = "utf-8";
  constructor(label = "utf-8") {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`there is no decoder for ${label} in a connector, only one for UTF-8`);
  }
  decode(bytes: Uint8Array | ArrayBuffer = new Uint8Array()): string {
    return decode(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
  }
}
