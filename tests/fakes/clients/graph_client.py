"""Drives the fake of Graph with Microsoft's own Python client. `graph_client.py URL WHEEL`: see graph_desk.

The client's paths and models are generated from Microsoft's description of Graph, so each call here is one that Microsoft's own code would
send. Ends with status 1 at the first answer that is not as Microsoft's documentation says.
"""

import asyncio
import datetime
import http.server
import json
import threading
import urllib.parse

import graph_desk
from graph_desk import ALICE, IMMUTABLE, URL, Token, asking, check, control, refused, same

from msgraph import GraphRequestAdapter, GraphServiceClient
from msgraph.generated.models.attendee import Attendee
from msgraph.generated.models.body_type import BodyType
from msgraph.generated.models.calendar import Calendar
from msgraph.generated.models.date_time_time_zone import DateTimeTimeZone
from msgraph.generated.models.day_of_week import DayOfWeek
from msgraph.generated.models.email_address import EmailAddress
from msgraph.generated.models.event import Event
from msgraph.generated.models.file_attachment import FileAttachment
from msgraph.generated.models.followup_flag import FollowupFlag
from msgraph.generated.models.followup_flag_status import FollowupFlagStatus
from msgraph.generated.models.free_busy_status import FreeBusyStatus
from msgraph.generated.models.item_body import ItemBody
from msgraph.generated.models.mail_folder import MailFolder
from msgraph.generated.models.message import Message
from msgraph.generated.models.outlook_category import OutlookCategory
from msgraph.generated.models.category_color import CategoryColor
from msgraph.generated.models.patterned_recurrence import PatternedRecurrence
from msgraph.generated.models.recipient import Recipient
from msgraph.generated.models.recurrence_pattern import RecurrencePattern
from msgraph.generated.models.recurrence_pattern_type import RecurrencePatternType
from msgraph.generated.models.recurrence_range import RecurrenceRange
from msgraph.generated.models.recurrence_range_type import RecurrenceRangeType
from msgraph.generated.models.subscription import Subscription
from msgraph.generated.users.item.calendar.get_schedule.get_schedule_post_request_body import GetSchedulePostRequestBody
from msgraph.generated.users.item.events.item.accept.accept_post_request_body import AcceptPostRequestBody
from msgraph.generated.users.item.messages.item.create_reply.create_reply_post_request_body import CreateReplyPostRequestBody
from msgraph.generated.users.item.messages.item.move.move_post_request_body import MovePostRequestBody
from msgraph.generated.users.item.send_mail.send_mail_post_request_body import SendMailPostRequestBody
from msgraph_core.requests.batch_request_content import BatchRequestContent
from msgraph_core.requests.batch_request_item import BatchRequestItem
from msgraph_core.tasks.page_iterator import PageIterator

BOB = "bob@example.com"
SCOPES = ["User.Read", "MailboxSettings.ReadWrite", "Mail.ReadWrite", "Mail.Send", "Calendars.ReadWrite", "Contacts.ReadWrite", "Tasks.ReadWrite"]
RAW = "From: Bob <bob@example.com>\r\nTo: alice@example.com\r\nSubject: %s\r\nMessage-ID: <%s@example.com>\r\n\r\nHello\r\n"


def signed_in(user, scopes=SCOPES):
    return graph_desk.signed_in(user, scopes)


def deliver(subject):
    return control(f"mail/{ALICE}/messages", {"raw": RAW % (subject, subject)})["id"]


def to(address):
    return Recipient(email_address=EmailAddress(address=address))


async def account(graph):
    me = await graph.me.get(asking(select=["id", "mail", "userPrincipalName", "displayName", "proxyAddresses"]))
    same((me.mail, me.user_principal_name, me.display_name), (ALICE, ALICE, "Alice Example"), "me")
    same(me.proxy_addresses, [f"SMTP:{ALICE}"], "addresses")
    by_id = await graph.users.by_user_id(me.id).get()
    same(by_id.id, me.id, "the account by its id")
    settings = await graph.me.mailbox_settings.get()
    same(settings.time_zone, "W. Europe Standard Time", "the mailbox's zone")
    await refused(graph.users.by_user_id(BOB).messages.get(), 403, "ErrorAccessDenied", "another's mailbox")
    reader = signed_in(ALICE, ["User.Read", "Mail.Read"])
    await refused(reader.me.events.get(), 403, "ErrorAccessDenied", "a scope is missing")
    stranger = GraphRequestAdapter(Token("nothing"))
    stranger.base_url = f"{URL}/v1.0"
    await refused(GraphServiceClient(request_adapter=stranger).me.get(), 401, "InvalidAuthenticationToken", "no token")


