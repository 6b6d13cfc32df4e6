"""Drives the fake of Google with Google's own Python client. `google_calendar.py URL`: the origin of a fresh fake.

The client builds its methods from Google's discovery document and refuses parameters and values that the document does not have; so each
call here is one that Google's own code would send. Ends with status 1 at the first answer that is not as Google's documentation says.
"""

import base64
import hashlib
import json
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request

import google.oauth2.credentials
import googleapiclient
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError

URL = sys.argv[1].rstrip("/")
ALICE = "alice@example.com"
BOB = "bob@example.com"
AUTH = "https://www.googleapis.com/auth/"
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


def form(path, fields):
    """Status and JSON of a form that is posted to the authorization server."""
    request = urllib.request.Request(URL + path, data=urllib.parse.urlencode(fields).encode(), method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def refused(request, status, reason, what):
    try:
        answer = request.execute()
    except HttpError as error:
        found = json.loads(error.content)["error"]
        same((error.resp.status, found["errors"][0]["reason"]), (status, reason), what)
        same(found["code"], status, f"{what}: code")
        return found
    raise AssertionError(f"{what}: {answer!r} instead of {status} {reason}")


def service(credentials):
    folder = pathlib.Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    document = json.loads((folder / "calendar.v3.json").read_text())
    document["rootUrl"] = URL + "/"
    document["baseUrl"] = URL + "/calendar/v3/"
    document.pop("mtlsRootUrl", None)
    return build_from_document(document, credentials=credentials)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments, **named):
        return None


def consent(query):
    """What the consent page sends the browser back with."""
    opener = urllib.request.build_opener(NoRedirect)
    try:
        opener.open(f"{URL}/o/oauth2/v2/auth?{urllib.parse.urlencode(query)}")
    except urllib.error.HTTPError as error:
        same(error.code, 302, "the consent page sends the browser back")
        location = error.headers["location"]
        check(location.startswith(query["redirect_uri"] + "?"), location)
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
    raise AssertionError("no redirect")


def sign_in(scopes, **more):
    """The authorization code flow with PKCE; status and body of the token endpoint."""
    verifier = "v" * 50
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    back = "https://app.example.test/cb"
    query = dict(client_id="client", redirect_uri=back, response_type="code", scope=" ".join(scopes), state="s t",
                 code_challenge=challenge, code_challenge_method="S256", access_type="offline", login_hint=ALICE)
    query.update(more)
    answer = consent(query)
    same(answer["state"], "s t", "state")
    if "error" in answer:
        return answer["error"], None
    fields = dict(grant_type="authorization_code", code=answer["code"], redirect_uri=back, client_id="client",
                  client_secret="secret", code_verifier=verifier)
    wrong = form("/token", {**fields, "redirect_uri": back + "/other"})
    same((wrong[0], wrong[1]["error"]), (400, "redirect_uri_mismatch"), "another address")
    same(form("/token", fields)[1]["error"], "invalid_grant", "a code serves once")
    return form("/token", {**fields, "code": consent(query)["code"]})


