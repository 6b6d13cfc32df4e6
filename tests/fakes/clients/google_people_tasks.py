"""Drives the fake of Google with Google's own Python client: People and Tasks. `google_people_tasks.py URL`: the origin of a fresh fake.

The client builds its methods from Google's discovery documents and refuses parameters and values that they do not have; so each call here
is one that Google's own code would send. Ends with status 1 at the first answer that is not as Google's documentation says.
"""

import base64
import json
import pathlib
import sys
import urllib.request

import google.oauth2.credentials
import googleapiclient
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError

URL = sys.argv[1].rstrip("/")
ALICE = "alice@example.com"
AUTH = "https://www.googleapis.com/auth/"
CONTACT = ["READ_SOURCE_TYPE_CONTACT"]
DAY = 24 * 3600
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(what)


def same(found, wanted, what):
    check(found == wanted, f"{what}: {found!r} instead of {wanted!r}")


def control(path, body=None, method="POST"):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{URL}/__control/{path}", data=data, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def reason_of(error):
    """The reason as integrators read it: ErrorInfo, else the older form, else the status."""
    for detail in error.get("details", []):
        if "reason" in detail:
            return detail["reason"]
    if error.get("errors"):
        return error["errors"][0]["reason"]
    return error["status"]


def refused(request, status, reason, what):
    try:
        answer = request.execute()
    except HttpError as error:
        found = json.loads(error.content)["error"]
        same((error.resp.status, reason_of(found)), (status, reason), what)
        same(found["code"], status, f"{what}: code")
        return found
    raise AssertionError(f"{what}: {answer!r} instead of {status} {reason}")


def service(name, credentials):
    folder = pathlib.Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    document = json.loads((folder / f"{name}.json").read_text())
    document["rootUrl"] = URL + "/"
    document["baseUrl"] = URL + "/" + document["servicePath"]
    document.pop("mtlsRootUrl", None)
    return build_from_document(document, credentials=credentials)


def ada(**more):
    return {
        "names": [{"givenName": "Ada", "familyName": "Lovelace"}],
        "emailAddresses": [{"value": "ada@example.org", "type": "work"},
                           {"value": "ada@home.example", "metadata": {"sourcePrimary": True}}],
        "phoneNumbers": [{"value": "+44 20 7946 0958", "type": "mobile"}],
        "birthdays": [{"date": {"month": 12, "day": 10}}],
        **more,
    }


def source(person):
    return {"metadata": {"sources": [one for one in person["metadata"]["sources"] if one["type"] == "CONTACT"]}}