async def folders(graph):
    top = await graph.me.mail_folders.get(asking(top=100))
    names = {folder.display_name for folder in top.value}
    check({"Inbox", "Drafts", "Sent Items", "Deleted Items"} <= names, names)
    inbox = await graph.me.mail_folders.by_mail_folder_id("inbox").get()
    made = await graph.me.mail_folders.post(MailFolder(display_name="Projects"))
    same(made.display_name, "Projects", "a new folder")
    await refused(graph.me.mail_folders.post(MailFolder(display_name="Projects")), 409, "ErrorFolderExists", "the same folder")
    child = await graph.me.mail_folders.by_mail_folder_id(made.id).child_folders.post(MailFolder(display_name="2026"))
    same(child.parent_folder_id, made.id, "a folder inside")
    renamed = await graph.me.mail_folders.by_mail_folder_id(child.id).patch(MailFolder(display_name="Archive 2026"))
    same(renamed.display_name, "Archive 2026", "another name")
    delta = await graph.me.mail_folders.delta.get()
    check(inbox.id in {folder.id for folder in delta.value} or delta.odata_next_link, "the inbox in the delta")
    await graph.me.mail_folders.by_mail_folder_id(made.id).delete()
    await refused(graph.me.mail_folders.by_mail_folder_id("nofolder").get(), 404, "ErrorItemNotFound", "no such folder")


async def reading(graph):
    ids = [deliver(f"letter {number}") for number in range(5)]
    page = await graph.me.mail_folders.by_mail_folder_id("inbox").messages.get(
        asking(top=2, select=["id", "subject", "receivedDateTime"], orderby=["receivedDateTime desc"]))
    same(len(page.value), 2, "a page of two")
    subjects = []
    pages = PageIterator(page, graph.request_adapter)
    pages.headers.add("Prefer", IMMUTABLE)
    await pages.iterate(lambda message: subjects.append(message.subject) or True)
    same(sorted(subjects), [f"letter {number}" for number in range(5)], "all pages")
    one = await graph.me.messages.by_message_id(ids[0]).get(asking())
    same((one.id, one.subject, one.is_read), (ids[0], "letter 0", False), "a message")
    mutable = await graph.me.messages.by_message_id(ids[0]).get(asking(prefer=None))
    check(mutable.id != ids[0], "without the preference the id is another")
    text = await graph.me.messages.by_message_id(ids[0]).get(asking(prefer=f'{IMMUTABLE}, outlook.body-content-type="text"'))
    same((text.body.content_type, text.body.content.strip()), (BodyType.Text, "Hello"), "the body as text")
    raw = await graph.me.messages.by_message_id(ids[0]).content.get()
    check(b"Subject: letter 0" in raw, "the message as it came")
    unread = await graph.me.messages.get(asking(filter="isRead eq false", top=10))
    check(len(unread.value) >= 5, "unread ones")
    found = await graph.me.messages.get(asking(search='"subject:letter 3"'))
    same([message.subject for message in found.value], ["letter 3"], "a search")
    await refused(graph.me.messages.by_message_id("AAkALgAAnothing").get(), 400, "ErrorInvalidIdMalformed", "no id")
    return ids


