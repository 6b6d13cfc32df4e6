/** A connector for Paper's calendars. `event.ts` maps events, `paper.ts` calls the service; here are the operations that a host asks for. */

import { type CalendarSurface, defineConnector, Failure, type Lifecycle } from "#switchboard";
import { calendar as calendarBody, fields, NAMES, type PaperEvent, refuseSeries, source, unkept } from "./event.ts";
import * as paper from "./paper.ts";

const lifecycle: Lifecycle = {
  check: (context) => paper.account(context, "calendar"),
};

const calendar: CalendarSurface = {
  // What is not claimed here, no caller asks for: series, guests, busy times.
  features: () => ({ delta: "syncToken" }),

  listCalendars: (context) => paper.collections(context, NAMES, calendarBody),

  getEvent: (context, args) => ({ sources: [source(paper.get<PaperEvent>(context, NAMES, args.collection, args.source))] }),

  changes: (context, args) => paper.changes<PaperEvent>(context, NAMES, args, source),

  createEvent(context, args) {
    refuseSeries(args);
    const made = paper.create<PaperEvent>(context, NAMES, args.collection, fields(args.event));
    return { sources: [source(made)], item: made.id, warnings: paper.warnings(unkept(args.changed)) };
  },

  updateEvent(context, args) {
    refuseSeries(args);
    const { source: id, ifMatch } = args.target;
    const target = { collection: args.collection, source: id, ifMatch };
    const now = paper.update<PaperEvent>(context, NAMES, target, fields(args.event, args.changed));
    return { sources: [source(now)], item: now.id, warnings: paper.warnings(unkept(args.changed)) };
  },

  deleteEvent(context, { collection, target }) {
    if (target.source === null) throw new Failure("invalid", "source is missing: name the event");
    return { sources: [paper.remove(context, NAMES, collection, target.source, target.ifMatch)] };
  },
};

export default defineConnector({ calendar, lifecycle });