def contacts(api):
    people = api.people()
    fields = "names,emailAddresses,phoneNumbers,memberships,metadata,photos"
    made = people.createContact(body=ada(), personFields=fields, sources=CONTACT).execute()
    name = made["resourceName"]
    check(name.startswith("people/c"), name)
    same((made["names"][0]["displayName"], made["names"][0]["displayNameLastFirst"]), ("Ada Lovelace", "Lovelace, Ada"), "names")
    same([one["metadata"].get("primary") for one in made["emailAddresses"]], [None, True], "the primary address")
    same((made["phoneNumbers"][0]["canonicalForm"], made["phoneNumbers"][0]["formattedType"]), ("+442079460958", "Mobile"), "a number")
    same(made["memberships"][0]["contactGroupMembership"]["contactGroupId"], "myContacts", "the group of a new contact")
    same(made["photos"][0]["default"], True, "no picture of its own")
    check("birthdays" not in made, "the mask leaves out what it does not name")
    two = ada(names=[{"givenName": "A"}, {"givenName": "B"}])
    refused(people.createContact(body=two), 400, "INVALID_ARGUMENT", "two names")
    refused(people.createContact(body=ada(birthdays=[{"date": {"month": 2, "day": 30}}])), 400, "INVALID_ARGUMENT", "no such day")
    refused(people.get(resourceName=name), 400, "INVALID_ARGUMENT", "no mask")
    refused(people.get(resourceName=name, personFields="fileAses"), 400, "INVALID_ARGUMENT", "a field that no mask has")
    refused(people.get(resourceName="people/c1", personFields="names"), 404, "NOT_FOUND", "an unknown contact")
    me = people.get(resourceName="people/me", personFields="names").execute()
    same(me["names"][0]["displayName"], "Alice Example", "the user")

    read = people.get(resourceName=name, personFields=fields, sources=CONTACT).execute()
    change = {**source(read), "emailAddresses": [{"value": "ada@king.example"}]}

    def update(body, mask="emailAddresses"):
        return people.updateContact(resourceName=name, body=body, updatePersonFields=mask, personFields=fields, sources=CONTACT)

    changed = update(change).execute()
    same([one["value"] for one in changed["emailAddresses"]], ["ada@king.example"], "a field is replaced whole")
    same(changed["phoneNumbers"], read["phoneNumbers"], "other fields stay")
    found = refused(update(change), 400, "FAILED_PRECONDITION", "an old etag")
    check("person.etag is different" in found["message"], found)
    refused(update({"emailAddresses": []}), 400, "INVALID_ARGUMENT", "no etag")
    refused(update(source(changed), "photos"), 400, "INVALID_ARGUMENT", "photos have a method of their own")
    refused(update(source(changed), "memberships"), 400, "INVALID_ARGUMENT", "no membership")
    listed = people.connections().list(resourceName="people/me", personFields=fields, sources=CONTACT).execute()
    bare = {"etag": listed["connections"][0]["etag"], "emailAddresses": []}
    refused(update(bare), 400, "FAILED_PRECONDITION", "the bare etag of a list")
    control("traps/person_etag_403", {"times": 1})
    refused(update(change), 403, "FAILED_PRECONDITION", "the same with another status")
    control("traps/etag_moves", {"times": 1})
    moved = update({**source(changed), "emailAddresses": []}).execute()
    check("emailAddresses" not in moved, "a field without values is cleared")
    refused(update({**source(moved), "emailAddresses": []}), 400, "FAILED_PRECONDITION", "Google changed the contact itself")

    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    shown = people.updateContactPhoto(resourceName=name, body={"photoBytes": picture, "personFields": "photos"}).execute()
    check("default" not in shown["person"]["photos"][0], shown)
    text = base64.b64encode(b"text").decode()
    refused(people.updateContactPhoto(resourceName=name, body={"photoBytes": text}), 400, "INVALID_ARGUMENT", "no picture")
    same(people.deleteContactPhoto(resourceName=name).execute(), {}, "without a mask there is no person")
    batch = people.getBatchGet(resourceNames=[name, "people/c1"], personFields="names").execute()["responses"]
    same([one["httpStatusCode"] for one in batch], [200, 404], "each has its own status")
    same(people.deleteContact(resourceName=name).execute(), {}, "a deletion")
    refused(people.deleteContact(resourceName=name), 404, "NOT_FOUND", "deleted twice")


