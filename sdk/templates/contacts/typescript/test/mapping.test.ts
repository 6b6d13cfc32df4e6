/** What Paper says and what Switchboard gets, without a host: answers are recorded. */

import assert from "node:assert/strict";
import test from "node:test";

import { Context, Failure, Response } from "#switchboard";
import { Recorded } from "#switchboard/testing";
import connector from "../src/connector.ts";

const connection = { settings: { serverUrl: "https://paper.test" } };
const args = { collection: "b1", timeZone: null, limit: 0, namesOnly: false, namesFirst: false };

test("a card is a contact, with its values in order", () => {
  const emails = [
    { value: "ada@work.test", kind: "work", label: null, first: false },
    { value: "ada@boat.test", kind: "custom", label: "Boat", first: true },
  ];
  const card = { id: "c1", etag: "3", name: "Ada Lovelace", given: "Ada", family: "Lovelace", note: null, emails, phones: [] };
  const url = "https://paper.test/v1/books/b1/cards?limit=100";
  const page = new Response(200, [], JSON.stringify({ cards: [card], nextSince: "t7" }));
  const paper = new Recorded().expect("GET", url, page);
  const answer = connector.contacts.changes?.(new Context(paper, { connection }), args);
  assert.equal(answer?.cursor, "v1;since;t7");
  const body = answer?.body.sources?.[0]?.items?.[0]?.body as Record<string, unknown>;
  assert.equal(body["displayName"], "Ada Lovelace");
  assert.deepEqual(body["emails"], [
    { value: "ada@work.test", type: "work", label: null, primary: false },
    { value: "ada@boat.test", type: "custom", label: "Boat", primary: true },
  ]);
});

test("a token that Paper forgot starts over", () => {
  const url = "https://paper.test/v1/books/b1/cards?limit=100&since=t1";
  const paper = new Recorded().expect("GET", url, new Response(410, [], "{}"));
  const context = new Context(paper, { connection, cursor: "v1;since;t1" });
  assert.throws(
    () => connector.contacts.changes?.(context, args),
    (error) => error instanceof Failure && error.code === "cursor-expired",
  );
});

test("a card that cannot be read does not hold up the others", () => {
  const card = { id: "c2", etag: "3", name: "Ada", given: null, family: null, note: null, emails: [], phones: [] };
  const url = "https://paper.test/v1/books/b1/cards?limit=100";
  const page = new Response(200, [], JSON.stringify({ cards: [{ id: "c1", etag: "2", name: "Bob" }, card], nextSince: "t7" }));
  const answer = connector.contacts.changes?.(new Context(new Recorded().expect("GET", url, page), { connection }), args);
  const [bob, ada] = answer?.body.sources ?? [];
  assert.ok(bob?.externalId === "c1" && bob.error);
  assert.ok(ada?.externalId === "c2" && !ada.error);
});