def oauth():
    wanted = ["openid", "email", "profile", AUTH + "calendar"]
    status, token = sign_in(wanted, prompt="consent")
    same(status, 200, "the code is exchanged")
    same((token["expires_in"], token["token_type"]), (3599, "Bearer"), "the token")
    scopes = token["scope"].split(" ")
    check(AUTH + "userinfo.email" in scopes and AUTH + "calendar" in scopes, scopes)
    check("refresh_token" in token, "offline access has a refresh token")
    request = urllib.request.Request(URL + "/v1/userinfo", headers={"authorization": "Bearer " + token["access_token"]})
    with urllib.request.urlopen(request) as answer:
        user = json.load(answer)
    same((user["email"], user["email_verified"]), (ALICE, True), "user info")
    check(user["sub"].isdigit(), user)
    again = sign_in(wanted)
    check("refresh_token" not in again[1], "a second grant without prompt=consent has no refresh token")
    control("consent", {"scopes": [], "user": ALICE})
    status, fewer = sign_in(wanted, prompt="consent")
    check(AUTH + "calendar" not in fewer["scope"].split(" "), "a scope that was not ticked is not granted")
    api = service(google.oauth2.credentials.Credentials(fewer["access_token"]))
    found = refused(api.calendarList().list(), 403, "insufficientPermissions", "no scope")
    same(found["details"][0]["reason"], "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "ErrorInfo")
    control("consent", {"denies": True, "user": ALICE})
    same(sign_in(wanted)[0], "access_denied", "a denied request")
    control("consent", {"user": ALICE})
    # An access token that has expired is refreshed by the client itself, after a 401.
    status, token = sign_in(wanted, prompt="consent")
    control("advance", {"seconds": 4000})
    credentials = google.oauth2.credentials.Credentials(
        token["access_token"], refresh_token=token["refresh_token"], token_uri=URL + "/token", client_id="client",
        client_secret="secret")
    same(service(credentials).colors().get().execute()["kind"], "calendar#colors", "a refreshed token works")
    check(credentials.token != token["access_token"], "the token was refreshed")
    same(form("/revoke", {"token": token["refresh_token"]})[0], 200, "revocation")
    refresh = dict(grant_type="refresh_token", refresh_token=token["refresh_token"], client_id="client",
                   client_secret="secret")
    same(form("/token", refresh)[1]["error"], "invalid_grant", "a revoked grant")


def calendars(api):
    entries = api.calendarList().list().execute()
    same([entry["id"] for entry in entries["items"]], [ALICE], "the list of calendars")
    entry = entries["items"][0]
    same((entry["primary"], entry["accessRole"], entry["timeZone"]), (True, "owner", "Europe/Berlin"), "the primary one")
    token = entries["nextSyncToken"]
    same(api.calendarList().get(calendarId="primary").execute()["id"], ALICE, "primary")
    refused(api.calendarList().get(calendarId="nobody@example.com"), 404, "notFound", "an unknown calendar")
    made = api.calendars().insert(body={"summary": "Team", "timeZone": "America/Sao_Paulo"}).execute()
    check(made["id"].endswith("@group.calendar.google.com"), made)
    same(made["dataOwner"], ALICE, "the data owner")
    refused(api.calendars().insert(body={"timeZone": "UTC"}), 400, "required", "no name")
    refused(api.calendars().insert(body={"summary": "X", "timeZone": "Mars/Base"}), 400, "invalid", "no such zone")
    changed = api.calendars().patch(calendarId=made["id"], body={"summary": "Crew", "description": "All of us"}).execute()
    same((changed["summary"], changed["description"]), ("Crew", "All of us"), "a changed calendar")
    changed = api.calendars().patch(calendarId=made["id"], body={"description": None}).execute()
    check("description" not in changed, "null clears")
    refused(api.calendarList().patch(calendarId=made["id"], body={"backgroundColor": "#112233"}), 400, "invalid", "RGB")
    colored = api.calendarList().patch(calendarId=made["id"], colorRgbFormat=True,
                                       body={"backgroundColor": "#112233", "foregroundColor": "#ffffff"}).execute()
    same(colored["backgroundColor"], "#112233", "RGB colours")
    same(colored["dataOwner"], ALICE, "the data owner of an entry")
    hidden = api.calendarList().patch(calendarId=made["id"], body={"hidden": True, "summaryOverride": "Mine"}).execute()
    same((hidden["hidden"], hidden["summaryOverride"]), (True, "Mine"), "the entry's own members")
    shown = api.calendarList().list().execute()["items"]
    same([entry["id"] for entry in shown], [ALICE], "hidden calendars are not listed")
    shown = api.calendarList().list(showHidden=True, maxResults=1).execute()
    rest = api.calendarList().list(showHidden=True, maxResults=1, pageToken=shown["nextPageToken"]).execute()
    same(len(shown["items"] + rest["items"]), 2, "two pages")
    check("nextSyncToken" not in shown and "nextSyncToken" in rest, "the token is on the last page")
    delta = api.calendarList().list(syncToken=token).execute()["items"]
    same([entry["id"] for entry in delta], [made["id"]], "a delta of the list")
    refused(api.calendars().delete(calendarId=ALICE), 400, "invalid", "the primary calendar stays")
    api.calendars().delete(calendarId=made["id"]).execute()
    delta = api.calendarList().list(syncToken=token).execute()["items"]
    same((delta[0]["id"], delta[0]["deleted"]), (made["id"], True), "a deleted calendar")
    same(api.settings().get(setting="timezone").execute()["value"], "Europe/Berlin", "a setting")


def lunch(**more):
    return {
        "summary": "Lunch",
        "start": {"dateTime": "2026-03-03T12:00:00+01:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-03-03T13:00:00+01:00", "timeZone": "Europe/Berlin"},
        **more,
    }


def events(api):
    events = api.events()
    made = events.insert(calendarId="primary", body=lunch(id="lunch0001")).execute()
    same((made["id"], made["status"], made["organizer"]["self"]), ("lunch0001", "confirmed", True), "a made event")
    same(made["start"]["dateTime"], "2026-03-03T12:00:00+01:00", "the calendar's offset")
    refused(events.insert(calendarId="primary", body=lunch(id="lunch0001")), 409, "duplicate", "a taken id")
    refused(events.insert(calendarId="primary", body=lunch(id="Lunch!")), 400, "invalid", "a wrong id")
    refused(events.insert(calendarId="primary", body={"summary": "x"}), 400, "required", "no times")
    mixed = lunch(end={"date": "2026-03-04"})
    refused(events.insert(calendarId="primary", body=mixed), 400, "invalid", "a day and a time")
    empty = lunch(end={"dateTime": "2026-03-03T10:00:00Z"})
    refused(events.insert(calendarId="primary", body=empty), 400, "timeRangeEmpty", "an end before its start")
    there = {"dateTime": "2026-03-03T09:00:00", "timeZone": "America/Los_Angeles"}
    far = events.insert(calendarId="primary", body=lunch(start=there, end={**there, "dateTime": "2026-03-03T10:00:00"})).execute()
    same((far["start"]["dateTime"], far["start"]["timeZone"]), ("2026-03-03T18:00:00+01:00", "America/Los_Angeles"),
         "the offset is the calendar's, whatever the zone")
    read = events.get(calendarId="primary", eventId=far["id"], timeZone="Asia/Tokyo").execute()
    same(read["start"]["dateTime"], "2026-03-04T02:00:00+09:00", "the offset of the parameter's zone")

    patched = events.patch(calendarId="primary", eventId="lunch0001", body={"location": "Roof"}).execute()
    same((patched["summary"], patched["location"]), ("Lunch", "Roof"), "a patch merges")
    check(patched["etag"] != made["etag"], "a new etag")
    request = events.patch(calendarId="primary", eventId="lunch0001", body={"location": "Cellar"})
    request.headers["If-Match"] = made["etag"]
    refused(request, 412, "conditionNotMet", "an old etag")
    request = events.patch(calendarId="primary", eventId="lunch0001", body={"location": None})
    request.headers["If-Match"] = patched["etag"]
    check("location" not in request.execute(), "null clears")
    refused(events.patch(calendarId="primary", eventId="lunch0001", body={"start": {"date": "2026-03-03"}}), 400, "invalid",
            "a date beside a time")
    day = {"start": {"date": "2026-03-03", "dateTime": None, "timeZone": None},
           "end": {"date": "2026-03-04", "dateTime": None, "timeZone": None}}
    same(events.patch(calendarId="primary", eventId="lunch0001", body=day).execute()["start"], {"date": "2026-03-03"}, "a day")
    updated = events.update(calendarId="primary", eventId="lunch0001", body=lunch()).execute()
    check(updated["sequence"] > made["sequence"], "a new version has a higher sequence")
    refused(events.update(calendarId="primary", eventId="lunch0001", body=lunch(sequence=0)), 400, "invalid", "an old sequence")
    events.delete(calendarId="primary", eventId="lunch0001", sendUpdates="none").execute()
    refused(events.delete(calendarId="primary", eventId="lunch0001"), 410, "deleted", "deleted twice")
    same(events.get(calendarId="primary", eventId="lunch0001").execute()["status"], "cancelled", "a deleted event is read")
    refused(events.insert(calendarId="primary", body=lunch(id="lunch0001")), 409, "duplicate", "its id stays taken")
    refused(events.get(calendarId="primary", eventId="nothing0"), 404, "notFound", "an unknown event")
    events.delete(calendarId="primary", eventId=far["id"]).execute()


def sync(api):
    events = api.events()
    for number in range(3):
        events.insert(calendarId="primary", body=lunch(id=f"page{number}")).execute()
    fixed = dict(calendarId="primary", singleEvents=False, showDeleted=True)
    control("traps/empty_page", {"times": 1})
    page = events.list(maxResults=2, **fixed).execute()
    same(page["items"], [], "an empty page that goes on")
    seen = []
    while "nextPageToken" in page:
        check("nextSyncToken" not in page, "the sync token is on the last page")
        page = events.list(maxResults=2, pageToken=page["nextPageToken"], **fixed).execute()
        check(len(page["items"]) <= 2, "the size of a page")
        seen += [event["id"] for event in page["items"]]
    same(len(seen), len(set(seen)), "no event twice")
    check({"page0", "page1", "page2", "lunch0001"} <= set(seen), seen)
    token = page["nextSyncToken"]
    events.patch(calendarId="primary", eventId="page1", body={"summary": "Changed"}).execute()
    events.delete(calendarId="primary", eventId="page2").execute()
    delta = events.list(syncToken=token, **fixed).execute()
    same([(event["id"], event["status"]) for event in delta["items"]], [("page1", "confirmed"), ("page2", "cancelled")],
         "a delta")
    same(events.list(syncToken=delta["nextSyncToken"], **fixed).execute()["items"], [], "nothing new")
    refused(events.list(syncToken=token, q="x", **fixed), 400, "syncTokenWithRequestRestrictions", "a query with a token")
    refused(events.list(calendarId="primary", syncToken=token, showDeleted=True), 400, "invalid", "other parameters")
    refused(events.list(syncToken="nonsense", **fixed), 400, "invalid", "no token")
    control("traps/updated_min_too_long_ago", {"times": 1})
    refused(events.list(syncToken=token, **fixed), 410, "updatedMinTooLongAgo", "the other spelling")
    control(f"expire-sync-tokens/{ALICE}", {})
    refused(events.list(syncToken=token, **fixed), 410, "fullSyncRequired", "an expired token")
    narrow = events.list(calendarId="primary", timeMin="2026-03-01T00:00:00Z", q="changed").execute()
    same([event["id"] for event in narrow["items"]], ["page1"], "a search")
    check("nextSyncToken" not in narrow, "a restricted list has no token")
    masked = events.list(calendarId="primary", fields="items(id),nextSyncToken").execute()
    check(all(set(event) == {"id"} for event in masked["items"]), "a field mask")
    refused(events.list(calendarId="primary", orderBy="startTime"), 400, "invalid", "an order without instances")
    control("traps/usage_limits", {"times": 1})
    found = refused(events.insert(calendarId="primary", body=lunch()), 403, "quotaExceeded", "protection against spam")
    same(found["errors"][0]["domain"], "usageLimits", "its domain")
    for number in range(2):
        events.delete(calendarId="primary", eventId=f"page{number}").execute()


def series(api):
    events = api.events()
    body = lunch(id="series01", recurrence=["RRULE:FREQ=WEEKLY;COUNT=6", "EXDATE;TZID=Europe/Berlin:20260310T120000"])
    events.insert(calendarId="primary", body=body).execute()
    wrong = lunch(recurrence=["RRULE:FREQ=WEEKLY;PART=1"])
    refused(events.insert(calendarId="primary", body=wrong), 400, "invalid", "an unknown part of a rule")
    found = events.instances(calendarId="primary", eventId="series01").execute()["items"]
    same([event["id"] for event in found], ["series01_20260303T110000Z", "series01_20260317T110000Z", "series01_20260324T110000Z",
                                            "series01_20260331T100000Z", "series01_20260407T100000Z"],
         "the instances, with the clock change")
    moved = events.patch(calendarId="primary", eventId="series01_20260317T110000Z", body={
        "start": {"dateTime": "2026-03-18T15:00:00+01:00"}, "end": {"dateTime": "2026-03-18T16:00:00+01:00"}}).execute()
    same((moved["recurringEventId"], moved["originalStartTime"]["dateTime"]), ("series01", "2026-03-17T12:00:00+01:00"),
         "an exception")
    events.delete(calendarId="primary", eventId="series01_20260324T110000Z").execute()
    stored = events.list(calendarId="primary", showDeleted=True).execute()["items"]
    ours = {event["id"]: event for event in stored if event["id"].startswith("series01")}
    same(sorted(ours), ["series01", "series01_20260317T110000Z", "series01_20260324T110000Z"], "exceptions are events")
    gone = ours["series01_20260324T110000Z"]
    same((gone["status"], "start" in gone), ("cancelled", False), "a cancelled instance has its ids alone")
    one = events.instances(calendarId="primary", eventId="series01", originalStart="2026-03-17T12:00:00+01:00").execute()
    same([event["id"] for event in one["items"]], [moved["id"]], "an instance by its original start")
    single = events.list(calendarId="primary", singleEvents=True, orderBy="startTime", timeMin="2026-03-01T00:00:00Z",
                         timeMax="2026-05-01T00:00:00Z").execute()
    same([event["start"]["dateTime"][:13] for event in single["items"]],
         ["2026-03-03T12", "2026-03-18T15", "2026-03-31T12", "2026-04-07T12"], "instances by start")
    query = {"timeMin": "2026-03-17T00:00:00Z", "timeMax": "2026-03-19T00:00:00Z",
             "items": [{"id": "primary"}, {"id": BOB}, {"id": "nobody@example.com"}]}
    busy = api.freebusy().query(body=query).execute()["calendars"]
    same(busy["primary"]["busy"], [{"start": "2026-03-18T14:00:00Z", "end": "2026-03-18T15:00:00Z"}], "busy times")
    same((busy[BOB]["busy"], busy["nobody@example.com"]["errors"][0]["reason"]), ([], "notFound"), "others")
    refused(api.freebusy().query(body={**query, "timeMax": "2026-09-19T00:00:00Z"}), 400, "timeRangeTooLong", "half a year")
    events.delete(calendarId="primary", eventId="series01").execute()


def guests(api):
    control(f"events/{ALICE}", {
        "id": "invited1", "summary": "Board", "organizer": {"email": BOB}, "creator": {"email": BOB},
        "start": {"dateTime": "2026-03-06T09:00:00Z", "timeZone": "UTC"}, "end": {"dateTime": "2026-03-06T10:00:00Z", "timeZone": "UTC"},
        "attendees": [{"email": ALICE, "responseStatus": "needsAction"}, {"email": BOB, "responseStatus": "accepted"}]})
    events = api.events()
    read = events.get(calendarId="primary", eventId="invited1").execute()
    same([(one["email"], one.get("self")) for one in read["attendees"]], [(ALICE, True), (BOB, None)], "the own entry")
    own = {"attendeesOmitted": True, "attendees": [{"email": ALICE, "responseStatus": "accepted"}]}
    answered = events.patch(calendarId="primary", eventId="invited1", body=own, sendUpdates="all").execute()
    same([one["responseStatus"] for one in answered["attendees"]], ["accepted", "accepted"], "an answer to an invitation")
    ignored = events.patch(calendarId="primary", eventId="invited1", body={"summary": "Mine"}).execute()
    same(ignored["summary"], "Board", "a guest's change is answered and ignored")
    few = events.get(calendarId="primary", eventId="invited1", maxAttendees=1).execute()
    same((few["attendeesOmitted"], len(few["attendees"])), (True, 1), "fewer attendees")

    request = {"conferenceData": {"createRequest": {"requestId": "r1", "conferenceSolutionKey": {"type": "hangoutsMeet"}}}}
    made = events.insert(calendarId="primary", body=lunch(id="meet0001")).execute()
    plain = events.patch(calendarId="primary", eventId="meet0001", body=request).execute()
    check("conferenceData" not in plain, "no conference without its version")
    status = ["conferenceData", "createRequest", "status", "statusCode"]

    def state(event):
        for name in status:
            event = event[name]
        return event

    pending = events.patch(calendarId="primary", eventId="meet0001", body=request, conferenceDataVersion=1).execute()
    same(state(pending), "pending", "a requested conference")
    reads = [events.get(calendarId="primary", eventId="meet0001").execute() for _ in range(3)]
    same(state(reads[-1]), "success", "some reads later")
    check(reads[-1]["hangoutLink"].startswith("https://meet.google.com/"), reads[-1])
    again = events.patch(calendarId="primary", eventId="meet0001", body=request, conferenceDataVersion=1).execute()
    same(again["hangoutLink"], reads[-1]["hangoutLink"], "the same request again")
    wrong = {"conferenceData": {"createRequest": {"requestId": "r2", "conferenceSolutionKey": {"type": "eventHangout"}}}}
    refused(events.patch(calendarId="primary", eventId="meet0001", body=wrong, conferenceDataVersion=1), 400, "invalid",
            "another kind of conference")
    check(made["id"] == "meet0001", made)


def channels(api):
    body = {"id": "channel-1", "type": "web_hook", "address": "https://app.example.test/hook", "token": "secret"}
    channel = api.events().watch(calendarId="primary", body=body).execute()
    same((channel["kind"], channel["id"], channel["token"]), ("api#channel", "channel-1", "secret"), "a channel")
    check(channel["expiration"].isdigit(), "the expiration is a number in text")
    refused(api.events().watch(calendarId="primary", body=body), 400, "channelIdNotUnique", "a taken id")
    other = api.events().watch(calendarId="primary", body={**body, "id": "channel-2"}).execute()
    same(other["resourceId"], channel["resourceId"], "one resource, two channels")
    plain = {**body, "id": "channel-3", "address": "http://app.example.test/hook"}
    refused(api.events().watch(calendarId="primary", body=plain), 400, "push.webhookUrlNotHttps", "no https")
    lists = api.calendarList().watch(body={**body, "id": "channel-4"}).execute()
    check(lists["resourceId"] != channel["resourceId"], "the list is another resource")
    api.channels().stop(body={"id": "channel-1", "resourceId": channel["resourceId"]}).execute()
    refused(api.channels().stop(body={"id": "channel-1", "resourceId": channel["resourceId"]}), 404, "notFound", "stopped twice")
    control("holidays", {"user": ALICE, "id": "de#holiday@group.v.calendar.google.com", "summary": "Feiertage"})
    holidays = "de#holiday@group.v.calendar.google.com"
    refused(api.events().watch(calendarId=holidays, body={**body, "id": "channel-5"}), 400, "pushNotSupportedForRequestedResource",
            "holidays")
    same(api.events().list(calendarId=holidays).execute()["accessRole"], "reader", "holidays can be read")


def main():
    control("users", {"email": ALICE, "name": "Alice Example", "timeZone": "Europe/Berlin"})
    control("users", {"email": BOB, "name": "Bob Example", "timeZone": "UTC"})
    oauth()
    token = control("tokens", {"user": ALICE, "scopes": [AUTH + "calendar"]})["accessToken"]
    api = service(google.oauth2.credentials.Credentials(token))
    for part in (calendars, events, sync, series, guests, channels):
        part(api)
    same(control("violations", method="GET"), {"violations": []}, "what Google's document forbids")
    print(f"{checks} checks of the official client passed")


main()