def sync(api):
    connections = api.people().connections()
    fixed = dict(resourceName="people/me", personFields="names,metadata", sources=CONTACT, requestSyncToken=True, pageSize=2)
    names = [control(f"people/{ALICE}/contacts", {"names": [{"givenName": f"Person {n}"}]})["resourceName"] for n in range(3)]
    page = connections.list(**fixed).execute()
    same((len(page["connections"]), page["totalItems"], "nextSyncToken" in page), (2, 3, False), "the first page")
    refused(connections.list(**{**fixed, "pageSize": 3}, pageToken=page["nextPageToken"]), 400, "INVALID_ARGUMENT", "another page size")
    page = connections.list(**fixed, pageToken=page["nextPageToken"]).execute()
    token = page["nextSyncToken"]
    check("nextPageToken" not in page, "the last page")
    check("connections" not in connections.list(**fixed, syncToken=token).execute(), "nothing new")
    refused(connections.list(**{**fixed, "personFields": "names"}, syncToken=token), 400, "INVALID_ARGUMENT", "another mask")
    short = [name.removeprefix("people/") for name in names]
    control(f"people/{ALICE}/contacts/{short[0]}", {"names": [{"givenName": "Renamed"}]}, "PATCH")
    control(f"people/{ALICE}/contacts/{short[1]}", method="DELETE")
    profile = control(f"people/{ALICE}/contacts/{short[2]}/profile/1001", {"names": [{"givenName": "Profile"}]})["resourceName"]
    page = connections.list(**fixed, syncToken=token).execute()
    told = page["connections"] + connections.list(**fixed, syncToken=token, pageToken=page["nextPageToken"]).execute()["connections"]
    same([one["resourceName"] for one in told], [names[0], names[1], profile], "a delta")
    same((told[1]["metadata"]["deleted"], "names" in told[1]), (True, False), "a tombstone")
    same(told[2]["metadata"]["previousResourceNames"], [names[2]], "the name that it had")
    same([one["givenName"] for one in told[2]["names"]], ["Person 2"], "the contact's fields alone")
    both = api.people().get(resourceName=names[2], personFields="names").execute()
    same((both["resourceName"], len(both["names"])), (profile, 2), "both sources, by the old name too")
    newest = connections.list(resourceName="people/me", personFields="names", pageSize=1, sortOrder="LAST_MODIFIED_DESCENDING").execute()
    same(newest["connections"][0]["resourceName"], profile, "the newest first")

    control("traps/late_feed", {"times": 1})
    control(f"people/{ALICE}/contacts/{short[0]}", {"names": [{"givenName": "Late"}]}, "PATCH")
    late = connections.list(**fixed, syncToken=token).execute()
    check("connections" not in late, "the feed is minutes behind")
    same(api.people().get(resourceName=names[0], personFields="names").execute()["names"][0]["givenName"], "Late", "a get is not")
    control("advance", {"seconds": 301})
    page = connections.list(**fixed, syncToken=late["nextSyncToken"]).execute()
    check("connections" in page, "the feed comes")
    control("traps/late_feed", {"times": 0})
    control("traps/sync_token_expired_text", {"times": 1})
    refused(connections.list(**fixed, syncToken=token), 400, "FAILED_PRECONDITION", "expired, by the text alone")
    control("advance", {"seconds": 7 * DAY})
    # The access token has expired too.
    api = client("people.v1")
    connections = api.people().connections()
    refused(connections.list(**fixed, syncToken=token), 400, "EXPIRED_SYNC_TOKEN", "a week later")
    control("traps/first_page_quota", {"times": 1})
    refused(connections.list(**fixed), 429, "RATE_LIMIT_EXCEEDED", "the quota of full reads")
    control("traps/critical_reads", {"times": 1})
    refused(api.people().get(resourceName=profile, personFields="names"), 429, "RATE_LIMIT_EXCEEDED", "critical reads")

    control(f"people/{ALICE}/others", {"names": [{"givenName": "Met once"}], "emailAddresses": [{"value": "once@example.org"}]})
    others = api.otherContacts()
    found = others.list(readMask="names,emailAddresses,metadata", requestSyncToken=True).execute()
    same(found["otherContacts"][0]["metadata"]["sources"][0]["type"], "OTHER_CONTACT", "another contact")
    check(found["otherContacts"][0]["resourceName"].startswith("otherContacts/"), found)
    refused(others.list(readMask="birthdays"), 400, "INVALID_ARGUMENT", "a field that other contacts do not have")


