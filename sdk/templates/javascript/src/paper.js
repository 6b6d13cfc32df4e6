/**
 * Paper's API, and what its lists and items are for Switchboard.
 *
 * An item of Paper is `{ id, etag, title, note, done, due, deleted }`, a list `{ id, title, etag }`. A page of items has `nextPageToken`, the
 * last one `nextSince` in its place: ask with it for what changes from then on.
 */

import { Failure, url } from "#switchboard";

export function listSource({ id, title, etag }) {
  return { externalId: id, etag, items: [{ externalId: id, body: { name: title, isOwner: true } }] };
}

export function itemSource(item) {
  if (item.deleted) return { externalId: item.id, deleted: true };
  const body = {
    title: item.title,
    notes: item.note ?? null,
    status: item.done ? "completed" : "needsAction",
    dueDate: item.due ?? null,
  };
  return { externalId: item.id, etag: item.etag, items: [{ externalId: item.id, body }] };
}

/** The answer of a change. */
export function written(item, warnings) {
  return { sources: [itemSource(item)], item: item.id, warnings };
}

/** The fields of a task that Paper has, and what Paper calls them. */
const THEIRS = { title: "title", notes: "note", status: "done", dueDate: "due" };

/** What Paper shall have of a task: all fields, or the changed ones alone, so that the others stay as they are. */
export function fields(task, changed) {
  const all = { ...task, status: task.status === "completed" };
  const kept = Object.entries(THEIRS).filter(([ours]) => changed === undefined || changed.includes(ours));
  return Object.fromEntries(kept.map(([ours, theirs]) => [theirs, all[ours]]));
}

function unknown({ changed }) {
  return changed.filter((field) => !Object.hasOwn(THEIRS, field));
}

/** A strict caller wants all or nothing. */
export function refuseUnknown(write) {
  const [field] = unknown(write);
  if (write.strict && field !== undefined) throw Failure.unsupported(`the field ${field}`, { field });
}

/** Returns the warnings for every other caller: fields that Paper did not keep. */
export function warnings(write) {
  return unknown(write).map((target) => ({ code: "field_not_supported", message: `Paper has no ${target}`, target }));
}

/**
 * Where a walk over items goes on: the next page of everything ("page"), the next page of changes ("changes"), or what changes from then on
 * ("since"). The version stands in front: a cursor of another version of this connector is no error, the host starts over.
 */
export function cursor(kind, token) {
  return `v1;${kind};${token}`;
}

export function position(text) {
  if (text === null) return null;
  const [, kind, token] = /^v1;(page|changes|since);(.*)$/s.exec(text) ?? [];
  if (kind === undefined || token === undefined) throw expired();
  return { kind, token };
}

export function expired() {
  return new Failure("cursor-expired", "the cursor is not one of this connector");
}

/** An address at Paper. */
export function address(context, segments, query = {}) {
  const server = context.setting("serverUrl");
  if (server === undefined) throw new Failure("invalid", "settings.serverUrl is missing: give Paper's address");
  return url(server, ["v1", ...segments], query);
}

/** Reads something that has these members. Paper answers 410 where it no longer knows a token. */
export function read(context, segments, query, doing, ...members) {
  const response = context.send({ url: address(context, segments, query) });
  if (response.ok) return response.json(...members);
  const failure = context.failure(response, doing);
  throw response.status === 410 ? failure.withCode("cursor-expired") : failure;
}
