// The other side of the bench `scheduling`: a search for slots as one would write it in Node with luxon, in one process, on SQLite. It takes
// and gives the same JSON as ours. Nothing is computed before it is asked for, and nothing is kept.
//
// `data SEED CALENDARS DAYS` prints what both sides have: where the days begin and end, and the events of each calendar. `serve INPUT FOLDER`
// prints `ready PORT`. `insert FOLDER COUNT` prints the microseconds of each of so many commits of one row.
import { createHmac } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { DateTime } from 'luxon';

const ZONE = 'America/New_York';
const MINUTE = 60_000;
// Events of a calendar in thirty days, and how many of them are whole days.
const EVENTS = 200;
const WHOLE_DAYS = 5;

function open(folder) {
  const path = join(folder, 'peer.db');
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  const db = new DatabaseSync(path);
  db.exec('pragma journal_mode = wal; pragma synchronous = full');
  return db;
}

// mulberry32: the same numbers below 1 for the same seed.
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function data(seed, calendars, days) {
  const next = random(seed);
  const below = (most) => Math.floor(next() * most);
  // A Monday twenty days before the clocks change, so that every range of three weeks and more has that night.
  let change = DateTime.now().setZone(ZONE).startOf('day').plus({ days: 23 });
  while (change.offset === change.plus({ days: 1 }).offset) change = change.plus({ days: 1 });
  const first = change.minus({ days: 20 });
  const iso = (at) => at.toUTC().toISO();
  const event = () => {
    const start = first.plus({ days: below(days) }).set({ hour: 8, minute: 5 * below(102) });
    const showAs = next() < 0.1 ? 'tentative' : 'busy';
    return { title: 'Event', start: iso(start), end: iso(start.plus({ minutes: 30 + 5 * below(13) })), showAs };
  };
  const wholeDay = () => {
    const start = first.plus({ days: below(days) });
    const dates = { startDate: start.toISODate(), endDate: start.plus({ days: 1 }).toISODate() };
    return { title: 'Away', allDay: true, ...dates };
  };
  const of = (count, make) => Array.from({ length: Math.round((count * days) / 30) }, make);
  const ends = {};
  for (let day = 1; day <= days; day += 1) ends[day] = iso(first.plus({ days: day }));
  const all = Array.from({ length: calendars }, () => [...of(EVENTS - WHOLE_DAYS, event), ...of(WHOLE_DAYS, wholeDay)]);
  const middle = first.plus({ days: 15 });
  return { zone: ZONE, start: iso(first), ends, month: middle.toFormat('yyyy-MM'), calendars: all };
}

// When an event begins and ends. A whole day is one of the zone.
function span({ allDay, start, end, startDate, endDate }) {
  const at = (text) => DateTime.fromISO(text, { zone: ZONE }).toMillis();
  return allDay ? [at(startDate), at(endDate)] : [at(start), at(end)];
}

function load(db, { hosts, meetings }) {
  db.exec(`
    create table busy (host text not null, start integer not null, end integer not null);
    create table meetings (event_type text not null, host text not null, start integer not null, end integer not null);
    begin`);
  const busy = db.prepare('insert into busy values (?, ?, ?)');
  for (const { id, events } of hosts) for (const event of events) busy.run(id, ...span(event));
  const meeting = db.prepare('insert into meetings values (?, ?, ?, ?)');
  for (const { eventType, host, start, end } of meetings) meeting.run(eventType, host, ...span({ start, end }));
  db.exec(`
    commit;
    create index busy_of_host on busy (host, start);
    create index meetings_of_host on meetings (host, start);
    create index meetings_of_event_type on meetings (event_type, start)`);
}