def groups(api):
    groups = api.contactGroups()
    all_groups = groups.list(groupFields="name,groupType,memberCount,metadata,clientData", pageSize=1000).execute()
    kinds = {one["resourceName"]: one["groupType"] for one in all_groups["contactGroups"]}
    same(kinds["contactGroups/starred"], "SYSTEM_CONTACT_GROUP", "a system group")
    fixed = dict(groupFields="name,groupType,memberCount,metadata,clientData", pageSize=1000, syncToken=all_groups["nextSyncToken"])
    made = groups.create(body={"contactGroup": {"name": "Club", "clientData": [{"key": "k", "value": "1"}]}}).execute()
    name = made["resourceName"]
    refused(groups.create(body={"contactGroup": {"name": "Club"}}), 409, "ALREADY_EXISTS", "a taken name")
    delta = groups.list(**fixed).execute()["contactGroups"]
    same([(one["name"], one["clientData"][0]["value"]) for one in delta], [("Club", "1")], "a delta of groups")
    person = api.people().createContact(body=ada(), personFields="names").execute()["resourceName"]
    result = groups.members().modify(resourceName=name, body={"resourceNamesToAdd": [person, "people/c1"]}).execute()
    same(result["notFoundResourceNames"], ["people/c1"], "an unknown member")
    read = groups.get(resourceName=name, maxMembers=10).execute()
    same((read["memberCount"], read["memberResourceNames"]), (1, [person]), "the members")
    body = {"resourceNamesToRemove": [person]}
    groups.members().modify(resourceName="contactGroups/myContacts", body=body).execute()
    result = groups.members().modify(resourceName=name, body=body).execute()
    same(result["canNotRemoveLastContactGroupResourceNames"], [person], "the last group stays")
    friends = {"resourceNamesToAdd": [person]}
    refused(groups.members().modify(resourceName="contactGroups/friends", body=friends), 400, "INVALID_ARGUMENT", "a closed group")
    stale = {"contactGroup": {"name": "Council", "etag": "other"}}
    refused(groups.update(resourceName=name, body=stale), 400, "FAILED_PRECONDITION", "an old etag of a group")
    renamed = groups.update(resourceName=name, body={"contactGroup": {"name": "Council", "etag": read["etag"]}}).execute()
    same((renamed["name"], renamed["formattedName"]), ("Council", "Council"), "a new name")
    refused(groups.delete(resourceName="contactGroups/starred"), 400, "INVALID_ARGUMENT", "a system group stays")
    same(groups.delete(resourceName=name).execute(), {}, "a deleted group")
    delta = groups.list(**fixed).execute()["contactGroups"]
    same([one["metadata"].get("deleted") for one in delta], [True], "its tombstone")


def task_lists(api):
    lists = api.tasklists()
    default = lists.get(tasklist="@default").execute()
    same((default["kind"], default["title"]), ("tasks#taskList", "My Tasks"), "the default list")
    made = lists.insert(body={"title": "Garden"}).execute()
    page = lists.list(maxResults=1).execute()
    same([one["id"] for one in page["items"]], [default["id"]], "the first page of lists")
    page = lists.list(maxResults=1, pageToken=page["nextPageToken"]).execute()
    same(([one["title"] for one in page["items"]], "nextPageToken" in page), (["Garden"], False), "the second one")
    same(lists.patch(tasklist=made["id"], body={"title": "Allotment"}).execute()["title"], "Allotment", "a new title")
    refused(lists.patch(tasklist=made["id"], body={"title": "x" * 1025}), 400, "invalid", "a long title")
    refused(lists.delete(tasklist="@default"), 400, "invalid", "the default list stays")
    lists.delete(tasklist=made["id"]).execute()
    refused(lists.get(tasklist=made["id"]), 404, "notFound", "a deleted list")


