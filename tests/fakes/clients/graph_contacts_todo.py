"""Drives contacts and To Do of the fake of Graph with Microsoft's own Python client. `graph_contacts_todo.py URL WHEEL`: see graph_desk.

Ends with status 1 at the first answer that is not as Microsoft's documentation says.
"""

import asyncio
import datetime

import graph_desk
from graph_desk import ALICE, asking, check, control, read_delta, refused, same, signed_in

from msgraph.generated.models.checklist_item import ChecklistItem
from msgraph.generated.models.contact import Contact
from msgraph.generated.models.contact_folder import ContactFolder
from msgraph.generated.models.date_time_time_zone import DateTimeTimeZone
from msgraph.generated.models.day_of_week import DayOfWeek
from msgraph.generated.models.email_address import EmailAddress
from msgraph.generated.models.importance import Importance
from msgraph.generated.models.linked_resource import LinkedResource
from msgraph.generated.models.patterned_recurrence import PatternedRecurrence
from msgraph.generated.models.physical_address import PhysicalAddress
from msgraph.generated.models.recurrence_pattern import RecurrencePattern
from msgraph.generated.models.recurrence_pattern_type import RecurrencePatternType
from msgraph.generated.models.recurrence_range import RecurrenceRange
from msgraph.generated.models.recurrence_range_type import RecurrenceRangeType
from msgraph.generated.models.single_value_legacy_extended_property import SingleValueLegacyExtendedProperty
from msgraph.generated.models.task_status import TaskStatus
from msgraph.generated.models.todo_task import TodoTask
from msgraph.generated.models.todo_task_list import TodoTaskList
from msgraph.generated.models.wellknown_list_name import WellknownListName

CAROL = "carol@outlook.example"
SCOPES = ["User.Read", "Contacts.ReadWrite", "Tasks.ReadWrite"]
PICTURE = bytes([0xFF, 0xD8, 0xFF, 0xE0])
WEDDING = "SystemTime 0x3A41"


def addresses(*all):
    return [EmailAddress(address=address) for address in all]


async def folders(graph):
    all = graph.me.contact_folders
    same((await all.get()).value, [], "the default folder is not in the list")
    default = await all.by_contact_folder_id("contacts").get()
    same(default.display_name, "Contacts", "the default folder by its name")
    friends = await all.post(ContactFolder(display_name="Friends"))
    same(friends.parent_folder_id, default.id, "a folder at the top")
    await refused(all.post(ContactFolder(display_name="Friends")), 409, "ErrorFolderExists", "the same folder")
    inner = await all.by_contact_folder_id(friends.id).child_folders.post(ContactFolder(display_name="Old friends"))
    same([folder.id for folder in (await all.by_contact_folder_id(friends.id).child_folders.get()).value], [inner.id], "folders inside")
    same([folder.id for folder in (await all.get()).value], [friends.id], "folders at the top")
    renamed = await all.by_contact_folder_id(inner.id).patch(ContactFolder(display_name="Older friends"))
    same(renamed.display_name, "Older friends", "another name")
    found, link = await read_delta(all.delta, 1)
    same(found, {friends.id: None, inner.id: None}, "the delta of the tree")
    await refused(all.by_contact_folder_id("contacts").delete(), 403, "ErrorDeleteDistinguishedFolder", "the default folder stays")
    await all.by_contact_folder_id(inner.id).delete()
    same((await read_delta(all.delta, 1, link))[0], {inner.id: "deleted"}, "a folder that is gone")
    return friends


async def contacts(graph):
    property = SingleValueLegacyExtendedProperty(id=WEDDING, value="1835-07-08T00:00:00Z")
    made = await graph.me.contacts.post(Contact(
        given_name="Ada", surname="King", birthday=datetime.datetime(1815, 12, 10, tzinfo=datetime.timezone.utc),
        email_addresses=addresses("ada@example.com", "countess@example.com"), business_phones=["1", "2"], categories=["Red"],
        home_address=PhysicalAddress(city="London"), single_value_extended_properties=[property]), asking())
    same((made.display_name, made.file_as, made.home_address.city), ("Ada King", "King, Ada", "London"), "a new contact")
    same(made.birthday.date(), datetime.date(1815, 12, 10), "a birthday")
    same([one.name for one in made.email_addresses], ["ada@example.com", "countess@example.com"], "addresses have names")
    item = graph.me.contacts.by_contact_id(made.id)
    whole = await item.get(asking(expand=[f"singleValueExtendedProperties($filter=id eq '{WEDDING}')"]))
    same([one.value for one in whole.single_value_extended_properties], ["1835-07-08T00:00:00Z"], "an extended property")
    many = addresses(*(f"{number}@example.com" for number in range(4)))
    await refused(item.patch(Contact(email_addresses=many), asking()), 400, "ErrorPropertyValidationFailure", "a fourth address")
    await refused(item.patch(Contact(business_phones=["1", "2", "3"])), 400, "ErrorPropertyValidationFailure", "a third phone")
    changed = await item.patch(Contact(surname="Lovelace"), asking(headers={"If-Match": made.additional_data["@odata.etag"]}))
    same((changed.display_name, changed.business_phones), ("Ada Lovelace", ["1", "2"]), "the name follows, and the rest stays")
    stale = asking(headers={"If-Match": made.additional_data["@odata.etag"]})
    await refused(item.patch(Contact(job_title="Analyst"), stale), 412, "ErrorIrresolvableConflict", "an old etag")
    mutable = await item.get(asking(prefer=None))
    check(mutable.id != made.id, "without the preference the id is another")
    found = await graph.me.contacts.get(asking(filter="givenName eq 'Ada'", top=5))
    same([contact.id for contact in found.value], [made.id], "a filter")
    return item