// Stretches that overlap or touch made one.
function merged(stretches) {
  const all = [];
  for (const [start, end] of stretches.sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}

function search(db, secret, eventTypes) {
  const busy = db.prepare('select start, end from busy where host = ? and start < ? and end > ?');
  const reserved = db.prepare('select start, end from meetings where host = ? and start < ? and end > ?');
  const taken = db.prepare('select start from meetings where event_type = ? and start >= ? and start < ?');

  // The stretches in which a meeting may not lie, however it is padded.
  const blocked = (rules, host, from, to) => {
    const duration = rules.durationMinutes * MINUTE;
    const before = rules.bufferBeforeMinutes * MINUTE;
    const after = rules.bufferAfterMinutes * MINUTE;
    const most = Math.max(before, after);
    const range = [host, to + duration + most, from - most];
    const stretches = busy.all(...range).map(({ start, end }) => [start - after, end + before]);
    for (const { start, end } of reserved.all(...range)) {
      // Neither it with its buffers and the new meeting, nor the new one with its buffers and it.
      stretches.push([start - Math.max(before, after), end + Math.max(before, after)]);
    }
    return merged(stretches);
  };

  return ({ eventTypeId, start, end }) => {
    const rules = eventTypes[eventTypeId];
    const { hosts, schedule, limits } = rules;
    const zone = schedule.timeZone;
    const from = DateTime.fromISO(start, { zone });
    const to = DateTime.fromISO(end, { zone });
    const earliest = DateTime.now().plus({ minutes: rules.minNoticeMinutes });
    const times = hosts.map((id) => ({ id, blocked: blocked(rules, id, from.toMillis(), to.toMillis()) }));
    const perDay = new Map();
    for (const { start: at } of taken.all(eventTypeId, from.startOf('day').toMillis(), to.endOf('day').toMillis())) {
      const date = DateTime.fromMillis(at, { zone }).toISODate();
      perDay.set(date, (perDay.get(date) ?? 0) + 1);
    }
    const found = [];
    for (let day = from.startOf('day'); day < to; day = day.plus({ days: 1 })) {
      if ((perDay.get(day.toISODate()) ?? 0) >= limits.perDay) continue;
      for (const { days, start: opens, end: closes } of schedule.weekly) {
        if (!days.includes(day.weekday)) continue;
        const [hour, minute] = opens.split(':').map(Number);
        const [lastHour, lastMinute] = closes.split(':').map(Number);
        const close = day.set({ hour: lastHour, minute: lastMinute });
        let at = day.set({ hour, minute });
        for (; at < close; at = at.plus({ minutes: rules.slotIntervalMinutes })) {
          const until = at.plus({ minutes: rules.durationMinutes });
          if (until > close || at < from || at >= to || at < earliest) continue;
          const [first, last] = [at.toMillis(), until.toMillis()];
          const isFree = (host) => !host.blocked.some((stretch) => stretch[0] < last && stretch[1] > first);
          const free = times.filter(isFree).map((host) => host.id);
          if (free.length === 0) continue;
          const slot = JSON.stringify(['slot', eventTypeId, 1, first, rules.durationMinutes]);
          const tag = createHmac('sha256', secret).update(slot).digest().subarray(0, 16).toString('base64url');
          found.push({
            start: new Date(first).toISOString(),
            end: new Date(last).toISOString(),
            localStart: at.toISO({ suppressMilliseconds: true }),
            hostIds: free,
            hostCount: free.length,
            seatsRemaining: null,
            slotToken: `${Buffer.from(slot).toString('base64url')}.${tag}`,
          });
        }
      }
    }
    return {
      data: found,
      next_cursor: null,
      time_zone: zone,
      computed_at: new Date().toISOString(),
      complete: true,
      unavailable_hosts: [],
    };
  };
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

function serve(input, folder) {
  const db = open(folder);
  load(db, input);
  const answer = search(db, input.secret, input.eventTypes);
  const server = createServer(async (request, response) => {
    const text = JSON.stringify(answer(await body(request)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => console.log(`ready ${server.address().port}`));
}

function insert(folder, count) {
  const db = open(folder);
  db.exec('create table bookings (id text primary key, start integer not null, body text not null)');
  const one = db.prepare('insert into bookings values (?, ?, ?)');
  const text = JSON.stringify({ invitee: { name: 'Ada', email: 'ada@example.org' }, title: 'x'.repeat(600) });
  const micros = [];
  for (let number = 0; number < count; number += 1) {
    const before = performance.now();
    one.run(`bk_${number}`, number * 15 * MINUTE, text);
    micros.push(Math.round((performance.now() - before) * 1_000));
  }
  return micros;
}

const [what, ...rest] = process.argv.slice(2);
if (what === 'data') console.log(JSON.stringify(data(...rest.map(Number))));
else if (what === 'serve') serve(JSON.parse(readFileSync(rest[0], 'utf8')), rest[1]);
else if (what === 'insert') console.log(JSON.stringify(insert(rest[0], Number(rest[1]))));
else throw new Error(`there is nothing called ${what}`);
