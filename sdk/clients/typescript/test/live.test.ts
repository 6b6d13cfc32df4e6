/** The client on a server with the sandbox. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  AuthenticationError,
  InvalidRequestError,
  NotFoundError,
  StaleEtagError,
  Switchboard,
  type CursorStore,
  MemoryStore,
  responseOf,
  type types,
} from "switchboard-client";
import { client, connect, skip } from "./live.js";

/** 5 MiB: more than one piece of every stream. */
const ATTACHMENT_BYTES = 5 * 1024 * 1024;
const START = "2026-03-02T09:00:00Z";
const END = "2026-03-02T10:00:00Z";

describe("a server", { skip }, () => {
  let sb: Switchboard;
  let connectionId: string;
  let calendarId: string;

  before(async () => {
    sb = client();
    connectionId = (await connect(sb, "alice")).id;
    calendarId = (await sb.calendars.create({ connectionId, name: "Work", timeZone: "UTC" })).id;
  });

  const event = (title: string) => ({ title, start: START, end: END });

  test("a repeated write is done once", async () => {
    const options = { idempotencyKey: `once-${connectionId}` };
    const first = await sb.calendars.events.create(calendarId, event("Once"), {}, options);
    const second = await sb.calendars.events.create(calendarId, event("Once"), {}, options);
    assert.equal(second.id, first.id);
    assert.deepEqual([responseOf(first)?.replayed, responseOf(second)?.replayed], [false, true]);
    assert.match(responseOf(first)?.requestId ?? "", /./);
  });

  test("a list of several pages", async () => {
    const { id } = await sb.calendars.create({ connectionId, name: "Pages", timeZone: "UTC" });
    const titles = Array.from({ length: 21 }, (_, at) => `Event ${at}`);
    await Promise.all(titles.map((title) => sb.calendars.events.create(id, event(title))));
    const found = await sb.calendars.events.list(id, { limit: 10 }).toArray();
    assert.deepEqual(found.map((each) => each.title).sort(), titles.sort());
    const pages = [];
    for await (const page of sb.calendars.events.list(id, { limit: 10 }).pages()) pages.push(page.data.length);
    assert.equal(pages.length, 3);
  });

  test("changes at the same time are all kept", async () => {
    const { id, etag } = await sb.calendars.events.create(calendarId, event("0"));
    const add = () => sb.calendars.events.modify(calendarId, id, ({ title }) => ({ title: `${Number(title) + 1}` }), { attempts: 10 });
    await Promise.all([add(), add(), add()]);
    assert.equal((await sb.calendars.events.get(calendarId, id)).title, "3");
    const stale = sb.calendars.events.update(calendarId, id, { title: "x" }, {}, { ifMatch: etag });
    await assert.rejects(stale, (error) => error instanceof StaleEtagError && error.currentEtag !== etag);
  });

  test("what is deleted is gone", async () => {
    const { id } = await sb.calendars.events.create(calendarId, event("Short"));
    assert.equal(await sb.calendars.events.delete(calendarId, id), undefined);
    await assert.rejects(sb.calendars.events.get(calendarId, id), NotFoundError);
  });

  test("faults of a request name the field", async () => {
    const body = { ...event("x"), colour: "red" };
    const created = await sb.calendars.events.create(calendarId, body);
    assert.equal(created.warnings?.length, 1);
    const refused = sb.calendars.events.create(calendarId, body, {}, { strict: true });
    await assert.rejects(refused, (error) => error instanceof InvalidRequestError && error.code === "unknown_field" && error.requestId !== null);
    const other = new Switchboard({ apiKey: "uc_live_wrong", baseUrl: process.env.SWITCHBOARD_SERVER ?? "" });
    await assert.rejects(other.calendars.list().toArray(), AuthenticationError);
  });

  test("a feed of changes, over a reset", async () => {
    const { id } = await sb.calendars.create({ connectionId, name: "Feed", timeZone: "UTC" });
    await sb.calendars.sync.start(id, {});
    const store: CursorStore = new MemoryStore();
    let resets = 0;
    /** Follows until it has this event, and makes the next one when it has the one before. */
    const follow = async (titles: string[]) => {
      const waiting = new Set(titles);
      for await (const { resource } of sb.calendars.sync.follow(id, { store, pollMs: 20, onReset: () => void resets++ })) {
        waiting.delete((resource as types.CalendarEvent).title ?? "");
        if (waiting.size === 0) break;
        if (waiting.size === 1) await sb.calendars.events.create(id, event([...waiting][0] ?? ""));
      }
    };
    await sb.calendars.events.create(id, event("A"));
    await follow(["A"]);
    // A was not processed to its end, and comes again. B comes from a second page, after the position was stored.
    await follow(["A", "B"]);
    assert.match((await store.get(`/v1/calendars/${id}/sync/changes`)) ?? "", /./);
    await follow(["B"]);
    assert.equal(resets, 0);
    await sb.calendars.sync.reset(id, { mode: "hard" });
    await follow(["A", "B"]);
    assert.equal(resets, 1);
  });

  test("the stream of events", async () => {
    const earlier = await sb.calendars.events.create(calendarId, event("Logged"));
    const logged = await sb.events.list({ type: ["calendar.event.created"], connectionId: [connectionId] }).toArray();
    const last = logged.find(({ data }) => data.resourceId === earlier.id);
    const created = await sb.calendars.events.create(calendarId, event("Streamed"));
    const options = { types: ["calendar.event.*"], connectionIds: [connectionId], afterSequence: last?.sequence ?? 0 };
    for await (const { type, data } of sb.events.follow(options)) {
      assert.deepEqual([type, data.resourceId], ["calendar.event.created", created.id]);
      break;
    }
  });

  test("an attachment is read as a stream", async () => {
    const bytes = Buffer.from(Uint8Array.from({ length: ATTACHMENT_BYTES }, (_, at) => at % 251));
    const message = await sb.email.messages.create({
      connectionId,
      from: [{ email: "me@example.com" }],
      to: [{ email: "you@example.com" }],
      subject: "A large file",
      body: { text: "see the file" },
      attachments: [{ filename: "large.bin", contentType: "application/octet-stream", contentBase64: bytes.toString("base64") }],
    });
    const { attachments } = await sb.email.messages.get(message.id);
    const response = await sb.email.messages.attachments.getRaw(message.id, attachments[0]?.id ?? "");
    const parts: Uint8Array[] = [];
    for await (const part of response.body ?? []) {
      assert.ok(part.length <= 1024 * 1024);
      parts.push(part);
    }
    assert.ok(Buffer.concat(parts).equals(bytes));
  });
});
