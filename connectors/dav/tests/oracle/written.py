"""Reads calendar objects as other programs do: icalendar, vobject and python-dateutil.

One JSON case per line of stdin: {"text": the object, "home": IANA zone of floating times and days, "to": seconds since 1970, "stored": it
is as a server gave it back, which may fold as it likes and leave out the VTIMEZONEs of IANA zones (RFC 7809)}.
One JSON answer per line of stdout: {"problems": [text], "starts": [seconds since 1970] or null}. "problems" is empty where all three
read the object and it keeps to RFC 5545 where that ties one property to another: the form of DTSTART, DTEND, EXDATE, RDATE,
RECURRENCE-ID and UNTIL, a VTIMEZONE for each TZID, the parts of alarms, the parameters of people. "starts" are those of all
instances before "to"; null where dateutil cannot tell them: COUNT beside a DTSTART that the rule does not generate, which RFC 5545
section 3.8.5.3 counts and dateutil does not.

The first line of stdout names the versions, so that a surprise can be told from an update.
"""

import datetime as datetime_module
import importlib.metadata
import io
import json
import re
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone
from itertools import islice

# The pinned tzdata package, not the machine's files.
zoneinfo.reset_tzpath(to=[])

import dateutil.rrule as rrule_module
import dateutil.tz
import icalendar
import vobject


class BoundedDatetime:
    """The datetime module for dateutil with a nearer last year: its search of a rule that never matches ends at MAXYEAR."""

    MAXYEAR = 2040

    def __getattr__(self, name):
        return getattr(datetime_module, name)


rrule_module.datetime = BoundedDatetime()

DURATION = re.compile(r"[+-]?P(\d+W|(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?)")
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
NAME = re.compile(r"[A-Za-z0-9-]+")
WORDS = {
    "PARTSTAT": {"NEEDS-ACTION", "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"},
    "ROLE": {"CHAIR", "REQ-PARTICIPANT", "OPT-PARTICIPANT", "NON-PARTICIPANT"},
    "CUTYPE": {"INDIVIDUAL", "GROUP", "RESOURCE", "ROOM", "UNKNOWN"},
    "RSVP": {"TRUE", "FALSE"},
    "SCHEDULE-AGENT": {"SERVER", "CLIENT", "NONE"},
}
ONCE = {"UID", "DTSTAMP", "DTSTART", "DTEND", "DURATION", "SEQUENCE", "SUMMARY", "ORGANIZER", "RRULE", "RECURRENCE-ID", "LAST-MODIFIED", "CREATED"}


class Line:
    """One content line, taken apart by the grammar of RFC 5545 section 3.1, not by a library: those forgive."""

    def __init__(self, text):
        self.text = text
        self.params = {}
        match = NAME.match(text)
        if not match:
            raise ValueError(f"no name: {text!r}")
        self.name, at = match.group().upper(), match.end()
        while text[at : at + 1] == ";":
            match = re.compile(r';([A-Za-z0-9-]+)=((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)').match(text, at)
            if not match:
                raise ValueError(f"a parameter is broken: {text!r}")
            name, value = match.group(1).upper(), match.group(2)
            if name in self.params:
                raise ValueError(f"{name} stands twice: {text!r}")
            if not value.strip('"'):
                raise ValueError(f"{name} is empty: {text!r}")
            self.params[name], at = value, match.end()
        if text[at : at + 1] != ":":
            raise ValueError(f"no value: {text!r}")
        self.value = text[at + 1 :]

    def param(self, name):
        return self.params.get(name, "").strip('"')

    def form(self, value=None):
        """day, utc, floating, or the TZID; None where it is none of them."""
        value = self.value if value is None else value
        tzid, kind = self.param("TZID"), self.param("VALUE").upper()
        if kind == "DATE":
            return "day" if re.fullmatch(r"\d{8}", value) and not tzid else None
        if kind not in ("", "DATE-TIME", "PERIOD") or not re.fullmatch(r"\d{8}T\d{6}Z?", value):
            return None
        if value.endswith("Z"):
            return None if tzid else "utc"
        return "TZID=" + tzid if tzid else "floating"


class Component:
    def __init__(self, name):
        self.name, self.lines, self.inside = name, [], []

    def all(self, name):
        return [line for line in self.lines if line.name == name]

    def first(self, name):
        return next(iter(self.all(name)), None)

    def walk(self):
        yield self
        for child in self.inside:
            yield from child.walk()


def tree(text, is_stored, problems):
    """The object as components of lines."""
    physical = text.split("\r\n")
    if physical.pop() != "" or any("\n" in line or "\r" in line for line in physical):
        problems.append("a line does not end with CRLF")
    too_long = [line for line in physical if len(line.encode()) > 75 and not is_stored]
    problems.extend(f"longer than 75 octets: {line}" for line in too_long)
    logical = []
    for line in physical:
        if line[:1] in (" ", "\t") and logical:
            logical[-1] += line[1:]
        else:
            logical.append(line)
    root, open_components = Component(""), []
    for text in logical:
        line = Line(text)
        if line.name == "BEGIN":
            child = Component(line.value.upper())
            (open_components[-1] if open_components else root).inside.append(child)
            open_components.append(child)
        elif line.name == "END":
            if not open_components or open_components.pop().name != line.value.upper():
                raise ValueError(f"ends what is not open: {line.value}")
        else:
            open_components[-1].lines.append(line)
    if open_components or len(root.inside) != 1:
        raise ValueError("it is not one object")
    return root.inside[0]


