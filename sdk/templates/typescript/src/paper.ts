/** Paper's API: lists and items as it has them, and what they are for Switchboard. */

import { type Context, Failure, type Given, type Mutated, type Source, type Task, type TaskList, url, type Warning } from "#switchboard";

export interface Me {
  id: string;
  email: string | null;
  name: string | null;
}

export interface ListPage {
  lists: List[];
  nextPageToken?: string;
}

export interface List {
  id: string;
  title: string;
  etag: string;
}

export interface ItemPage {
  items: Item[];
  nextPageToken?: string;
  /** On the last page alone: ask with it for what changes from now on. */
  nextSince?: string;
}

export interface Item {
  id: string;
  etag: string;
  title: string;
  note?: string | null;
  done?: boolean;
  /** `YYYY-MM-DD`. */
  due?: string | null;
  deleted?: boolean;
}

export function listSource({ id, title, etag }: List): Source {
  const body: TaskList = { name: title, isOwner: true };
  return { externalId: id, etag, items: [{ externalId: id, body }] };
}

export function itemSource(item: Item): Source {
  if (item.deleted) return { externalId: item.id, deleted: true };
  const body: Task = {
    title: item.title,
    notes: item.note ?? null,
    status: item.done ? "completed" : "needsAction",
    dueDate: item.due ?? null,
  };
  return { externalId: item.id, etag: item.etag, items: [{ externalId: item.id, body }] };
}

/** The answer of a change. */
export function written(item: Item, warnings: Warning[]): Mutated {
  return { sources: [itemSource(item)], item: item.id, warnings };
}

/** What Paper shall have of a task: all fields, or the changed ones alone, so that the others stay as they are. */
export function fields(task: Given.Task, changed?: string[]): Partial<Item> {
  const all = { title: task.title, notes: task.notes, status: task.status === "completed", dueDate: task.dueDate };
  const theirs = { title: "title", notes: "note", status: "done", dueDate: "due" } as const;
  const names = Object.keys(all) as (keyof typeof all)[];
  const kept = names.filter((name) => changed === undefined || changed.includes(name));
  return Object.fromEntries(kept.map((name) => [theirs[name], all[name]]));
}

/** The fields of a task that Paper has. */
const KNOWN = ["title", "notes", "status", "dueDate"];

function unknown({ changed }: Given.ItemWriteOfTask): string[] {
  return changed.filter((field) => !KNOWN.includes(field));
}

/** A strict caller wants all or nothing. */
export function refuseUnknown(write: Given.ItemWriteOfTask): void {
  const [field] = unknown(write);
  if (write.strict && field !== undefined) throw Failure.unsupported(`the field ${field}`, { field });
}

/** Returns the warnings for every other caller: fields that Paper did not keep. */
export function warnings(write: Given.ItemWriteOfTask): Warning[] {
  return unknown(write).map((target) => ({ code: "field_not_supported", message: `Paper has no ${target}`, target }));
}

/** Where a walk over items goes on: the next page of everything, the next page of changes, or what changes from then on. */
export type Kind = "page" | "changes" | "since";

/** The version stands in front: a cursor of another version of this connector is no error, the host starts over. */
export function cursor(kind: Kind, token: string): string {
  return `v1;${kind};${token}`;
}

export function position(text: string | null): { kind: Kind; token: string } | null {
  if (text === null) return null;
  const [, kind, token] = /^v1;(page|changes|since);(.*)$/s.exec(text) ?? [];
  if (kind === undefined || token === undefined) throw expired();
  return { kind: kind as Kind, token };
}

export function expired(): Failure {
  return new Failure("cursor-expired", "the cursor is not one of this connector");
}

/** An address at Paper. */
export function address(context: Context, segments: string[], query: Parameters<typeof url>[2] = {}): string {
  const server = context.setting("serverUrl");
  if (server === undefined) throw new Failure("invalid", "settings.serverUrl is missing: give Paper's address");
  return url(server, ["v1", ...segments], query);
}

/** Reads something that has these members. Paper answers 410 where it no longer knows a token. */
export function read<T extends object>(
  context: Context,
  segments: string[],
  query: Parameters<typeof url>[2],
  doing: string,
  ...members: (keyof T & string)[]
): T {
  const response = context.send({ url: address(context, segments, query) });
  if (response.ok) return response.json<T>(...members);
  const failure = context.failure(response, doing);
  throw response.status === 410 ? failure.withCode("cursor-expired") : failure;
}
