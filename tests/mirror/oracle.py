"""Reads calendars, cards and mail with Python's icalendar, vobject and email, and says what the API should say of them.

    oracle.py split < [path, ...]                      objects as a server takes them: one UID, one card, one message each
    oracle.py read  < [{"kind": ..., "base64": ...}]   their fields, in the API's names
    oracle.py rules < [["RRULE:…", ...]]               lines of the API as they are compared
    oracle.py diff  < [{"before": ..., "after": ...}]  content lines that differ, as [component, sign, line]

JSON in, JSON out. It shares nothing with the connectors but the standards.
"""

import base64
import datetime as dt
import email
import email.header
import email.policy
import email.utils
import json
import re
import sys
import unicodedata
import zoneinfo
from collections import Counter

import icalendar
import vobject

HOME = zoneinfo.ZoneInfo("Europe/Berlin")


def unfold(text):
    lines = []
    for line in re.split(r"\r\n|\n|\r", text):
        if line[:1] in (" ", "\t") and lines:
            lines[-1] += line[1:]
        elif line:
            lines.append(line)
    return lines


def text_of(raw):
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


# ---- objects


def blocks(lines, depth):
    """Pieces of the component at this depth: [name, lines] of each component, ["", [line]] of each property."""
    found, level = [], 0
    for line in lines:
        name = line.strip().upper()
        folded = line[:1] in (" ", "\t")
        if not folded and name.startswith("BEGIN:"):
            level += 1
            if level == depth + 1:
                found.append([name[6:].strip(), []])
        if level > depth:
            found[-1][1].append(line)
        elif level == depth:
            found.append(["", [line]])
        if not folded and name.startswith("END:"):
            level -= 1
    return found


def uid_of(lines):
    for line in unfold("\n".join(lines)):
        if line.upper().startswith("UID:") or line.upper().startswith("UID;"):
            return line.split(":", 1)[-1].strip()
    return ""


def split_calendar(raw):
    lines = re.split(r"\r\n|\n|\r", text_of(raw))
    for _, calendar in [b for b in blocks(lines, 0) if b[0] == "VCALENDAR"]:
        inside = blocks(calendar, 1)
        head = [l for name, ls in inside if name in ("", "VTIMEZONE") for l in ls if not re.match(r"(?i)(BEGIN|END):VCALENDAR|METHOD[:;]", l)]
        groups = {}
        for at, (name, ls) in enumerate(inside):
            if name == "VEVENT":
                groups.setdefault(uid_of(ls) or f"none-{at}", []).extend(ls)
        for events in groups.values():
            yield "\r\n".join(["BEGIN:VCALENDAR", *[l for l in head if l], *[l for l in events if l], "END:VCALENDAR", ""]).encode()


def split_cards(raw):
    for _, card in blocks(re.split(r"\r\n|\n|\r", text_of(raw)), 0):
        if card[0].strip().upper() == "BEGIN:VCARD":
            yield "\r\n".join([*[l for l in card if l], ""]).encode()


def split(paths):
    objects = []
    for path in paths:
        raw = open(path, "rb").read()
        kind = {"ics": "event", "vcf": "contact", "eml": "message"}[path.rsplit(".", 1)[-1].lower()]
        if kind == "message":
            found = [re.sub(rb"\r?\n", b"\r\n", raw)]
        else:
            found = list(split_calendar(raw) if kind == "event" else split_cards(raw))
        for number, one in enumerate(found):
            objects.append({"path": path, "number": number, "kind": kind, "base64": base64.b64encode(one).decode()})
    return objects


# ---- events


