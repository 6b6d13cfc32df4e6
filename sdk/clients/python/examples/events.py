from switchboard import FileStore, Switchboard

sb = Switchboard()
events = sb.events.follow(
    types=["calendar.*", "email.message.created"],
    after_sequence=0,  # from the beginning; the default is from now on
    store=FileStore("cursors.json"),
)
for event in events:  # without end, over broken connections
    print(event["sequence"], event["type"], event["data"]["resourceId"])
    break
