"""Expands series with python-dateutil: one JSON case per line of stdin, one JSON answer per line of stdout.

Case: {"zone", "local", "allDay", "rule", "rules": [], "exrules": [], "rdate": [], "exdate": [], "length", "overrides": [{"id", "start"}], "from", "to"};
local times are YYYYMMDDTHHMMSS (in UTC with a Z), instants are seconds since 1970. "length" is seconds, or days of an all-day
series. An override without a start is a cancellation. "rules" stand beside "rule", of timed series only.
Answer: the sorted starts (instants) of what overlaps [from, to), or {"error": text}.

The first line of stdout names the versions, so that a surprise can be told from an update.
"""

import importlib.metadata
import json
import sys
import zoneinfo
from datetime import datetime, timedelta, timezone

# The pinned tzdata package, not the machine's files.
zoneinfo.reset_tzpath(to=[])

import datetime as datetime_module

import dateutil.rrule as rrule_module


class BoundedDatetime:
    """The datetime module for dateutil with a nearer last year: its search of a rule that never matches ends at MAXYEAR."""

    MAXYEAR = 9999

    def __getattr__(self, name):
        return getattr(datetime_module, name)


BOUNDED = BoundedDatetime()
rrule_module.datetime = BOUNDED


def epoch(text, zone):
    """The instant of a written time (RFC 5545 3.3.5; fold=0 takes the offset before a gap and the first of two)."""
    if text.endswith("Z"):
        return int(datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc).timestamp())
    return int(datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=zone).timestamp())


class Instants:
    """What a rule generates, as UTC instants up to a last one; dateutil's sets merge them with added and excluded ones."""

    def __init__(self, rule, last):
        self.rule, self.last = rule, last

    def __iter__(self):
        for local in self.rule:
            # A day more: around a gap local order is not the order of instants.
            if local.timestamp() > self.last + 86400:
                return
            yield local.astimezone(timezone.utc)


def beside(text, start):
    """A rule that stands beside another; one that dateutil refuses because it never matches generates nothing."""
    try:
        return rrule_module.rrulestr(text, dtstart=start)
    except ValueError as error:
        if "empty set" in str(error):
            return []
        raise


def answer(case):
    zone = zoneinfo.ZoneInfo(case["zone"])
    start = datetime.strptime(case["local"], "%Y%m%dT%H%M%S").replace(tzinfo=zone)
    BOUNDED.MAXYEAR = datetime.fromtimestamp(case["to"], timezone.utc).year + 1
    text = case["rule"]
    if case["allDay"]:
        # dateutil wants UNTIL in the clock of the start: days have none.
        rule = rrule_module.rrulestr(text, dtstart=start.replace(tzinfo=None))
        rule = [local.replace(tzinfo=zone) for local in takewhile_before(rule, case["to"], zone)]
    else:
        rule = rrule_module.rrulestr(text, dtstart=start)
    whole = rrule_module.rruleset()
    whole.rrule(Instants(rule, case["to"]))
    for text in case["rules"]:
        whole.rrule(Instants(beside(text, start), case["to"]))
    for text in case["exrules"]:
        whole.exrule(Instants(beside(text, start), case["to"]))
    utc = lambda seconds: datetime.fromtimestamp(seconds, timezone.utc)
    for text in case["rdate"]:
        whole.rdate(utc(epoch(text, zone)))
    for text in case["exdate"]:
        whole.exdate(utc(epoch(text, zone)))
    starts = {int(at.timestamp()) for at in whole}
    for override in case["overrides"]:
        starts.discard(epoch(override["id"], zone))
    moved = [override["start"] for override in case["overrides"] if override["start"] is not None]

    def end(at):
        if case["allDay"]:
            day = datetime.fromtimestamp(at, zone) + timedelta(days=case["length"])
            return int(day.timestamp())
        return at + case["length"]

    inside = lambda at: at < case["to"] and (end(at) > case["from"] or at >= case["from"])
    return sorted([at for at in starts if inside(at)] + [at for at in moved if inside(at)])


def takewhile_before(rule, last, zone):
    for local in rule:
        if local.replace(tzinfo=zone).timestamp() > last + 86400:
            return
        yield local


def main():
    versions = {name: importlib.metadata.version(name) for name in ("python-dateutil", "tzdata")}
    print(json.dumps({"python": sys.version.split()[0], **versions}), flush=True)
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # a rule that dateutil refuses is an answer, too
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result))
    sys.stdout.flush()


main()