def check_zones(calendar, is_stored, problems):
    defined = [zone.first("TZID").value for zone in calendar.inside if zone.name == "VTIMEZONE"]
    if len(defined) != len(set(defined)):
        problems.append("a VTIMEZONE stands twice")
    used = {line.param("TZID") for component in calendar.walk() for line in component.lines if "TZID" in line.params}
    known = zoneinfo.available_timezones() if is_stored else set()
    problems.extend(f"no VTIMEZONE for {tzid}" for tzid in sorted(used - set(defined) - known))


def check_event(event, series, problems):
    for name in ONCE:
        if len(event.all(name)) > 1:
            problems.append(f"{name} stands twice")
    for name in ("UID", "DTSTAMP", "DTSTART"):
        if not event.first(name):
            problems.append(f"{name} is missing")
    for name in ("DTSTAMP", "CREATED", "LAST-MODIFIED"):
        problems.extend(f"not in UTC: {line.text}" for line in event.all(name) if line.form() != "utc")
    start = event.first("DTSTART").form()
    if start is None:
        problems.append(f"of no form: {event.first('DTSTART').text}")
    check_end(event, start, problems)
    for line in event.all("RRULE"):
        until = re.search(r"(?:^|;)UNTIL=([^;]*)", line.value)
        if until:
            form = "day" if re.fullmatch(r"\d{8}", until.group(1)) else Line("X:" + until.group(1)).form()
            wanted = start if start in ("day", "floating") else "utc"
            if form != wanted:
                problems.append(f"UNTIL is {form} and DTSTART {start}: {line.text}")
    for line in event.all("EXDATE") + event.all("RDATE"):
        for value in line.value.split(","):
            if line.form(value.split("/")[0]) != start:
                problems.append(f"DTSTART is {start}: {line.text}")
    named = event.first("RECURRENCE-ID")
    if named:
        problems.extend(f"an instance has {line.text}" for name in ("RRULE", "RDATE", "EXDATE") for line in event.all(name))
        if series and named.form() != series.first("DTSTART").form():
            problems.append(f"the series has {series.first('DTSTART').text}: {named.text}")
    for line in event.all("ATTENDEE") + event.all("ORGANIZER"):
        check_person(line, problems)
    for alarm in event.inside:
        if alarm.name == "VALARM":
            check_alarm(alarm, problems)


def check_end(event, start, problems):
    end, duration = event.first("DTEND"), event.first("DURATION")
    if end and duration:
        problems.append("both DTEND and DURATION")
    if duration and not DURATION.fullmatch(duration.value):
        problems.append(f"no duration: {duration.text}")
    loose = lambda form: form if form in ("day", "floating", None) else "anchored"
    if end and (end.form() is None or loose(end.form()) != loose(start)):
        problems.append(f"DTSTART is {start}: {end.text}")


def check_person(line, problems):
    if not URI.fullmatch(line.value):
        problems.append(f"no address: {line.text}")
    for name, words in WORDS.items():
        if name in line.params and line.params[name].upper() not in words:
            problems.append(f"{name} is not one of {sorted(words)}: {line.text}")


def check_alarm(alarm, problems):
    trigger, action = alarm.first("TRIGGER"), alarm.first("ACTION")
    if not trigger or not action:
        problems.append("an alarm without TRIGGER or ACTION")
        return
    if trigger.param("VALUE").upper() == "DATE-TIME":
        if trigger.form() != "utc" or "RELATED" in trigger.params:
            problems.append(f"not in UTC: {trigger.text}")
    elif not DURATION.fullmatch(trigger.value) or trigger.value.rstrip("T")[-1] == "P":
        problems.append(f"no duration: {trigger.text}")
    if trigger.param("RELATED").upper() not in ("", "START", "END"):
        problems.append(f"related to nothing: {trigger.text}")
    needed = {"DISPLAY": ["DESCRIPTION"], "EMAIL": ["DESCRIPTION", "SUMMARY", "ATTENDEE"]}
    for name in needed.get(action.value.upper(), []):
        if not alarm.first(name) or not alarm.first(name).value:
            problems.append(f"{action.text} without {name}")
    for line in alarm.all("ATTENDEE"):
        check_person(line, problems)


class Clock:
    """What times mean where floating ones are in the zone `home`."""

    def __init__(self, home):
        self.home = zoneinfo.ZoneInfo(home)

    def epoch(self, at):
        """The instant of a date or time (RFC 5545 section 3.3.5; fold=0 takes the offset before a gap and the first of two)."""
        if not isinstance(at, datetime):
            at = datetime(at.year, at.month, at.day)
        return int((at if at.tzinfo else at.replace(tzinfo=self.home)).timestamp())