def instant(value, home=HOME):
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    if value.tzinfo is None:
        value = value.replace(tzinfo=home)
    return value.astimezone(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def plain(component, name):
    value = component.get(name)
    if isinstance(value, list):
        value = value[0]
    return None if value is None or not str(value).strip() else str(value)


def address(value):
    text = str(value).strip()
    if text.lower().startswith("mailto:"):
        return text[7:].lower()
    return value.params["EMAIL"].lower() if "EMAIL" in value.params else text


def several(component, name):
    found = component.get(name, [])
    return found if isinstance(found, list) else [found]


def attendee(value):
    word = lambda name: str(value.params.get(name, "")).upper()
    return {
        "email": address(value),
        "name": str(value.params["CN"]) if value.params.get("CN") else None,
        "responseStatus": {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative"}.get(word("PARTSTAT"), "needsAction"),
        "role": {"OPT-PARTICIPANT": "optional", "CHAIR": "chair", "NON-PARTICIPANT": "nonParticipant"}.get(word("ROLE"), "required"),
        "kind": {"GROUP": "group", "RESOURCE": "resource", "ROOM": "room"}.get(word("CUTYPE"), "individual"),
    }


def reminders(event, length):
    found = []
    for alarm in event.walk("VALARM"):
        trigger, action = alarm.get("TRIGGER"), str(alarm.get("ACTION", "")).upper()
        if trigger is None or action not in ("DISPLAY", "AUDIO", "EMAIL") or not isinstance(trigger.dt, dt.timedelta):
            continue
        offset = trigger.dt + (length if str(trigger.params.get("RELATED", "")).upper() == "END" else dt.timedelta())
        minutes, rest = divmod(-offset.total_seconds(), 60)
        # Whole minutes up to four weeks before: what a reminder of the API can say.
        if rest == 0 and 0 <= minutes <= 40320:
            found.append({"method": "email" if action == "EMAIL" else "popup", "minutesBefore": int(minutes)})
    return {"overrides": found}


def rules(event):
    """RRULEs as sorted parts, RDATEs and EXDATEs as the days and times that they name."""
    found = []
    for rule in several(event, "RRULE"):
        parts = rule.to_ical().decode().upper().split(";")
        found.append("RRULE:" + ";".join(sorted(parts)))
    for name in ("RDATE", "EXDATE"):
        for line in several(event, name):
            found += [f"{name}:{instant(d.dt[0] if isinstance(d.dt, tuple) else d.dt)}" for d in line.dts]
    return sorted(found)


def read_rules(lines):
    """The same of lines as the API has them."""
    return rules(icalendar.Event.from_ical("\r\n".join(["BEGIN:VEVENT", *lines, "END:VEVENT", ""])))


def event_fields(event):
    start = event["DTSTART"].dt
    days = not isinstance(start, dt.datetime)
    one = dt.timedelta(days=1 if days else 0)
    if "DTEND" in event:
        end = event["DTEND"].dt
    elif "DURATION" in event:
        end = start + event["DURATION"].dt
    else:
        end = start + one
    if days:
        end = max(end.date() if isinstance(end, dt.datetime) else end, start + one)
    fields = {
        "iCalUid": plain(event, "UID"),
        "sequence": int(event.get("SEQUENCE", 0)),
        "title": plain(event, "SUMMARY"),
        "description": plain(event, "DESCRIPTION"),
        "location": plain(event, "LOCATION"),
        "status": {"TENTATIVE": "tentative", "CANCELLED": "cancelled"}.get(str(event.get("STATUS", "")).upper(), "confirmed"),
        "visibility": {"": "default", "PUBLIC": "public", "CONFIDENTIAL": "confidential"}.get(str(event.get("CLASS", "")).upper(), "private"),
        "allDay": days,
        "start": instant(start),
        "end": max(instant(start), instant(end)),
        "startDate": start.isoformat() if days else None,
        "endDate": end.isoformat() if days else None,
        "attendees": [attendee(a) for a in several(event, "ATTENDEE")],
        "reminders": reminders(event, (dt.datetime.fromisoformat(instant(end)) - dt.datetime.fromisoformat(instant(start)))),
        "recurrence": [] if "RECURRENCE-ID" in event else rules(event),
        "attachments": [{"url": str(a)} for a in several(event, "ATTACH") if isinstance(a, icalendar.vUri) and not str(a).lower().startswith("data:")],
    }
    # Without TRANSP Outlook's own property may say more.
    if "X-MICROSOFT-CDO-BUSYSTATUS" not in event:
        fields["showAs"] = "free" if str(event.get("TRANSP", "")).upper() == "TRANSPARENT" else "busy"
    if "ORGANIZER" in event:
        organizer = event["ORGANIZER"]
        fields["organizer"] = {"email": address(organizer), "name": str(organizer.params["CN"]) if organizer.params.get("CN") else None}
    else:
        fields["organizer"] = None
    return fields


def read_event(raw):
    calendar = icalendar.Calendar.from_ical(raw)
    found = []
    for event in calendar.walk("VEVENT"):
        of = event.get("RECURRENCE-ID")
        found.append({"originalStart": instant(of.dt) if of is not None else None, **event_fields(event)})
    return found


# ---- contacts


def joined(value, by):
    if isinstance(value, (list, tuple)):
        return by.join(str(one) for one in value if one).strip() or None
    return (str(value).strip() or None) if value else None


def types(line):
    named = [t.lower() for value in line.params.get("TYPE", []) for t in value.split(",")]
    return set(named) | {t.lower() for t in line.singletonparams}


def labels(card):
    return {line.group: line.value for line in card.contents.get("x-ablabel", []) if line.group}


def kind_of(line, label):
    said = label.get(line.group) if line.group else None
    if said is not None:
        return {"_$!<home>!$_": "home", "_$!<work>!$_": "work", "_$!<other>!$_": "other", "_$!<homepage>!$_": "other"}.get(said.lower(), "custom")
    for one in ("home", "work"):
        if one in types(line):
            return one
    usual = {"internet", "x400", "voice", "pref", "dom", "intl", "postal", "parcel", "other", "uri", "cell", "text", "quoted-printable"}
    return "custom" if types(line) - usual else "other"


def day(text):
    match = re.match(r"(?:(\d{4})-?|--)(\d\d)-?(\d\d)(?:[T ].*)?$", text)
    return match and {"year": int(match[1]) if match[1] else None, "month": int(match[2]), "day": int(match[3])}


def read_contact(raw):
    card = vobject.readOne(raw.decode("utf-8"), allowQP=True)
    label = labels(card)
    lines = lambda name: [l for l in card.contents.get(name, []) if joined(l.value, " ")]
    first = lambda name: joined(lines(name)[0].value, " ") if lines(name) else None
    name = card.n.value if "n" in card.contents else None
    part = lambda which: joined(getattr(name, which), " ") if name is not None else None
    nicknames = [joined(l.value if isinstance(l.value, list) else re.sub(r"\s*,\s*", ", ", str(l.value)), ", ") for l in lines("nickname")]
    notes = [joined(l.value, " ") for l in lines("note")]
    fields = {
        "displayName": first("fn"),
        "familyName": part("family"),
        "givenName": part("given"),
        "middleName": part("additional"),
        "prefix": part("prefix"),
        "suffix": part("suffix"),
        "nickname": ", ".join(nicknames) or None,
        "emails": [{"value": l.value.strip(), "type": kind_of(l, label)} for l in lines("email")],
        "phones": [{"value": re.sub(r"(?i)^tel:", "", l.value.strip())} for l in lines("tel")],
        "urls": [{"value": l.value.strip(), "type": kind_of(l, label)} for l in lines("url")],
        "notes": "\n".join(notes) or None,
        "addresses": [
            {
                "poBox": joined(l.value.box, ","), "extended": joined(l.value.extended, ","), "street": joined(l.value.street, ","),
                "locality": joined(l.value.city, ","), "region": joined(l.value.region, ","), "postalCode": joined(l.value.code, ","),
                "country": joined(l.value.country, ","), "type": kind_of(l, label),
            }
            for l in card.contents.get("adr", [])
            if any(joined(p, ",") for p in vars(l.value).values())
        ],
    }
    if len(lines("org")) == 1 and len(lines("title")) <= 1:
        parts = card.org.value if isinstance(card.org.value, list) else [card.org.value]
        fields["organizations"] = [{"name": joined(parts[0], ","), "department": ", ".join(p for p in parts[1:] if p) or None, "title": first("title")}]
    bday = card.contents.get("bday", [None])[0]
    if bday is None:
        fields["birthday"] = None
    elif "text" not in [v.lower() for v in bday.params.get("VALUE", [])]:
        fields["birthday"] = day(bday.value.strip())
        omitted = bday.params.get("X-APPLE-OMIT-YEAR")
        if omitted and fields["birthday"] and str(fields["birthday"]["year"]) == omitted[0]:
            fields["birthday"]["year"] = None
    return [fields]


# ---- messages


def words(value):
    """Encoded words (RFC 2047) decoded, NFC, on one line."""
    if value is None:
        return None
    try:
        value = str(email.header.make_header(email.header.decode_header(value)))
    except (LookupError, UnicodeError, ValueError, email.errors.HeaderParseError):
        pass
    return unicodedata.normalize("NFC", re.sub(r"[ \t]+", " ", value).strip())


def last(message, name):
    """The last field of this name as it stands there; bytes that are not ASCII as UTF-8."""
    found = [value for other, value in message.raw_items() if other.lower() == name.lower()]
    text = "".join(str(part) for part in found[-1:])
    return re.sub(r"\r?\n(?=[ \t])", "", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace") if found else None


def people(message, name):
    value = last(message, name)
    pairs = email.utils.getaddresses([value]) if value else []
    return [{"name": words(n) or None, "email": a} for n, a in pairs if a]


def decoded(part):
    raw = part.get_payload(decode=True) or b""
    charset = part.get_content_charset() or "utf-8"
    charset = {"iso-8859-1": "cp1252", "us-ascii": "utf-8"}.get(charset, charset)
    try:
        return raw.decode(charset, "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def file_name(part):
    name = part.get_filename()
    return words(name) if name else None


def leaves(part):
    if part.is_multipart() and part.get_content_maintype() == "multipart":
        for child in part.get_payload():
            yield from leaves(child)
    else:
        yield part


def read_message(raw):
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    texts, htmls, files = [], [], []
    for at, part in enumerate(leaves(message)):
        kind = part.get_content_type()
        named = part.get_filename() is not None
        is_file = part.get_content_disposition() == "attachment" or (named and at > 0)
        # A multipart without parts is text for all that anybody knows.
        if part.get_content_maintype() == "multipart":
            texts.append(decoded(part) if isinstance(part.get_payload(), str) else "")
        elif kind in ("text/plain", "text/html") and not is_file:
            (texts if kind == "text/plain" else htmls).append(decoded(part))
        else:
            one = {"filename": file_name(part), "contentType": kind}
            if part.get("Content-ID"):
                one["contentId"] = part["Content-ID"].strip().strip("<>")
            # How long base64 is that is not whole, nobody can say for sure.
            if part.get_content_maintype() != "message" and not part.defects:
                one["size"] = len(part.get_payload(decode=True) or b"")
            files.append(one)
    ids = lambda name: re.findall(r"<([^<>\s]+)>", str(message.get_all(name, [""])[-1]))
    written = last(message, "Date")
    date = email.utils.parsedate_to_datetime(written) if parsable(written) else None
    # Brackets are forgotten.
    bare = (last(message, "Message-ID") or "").split()
    return [{
        "internetMessageId": (ids("Message-ID") or bare or [None])[0],
        "inReplyTo": ids("In-Reply-To"),
        "references": ids("References"),
        "subject": words(last(message, "Subject")),
        "from": people(message, "From"), "to": people(message, "To"), "cc": people(message, "Cc"), "replyTo": people(message, "Reply-To"),
        "sentAt": instant(date, dt.timezone.utc) if date else None,
        "body": {"text": "\n".join(texts) if texts else None, "html": "\n".join(htmls) if htmls else None},
        "attachments": files,
        "size": len(raw),
    }]


def parsable(date):
    try:
        email.utils.parsedate_to_datetime(date)
        return True
    except (TypeError, ValueError, AttributeError):
        return False


# ---- what a change changed


def content(text):
    found, path = Counter(), []
    for line in unfold(text):
        upper = line.upper()
        if upper.startswith("BEGIN:"):
            path.append(upper[6:].strip())
            continue
        if upper.startswith("END:"):
            path and path.pop()
            continue
        head, _, value = line.partition(":")
        name, *params = head.split(";")
        found[("/".join(path), ";".join([name.upper(), *sorted(params)]) + ":" + value)] += 1
    return found


def diff(pair):
    before, after = (content(text_of(base64.b64decode(pair[k]))) for k in ("before", "after"))
    gone = [[where, "-", line] for where, line in (before - after).elements()]
    return gone + [[where, "+", line] for where, line in (after - before).elements()]


def read(one):
    raw = base64.b64decode(one["base64"])
    try:
        return {"items": {"event": read_event, "contact": read_contact, "message": read_message}[one["kind"]](raw)}
    except Exception as error:  # Whatever a library makes of a file that it cannot read.
        return {"unreadable": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    each = {"read": read, "rules": read_rules, "diff": diff}
    verb = sys.argv[1]
    json.dump(split(asked) if verb == "split" else [each[verb](one) for one in asked], sys.stdout)
