from switchboard import Switchboard, types

sb = Switchboard()
calendar = next(iter(sb.calendars.list()))
event = sb.calendars.events.create(
    calendar["id"], {"title": "Review", "start": "2027-03-03T09:00:00Z", "end": "2027-03-03T10:00:00Z"}
)


def rename(current: types.CalendarEvent) -> types.CalendarEventPatch | None:
    title = current["title"] or ""
    return None if title.endswith("!") else {"title": title + "!"}


changed = sb.calendars.events.modify(calendar["id"], event["id"], rename)
print(changed["title"])