async def deltas(graph, ids):
    inbox = graph.me.mail_folders.by_mail_folder_id("inbox").messages
    page = await inbox.delta.get(asking(prefer=f"{IMMUTABLE}, odata.maxpagesize=2"))
    same(len(page.value), 2, "a page of the size asked for")
    seen = [message.id for message in page.value]
    while page.odata_next_link:
        page = await inbox.delta.with_url(page.odata_next_link).get(asking(prefer=f"{IMMUTABLE}, odata.maxpagesize=2"))
        seen += [message.id for message in page.value]
    check(set(ids) <= set(seen), "all messages")
    again = deliver("afterwards")
    await graph.me.messages.by_message_id(ids[1]).patch(Message(is_read=True), asking())
    await graph.me.messages.by_message_id(ids[2]).move.post(MovePostRequestBody(destination_id="archive"), asking())
    changes = await inbox.delta.with_url(page.odata_delta_link).get(asking(prefer=f"{IMMUTABLE}, odata.maxpagesize=50"))
    told = {message.id: message.additional_data.get("@removed") for message in changes.value}
    same(set(told), {again, ids[1], ids[2]}, "what changed")
    check(told[ids[2]] and not told[again], "the one that moved is removed")
    moved = await graph.me.messages.by_message_id(ids[2]).get(asking(select=["id", "parentFolderId"]))
    archive = await graph.me.mail_folders.by_mail_folder_id("archive").get()
    same(moved.parent_folder_id, archive.id, "its new folder, by the same id")


async def writing(graph, ids):
    item = graph.me.messages.by_message_id(ids[3])
    changed = await item.patch(Message(flag=FollowupFlag(flag_status=FollowupFlagStatus.Flagged), categories=["Red"]), asking())
    same((changed.flag.flag_status, changed.categories), (FollowupFlagStatus.Flagged, ["Red"]), "flag and categories")
    etag = changed.additional_data["@odata.etag"]
    await item.patch(Message(is_read=True), asking(headers={"If-Match": etag}))
    await refused(item.patch(Message(is_read=False), asking(headers={"If-Match": etag})), 412, "ErrorIrresolvableConflict", "an old etag")
    category = await graph.me.outlook.master_categories.post(OutlookCategory(display_name="Green", color=CategoryColor.Preset4))
    same(category.display_name, "Green", "a category")
    listed = await graph.me.outlook.master_categories.get()
    check("Green" in {one.display_name for one in listed.value}, "the list of categories")

    body = ItemBody(content_type=BodyType.Html, content="<p>Hi</p>")
    draft = await graph.me.messages.post(Message(subject="Plan", body=body, to_recipients=[to(BOB)]), asking())
    check(draft.is_draft, "a draft")
    files = graph.me.messages.by_message_id(draft.id).attachments
    added = await files.post(FileAttachment(odata_type="#microsoft.graph.fileAttachment", name="a.txt", content_bytes=b"abc"), asking())
    same((added.name, added.odata_type), ("a.txt", "#microsoft.graph.fileAttachment"), "an attachment")
    listed = await files.get(asking(select=["id", "name", "size", "microsoft.graph.fileAttachment/contentId"]))
    same([one.name for one in listed.value], ["a.txt"], "attachments")
    await refused(files.get(asking(select=["contentId"])), 400, "BadRequest", "contentId without its cast")
    await graph.me.messages.by_message_id(draft.id).send.post(asking())
    sent = await graph.me.mail_folders.by_mail_folder_id("sentitems").messages.get(asking(filter="subject eq 'Plan'"))
    same([message.is_draft for message in sent.value], [False], "the sent copy")
    reply = await graph.me.messages.by_message_id(ids[3]).create_reply.post(CreateReplyPostRequestBody(comment="Thanks"), asking())
    check(reply.is_draft and reply.subject.lower() == "re: letter 3", reply.subject)
    same([one.email_address.address for one in reply.to_recipients], [BOB], "to the sender")
    await graph.me.messages.by_message_id(reply.id).delete()
    await graph.me.send_mail.post(SendMailPostRequestBody(message=Message(subject="At once", body=body, to_recipients=[to(BOB)])))
    arrived = await signed_in(BOB).me.messages.get(asking(filter="subject eq 'At once'"))
    same(len(arrived.value), 1, "what was sent arrived")


def at(hour, zone="W. Europe Standard Time", day=2):
    return DateTimeTimeZone(date_time=f"2026-03-{day:02}T{hour:02}:00:00", time_zone=zone)