async def photos(graph, item):
    await refused(item.photo.get(), 404, "ErrorItemNotFound", "no picture")
    await item.photo.content.put(PICTURE, asking(headers={"Content-Type": "image/jpeg"}))
    same(await item.photo.content.get(), PICTURE, "the picture")
    described = await item.photo.get()
    check(described.height and described.width, "its size")
    await refused(item.photo.content.delete(), 405, "ErrorInvalidRequest", "a picture cannot be deleted")
    carol = signed_in(CAROL, SCOPES)
    made = await carol.me.contacts.post(Contact(given_name="Bea"))
    await refused(carol.me.contacts.by_contact_id(made.id).photo.get(), 403, "ErrorAccessDenied", "a personal account has no pictures")


async def contact_deltas(graph, friends):
    default, other = graph.me.contacts, graph.me.contact_folders.by_contact_folder_id(friends.id).contacts
    ids = [(await default.post(Contact(given_name=f"Person {number}"), asking())).id for number in range(3)]
    found, link = await read_delta(default.delta, 2)
    check(set(ids) <= set(found), "all contacts of the default folder")
    same((await read_delta(default.delta, 2, link))[0], {}, "nothing new")
    inside, inside_link = await read_delta(other.delta, 2)
    same(inside, {}, "nothing in the other folder")
    await default.by_contact_id(ids[0]).patch(Contact(job_title="Analyst"), asking())
    await default.by_contact_id(ids[1]).delete()
    control(f"contacts/{ALICE}/contacts/{ids[2]}/move", {"folder": "Friends"})
    changed, link = await read_delta(default.delta, 2, link)
    same(changed, {ids[0]: None, ids[1]: "deleted", ids[2]: "deleted"}, "what changed")
    same((await read_delta(other.delta, 2, inside_link))[0], {ids[2]: None}, "the one that moved, by the same id")
    control(f"contacts/{ALICE}/expire-tokens", {})
    await refused(default.delta.with_url(link).get(asking()), 410, "SyncStateNotFound", "a token that is forgotten")


async def lists(graph):
    all = graph.me.todo.lists
    named = {one.wellknown_list_name: one for one in (await all.get()).value}
    check({WellknownListName.DefaultList, WellknownListName.FlaggedEmails} <= set(named), named)
    default = named[WellknownListName.DefaultList]
    await refused(all.by_todo_task_list_id(default.id).patch(TodoTaskList(display_name="Mine")), 400, "invalidRequest", "To Do's own list")
    await refused(all.by_todo_task_list_id(default.id).delete(), 400, "invalidRequest", "To Do's own list stays")
    flagged = all.by_todo_task_list_id(named[WellknownListName.FlaggedEmails].id)
    await refused(flagged.tasks.post(TodoTask(title="No mail")), 400, "invalidRequest", "tasks of flagged mail are the messages'")
    house = await all.post(TodoTaskList(display_name="House"))
    same((house.display_name, house.is_owner, house.is_shared), ("House", True, False), "a new list")
    found, link = await read_delta(all.delta, 2)
    check(house.id in found and default.id in found, "the delta of lists")
    garden = await all.post(TodoTaskList(display_name="Garden"))
    same((await all.by_todo_task_list_id(garden.id).patch(TodoTaskList(display_name="Yard"))).display_name, "Yard", "another name")
    same((await read_delta(all.delta, 2, link))[0], {garden.id: None}, "a list that is new")
    await all.by_todo_task_list_id(garden.id).delete()
    await refused(all.by_todo_task_list_id(garden.id).get(), 404, "ErrorItemNotFound", "no list")
    return all.by_todo_task_list_id(house.id)


def at(text):
    return DateTimeTimeZone(date_time=text, time_zone="W. Europe Standard Time")


