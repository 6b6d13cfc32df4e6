from switchboard import FileStore, Switchboard, types

sb = Switchboard()
calendar = next(iter(sb.calendars.list()))
sb.calendars.sync.start(calendar["id"])
copy: dict[str, types.Change] = {}
changes = sb.calendars.sync.follow(
    calendar["id"],
    store=FileStore("cursors.json"),  # or get() and set() of your own, in your database
    on_reset=copy.clear,
    poll_s=None,  # stop when there is nothing new; the default looks again every 30 seconds
)
for change in changes:
    if change["changeType"] == "deleted":
        copy.pop(change["resourceId"], None)
    else:
        copy[change["resourceId"]] = change
print(len(copy), "events")