def tasks(api):
    tasks = api.tasks()
    first = tasks.insert(tasklist="@default", body={"title": "First", "due": "2026-03-31T17:00:00Z"}).execute()
    same((first["due"], first["status"]), ("2026-03-31T00:00:00.000Z", "needsAction"), "a due date is a day")
    second = tasks.insert(tasklist="@default", previous=first["id"], body={"title": "Second"}).execute()
    below = tasks.insert(tasklist="@default", parent=first["id"], body={"title": "Below"}).execute()
    same((below["parent"], below["position"] < second["position"]), (first["id"], True), "a place beneath each parent")
    refused(tasks.insert(tasklist="@default", parent=below["id"], body={"title": "x"}), 400, "invalid", "no third level")
    refused(tasks.insert(tasklist="@default", body={"title": "x" * 1025}), 400, "invalid", "a long title")
    refused(tasks.insert(tasklist="@default", body={"title": "x", "status": "someday"}), 400, "invalid", "an unknown status")
    refused(tasks.insert(tasklist="@default", body={"title": "x", "due": "tomorrow"}), 400, "invalid", "no time")
    moved = tasks.move(tasklist="@default", task=second["id"]).execute()
    check(moved["position"] < tasks.get(tasklist="@default", task=first["id"]).execute()["position"], "without a sibling it is the first")
    refused(tasks.move(tasklist="@default", task=second["id"], previous=below["id"]), 400, "invalid", "a sibling elsewhere")
    request = tasks.patch(tasklist="@default", task=first["id"], body={"title": "Late"})
    request.headers["If-Match"] = '"other"'
    refused(request, 412, "conditionNotMet", "an old etag")
    done = tasks.patch(tasklist="@default", task=second["id"], body={"status": "completed"}).execute()
    check("completed" in done and "hidden" not in done, "completed by the API it is not hidden")
    tasks.clear(tasklist="@default").execute()
    titles = [one["title"] for one in tasks.list(tasklist="@default").execute()["items"]]
    same(titles, ["First", "Below"], "hidden tasks are left out")
    hidden = tasks.get(tasklist="@default", task=second["id"]).execute()
    same(hidden["hidden"], True, "cleared")
    refused(tasks.move(tasklist="@default", task=second["id"], previous=first["id"]), 400, "invalid", "hidden tasks have no order")
    again = tasks.patch(tasklist="@default", task=second["id"], body={"status": "needsAction"}).execute()
    check("completed" not in again and "hidden" not in again, "open again")

    control("advance", {"seconds": 60})
    assigned = control(f"tasks/{ALICE}", {"title": "From a document", "assignmentInfo": {
        "surfaceType": "DOCUMENT", "linkToTask": "https://docs.google.com/d/1"}})["id"]
    shown = dict(tasklist="@default", showCompleted=True, showHidden=True, showDeleted=True, showAssigned=True)
    tasks.delete(tasklist="@default", task=first["id"]).execute()
    found = tasks.list(**shown, updatedMin=again["updated"], maxResults=100).execute()["items"]
    same({one["title"]: one.get("deleted") for one in found}, {"First": True, "Below": True, "Second": None, "From a document": None},
         "what changed, with tombstones")
    check(assigned not in [one["id"] for one in tasks.list(tasklist="@default").execute()["items"]], "assigned tasks are asked for")
    refused(tasks.patch(tasklist="@default", task=assigned, body={"notes": "x"}), 400, "invalid", "assigned tasks have no notes")
    refused(tasks.list(tasklist="@default", maxResults=101), 400, "invalid", "a page has a hundred tasks")
    refused(tasks.list(tasklist="@default", updatedMin="yesterday"), 400, "invalid", "no timestamp")
    tasks.delete(tasklist="@default", task=assigned).execute()
    same(control(f"tasks/{ALICE}/deleted-originals", method="GET"), {"ids": [assigned]}, "the original goes too")
    refused(tasks.delete(tasklist="@default", task=assigned), 404, "notFound", "deleted twice")


def client(name, scopes=("contacts", "contacts.other.readonly", "tasks")):
    """The client of an API, with a fresh access token."""
    wanted = {"user": ALICE, "scopes": [AUTH + scope for scope in scopes]}
    return service(name, google.oauth2.credentials.Credentials(control("tokens", wanted)["accessToken"]))


def main():
    control("users", {"email": ALICE, "name": "Alice Example", "timeZone": "Europe/Berlin"})
    reader = client("people.v1", ["contacts.readonly"])
    refused(reader.people().createContact(body=ada()), 403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "a reader")
    for part in (contacts, sync, groups):
        part(client("people.v1"))
    for part in (task_lists, tasks):
        part(client("tasks.v1"))
    same(control("violations", method="GET"), {"violations": []}, "what Google's documents forbid")
    print(f"{checks} checks of the official client passed")


main()
