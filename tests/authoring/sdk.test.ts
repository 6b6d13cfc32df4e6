/** The SDK of TypeScript and JavaScript against the engine of Node, which has what a connector's engine lacks. */

import assert from "node:assert/strict";
import test from "node:test";

import { Context, decode, encode, Failure, fromBase64, Response, SendError, toBase64, url } from "#switchboard";
import { Recorded } from "#switchboard/testing";
import { dispatch } from "../vendor/switchboard/dispatch.ts";
import { extraOf } from "../vendor/switchboard/http.ts";

/** Repeatable: SplitMix32. */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x9e37_79b9) | 0;
    let z = Math.imul(seed ^ (seed >>> 16), 0x21f0_aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a_2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}

test("bytes become text as WHATWG's decoder has it, whatever they are", () => {
  const next = numbers(1);
  // Bytes that begin, continue and break characters.
  const interesting = [0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xf5, 0xff, 0x9f, 0xa0, 0x90, 0x8f];
  for (let run = 0; run < 20_000; run++) {
    const bytes = Uint8Array.from({ length: next() % 9 }, () => interesting[next() % interesting.length] as number);
    assert.equal(decode(bytes), new TextDecoder().decode(bytes), String(bytes));
  }
});

test("text becomes bytes and is the same text again", () => {
  const next = numbers(2);
  for (let run = 0; run < 5_000; run++) {
    const units = Array.from({ length: next() % 12 }, () => [next() & 0xffff, 0xd800 + (next() & 0x7ff), next() & 0x7f][next() % 3] as number);
    const text = String.fromCharCode(...units);
    assert.deepEqual(encode(text), new TextEncoder().encode(text));
  }
  const long = "aé漢𝄞".repeat(50_000);
  assert.equal(decode(encode(long)), long);
});

test("base64 is that of Node", () => {
  const next = numbers(3);
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, () => next() & 0xff);
    assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
    assert.deepEqual(fromBase64(Buffer.from(bytes).toString("base64")), bytes);
    assert.deepEqual(fromBase64(Buffer.from(bytes).toString("base64url")), bytes);
  }
  for (const text of ["A", "AB*D", "AAAAA"]) assert.equal(fromBase64(text), undefined, text);
});

test("an address leads nowhere else, whatever an id is", () => {
  for (const id of ["a/b", "...", "a.b", "a?b#c", "%2e%2e", "é 漢", "\ud800", "a'()*!"]) {
    const made = new URL(url("https://paper.test/", ["lists", id, "items"], { q: id, none: undefined, nothing: null, n: 3 }));
    const segments = made.pathname.split("/");
    assert.deepEqual([made.host, segments.length, segments[3]], ["paper.test", 4, "items"], id);
    const whole = Buffer.from(id, "utf8").toString("utf8");
    assert.deepEqual([decodeURIComponent(segments[2] as string), made.searchParams.get("q"), made.searchParams.get("n")], [whole, whole, "3"]);
    assert.equal(made.searchParams.has("none") || made.searchParams.has("nothing"), false);
  }
  for (const step of [".", ".."]) assert.throws(() => url("https://paper.test", ["lists", step]), { code: "not-found" });
});

test("a status is a failure, with the wait that the provider asks for", () => {
  const of = (status: number, after?: string): Failure =>
    Failure.of(new Response(status, after === undefined ? [] : [["retry-after", after]], ""), "reading", 4_000);
  for (const [status, code] of [[401, "auth-expired"], [404, "not-found"], [412, "conflict"], [415, "invalid"], [429, "rate-limited"], [501, "unsupported"], [503, "unavailable"], [302, "unavailable"]] as const) {
    assert.deepEqual([of(status).code, of(status).httpStatus], [code, status]);
  }
  assert.equal(of(429, "3").retryAfterMs, 3_000);
  assert.equal(of(503, "Thu, 01 Jan 1970 00:00:10 GMT").retryAfterMs, 6_000);
  assert.equal(of(503, "soon").retryAfterMs, undefined);
  assert.equal(of(503, "99999999999").retryAfterMs, 0xffff_ffff);
});

test("an answer is read as what it is, or not at all", () => {
  for (const body of ["", "{", "null", "3", "<html>", "[]"]) {
    assert.throws(() => new Response(200, [], body).json<{ items: unknown }>("items"), (error) => error instanceof Failure && error.code === "unavailable", body);
  }
  assert.throws(() => new Response(200, [], "{}", true).json(), /too large/);
  assert.deepEqual(new Response(200, [], "[1]").json(), [1]);
});

const request = { op: "tasks.get", body: '{"connection":{"settings":{"serverUrl":"x"}},"args":{"source":"s"}}', cursor: null, idempotencyKey: null, deadlineMs: 9 };

