"""The rules of slots, minute by minute: one JSON case per line of stdin, one JSON answer per line of stdout.

Case: as `Case::json` in tests/suite/generator.rs writes it. Schedules are those of the API; times are minutes since 1970, "nowMs"
and "noticeMs" milliseconds; every pair is [start, end), the end outside.
Answer: the slots in order of time, each [start, [indices of hosts], free seats, meeting that is joined or null, [ids of the hosts
who take it, the organizer first]].

Every minute of the range is decided by itself, by what is true of the minutes of the meeting: there is no arithmetic of intervals,
and nothing is carried from one minute to the next. The first line of stdout names the versions, so that a surprise can be told
from an update.
"""

import importlib.metadata
import json
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

# The pinned tzdata package, not the machine's files.
zoneinfo.reset_tzpath(to=[])

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# A window, a meeting and its buffers are each shorter than this many minutes.
MARGIN = 3 * 24 * 60


def instant(local, zone):
    """The minute of a local time; in a gap the offset before it, of two the first (fold=0)."""
    return (local.replace(tzinfo=zone) - EPOCH) // timedelta(minutes=1)


def local_date(minute, zone):
    return (EPOCH + timedelta(minutes=minute)).astimezone(zone).date()


def midnight(day):
    return datetime(day.year, day.month, day.day)


def clock(text):
    return int(text[:2]) * 60 + int(text[3:])


def marks(first, length, spans):
    """One byte a minute, 1 in a span."""
    out = bytearray(length)
    for start, end in spans:
        for minute in range(max(start - first, 0), min(end - first, length)):
            out[minute] = 1
    return out


class Times:
    """What one host's minutes are."""

    def __init__(self, case, host, first, length):
        schedule = host["schedule"] or case["schedule"]
        zone = zoneinfo.ZoneInfo(schedule["timeZone"])
        rules = case["rules"]
        self.open = bytearray(length)
        self.grid = bytearray(length)
        day = local_date(first, zone) - timedelta(days=3)
        last = local_date(first + length, zone) + timedelta(days=3)
        while day <= last:
            # A date that the zone skipped has no time.
            if instant(midnight(day), zone) < instant(midnight(day + timedelta(days=1)), zone):
                self.add_date(schedule, zone, day, rules, first, length)
            day += timedelta(days=1)
        self.is_known = host["busy"] is not None
        self.busy = marks(first, length, host["busy"] or [])
        others = [r for r in host["reserved"] if r["meeting"] != case["moved"]]
        self.cores = marks(first, length, [r["core"] for r in others])
        self.padded = marks(first, length, [r["padded"] for r in others])

    def add_date(self, schedule, zone, day, rules, first, length):
        """The open minutes of the windows that begin on a date, and the points of their grids."""
        override = next((o for o in schedule["overrides"] if o["date"] == day.isoformat()), None)
        if override is not None:
            rows = override["windows"]
        else:
            rows = [row for row in schedule["weekly"] if day.isoweekday() in row["days"]]
        # The minutes of this date alone: windows that touch are one, those of two dates are not.
        open_minutes = set()
        for row in rows:
            start, end = clock(row["start"]), clock(row["end"])
            if end <= start:
                end += 24 * 60
            begin = instant(midnight(day) + timedelta(minutes=start), zone)
            open_minutes.update(range(begin, instant(midnight(day) + timedelta(minutes=end), zone)))
        since_start = None
        for minute in sorted(open_minutes):
            since_start = 0 if minute - 1 not in open_minutes else since_start + 1
            if not 0 <= minute - first < length:
                continue
            self.open[minute - first] = 1
            steps = since_start - rules["offset"]
            if steps >= 0 and steps % rules["step"] == 0:
                self.grid[minute - first] = 1

    def is_free(self, at, rules):
        if not self.is_known and not rules["unknownIsFree"]:
            return False
        end = at + rules["duration"]
        with_buffers = slice(at - rules["before"], end + rules["after"])
        return (
            all(self.open[at:end])
            and not any(self.padded[at:end])
            and not any(self.busy[with_buffers])
            and not any(self.cores[with_buffers])
        )