def weekly():
    pattern = RecurrencePattern(type=RecurrencePatternType.Weekly, interval=1, days_of_week=[DayOfWeek.Monday], first_day_of_week=DayOfWeek.Monday)
    span = RecurrenceRange(type=RecurrenceRangeType.Numbered, start_date=datetime.date(2026, 3, 2), number_of_occurrences=4,
                           recurrence_time_zone="W. Europe Standard Time")
    return PatternedRecurrence(pattern=pattern, range=span)


async def calendars(graph):
    default = await graph.me.calendar.get()
    check(default.is_default_calendar and default.can_edit, "the default calendar")
    made = await graph.me.calendars.post(Calendar(name="Team"))
    listed = await graph.me.calendars.get()
    same({default.id, made.id} - {one.id for one in listed.value}, set(), "the list of calendars")
    events = graph.me.calendars.by_calendar_id(made.id).events
    event = await events.post(Event(subject="Review", start=at(9), end=at(10), show_as=FreeBusyStatus.Tentative, transaction_id="t-1"), asking())
    same((event.subject, event.is_reminder_on), ("Review", True), "a new event, with the reminder that nobody asked for")
    twice = await events.post(Event(subject="Review", start=at(9), end=at(10), transaction_id="t-1"), asking())
    same(twice.id, event.id, "one transaction makes one event")
    item = graph.me.events.by_event_id(event.id)
    same((await item.get(asking(prefer=f'{IMMUTABLE}, outlook.timezone="UTC"'))).start.date_time[:16], "2026-03-02T08:00", "the start in UTC")
    changed = await item.patch(Event(subject="Retro"), asking())
    same(changed.subject, "Retro", "another title")
    await item.delete()
    await refused(item.get(asking()), 404, "ErrorItemNotFound", "a deleted event")
    await graph.me.calendars.by_calendar_id(made.id).delete()


async def series(graph):
    made = await graph.me.events.post(Event(subject="Standup", start=at(9), end=at(10), recurrence=weekly()), asking())
    window = {"startDateTime": "2026-03-01T00:00:00Z", "endDateTime": "2026-04-01T00:00:00Z"}
    view = await graph.me.calendar_view.get(asking(start=window["startDateTime"], end=window["endDateTime"], top=50))
    mine = [event for event in view.value if event.series_master_id == made.id]
    same(len(mine), 4, "occurrences")
    first = await graph.me.events.by_event_id(mine[0].id).patch(Event(subject="Kickoff"), asking())
    same((first.subject, first.series_master_id), ("Kickoff", made.id), "an exception")
    await graph.me.events.by_event_id(mine[1].id).delete()
    master = await graph.me.events.by_event_id(made.id).get(asking(expand=["exceptionOccurrences"]))
    same([event.subject for event in master.exception_occurrences], ["Kickoff"], "exceptions of the series")
    instances = await graph.me.events.by_event_id(made.id).instances.get(asking(start=window["startDateTime"], end=window["endDateTime"]))
    same(len(instances.value), 3, "instances")
    delta = await graph.me.calendar_view.delta.get(asking(start=window["startDateTime"], end=window["endDateTime"]))
    check(made.id in {event.id for event in delta.value} or delta.odata_next_link, "the master in the delta")


async def guests(graph):
    bob = signed_in(BOB)
    guest = Attendee(email_address=EmailAddress(address=BOB, name="Bob"))
    made = await graph.me.events.post(Event(subject="Lunch", start=at(12), end=at(13), attendees=[guest]), asking())
    same([one.email_address.address for one in made.attendees], [BOB], "guests")
    invited = control("calendar/invitations", {"user": ALICE, "organizer": BOB, "event": {
        "subject": "Dinner", "start": {"dateTime": "2026-03-03T18:00:00", "timeZone": "UTC"}, "end": {"dateTime": "2026-03-03T19:00:00", "timeZone": "UTC"}}})
    view = await graph.me.calendar_view.get(asking(start="2026-03-03T00:00:00Z", end="2026-03-04T00:00:00Z"))
    [dinner] = [event for event in view.value if event.subject == "Dinner"]
    check(not dinner.is_organizer and invited["id"], "an invitation")
    await graph.me.events.by_event_id(dinner.id).accept.post(AcceptPostRequestBody(send_response=True))
    answered = await graph.me.events.by_event_id(dinner.id).get(asking())
    same(answered.response_status.response.value, "accepted", "the answer")
    schedule = await graph.me.calendar.get_schedule.post(GetSchedulePostRequestBody(
        schedules=[ALICE, BOB], start_time=at(0, "UTC"), end_time=at(0, "UTC", 4), availability_view_interval=60))
    same([one.schedule_id for one in schedule.value], [ALICE, BOB], "schedules")
    check("2" in schedule.value[0].availability_view, "Alice is busy at lunch")
    same(len((await bob.me.calendars.get()).value) >= 1, True, "Bob has calendars of his own")