test("a call reaches its method, and its answer the host", () => {
  const getTask = (context: Context, args: { source: string }): { sources: { externalId: string }[] } => ({
    sources: [{ externalId: `${args.source}-${context.setting("serverUrl")}-${context.deadlineMs}` }],
  });
  const answer = dispatch({ tasks: { getTask } }, new Recorded(), ["tasks", "fetch"], request);
  assert.deepEqual(answer, { body: '{"sources":[{"externalId":"s-x-9"}]}', cursor: null, more: false, extra: [] });
  const extra: [string, string][] = [["attempt", "3"], ["unknown", "x"], ["attempt", "9"]];
  const tellAttempt = (context: Context): { sources: [] } => {
    context.addResponseExtra("seen", `${context.attempt} ${context.requestExtra("unknown")} ${context.requestExtra("missing")}`);
    return { sources: [] };
  };
  const told = dispatch({ tasks: { getTask: tellAttempt } }, new Recorded(), ["tasks", "fetch"], { ...request, extra });
  assert.deepEqual(told.extra, [["seen", "3 x undefined"]]);
  for (const value of ["", "0", "many", "-1"]) assert.equal(new Context(new Recorded(), { extra: [["attempt", value]] }).attempt, 1);
  assert.equal(new Context(new Recorded()).attempt, 1);
  const first = (text: string) => new Context(new Recorded(), { extra: [["first-attempt-ms", text]] }).firstAttemptMs;
  assert.deepEqual(["1772352000000", "", "soon"].map(first), [1772352000000, undefined, undefined]);
});

test("a wait that is noted and wishes of a request are pairs for the host", () => {
  const context = new Context(new Recorded());
  context.addResponseExtra("else", "1");
  context.noteWait(2_000);
  assert.deepEqual(context.responseExtra, [["else", "1"], ["wait-ms", "2000"]]);
  context.noteWait(9_000, "mail");
  context.noteWait(3_000);
  assert.deepEqual(context.responseExtra, [["else", "1"], ["wait-ms", "9000"], ["bucket", "mail"]]);
  assert.deepEqual(extraOf({ url: "https://a.test/" }), []);
  const pairs = extraOf({ url: "https://a.test/", units: 250, renewed: true, extra: { other: "x" } });
  assert.deepEqual(pairs, [["other", "x"], ["units", "250"], ["credentials", "renewed"]]);
});

test("what a connector throws becomes a failure, and the author hears of it", () => {
  const failing: [unknown, string, string][] = [
    [new Failure("not-found", "gone", { detail: { at: 1 } }), "not-found", "gone"],
    [new TypeError("oh"), "internal", "the connector has a bug"],
    ["a text", "internal", "the connector has a bug"],
    [undefined, "internal", "the connector has a bug"],
  ];
  for (const [thrown, code, message] of failing) {
    const host = new Recorded();
    const getTask = (): never => {
      throw thrown;
    };
    let told: { code?: string; message?: string } = {};
    try {
      dispatch({ tasks: { getTask } }, host, ["tasks", "fetch"], request);
    } catch (error) {
      told = error as typeof told;
    }
    assert.deepEqual([told.code, told.message, host.lines.length], [code, message, code === "internal" ? 1 : 0]);
  }
  for (const op of ["tasks.fly", "constructor", "__proto__", "tasks.batchGet"]) {
    assert.throws(() => dispatch({ tasks: {} }, new Recorded(), ["tasks", "fetch"], { ...request, op }), { code: "unsupported" });
  }
});

test("a request that has no answer is a failure of its kind", () => {
  const host = new Recorded();
  host.send = () => {
    throw new SendError("unavailable", "the provider cannot be reached", 5);
  };
  assert.throws(() => new Context(host).send({ url: "https://x.test/" }), { code: "unavailable", retryAfterMs: 5 });
});

test("times are converted as the host does it", () => {
  const context = new Context(new Recorded());
  for (const [local, zone, instant] of [
    ["2026-05-01T09:00", "Europe/Berlin", "2026-05-01T07:00:00.000Z"],
    ["2026-05-01", "Asia/Tokyo", "2026-04-30T15:00:00.000Z"],
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T12:30:10.5", "Europe/Berlin", "2026-10-25T11:30:10.500Z"],
    ["2026-10-24T22:30", "Europe/Berlin", "2026-10-24T20:30:00.000Z"],
    ["2026-03-29T12:30", "Europe/Berlin", "2026-03-29T10:30:00.000Z"],
    ["2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00.000Z"],
    ["2026-03-08T02:15", "America/New_York", "2026-03-08T07:15:00.000Z"],
    ["2011-12-30T09:00", "Pacific/Apia", "2011-12-30T19:00:00.000Z"],
  ] as const) assert.equal(context.instant(local, zone), instant, `${local} ${zone}`);
  assert.deepEqual(context.localTime("2026-05-01T07:00:00Z", "Asia/Kolkata"), { dateTime: "2026-05-01T12:30:00", offset: "+05:30" });
  assert.deepEqual(context.localTime("2026-05-01T07:00:00.250+02:00", "America/St_Johns"), { dateTime: "2026-05-01T02:30:00.250", offset: "-02:30" });
  assert.deepEqual(context.localTime("2026-05-01T07:00:00Z", "UTC"), { dateTime: "2026-05-01T07:00:00", offset: "+00:00" });
  assert.throws(() => context.instant("2026-05-01T09:00", "Mars/Olympus"), /Mars\/Olympus/);
  assert.throws(() => context.localTime("2026-05-01T09:00Z", "Mars/Olympus"), /Mars\/Olympus/);
  for (const t of ["2026-05-01T09:00Z", "2026-05-01T09:00+02:00", "x", "", "2026-13-01", "2026-02-31T09:00"]) assert.throws(() => context.instant(t, "UTC"), RangeError, t);
  assert.throws(() => context.localTime("2026-05-01T09:00", "UTC"), RangeError);
});
