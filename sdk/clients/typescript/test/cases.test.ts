/** The cases of cases.json. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CursorStore, Pages, Switchboard, responseOf } from "switchboard-client";
import { type ExpectedError, type ExpectedRequest, cases } from "./cases.js";
import { FaultyServer, type ScriptedAnswer, type SeenRequest } from "./faulty-server.js";

type Method = (...values: unknown[]) => unknown;

/** A client of a server with a script, which records the waits in place of waiting. */
class Stage {
  readonly waits: number[] = [];
  readonly client: Switchboard;

  private constructor(readonly server: FaultyServer) {
    const sleep = async (ms: number) => void this.waits.push(ms);
    this.client = new Switchboard({ apiKey: "uc_test_key", baseUrl: `${server.url}/`, sleep });
  }

  static async play(answers: ScriptedAnswer[], scene: (stage: Stage) => Promise<void>): Promise<void> {
    const server = await FaultyServer.start(answers);
    try {
      await scene(new Stage(server));
      assert.equal(server.requests.length, answers.length, "each answer of the script was asked for once");
    } finally {
      await server.stop();
    }
  }

  /** Calls an operation with ids and body, and query and options in their places. */
  call(name: string, ids: unknown[], query?: object, options?: object): unknown {
    const words = name.split(".");
    const last = words.pop() ?? "";
    const owner = words.reduce((whole, word) => whole[word] as Record<string, unknown>, this.client as unknown as Record<string, unknown>);
    const method = owner[last] as Method;
    const values = [...ids];
    if (query) values[method.length - 2] = query;
    if (options) values[method.length - 1] = options;
    return method.apply(owner, values);
  }
}

function assertWaits(waits: number[], expected: [number, number][] | undefined): void {
  if (!expected) return;
  assert.equal(waits.length, expected.length, `waits: ${waits}`);
  expected.forEach(([from, to], at) => assert.ok((waits[at] ?? -1) >= from && (waits[at] ?? -1) <= to, `wait ${at}: ${waits[at]}`));
}

function assertRequests(seen: SeenRequest[], expected: ExpectedRequest[] | undefined): void {
  expected?.forEach((wanted, at) => {
    const request = seen[at];
    assert.ok(request, `request ${at}`);
    if (wanted.method) assert.equal(request.method, wanted.method);
    if (wanted.path) assert.equal(request.path, wanted.path);
    if ("json" in wanted) assert.deepEqual(JSON.parse(request.body), wanted.json);
    for (const [name, value] of Object.entries(wanted.headers ?? {})) {
      assert.equal(request.headers[name] ?? null, value, name);
    }
  });
}

async function assertError(act: () => Promise<unknown>, expected: ExpectedError): Promise<void> {
  const error = await act().then(
    () => assert.fail(`no ${expected.class}`),
    (error: unknown) => error as Record<string, unknown>,
  );
  const { class: name, detailField, provider, ...members } = expected;
  assert.equal(error.name, name, String(error.stack));
  for (const [member, value] of Object.entries(members)) assert.deepEqual(error[member], value, member);
  if (detailField) assert.equal((error.details as { field: string }[])[0]?.field, detailField);
  if (provider) assert.equal((error.provider as { name: string }).name, provider);
}

describe("calls", () => {
  for (const each of cases.calls) {
    test(each.name, () =>
      Stage.play(each.answers, async (stage) => {
        const { server, waits } = stage;
        const act = async () => {
          const result = stage.call(each.call, each.arguments, each.query, each.options);
          return result instanceof Pages ? result.toArray() : result;
        };
        if (each.error) await assertError(act, each.error);
        else {
          const result = await act();
          assert.deepEqual(result ?? null, each.result);
          const response: object = responseOf(result) ?? {};
          for (const [name, value] of Object.entries(each.response ?? {})) {
            assert.deepEqual((response as Record<string, unknown>)[name], value, name);
          }
        }
        assertWaits(waits, each.waitsMs);
        assertRequests(server.requests, each.requests);
        if (each.sameIdempotencyKey) {
          const keys = new Set(server.requests.map((request) => request.headers["idempotency-key"]));
          assert.equal(keys.size, 1);
          assert.match([...keys][0] ?? "", /^[ -~]{1,255}$/);
        }
      }),
    );
  }
});

describe("pages", () => {
  const { answers, query, arguments: ids, call } = cases.pages;
  const list = (stage: Stage) => stage.call(call, ids, query) as Pages<{ data: { id: string }[]; next_cursor: string | null }, { id: string }>;

  test("all items, over short and empty pages", () =>
    Stage.play(answers, async (stage) => {
      const items = [];
      for await (const item of list(stage)) items.push(item.id);
      assert.equal(new Set(items).size, cases.pages.count);
      assert.deepEqual(stage.server.requests.map((request) => request.path), cases.pages.paths);
    }));

  test("pages one by one", () =>
    Stage.play(answers, async (stage) => {
      const sizes = [];
      for await (const page of list(stage).pages()) sizes.push(page.data.length);
      assert.equal(sizes.length, cases.pages.pages);
    }));

  test("the first items load no more pages than they need", () =>
    Stage.play(answers.slice(0, cases.pages.limited.requests), async (stage) => {
      assert.equal((await list(stage).toArray(cases.pages.limited.limit)).length, cases.pages.limited.limit);
    }));

  test("await is the first page", () =>
    Stage.play(answers.slice(0, 1), async (stage) => {
      const page = await list(stage);
      assert.equal(page.next_cursor, "c1");
      assert.equal(responseOf(page)?.status, 200);
    }));
});

