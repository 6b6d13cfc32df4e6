from switchboard import Switchboard

with Switchboard() as sb:
    calendars = sb.calendars.list()
    for calendar in calendars:  # every item, page after page
        print(calendar["name"])
    print(len(calendars.to_list(limit=100)), "calendars, at most 100")
    for page in sb.email.messages.list(limit=25).pages():
        print(len(page["data"]), "messages, next:", page["next_cursor"])
        break
