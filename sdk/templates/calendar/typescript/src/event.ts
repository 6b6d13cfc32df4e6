/** Paper's events, and what they are for Switchboard. */

import { type Calendar, type Event, Failure, type Given, type Source } from "#switchboard";
import type { Collection, Names, PaperRecord } from "./paper.ts";

export const NAMES: Names = { collections: "calendars", records: "events" };

export interface PaperEvent extends PaperRecord {
  title: string;
  note: string | null;
  place: string | null;
  /** An instant, or the first day, `YYYY-MM-DD`. */
  start: string;
  /** An instant, or the day after the last. */
  end: string;
  /** The IANA name of the zone of an event with times. */
  zone: string | null;
}

export function calendar({ title }: Collection): Calendar {
  return { name: title, isOwned: true, accessRole: "owner" };
}

export function source(event: PaperEvent): Source {
  if (event.deleted) return { externalId: event.id, deleted: true };
  return { externalId: event.id, etag: event.etag, items: [{ externalId: event.id, body: body(event) }] };
}

/** A day is no time: it stays the day that it is, whatever the zone. Paper's days have no zone, so their instants are those of UTC. */
function body({ title, note, place, start, end, zone }: PaperEvent): Event {
  const texts = { title, description: note, location: place };
  if (!start.includes("T")) {
    const midnight = (day: string): string => `${day}T00:00:00.000Z`;
    return { ...texts, allDay: true, startDate: start, endDate: end, start: midnight(start), end: midnight(end), timeZone: "UTC" };
  }
  return { ...texts, allDay: false, start, end, timeZone: zone ?? "UTC" };
}

/** The fields of Paper for each of the model: the times of an event are written together. */
const TIMES = ["start", "end", "zone"] as const;
const KEPT: Readonly<Record<string, readonly (keyof PaperEvent)[]>> = {
  title: ["title"],
  description: ["note"],
  location: ["place"],
  start: TIMES,
  end: TIMES,
  timeZone: TIMES,
  allDay: TIMES,
  startDate: TIMES,
  endDate: TIMES,
};

/** What Paper shall have of an event: all fields, or the changed ones alone, so that the others stay as they are. */
export function fields(event: Given.Event, changed: string[] = Object.keys(KEPT)): Partial<PaperEvent> {
  const { allDay, startDate, endDate } = event;
  const times =
    allDay && startDate !== null && endDate !== null
      ? { start: startDate, end: endDate, zone: null }
      : { start: event.start, end: event.end, zone: event.timeZone };
  const all: Partial<PaperEvent> = { title: event.title ?? "", note: event.description, place: event.location, ...times };
  const names = new Set(changed.flatMap((field) => KEPT[field] ?? []));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name as keyof PaperEvent)));
}

/** The fields among these that Paper does not keep. */
export function unkept(changed: string[]): string[] {
  return changed.filter((field) => !(field in KEPT));
}

/** A rule that is lost would make one event out of many: it is refused, and not left out with a warning. */
export function refuseSeries({ changed, event, target }: Given.EventWrite): void {
  if (changed.includes("recurrence") && event.recurrence.length > 0) throw Failure.unsupported("series", { field: "recurrence" });
  if (target.recurrenceId !== null) throw Failure.unsupported("changes of one instance", { field: "recurrenceId" });
}
