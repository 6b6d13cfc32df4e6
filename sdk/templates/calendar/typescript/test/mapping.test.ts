/** What Paper says and what Switchboard gets, without a host: answers are recorded. */

import assert from "node:assert/strict";
import test from "node:test";

import { Context, Failure, Response } from "#switchboard";
import { Recorded } from "#switchboard/testing";
import connector from "../src/connector.ts";

const connection = { settings: { serverUrl: "https://paper.test" } };
const args = { collection: "c1", timeZone: null, limit: 0, namesOnly: false, namesFirst: false };

test("days stay days, and times keep their zone", () => {
  const event = { title: "Party", note: null, place: "Garden", zone: null };
  const page = {
    events: [
      { ...event, id: "e1", etag: "3", start: "2026-05-01", end: "2026-05-02" },
      { ...event, id: "e2", etag: "4", start: "2026-05-01T07:00:00Z", end: "2026-05-01T08:00:00Z", zone: "Europe/Berlin" },
    ],
    nextSince: "t7",
  };
  const url = "https://paper.test/v1/calendars/c1/events?limit=100";
  const paper = new Recorded().expect("GET", url, new Response(200, [], JSON.stringify(page)));
  const answer = connector.calendar.changes?.(new Context(paper, { connection }), args);
  assert.equal(answer?.cursor, "v1;since;t7");
  const [day, time] = (answer?.body.sources ?? []).map((source) => source.items?.[0]?.body as Record<string, unknown>);
  assert.deepEqual([day?.["allDay"], day?.["startDate"], day?.["endDate"]], [true, "2026-05-01", "2026-05-02"]);
  assert.deepEqual([time?.["start"], time?.["timeZone"], time?.["location"]], ["2026-05-01T07:00:00Z", "Europe/Berlin", "Garden"]);
});

test("a token that Paper forgot starts over", () => {
  const url = "https://paper.test/v1/calendars/c1/events?limit=100&since=t1";
  const paper = new Recorded().expect("GET", url, new Response(410, [], "{}"));
  const context = new Context(paper, { connection, cursor: "v1;since;t1" });
  assert.throws(
    () => connector.calendar.changes?.(context, args),
    (error) => error instanceof Failure && error.code === "cursor-expired",
  );
});