def listed(event, name):
    """The starts of the dates of all EXDATE or RDATE lines, as icalendar reads them."""
    found = event.get(name, [])
    for line in found if isinstance(found, list) else [found]:
        for value in line.dts:
            yield value.dt[0] if isinstance(value.dt, tuple) else value.dt


def rule_starts(event, text, clock, to):
    """What dateutil makes of the rule; None where COUNT counts a start that it does not generate."""
    start = event["DTSTART"].dt
    is_day = not isinstance(start, datetime)
    first = datetime(start.year, start.month, start.day) if is_day else start
    starts = []
    for at in rrule_module.rrulestr(text, dtstart=first):
        if clock.epoch(at) > to + 86400:
            break
        starts.append(clock.epoch(at))
    if "COUNT=" in text.upper() and starts[:1] != [clock.epoch(first)]:
        return None
    return starts


def all_starts(calendar, texts, clock, to):
    """The starts of all instances before `to`."""
    starts, replaced, moved = set(), set(), []
    for event in calendar.walk("VEVENT"):
        start = clock.epoch(event["DTSTART"].dt)
        if "RECURRENCE-ID" in event:
            replaced.add(clock.epoch(event["RECURRENCE-ID"].dt))
            moved.append(start)
            continue
        starts.add(start)
        if texts.get(str(event["UID"])):
            generated = rule_starts(event, texts[str(event["UID"])], clock, to)
            if generated is None:
                return None
            starts.update(generated)
        starts.update(clock.epoch(at) for at in listed(event, "RDATE"))
        starts.difference_update(clock.epoch(at) for at in listed(event, "EXDATE"))
    return sorted(at for at in list(starts - replaced) + moved if at < to)


def check_definitions(text, problems):
    """Each VTIMEZONE, as dateutil reads it, shows the time of the IANA zone of its name at every DTSTART."""
    known = re.findall(r"(?m)^(?:DTSTART|DTEND);TZID=([A-Za-z_]+/[A-Za-z_/]+):(\d{8}T\d{6})\r$", text)
    blocks = re.findall(r"(?ms)^BEGIN:VTIMEZONE\r$.*?^END:VTIMEZONE\r$", text)
    # dateutil refuses properties of other programs.
    plain = "\n".join(re.sub(r"(?m)^X-.*$\n?", "", block.replace("\r", "")) for block in blocks)
    zones = dateutil.tz.tzical(io.StringIO(plain)) if blocks else None
    for tzid, value in set(known):
        at = datetime.strptime(value, "%Y%m%dT%H%M%S")
        ours = zones.get(tzid) if zones and tzid in zones.keys() else None
        theirs = at.replace(tzinfo=zoneinfo.ZoneInfo(tzid)).utcoffset()
        if ours is not None and at.replace(tzinfo=ours).utcoffset() != theirs:
            problems.append(f"the VTIMEZONE {tzid} is {at.replace(tzinfo=ours).utcoffset()} ahead at {value}, not {theirs}")


def check_vobject(text, problems):
    calendar = vobject.readOne(text)
    calendar.validate(raiseException=True)
    for event in calendar.contents.get("vevent", []):
        if "rrule" in event.contents and "recurrence-id" not in event.contents:
            found = list(islice(event.rruleset, 3))
            if not found and "exdate" not in event.contents:
                problems.append("vobject finds no instance")


def answer(case):
    problems, starts, text = [], None, case["text"]
    clock, is_stored = Clock(case["home"]), case.get("stored", False)
    calendar = tree(text, is_stored, problems)
    events = [component for component in calendar.inside if component.name == "VEVENT"]
    series = next((event for event in events if not event.first("RECURRENCE-ID")), None)
    if len({event.first("UID").value for event in events}) != 1:
        problems.append("not one UID")
    check_zones(calendar, is_stored, problems)
    for event in events:
        check_event(event, series, problems)
    if problems:
        # The libraries stumble over the same, with messages that say less.
        return {"problems": problems, "starts": None}
    read = icalendar.Calendar.from_ical(text)
    for component in read.walk():
        problems.extend(f"icalendar: {component.name}: {error}" for error in component.errors)
    check_definitions(text, problems)
    check_vobject(text, problems)
    if not problems:
        texts = {event.first("UID").value: event.first("RRULE").value for event in events if event.first("RRULE")}
        starts = all_starts(read, texts, clock, case["to"])
    return {"problems": problems, "starts": starts}


def main():
    versions = {name: importlib.metadata.version(name) for name in ("icalendar", "vobject", "python-dateutil", "tzdata")}
    print(json.dumps({"python": sys.version.split()[0], **versions}), flush=True)
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # an object that a library refuses is an answer, too
            result = {"problems": [f"{type(error).__name__}: {error}"], "starts": None}
        print(json.dumps(result))
    sys.stdout.flush()


main()
