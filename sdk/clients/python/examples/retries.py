from switchboard import Switchboard, response_of

sb = Switchboard(max_retries=3)
calendar = next(iter(sb.calendars.list()))
event = sb.calendars.events.create(
    calendar["id"],
    {"title": "Review", "start": "2027-03-02T09:00:00Z", "end": "2027-03-02T10:00:00Z"},
    idempotency_key="review-4711",  # this event is created once, however often the program runs
)
print(event["id"], response_of(event).replayed)
