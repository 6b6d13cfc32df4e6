/** A connector for Paper. `paper.js` knows that service's API; here are the operations that a host asks for. */

import { defineConnector, Failure } from "#switchboard";
import * as paper from "./paper.js";

/** @type {import("#switchboard").Lifecycle} */
const lifecycle = {
  check(context) {
    const me = paper.read(context, ["me"], {}, "reading the account", "id");
    return { externalAccountId: me.id, email: me.email, displayName: me.name, surfaces: ["tasks"] };
  },
};

/** @type {import("#switchboard").Tasks} */
const tasks = {
  features: () => ({ delta: "syncToken" }),

  listLists(context) {
    const cursor = paper.position(context.cursor);
    if (cursor !== null && cursor.kind !== "page") throw paper.expired();
    const page = paper.read(context, ["lists"], { pageToken: cursor?.token }, "listing the lists", "lists");
    const next = page.nextPageToken;
    return {
      body: { sources: page.lists.map(paper.listSource), enumeration: true },
      cursor: next === undefined ? null : paper.cursor("page", next),
      more: next !== undefined,
    };
  },

  getTask(context, { collection, source }) {
    const item = paper.read(context, ["lists", collection, "items", source], {}, "reading the task", "id", "title");
    return { sources: [paper.itemSource(item)] };
  },

  /** Without a cursor everything there is, page by page; then what changed since the last page's cursor. */
  changes(context, args) {
    const at = paper.position(context.cursor);
    const limit = args.limit === 0 ? 100 : Math.min(args.limit, 100);
    const query = at === null ? { limit } : { limit, [at.kind === "since" ? "since" : "pageToken"]: at.token };
    const page = paper.read(context, ["lists", args.collection ?? "", "items"], query, "listing the tasks", "items");
    const enumeration = at === null || at.kind === "page";
    const { cursor, more } = onward(page, enumeration);
    return { body: { sources: page.items.map(paper.itemSource), enumeration }, cursor, more };
  },

  createTask(context, args) {
    paper.refuseUnknown(args);
    const request = {
      method: "POST",
      url: paper.address(context, ["lists", args.collection, "items"]),
      // A repeated attempt has the same key, and Paper answers with what the first one made.
      headers: { "idempotency-key": context.idempotencyKey },
      json: paper.fields(args.body),
    };
    const item = context.sendOk(request, "creating the task").json("id", "title");
    return paper.written(item, paper.warnings(args));
  },

  updateTask(context, args) {
    paper.refuseUnknown(args);
    if (args.source === null) throw new Failure("invalid", "source is missing: name the task");
    const request = {
      method: "PATCH",
      url: paper.address(context, ["lists", args.collection, "items", args.source]),
      headers: { "if-match": args.ifMatch },
      json: paper.fields(args.body, args.changed),
    };
    const item = context.sendOk(request, "changing the task").json("id", "title");
    return paper.written(item, paper.warnings(args));
  },

  deleteTask(context, { collection, source, ifMatch }) {
    const url = paper.address(context, ["lists", collection, "items", source]);
    const response = context.send({ method: "DELETE", url, headers: { "if-match": ifMatch } });
    // Gone already is as good as deleted.
    if (!response.ok && response.status !== 404) throw context.failure(response, "deleting the task");
    return { sources: [{ externalId: source, deleted: true }] };
  },
};

/** Where the next page is, or the next change. */
function onward(page, enumeration) {
  if (page.nextPageToken !== undefined) {
    return { cursor: paper.cursor(enumeration ? "page" : "changes", page.nextPageToken), more: true };
  }
  if (page.nextSince !== undefined) return { cursor: paper.cursor("since", page.nextSince), more: false };
  throw new Failure("unavailable", "the provider's last page has no token to go on from");
}

export default defineConnector({ tasks, lifecycle });
