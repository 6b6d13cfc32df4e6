"""Reads a message (base64 on stdin) by Python's own `email` and by `icalendar`, and prints what its invitation says as JSON."""

import base64
import email
import email.policy
import json
import sys

import icalendar

message = email.message_from_bytes(base64.b64decode(sys.stdin.read()), policy=email.policy.default)
parts = list(message.walk())
part = next(part for part in parts if part.get_content_type() == "text/calendar")
text = part.get_content()
file = next(part for part in parts if part.get_filename() == "invite.ics")
calendar = icalendar.Calendar.from_ical(text)
(event,) = calendar.walk("VEVENT")
attendees = event.get("attendee", [])
if not isinstance(attendees, list):
    attendees = [attendees]


def instant(name):
    return event.decoded(name).strftime("%Y%m%dT%H%M%SZ")


print(json.dumps({
    "contentType": part.get_param("method"),
    "subject": message["subject"],
    "method": str(calendar["method"]),
    "uid": str(event["uid"]),
    "sequence": int(event["sequence"]),
    "status": str(event["status"]),
    "summary": str(event["summary"]),
    "location": str(event.get("location", "")),
    "start": instant("dtstart"),
    "end": instant("dtend"),
    "organizer": str(event["organizer"]),
    "attendees": [str(attendee) for attendee in attendees],
    "names": [str(attendee.params.get("CN", "")) for attendee in attendees],
    "isSameAsFile": file.get_content().replace(b"\r\n", b"\n") == text.encode().replace(b"\r\n", b"\n"),
}))
