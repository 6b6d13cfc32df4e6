/** What Paper says and what Switchboard gets, without a host: answers are recorded. */

import assert from "node:assert/strict";
import test from "node:test";

import { Context, Failure, Response } from "#switchboard";
import { Recorded } from "#switchboard/testing";
import connector from "../src/connector.js";

const connection = { settings: { serverUrl: "https://paper.test" } };
const args = { collection: "l1", timeZone: null, limit: 0, namesOnly: false, namesFirst: false };

test("an item is a task", () => {
  const page = {
    items: [{ id: "i1", etag: "3", title: "Buy milk", note: "Two litres", done: true, due: "2026-05-01" }],
    nextSince: "t7",
  };
  const paper = new Recorded().expect("GET", "https://paper.test/v1/lists/l1/items?limit=100", new Response(200, [], JSON.stringify(page)));
  const answer = connector.tasks.changes(new Context(paper, { connection }), args);
  assert.equal(answer.cursor, "v1;since;t7");
  assert.equal(answer.more, false);
  const body = { title: "Buy milk", notes: "Two litres", status: "completed", dueDate: "2026-05-01" };
  assert.deepEqual(answer.body.sources, [{ externalId: "i1", etag: "3", items: [{ externalId: "i1", body }] }]);
});

test("a token that Paper forgot starts over", () => {
  const url = "https://paper.test/v1/lists/l1/items?limit=100&since=t1";
  const paper = new Recorded().expect("GET", url, new Response(410, [], "{}"));
  const context = new Context(paper, { connection, cursor: "v1;since;t1" });
  assert.throws(
    () => connector.tasks.changes(context, args),
    (error) => error instanceof Failure && error.code === "cursor-expired",
  );
});