async def tasks(house):
    made = await house.tasks.post(TodoTask(
        title="Paint", importance=Importance.High, due_date_time=at("2026-03-05T17:30:00"), reminder_date_time=at("2026-03-05T09:15:00"),
        linked_resources=[LinkedResource(web_url="https://example.com/1", application_name="Mail", display_name="One")]))
    same(made.due_date_time.date_time, "2026-03-04T23:00:00.0000000", "a day is midnight of its zone, in UTC")
    same((made.reminder_date_time.date_time, made.is_reminder_on), ("2026-03-05T08:15:00.0000000", True), "a reminder is a time")
    item = house.tasks.by_todo_task_id(made.id)
    done = await item.patch(TodoTask(status=TaskStatus.Completed))
    same(done.completed_date_time.date_time[11:19], "00:00:00", "a completion is a day")
    again = await item.patch(TodoTask(status=TaskStatus.InProgress))
    same((again.completed_date_time, again.title, again.importance), (None, "Paint", Importance.High), "begun again, and the rest stays")

    brush = await item.checklist_items.post(ChecklistItem(display_name="Brush"))
    same((brush.display_name, brush.is_checked), ("Brush", False), "a step")
    step = item.checklist_items.by_checklist_item_id(brush.id)
    checked = await step.patch(ChecklistItem(is_checked=True))
    check(checked.is_checked and checked.checked_date_time, "a step that is done")
    link = await item.linked_resources.post(LinkedResource(web_url="https://example.com/2", application_name="Shop", external_id="x"))
    same(link.external_id, "x", "a link")
    bare = await item.get()
    same((bare.checklist_items, bare.linked_resources), (None, None), "parts come where they are asked for")
    whole = await item.get(asking(expand=["checklistItems", "linkedResources"]))
    same([one.display_name for one in whole.checklist_items], ["Brush"], "steps")
    same([one.web_url for one in whole.linked_resources], ["https://example.com/1", "https://example.com/2"], "links")
    await refused(item.patch(TodoTask(checklist_items=[ChecklistItem(display_name="Roller")])), 400, "invalidRequest", "parts have calls of their own")
    await item.linked_resources.by_linked_resource_id(link.id).delete()
    await step.delete()
    await refused(step.get(), 404, "ErrorItemNotFound", "no step")
    titled = await house.tasks.get(asking(filter="status eq 'inProgress'"))
    same([task.id for task in titled.value], [made.id], "a filter")
    return made.id


def weekly():
    pattern = RecurrencePattern(type=RecurrencePatternType.Weekly, interval=1, days_of_week=[DayOfWeek.Thursday], first_day_of_week=DayOfWeek.Monday)
    return PatternedRecurrence(pattern=pattern, range=RecurrenceRange(type=RecurrenceRangeType.NoEnd, start_date=datetime.date(2026, 3, 5)))


async def recurrences(house):
    due = at("2026-03-05T00:00:00")
    message = await refused(house.tasks.post(TodoTask(title="Water", due_date_time=due, recurrence=weekly())), 400, "invalidRequest", "a rule")
    check("Edm.Date" in message, message)
    control("traps/todo_recurrence_taken", {"times": 1})
    await refused(house.tasks.post(TodoTask(title="Water", recurrence=weekly())), 400, "invalidRequest", "a rule without a day")
    made = await house.tasks.post(TodoTask(title="Water", due_date_time=due, recurrence=weekly()))
    control("traps/todo_recurrence_taken", {"times": 0})
    read = await house.tasks.by_todo_task_id(made.id).get()
    same((read.recurrence.pattern.type, read.recurrence.pattern.days_of_week), (RecurrencePatternType.Weekly, [DayOfWeek.Thursday]), "the rule")
    same(read.recurrence.range.start_date, datetime.date(2026, 3, 5), "its start")
    return made.id


async def task_deltas(house, ids):
    found, link = await read_delta(house.tasks.delta, 1)
    same(found, dict.fromkeys(ids), "all tasks")
    first, second = (house.tasks.by_todo_task_id(id) for id in ids)
    await first.checklist_items.post(ChecklistItem(display_name="Ladder"))
    await second.delete()
    changed, link = await read_delta(house.tasks.delta, 1, link)
    same(changed, {ids[0]: None, ids[1]: "deleted"}, "a step counts as a change of its task")
    moved = control(f"todo/{ALICE}/tasks/{ids[0]}/move", {"list": ""})["id"]
    check(moved != ids[0], "a task in another list has another id")
    same((await read_delta(house.tasks.delta, 1, link))[0], {ids[0]: "deleted"}, "the one that moved")
    control(f"todo/{ALICE}/expire-tokens", {})
    await refused(house.tasks.delta.with_url(link).get(asking()), 410, "SyncStateNotFound", "a token that is forgotten")


async def main():
    for email, name, personal in ((ALICE, "Alice Example", False), (CAROL, "Carol Example", True)):
        control("accounts", {"email": email, "name": name, "timeZone": "W. Europe Standard Time", "personal": personal})
    control("own-origins", {})
    graph = signed_in(ALICE, SCOPES)
    friends = await folders(graph)
    item = await contacts(graph)
    await photos(graph, item)
    await contact_deltas(graph, friends)
    house = await lists(graph)
    ids = [await tasks(house), await recurrences(house)]
    await task_deltas(house, ids)
    reader = signed_in(ALICE, ["User.Read", "Contacts.Read", "Tasks.Read"])
    await refused(reader.me.contacts.post(Contact(given_name="No")), 403, "ErrorAccessDenied", "a scope is missing")
    await refused(reader.me.todo.lists.post(TodoTaskList(display_name="No")), 403, "ErrorAccessDenied", "a scope is missing")
    same(control("violations", method="GET"), {"violations": []}, "what Graph's description forbids")
    print(f"{graph_desk.checks} checks of the official client passed")


asyncio.run(main())
