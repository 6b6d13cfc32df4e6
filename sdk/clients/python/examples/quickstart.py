from switchboard import Switchboard

with Switchboard() as sb:  # SWITCHBOARD_API_KEY and SWITCHBOARD_SERVER
    account = sb.connections.create({
        "provider": "sandbox",
        "credentials": {"username": "alice@sandbox.test", "password": "sandbox"},
        "scopes": ["calendar.write", "email.send", "email.write", "contacts.write", "tasks.write"],
    })
    for calendar in sb.calendars.list(connection_id=account["id"]):
        print(calendar["id"], calendar["name"])
    calendar = sb.calendars.create({"connectionId": account["id"], "name": "Plans"})
    event = sb.calendars.events.create(calendar["id"], {
        "title": "Lunch",
        "start": "2027-03-01T11:00:00Z",
        "end": "2027-03-01T12:00:00Z",
    })
    print(event["title"], event["start"])