async def batches(graph):
    items = {
        "user": graph.me.to_get_request_information(),
        "inbox": graph.me.mail_folders.by_mail_folder_id("inbox").to_get_request_information(),
        "none": graph.me.messages.by_message_id("AAkALgAAnothing").to_get_request_information(),
    }
    parts = {}
    for name, request in items.items():
        request.path_parameters["baseurl"] = f"{URL}/v1.0"
        parts[name] = BatchRequestItem(request_information=request, id=name)
        parts[name].url = urllib.parse.urlsplit(parts[name].url)._replace(scheme="", netloc="").geturl().removeprefix("/v1.0")
    answer = await graph.batch.post(batch_request_content=BatchRequestContent(parts))
    statuses = {name: response.status for name, response in answer.responses.items()}
    same(statuses, {"user": 200, "inbox": 200, "none": 400}, "each part has a status of its own")


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers handshakes with their token, and keeps notifications."""

    answers = True
    notifications = []

    def do_POST(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        token = query.get("validationToken", [""])[0]
        if body:
            Receiver.notifications += json.loads(body)["value"]
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write((token if Receiver.answers else "no").encode())

    def log_message(self, *_):
        pass


async def subscriptions(graph):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wanted = Subscription(
        change_type="created,updated,deleted", resource="/me/messages", client_state="secret",
        notification_url=f"http://127.0.0.1:{server.server_port}/hook",
        expiration_date_time=datetime.datetime(2026, 3, 4, tzinfo=datetime.timezone.utc))
    Receiver.answers = False
    await refused(graph.subscriptions.post(wanted), 400, "ValidationError", "a receiver without the token")
    Receiver.answers = True
    made = await graph.subscriptions.post(wanted, asking())
    same([one.id for one in (await graph.subscriptions.get()).value], [made.id], "subscriptions")
    later = datetime.datetime(2026, 3, 6, tzinfo=datetime.timezone.utc)
    item = graph.subscriptions.by_subscription_id(made.id)
    same((await item.patch(Subscription(expiration_date_time=later))).expiration_date_time, later, "a later end")
    message = deliver("told")
    same(control("notify", {})["statuses"], [200], "a notification is posted")
    [told] = Receiver.notifications
    same((told["clientState"], told["changeType"], told["resourceData"]["id"]), ("secret", "created", message), "the notification")
    await item.delete()
    await refused(item.get(), 404, "ResourceNotFound", "no subscription")
    server.shutdown()


async def absent(graph):
    for surface in ("contacts", "todo"):
        control("absent", {"user": BOB, "surface": surface})
    bob = signed_in(BOB)
    await refused(bob.me.contacts.get(), 404, "MailboxNotEnabledForRESTAPI", "no contacts")
    await refused(bob.me.todo.lists.get(), 404, "MailboxNotEnabledForRESTAPI", "no tasks")


async def main():
    for email, name in ((ALICE, "Alice Example"), (BOB, "Bob Example")):
        control("accounts", {"email": email, "name": name, "timeZone": "W. Europe Standard Time"})
    control("own-origins", {})
    graph = signed_in(ALICE)
    await account(graph)
    await folders(graph)
    ids = await reading(graph)
    await deltas(graph, ids)
    await writing(graph, ids)
    # What a client sent in error by this script's own wish.
    control("violations", method="DELETE")
    for part in (calendars, series, guests, batches, subscriptions, absent):
        await part(graph)
    same(control("violations", method="GET"), {"violations": []}, "what Graph's description forbids")
    print(f"{graph_desk.checks} checks of the official client passed")


asyncio.run(main())