class Answer:
    def __init__(self, case):
        self.case = case
        self.rules = rules = case["rules"]
        self.zone = zoneinfo.ZoneInfo(rules["zone"])
        start, end = case["range"]
        self.first = start - MARGIN
        self.hosts = case["hosts"]
        self.times = [Times(case, host, self.first, end - start + 2 * MARGIN) for host in self.hosts]
        self.meetings = [m for m in case["meetings"] if m["meeting"] != case["moved"]]
        self.dates = [
            (local_date(m["core"][0], self.zone), m["core"][1] - m["core"][0]) for m in self.meetings
        ]
        self.earliest, self.latest = self.window()

    def window(self):
        """The first and the last date that can be booked."""
        window = self.rules["window"]
        if window["kind"] == "range":
            read = lambda text, default: default if text is None else date.fromisoformat(text)
            return read(window["first"], date.min), read(window["last"], date.max)
        if window["kind"] == "unlimited":
            return date.min, date.max
        now = datetime.fromtimestamp(self.case["nowMs"] / 1000, timezone.utc)
        day, counted = now.astimezone(self.zone).date(), 0
        while counted < window["days"]:
            day += timedelta(days=1)
            if not window["businessDays"] or day.isoweekday() <= 5:
                counted += 1
        return date.min, day

    def rotates(self):
        return self.rules["assignment"] in ("roundRobin", "priority")

    def is_needed(self, host):
        is_collective = self.rules["assignment"] == "collective"
        return host["role"] == "required" or (is_collective and host["role"] == "rotation")

    def is_in_rotation(self, host):
        has_weight = self.rules["strategy"] != "weighted" or host["weight"] > 0
        return host["role"] == "rotation" and self.rotates() and has_weight

    def is_listed(self, name):
        return self.case["onlyHosts"] is None or name in self.case["onlyHosts"]

    def seat(self, minute):
        """The meeting at this time that has a free seat, and how many."""
        found = []
        for meeting in self.meetings:
            left = min(meeting["seats"], self.rules["seats"]) - meeting["taken"]
            needed = [host["id"] for host in self.hosts if self.is_needed(host)]
            may_join = all(self.is_listed(name) or name in needed for name in meeting["hosts"])
            is_same = meeting["core"] == [minute, minute + self.rules["duration"]]
            if self.rules["seats"] > 1 and left > 0 and may_join and is_same:
                found.append((meeting["meeting"], left, meeting["hosts"]))
        return min(found) if found else None

    def is_full(self, day):
        limits = self.rules["limits"]
        periods = {
            "perDay": lambda d: d,
            "perWeek": lambda d: tuple(d.isocalendar())[:2],
            "perMonth": lambda d: (d.year, d.month),
            "perYear": lambda d: d.year,
        }
        for name, period in periods.items():
            count = sum(1 for other, _ in self.dates if period(other) == period(day))
            if limits[name] is not None and count >= limits[name]:
                return True
        minutes = sum(length for other, length in self.dates if other == day)
        most = limits["minutesPerDay"]
        return most is not None and minutes + self.rules["duration"] > most

    def slot(self, minute):
        case, rules, at = self.case, self.rules, minute - self.first
        serving = [
            index
            for index, host in enumerate(self.hosts)
            if self.is_needed(host) or self.is_in_rotation(host)
        ]
        if not any(self.times[index].grid[at] for index in serving):
            return None
        if minute * 60_000 < case["nowMs"] + rules["noticeMs"]:
            return None
        day = local_date(minute, self.zone)
        if not self.earliest <= day <= self.latest:
            return None
        most = rules["limits"]["activePerInvitee"]
        if case["inviteeActive"] is not None and most is not None and case["inviteeActive"] >= most:
            return None
        joined = self.seat(minute)
        if joined is not None:
            name, left, hosts = joined
            indices = [index for index, host in enumerate(self.hosts) if host["id"] in hosts]
            return [minute, indices, left, name]
        if self.is_full(day):
            return None
        needed = [index for index in serving if self.is_needed(self.hosts[index])]
        others = [index for index in serving if index not in needed]
        free = [index for index in serving if self.times[index].is_free(at, rules)]
        if any(index not in free for index in needed):
            return None
        chosen = [index for index in others if index in free and self.is_listed(self.hosts[index]["id"])]
        if not (chosen if self.rotates() else needed):
            return None
        return [minute, sorted(needed + chosen), rules["seats"], None]

    def turn(self, host):
        """Whose turn it is: the smallest comes first."""
        loads = {
            "leastLoaded": lambda: host["load"],
            "weighted": lambda: Fraction(host["load"] + 1, host["weight"]),
            "soonest": lambda: host["lastAssigned"],
        }
        load, priority = loads[self.rules["strategy"]](), host["priority"]
        first = priority if self.rules["assignment"] == "priority" else 0
        return self.place(host["id"]), first, load, priority, host["id"]

    def place(self, name):
        """Hosts who had the meeting before keep it where they can, in their order."""
        keep = self.case["keep"]
        return keep.index(name) if name in keep else len(keep)

    def taken_by(self, slot):
        """The ids of the hosts who take a slot."""
        _, indices, _, joined = slot
        if joined is not None:
            return next(m["hosts"] for m in self.meetings if m["meeting"] == joined)
        free = [self.hosts[index] for index in indices]
        rotation = [host for host in free if self.is_in_rotation(host)]
        hosts = [host for host in free if host not in rotation]
        if rotation:
            hosts.append(min(rotation, key=self.turn))
        return sorted((host["id"] for host in hosts), key=self.place)

    def slots(self):
        start, end = self.case["range"]
        found = (self.slot(minute) for minute in range(start, end))
        return [[*slot, self.taken_by(slot)] for slot in found if slot is not None]


def main():
    versions = {"tzdata": importlib.metadata.version("tzdata")}
    print(json.dumps({"python": sys.version.split()[0], **versions}), flush=True)
    for line in sys.stdin:
        print(json.dumps(Answer(json.loads(line)).slots()))
    sys.stdout.flush()


main()