describe("modify", () => {
  const [calendarId = "", eventId = ""] = cases.modify.arguments;
  for (const each of cases.modify.cases) {
    test(each.name, () =>
      Stage.play(each.answers, async ({ client, server }) => {
        const attempts = each.attempts === undefined ? {} : { attempts: each.attempts };
        const change = ({ title }: { title?: string | null }) => (each.change === null ? null : { title: title + cases.modify.suffix });
        const act = () => client.calendars.events.modify(calendarId, eventId, change, attempts);
        if (each.error) await assertError(act, each.error);
        else assert.deepEqual(await act(), each.result);
        assertRequests(server.requests, each.requests?.map((request) => ({ path: cases.modify.path, ...request })));
      }),
    );
  }
});

/** A store that records the positions. */
class RecordingStore implements CursorStore {
  readonly stored: string[] = [];
  readonly feeds = new Set<string>();

  constructor(private readonly cursor: string | null) {}

  async get(feed: string): Promise<string | null> {
    this.feeds.add(feed);
    return this.stored.at(-1) ?? this.cursor;
  }

  async set(feed: string, cursor: string): Promise<void> {
    this.feeds.add(feed);
    this.stored.push(cursor);
  }
}

async function take(feed: AsyncIterable<{ sequence: number }>, count: number, into: number[]): Promise<void> {
  for await (const { sequence } of feed) {
    into.push(sequence);
    if (into.length === count) break;
  }
}

for (const kind of ["feed", "stream"] as const) {
  describe(kind, () => {
    const { call, feed, path } = cases[kind];
    for (const each of cases[kind].cases) {
      test(each.name, () =>
        Stage.play(each.answers, async (stage) => {
          const store = new RecordingStore(each.cursor);
          let resets = 0;
          const onReset = () => void (resets += 1);
          const options = {
            ...cases[kind].query,
            ...each.query,
            ...("pollMs" in each ? { pollMs: each.pollMs } : {}),
            ...(each.handlesReset === false ? {} : { onReset }),
            store,
          };
          const sequences: number[] = [];
          const act = () => take(stage.call(call, [...(cases[kind].arguments ?? []), options]) as AsyncIterable<{ sequence: number }>, each.take, sequences);
          if (each.error) await assertError(act, each.error);
          else await act();
          assert.deepEqual(sequences, each.sequences);
          assert.deepEqual(store.stored, each.stored);
          assert.equal(resets, each.resets ?? 0);
          assert.deepEqual([...store.feeds], [feed]);
          const { requests } = stage.server;
          if ("queries" in each) assert.deepEqual(requests.map((request) => request.path), each.queries.map((query) => (query ? `${path}?${query}` : path)));
          if ("waitsMs" in each) assertWaits(stage.waits, each.waitsMs);
          if ("lastEventIds" in each) {
            assert.deepEqual(requests.map((request) => request.headers["last-event-id"] ?? null), each.lastEventIds);
            for (const request of requests) assert.equal(request.path, path);
          }
        }),
      );
    }
  });
}

describe("raw", () => {
  const { call, bytes, maxChunkBytes } = cases.raw;

  test("bytes are handed on as they come", async () => {
    let readFirst = () => {};
    const firstRead = new Promise<void>((resolve) => (readFirst = resolve));
    const body = Buffer.alloc(bytes).map((_, at) => at % 251);
    const write: ScriptedAnswer["write"] = async (response) => {
      // The rest follows once the client has read something: a client that waits for all of it would wait forever.
      response.write(body.subarray(0, 65_536));
      await firstRead;
      response.end(body.subarray(65_536));
    };
    const headers = { "content-type": "application/octet-stream" };
    await Stage.play([{ status: 200, headers, write }], async (stage) => {
      const response = (await stage.call(call, cases.raw.arguments)) as Response;
      const parts: Uint8Array[] = [];
      for await (const part of response.body ?? []) {
        assert.ok(part.length <= maxChunkBytes);
        parts.push(part);
        readFirst();
      }
      assert.ok(Buffer.concat(parts).equals(body));
      assertRequests(stage.server.requests, [{ path: cases.raw.path, headers: { accept: cases.raw.accept } }]);
    });
  });

  test("an error is an error", () => {
    const { answers, ...error } = cases.raw.error;
    return Stage.play(answers, async (stage) => assertError(async () => stage.call(call, cases.raw.arguments), error));
  });
});
