/** How Paper is called, and its pages, whatever they hold. */

import { type Account, type Answer, type Context, Failure, type Source, type Sources, url, type Warning } from "#switchboard";

/** Paper's names of collections and of what is in them: `calendars` and `events`. */
export interface Names {
  collections: string;
  records: string;
}

/** A calendar or an address book of Paper. */
export interface Collection {
  id: string;
  title: string;
  etag: string;
}

/** What Paper's records have in common. Of a deleted one there is nothing but the id. */
export interface PaperRecord {
  id: string;
  etag: string;
  deleted?: boolean;
}

type Query = Parameters<typeof url>[2];
type Page = { [name: string]: unknown; nextPageToken?: string; nextSince?: string };

export function account(context: Context, surface: string): Account {
  const response = context.sendOk({ url: address(context, ["me"]) }, "reading the account");
  const me = response.json<{ id: string; email: string | null; name: string | null }>("id");
  return { externalAccountId: me.id, email: me.email, displayName: me.name, surfaces: [surface] };
}

/** One page of the account's collections. `body` makes the resource of one. */
export function collections(context: Context, names: Names, body: (collection: Collection) => object): Answer<Sources> {
  const at = position(context.cursor);
  if (at !== null && at.kind !== "page") throw expired();
  const page = read<Page>(context, [names.collections], { pageToken: at?.token }, "listing the collections", names.collections);
  const sources = list<Collection>(page, names.collections).map((collection): Source => {
    const { id, etag } = collection;
    return { externalId: id, etag, items: [{ externalId: id, body: body(collection) }] };
  });
  const next = page.nextPageToken;
  return {
    body: { sources, enumeration: true },
    cursor: next === undefined ? null : cursor("page", next),
    more: next !== undefined,
  };
}

/** Without a cursor everything in a collection, page by page; then what changed since the last page's cursor. */
export function changes<T extends PaperRecord>(
  context: Context,
  names: Names,
  args: { collection: string | null; limit: number },
  source: (record: T) => Source,
): Answer<Sources> {
  if (args.collection === null) throw new Failure("invalid", "collection is missing");
  const at = position(context.cursor);
  const limit = args.limit === 0 ? 100 : Math.min(args.limit, 100);
  const query = at === null ? { limit } : { limit, [at.kind === "since" ? "since" : "pageToken"]: at.token };
  const path = [names.collections, args.collection, names.records];
  const page = read<Page>(context, path, query, `listing the ${names.records}`, names.records);
  const enumeration = at === null || at.kind === "page";
  const sources = list<T>(page, names.records).map((record) => sourceOrError(record, source));
  const body = { sources, enumeration };
  if (page.nextPageToken !== undefined) {
    return { body, cursor: cursor(enumeration ? "page" : "changes", page.nextPageToken), more: true };
  }
  if (page.nextSince !== undefined) return { body, cursor: cursor("since", page.nextSince), more: false };
  throw new Failure("unavailable", "the provider's last page has no token to go on from");
}

/**
 * A record of a page. One that cannot be mapped is reported with an error: the host then does not take it for deleted, and it does not hold
 * up the others.
 */
function sourceOrError<T extends PaperRecord>(record: T, source: (record: T) => Source): Source {
  try {
    return source(record);
  } catch {
    return { externalId: record.id, error: { code: "unreadable", message: "the item cannot be read" } };
  }
}

export function get<T extends PaperRecord>(context: Context, names: Names, collection: string, id: string): T {
  return read<T>(context, [names.collections, collection, names.records, id], {}, "reading the item", "id", "etag");
}

export function create<T extends PaperRecord>(context: Context, names: Names, collection: string, fields: object): T {
  const request = {
    method: "POST",
    url: address(context, [names.collections, collection, names.records]),
    // A repeated attempt has the same key, and Paper answers with what the first one made.
    headers: { "idempotency-key": context.idempotencyKey },
    json: fields,
  };
  return context.sendOk(request, "creating the item").json<T>("id", "etag");
}

export function update<T extends PaperRecord>(
  context: Context,
  names: Names,
  target: { collection: string; source: string | null; ifMatch: string | null },
  fields: object,
): T {
  if (target.source === null) throw new Failure("invalid", "source is missing: name the item");
  const url = address(context, [names.collections, target.collection, names.records, target.source]);
  const request = { method: "PATCH", url, headers: { "if-match": target.ifMatch }, json: fields };
  return context.sendOk(request, "changing the item").json<T>("id", "etag");
}

export function remove(context: Context, names: Names, collection: string, id: string, ifMatch: string | null): Source {
  const url = address(context, [names.collections, collection, names.records, id]);
  const response = context.send({ method: "DELETE", url, headers: { "if-match": ifMatch } });
  // Gone already is as good as deleted.
  if (!response.ok && response.status !== 404) throw context.failure(response, "deleting the item");
  return { externalId: id, deleted: true };
}

/** A warning for each field that Paper does not keep. */
export function warnings(unkept: string[]): Warning[] {
  return unkept.map((target) => ({ code: "field_not_supported", message: `Paper has no ${target}`, target }));
}

/** The list of this name in a page. */
function list<T>(page: Page, name: string): T[] {
  const found = page[name];
  if (!Array.isArray(found)) throw new Failure("unavailable", `the provider's answer has no list of ${name}`);
  return found as T[];
}

/** Where a walk goes on: the next page of everything, the next page of changes, or what changes from then on. */
type Kind = "page" | "changes" | "since";

/** The version stands in front: a cursor of another version of this connector is no error, the host starts over. */
function cursor(kind: Kind, token: string): string {
  return `v1;${kind};${token}`;
}

function position(text: string | null): { kind: Kind; token: string } | null {
  if (text === null) return null;
  const [, kind, token] = /^v1;(page|changes|since);(.*)$/s.exec(text) ?? [];
  if (kind === undefined || token === undefined) throw expired();
  return { kind: kind as Kind, token };
}

function expired(): Failure {
  return new Failure("cursor-expired", "the cursor is not one of this connector");
}

/** An address at Paper. */
function address(context: Context, segments: string[], query: Query = {}): string {
  const server = context.setting("serverUrl");
  if (server === undefined) throw new Failure("invalid", "settings.serverUrl is missing: give Paper's address");
  return url(server, ["v1", ...segments], query);
}

/** Reads something that has these members. Paper answers 410 where it no longer knows a token. */
function read<T extends object>(context: Context, segments: string[], query: Query, doing: string, ...members: (keyof T & string)[]): T {
  const response = context.send({ url: address(context, segments, query) });
  if (response.ok) return response.json<T>(...members);
  const failure = context.failure(response, doing);
  throw response.status === 410 ? failure.withCode("cursor-expired") : failure;
}
