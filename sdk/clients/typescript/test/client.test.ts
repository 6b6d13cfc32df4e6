/** What only this client has: signals, keys from functions, streams as bodies, logging, files of positions. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { type LogEntry, Switchboard, VERSION, responseOf } from "switchboard-client";
import { FileStore } from "switchboard-client/node";
import { FaultyServer } from "./faulty-server.js";

const ok = { status: 200, json: { id: "cal_1" }, headers: { "x-request-id": "req_1", "x-data-source": "local", "x-data-age": "7" } };
const busy = { status: 503, json: { error: { code: "overloaded", retryable: true } } };

test("a client without a key is refused", () => {
  assert.throws(() => new Switchboard({ apiKey: "" }), TypeError);
});

test("a signal ends a call that has no answer yet", async () => {
  const server = await FaultyServer.start([{ fault: "stall" }]);
  try {
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url });
    const end = new AbortController();
    const call = client.calendars.get("cal_1", {}, { signal: end.signal });
    end.abort(new Error("no longer needed"));
    await assert.rejects(call, /no longer needed/);
  } finally {
    await server.stop();
  }
});

test("a signal ends the wait before a retry", async () => {
  const server = await FaultyServer.start([{ ...busy, headers: { "retry-after": "50" } }]);
  try {
    const end = new AbortController();
    const logger = () => setTimeout(() => end.abort(new Error("enough")));
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url, logger });
    await assert.rejects(client.calendars.get("cal_1", {}, { signal: end.signal }), /enough/);
    assert.equal(server.requests.length, 1);
  } finally {
    await server.stop();
  }
});

test("keys can come from a function, which is called for each attempt", async () => {
  const server = await FaultyServer.start([busy, ok]);
  try {
    let count = 0;
    const apiKey = async () => `key-${++count}`;
    const client = new Switchboard({ apiKey, baseUrl: server.url, sleep: async () => {} });
    const calendar = await client.calendars.get("cal_1");
    assert.deepEqual(server.requests.map((request) => request.headers.authorization), ["Bearer key-1", "Bearer key-2"]);
    const { dataSource, dataAgeS, requestId } = responseOf(calendar) ?? {};
    assert.deepEqual([dataSource, dataAgeS, requestId], ["local", 7, "req_1"]);
    assert.match(server.requests[0]?.headers["user-agent"] ?? "", /^switchboard-js\/\d+\.\d+\.\d+ \(api \d+\.\d+\.\d+; node \d+\./);
  } finally {
    await server.stop();
  }
});

test("the log has attempts, and neither keys nor queries", async () => {
  const server = await FaultyServer.start([busy, { status: 200, json: { data: [], next_cursor: null } }]);
  try {
    const log: LogEntry[] = [];
    const client = new Switchboard({ apiKey: "uc_secret", baseUrl: server.url, sleep: async () => {}, logger: (entry) => log.push(entry) });
    await client.calendars.list({ connectionId: "conn_private" });
    assert.deepEqual(log.map(({ method, path, attempt, status }) => ({ method, path, attempt, status })), [
      { method: "GET", path: "/v1/calendars", attempt: 1, status: 503 },
      { method: "GET", path: "/v1/calendars", attempt: 2, status: 200 },
    ]);
    assert.doesNotMatch(JSON.stringify(log), /uc_secret|conn_private/);
  } finally {
    await server.stop();
  }
});

test("a stream is sent once", async () => {
  const server = await FaultyServer.start([busy]);
  try {
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url, sleep: async () => {} });
    const body = new Blob(["From: a\r\n"]).stream();
    await assert.rejects(client.request({ method: "POST", path: "/v1/email/messages/send", body }), { name: "ServerError" });
    assert.equal(server.requests.length, 1);
    assert.equal(server.requests[0]?.body, "From: a\r\n");
    assert.match(server.requests[0]?.headers["idempotency-key"] ?? "", /^[0-9a-f]{32}$/);
  } finally {
    await server.stop();
  }
});

test("what the server has done does not fail because of a log", async () => {
  const server = await FaultyServer.start([ok]);
  try {
    const logger = () => {
      throw new Error("the disk is full");
    };
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url, logger, timeoutMs: Infinity });
    assert.equal((await client.calendars.get("cal_1")).id, "cal_1");
  } finally {
    await server.stop();
  }
});

test("a key that is no key is not shown", async () => {
  const log: LogEntry[] = [];
  for (const apiKey of ["uc_secret\nx-more: 1", "uc_secret…", "uc secret"]) {
    const client = new Switchboard({ apiKey, logger: (entry) => log.push(entry) });
    const refused = client.calendars.get("cal_1");
    await assert.rejects(refused, (error) => error instanceof TypeError && !/secret/.test(inspect(error)));
    assert.doesNotMatch(inspect([client, log], { depth: 9 }) + JSON.stringify(client), /secret/);
  }
  await assert.rejects(new Switchboard({ apiKey: async () => "" }).calendars.get("cal_1"), TypeError);
});

test("addresses and paths that could lead to another host are refused", async () => {
  for (const baseUrl of ["localhost:8080", "api.example.com", "https://me:secret@api.example.com", "https://api.example.com?a=1"]) {
    assert.throws(() => new Switchboard({ apiKey: "k", baseUrl }), TypeError);
  }
  const client = new Switchboard({ apiKey: "k", baseUrl: "https://api.example.com" });
  for (const path of [".example.org/v1/calendars", "@example.org/", "https://example.org/"]) {
    await assert.rejects(client.request({ method: "GET", path }), TypeError);
  }
});

test("text is sent as it is", async () => {
  const server = await FaultyServer.start([ok]);
  try {
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url });
    await client.request({ method: "POST", path: "/v1/new", body: "BEGIN:VCARD", query: undefined }, { headers: { "Content-Type": "text/vcard" } });
    assert.deepEqual([server.requests[0]?.body, server.requests[0]?.headers["content-type"]], ["BEGIN:VCARD", "text/vcard"]);
  } finally {
    await server.stop();
  }
});

test("an event without end is an error", async () => {
  const headers = { "content-type": "text/event-stream" };
  const write = async (response: ServerResponse) => {
    response.on("error", () => {});
    for (let at = 0; at < 80 && response.writable; at++) response.write("x".repeat(65_536));
  };
  const server = await FaultyServer.start([{ status: 200, headers, write }]);
  try {
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url });
    await assert.rejects(client.events.follow().next(), { name: "SwitchboardError", message: /too long/ });
  } finally {
    await server.stop();
  }
});

test("a stream that is lost without a handler ends with a ConflictError", async () => {
  const lost = { status: 200, headers: { "content-type": "text/event-stream" }, chunks: ["event: sync_reset_required\ndata: {}\n\n"] };
  const server = await FaultyServer.start([lost]);
  try {
    const client = new Switchboard({ apiKey: "k", baseUrl: server.url });
    await assert.rejects(client.events.follow().next(), { name: "ConflictError", code: "sync_reset_required" });
  } finally {
    await server.stop();
  }
});

test("positions are kept in a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "switchboard-"));
  try {
    const file = join(folder, "new", "cursors.json");
    const store = new FileStore(file);
    assert.equal(await store.get("a"), null);
    await Promise.all([store.set("a", "1"), new FileStore(file).set("b", "2"), store.set("a", "3")]);
    const later = new FileStore(file);
    assert.deepEqual([await later.get("a"), await later.get("b")], ["3", "2"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the package's version is the one that the client sends", async () => {
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  assert.equal(manifest.version, VERSION);
});
