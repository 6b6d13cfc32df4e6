"""Drives the Gmail API of the fake with Google's own Python client. `google_mail.py URL`: the origin of a fresh fake.

The client builds its methods from Google's discovery document and refuses parameters and values that the document does not have; so each
call here is one that Google's own code would send, uploads and batches among them. Ends with status 1 at the first answer that is not as
Google's documentation says.
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
from googleapiclient.http import MediaInMemoryUpload

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
    document = json.loads((folder / "gmail.v1.json").read_text())
    document["rootUrl"] = URL + "/"
    document["baseUrl"] = URL + "/"
    document.pop("mtlsRootUrl", None)
    return build_from_document(document, credentials=credentials)


def signed_in(user, *scopes):
    token = control("tokens", {"user": user, "scopes": list(scopes)})["accessToken"]
    return service(google.oauth2.credentials.Credentials(token))


def letter(subject, more="", body="Hello there.\r\n", number=[0]):
    number[0] += 1
    return (f"From: Ann <ann@elsewhere.test>\r\nTo: Alice <{ALICE}>\r\nSubject: {subject}\r\n"
            f"Message-ID: <{number[0]}@elsewhere.test>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\n{more}\r\n{body}")


def own(subject, to, more=""):
    return f"From: {ALICE}\r\nTo: {to}\r\nSubject: {subject}\r\nMessage-ID: <own@switchboard.test>\r\n{more}\r\nHi\r\n"


def media(text):
    return MediaInMemoryUpload(text.encode(), mimetype="message/rfc822")


def raw(text):
    return base64.urlsafe_b64encode(text.encode()).decode()


def deliver(text, **more):
    return control(f"mail/{ALICE}/messages", {"raw": text, **more})["id"]


def headers(message):
    return {one["name"].lower(): one["value"] for one in message["payload"]["headers"]}


def profile(mail):
    found = mail.users().getProfile(userId="me").execute()
    same((found["emailAddress"], found["messagesTotal"]), (ALICE, 0), "an empty mailbox")
    check(found["historyId"].isdigit(), "the history id is a number in text")
    refused(mail.users().getProfile(userId=BOB), 403, "forbidden", "somebody else's mailbox")
    same(mail.users().messages().list(userId="me").execute(), {"resultSizeEstimate": 0}, "no messages")
    control(f"mail/{ALICE}/aliases", {"email": "desk@example.com", "name": "Desk"})
    addresses = mail.users().settings().sendAs().list(userId="me").execute()["sendAs"]
    same([(one["sendAsEmail"], one.get("isPrimary"), one.get("verificationStatus")) for one in addresses],
         [(ALICE, True, None), ("desk@example.com", None, "accepted")], "addresses")
    control("traps/mail_not_enabled", {"times": 1})
    found = refused(mail.users().getProfile(userId="me"), 400, "failedPrecondition", "no Gmail")
    same(found["message"], "Mail service not enabled", "its text")


def reading(mail):
    messages = mail.users().messages()
    head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n"
    body = ("--m\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n"
            "--m\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n"
            "Content-Transfer-Encoding: base64\r\n\r\nMDEy\r\n--m--\r\n")
    text = letter("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", head, body)
    one = deliver(text)
    full = messages.get(userId="me", id=one).execute()
    same(set(full["labelIds"]), {"INBOX", "UNREAD"}, "labels of new mail")
    same(headers(full)["subject"], "Gr\u00fc\u00dfe", "a decoded header")
    first, second = full["payload"]["parts"]
    same(base64.urlsafe_b64decode(first["body"]["data"]).decode(), "Gr\u00fc\u00dfe", "text is UTF-8")
    same((second["partId"], second["filename"], "data" in second["body"]), ("1", "a.csv", False), "a file")
    again = messages.get(userId="me", id=one).execute()["payload"]["parts"][1]["body"]
    check(again["attachmentId"] != second["body"]["attachmentId"], "another id at each read")
    same(again["size"], 3, "its size")
    file = messages.attachments().get(userId="me", messageId=one, id=again["attachmentId"]).execute()
    same((base64.urlsafe_b64decode(file["data"]), file["size"]), (b"012", 3), "the file")
    refused(messages.attachments().get(userId="me", messageId=one, id="x"), 400, "invalidArgument", "no such file")
    control("traps/attachments_expire", {"times": 1})
    late = messages.get(userId="me", id=one).execute()["payload"]["parts"][1]["body"]["attachmentId"]
    refused(messages.attachments().get(userId="me", messageId=one, id=late), 400, "invalidArgument", "an old id")
    found = messages.get(userId="me", id=one, format="raw").execute()
    same(base64.urlsafe_b64decode(found["raw"]).decode(), text, "the message as it came")
    check("payload" not in found, "raw has no payload")
    found = messages.get(userId="me", id=one, format="metadata", metadataHeaders=["subject"]).execute()
    same(([one["name"] for one in found["payload"]["headers"]], "parts" in found["payload"]), (["Subject"], False), "metadata")
    found = messages.get(userId="me", id=one, format="minimal").execute()
    same(("payload" in found, "raw" in found, found["historyId"]), (False, False, full["historyId"]), "minimal")
    masked = messages.get(userId="me", id=one, fields="id,payload(parts(partId,body/size))").execute()
    same(masked, {"id": one, "payload": {"parts": [{"partId": "0", "body": {"size": 7}}, {"partId": "1", "body": {"size": 3}}]}},
         "a field mask")
    refused(messages.get(userId="me", id=one, fields="id,subject"), 400, "invalid", "a mask of what is not there")
    refused(messages.get(userId="me", id="19c0ffffffffffff"), 404, "notFound", "no such message")
    snippet = deliver(letter("Quotes", body="1 < 2 & \"x\"\r\n"))
    same(messages.get(userId="me", id=snippet).execute()["snippet"], "1 &lt; 2 &amp; &quot;x&quot;", "a snippet")
    control("traps/missing_payload", {"times": 1})
    check("payload" not in messages.get(userId="me", id=one).execute(), "no payload")
    limited = signed_in(ALICE, AUTH + "gmail.metadata").users().messages()
    refused(limited.get(userId="me", id=one), 403, "forbidden", "heads alone")
    refused(limited.list(userId="me", q="in:inbox"), 403, "forbidden", "no search")
    same(len(limited.list(userId="me").execute()["messages"]), 2, "a list")
    refused(signed_in(ALICE, AUTH + "gmail.send").users().messages().list(userId="me"), 403, "insufficientPermissions", "no scope")
    for message in (one, snippet):
        control(f"mail/{ALICE}/messages/{message}", method="DELETE")


def lists(mail):
    messages = mail.users().messages()
    ids = [deliver(letter(f"Page {number}"), at=1769940000000 + number * 1000) for number in range(5)]
    page = messages.list(userId="me", maxResults=2).execute()
    same(([one["id"] for one in page["messages"]], page["resultSizeEstimate"]), (ids[:2:-1], 5), "the newest first")
    deliver(letter("Meanwhile"))
    seen = [one["id"] for one in page["messages"]]
    while "nextPageToken" in page:
        page = messages.list(userId="me", maxResults=2, pageToken=page["nextPageToken"]).execute()
        seen += [one["id"] for one in page["messages"]]
    same(seen, ids[::-1], "pages stay as they were")
    trash = deliver(letter("Trashed"), labels=["TRASH"])

    def found(**query):
        return len(messages.list(userId="me", **query).execute().get("messages", []))

    same((found(), found(includeSpamTrash=True), found(labelIds=["TRASH"]), found(q="in:trash")), (6, 7, 1, 1), "the trash")
    same((found(labelIds=["INBOX", "UNREAD"]), found(labelIds=["INBOX", "STARRED"])), (6, 0), "all labels count")
    same((found(q='"page"'), found(q="subject:meanwhile"), found(q="from:ann@elsewhere.test")), (5, 1, 6), "words")
    same((found(q="in:inbox -subject:page"), found(q="is:read"), found(q="is:unread")), (1, 0, 6), "operators")
    same((found(q="after:1769940001 before:1769940004"), found(q="rfc822msgid:nothing@x.test")), (2, 0), "times")
    refused(messages.list(userId="me", q="is:funny"), 400, "invalidArgument", "an unknown term")
    refused(messages.list(userId="me", labelIds=["Label_99"]), 400, "invalidArgument", "an unknown label")
    for message in [*ids, trash]:
        control(f"mail/{ALICE}/messages/{message}", method="DELETE")


def labels(mail):
    messages, labels = mail.users().messages(), mail.users().labels()
    system = {one["id"] for one in labels.list(userId="me").execute()["labels"] if one["type"] == "system"}
    check({"INBOX", "SENT", "DRAFT", "SPAM", "TRASH", "UNREAD", "STARRED", "IMPORTANT"} <= system, system)
    made = labels.create(userId="me", body={"name": "Work/Reports"}).execute()
    same((made["type"], made["name"]), ("user", "Work/Reports"), "a label")
    refused(labels.create(userId="me", body={"name": "work/reports"}), 409, "aborted", "a taken name")
    same(labels.patch(userId="me", id=made["id"], body={"name": "Reports"}).execute()["name"], "Reports", "another name")
    refused(labels.delete(userId="me", id="INBOX"), 400, "invalidArgument", "a system label")
    one = deliver(letter("Labelled"))

    def modify(**body):
        return messages.modify(userId="me", id=one, body=body)

    before = messages.get(userId="me", id=one, format="minimal").execute()
    changed = modify(addLabelIds=[made["id"], "STARRED"], removeLabelIds=["UNREAD"]).execute()
    same(set(changed["labelIds"]), {"INBOX", "STARRED", made["id"]}, "changed labels")
    check(int(changed["historyId"]) > int(before["historyId"]), "the new history id")
    same(labels.get(userId="me", id=made["id"]).execute()["messagesTotal"], 1, "counts")
    for label in ("SENT", "DRAFT", "Label_99"):
        found = refused(modify(addLabelIds=[label]), 400, "invalidArgument", label)
        same((found["message"], found["status"]), (f"Invalid label: {label}", "INVALID_ARGUMENT"), "its text")
        refused(modify(removeLabelIds=[label]), 400, "invalidArgument", label)
    refused(modify(addLabelIds=["STARRED"], removeLabelIds=["STARRED"]), 400, "invalidArgument", "added and removed")
    refused(modify(addLabelIds=["INBOX", "TRASH"]), 400, "invalidArgument", "two folders")
    refused(modify(), 400, "invalidArgument", "no label")
    trashed = messages.trash(userId="me", id=one).execute()
    same((set(trashed["labelIds"]), "historyId" in trashed), ({"TRASH", "STARRED", made["id"]}, False), "the trash")
    back = messages.untrash(userId="me", id=one).execute()
    same(("INBOX" in back["labelIds"], "historyId" in back), (False, True), "out of the trash, and not in the inbox")
    labels.delete(userId="me", id=made["id"]).execute()
    same(messages.get(userId="me", id=one, format="minimal").execute()["labelIds"], ["STARRED"], "a label that is gone")
    messages.batchModify(userId="me", body={"ids": [one], "addLabelIds": ["INBOX"]}).execute()
    refused(messages.delete(userId="me", id=one), 403, "insufficientPermissions", "only with all of Gmail's scopes")
    signed_in(ALICE, "https://mail.google.com/").users().messages().delete(userId="me", id=one).execute()


def history(mail):
    users = mail.users()
    start = users.getProfile(userId="me").execute()["historyId"]
    one = deliver(letter("Told"))
    users.messages().trash(userId="me", id=one).execute()
    control(f"mail/{ALICE}/messages/{one}", method="DELETE")
    found = users.history().list(userId="me", startHistoryId=start).execute()
    kinds = [set(record) - {"id", "messages"} for record in found["history"]]
    same(kinds, [set(), {"messagesAdded"}, set(), {"labelsAdded"}, {"labelsRemoved"}, {"messagesDeleted"}], "its records")
    moved = found["history"][3]["labelsAdded"][0]
    same((moved["labelIds"], set(moved["message"]["labelIds"])), (["TRASH"], {"INBOX", "TRASH", "UNREAD"}), "a state with both")
    check(all(one["id"].isdigit() for one in found["history"]), "ids")
    page = users.history().list(userId="me", startHistoryId=start, maxResults=4).execute()
    rest = users.history().list(userId="me", startHistoryId=start, pageToken=page["nextPageToken"]).execute()
    same(page["history"] + rest["history"], found["history"], "two pages")
    same(users.history().list(userId="me", startHistoryId=found["historyId"]).execute(), {"historyId": found["historyId"]},
         "nothing new")
    added = users.history().list(userId="me", startHistoryId=start, historyTypes=["messageAdded"]).execute()
    same(len(added["history"]), 1, "one kind")
    refused(users.history().list(userId="me", startHistoryId=start, labelId="Label_99"), 404, "notFound", "a label that is gone")
    refused(users.history().list(userId="me", startHistoryId="1"), 404, "notFound", "older than the history")
    control("traps/history_empty_page", {"times": 1})
    empty = users.history().list(userId="me", startHistoryId=start).execute()
    check("history" not in empty and "nextPageToken" in empty, empty)
    control("traps/late_message", {"times": 1})
    late = deliver(letter("Late"))
    told = users.history().list(userId="me", startHistoryId=found["historyId"]).execute()["history"]
    same(told[-1]["messagesAdded"][0]["message"]["id"], late, "it is told")
    refused(users.messages().get(userId="me", id=late), 404, "notFound", "and cannot be read yet")
    control("advance", {"seconds": 4})
    same(users.messages().get(userId="me", id=late).execute()["id"], late, "some seconds later")
    control(f"mail/{ALICE}/forget-history", {})
    refused(users.history().list(userId="me", startHistoryId=found["historyId"]), 404, "notFound", "a forgotten history")


def sending(mail):
    messages = mail.users().messages()
    text = own("Offer", BOB, "Bcc: hidden@elsewhere.test\r\nX-Switchboard-Id: 1\r\n")
    made = messages.send(userId="me", body={}, media_body=media(text)).execute()
    same((made["labelIds"], "historyId" in made), (["SENT"], False), "a sent message")
    copy = headers(messages.get(userId="me", id=made["id"], format="metadata").execute())
    check(copy["message-id"].endswith("@mail.gmail.com>"), copy)
    same((copy["x-switchboard-id"], copy["bcc"]), ("1", "hidden@elsewhere.test"), "the own copy")
    sent = control(f"mail/{ALICE}/sent", method="GET")["sent"]
    same((sent[0]["recipients"], "hidden" in sent[0]["raw"]), ([BOB, "hidden@elsewhere.test"], False), "what others get")
    theirs = signed_in(BOB, AUTH + "gmail.readonly").users().messages()
    got = theirs.list(userId="me", q="subject:offer").execute()["messages"][0]["id"]
    got = headers(theirs.get(userId="me", id=got).execute())
    same((got["message-id"], "bcc" in got), (copy["message-id"], False), "Bob's copy")
    refused(messages.send(userId="me", media_body=media("Subject: x\r\n\r\nx\r\n")), 400, "invalidArgument", "nobody to send to")
    refused(messages.send(userId="me", body={"threadId": "19c0ffffffffffff"}, media_body=media(own("x", BOB))), 404, "notFound",
            "no such thread")
    answer = own("Re: Offer", BOB, f"In-Reply-To: {copy['message-id']}\r\n")
    joined = messages.send(userId="me", body={"threadId": made["threadId"]}, media_body=media(answer)).execute()
    same(joined["threadId"], made["threadId"], "an answer in its thread")
    alone = messages.send(userId="me", media_body=media(answer)).execute()
    check(alone["threadId"] != made["threadId"], "without the thread's id it is not in it")
    other = own("Other", BOB, f"In-Reply-To: {copy['message-id']}\r\n")
    other = messages.send(userId="me", body={"threadId": made["threadId"], "raw": raw(other)}).execute()
    check(other["threadId"] != made["threadId"], "nor with another subject")
    thread = mail.users().threads().get(userId="me", id=made["threadId"], format="minimal").execute()
    same([one["id"] for one in thread["messages"]], [made["id"], joined["id"]], "a thread")
    listed = mail.users().threads().list(userId="me", labelIds=["SENT"]).execute()["threads"]
    check(made["threadId"] in [one["id"] for one in listed], listed)
    forged = own("Forged", BOB).replace(f"From: {ALICE}", "From: boss@elsewhere.test")
    forged = messages.send(userId="me", media_body=media(forged)).execute()
    same(headers(messages.get(userId="me", id=forged["id"]).execute())["from"], ALICE, "the account's own address")
    control("traps/sending_limit", {"times": 1})
    found = refused(messages.send(userId="me", media_body=media(own("x", BOB))), 429, "rateLimitExceeded", "a limit")
    check("Retry after 2026-" in found["message"], found)
    stored = messages.insert(userId="me", body={"labelIds": ["INBOX"]}, media_body=media(letter("Stored")),
                             internalDateSource="dateHeader").execute()
    stored = messages.get(userId="me", id=stored["id"], format="minimal").execute()
    same((stored["labelIds"], stored["internalDate"]), (["INBOX"], "1769940000000"), "a stored message")


def drafts(mail):
    drafts, messages = mail.users().drafts(), mail.users().messages()
    made = drafts.create(userId="me", body={"message": {}}, media_body=media(own("Draft", BOB))).execute()
    same(made["message"]["labelIds"], ["DRAFT"], "a draft")
    check(made["id"] != made["message"]["id"], "two ids")
    start = mail.users().getProfile(userId="me").execute()["historyId"]
    text = {"raw": raw(own("Draft 2", BOB)), "threadId": made["message"]["threadId"]}
    saved = drafts.update(userId="me", id=made["id"], body={"message": text}).execute()
    same(saved["id"], made["id"], "the draft keeps its id")
    check(saved["message"]["id"] != made["message"]["id"], "its message does not")
    same(saved["message"]["threadId"], made["message"]["threadId"], "its thread stays")
    records = mail.users().history().list(userId="me", startHistoryId=start).execute()["history"]
    ids = {kind: record[kind][0]["message"]["id"] for record in records for kind in ("messagesAdded", "messagesDeleted")
           if kind in record}
    same(ids, {"messagesDeleted": made["message"]["id"], "messagesAdded": saved["message"]["id"]}, "its history")
    same(drafts.list(userId="me").execute()["drafts"][0]["id"], made["id"], "a list")
    moved = drafts.update(userId="me", id=made["id"], body={"message": {"raw": raw(own("Draft 2", BOB))}}).execute()
    check(moved["message"]["threadId"] != made["message"]["threadId"], "without its thread's id it leaves it")
    same(headers(drafts.get(userId="me", id=made["id"]).execute()["message"])["subject"], "Draft 2", "a read")
    refused(messages.get(userId="me", id=made["message"]["id"]), 404, "notFound", "the version before")
    sent = drafts.send(userId="me", body={"id": made["id"]}, media_body=media(own("Draft 3", BOB))).execute()
    same(sent["labelIds"], ["SENT"], "a sent draft")
    refused(drafts.get(userId="me", id=made["id"]), 404, "notFound", "it is no draft any more")
    same(headers(messages.get(userId="me", id=sent["id"]).execute())["subject"], "Draft 3", "as it was sent")
    other = drafts.create(userId="me", body={"message": {"raw": raw(own("Away", BOB))}}).execute()
    drafts.delete(userId="me", id=other["id"]).execute()
    refused(messages.get(userId="me", id=other["message"]["id"]), 404, "notFound", "deleted for good")


def batches(mail):
    messages = mail.users().messages()
    ids = [deliver(letter(f"Batch {number}")) for number in range(6)]

    def run(wanted):
        found = {}

        def take(name, answer, error):
            found[name] = error.resp.status if error else answer["id"]

        batch = mail.new_batch_http_request(callback=take)
        for one in wanted:
            batch.add(messages.get(userId="me", id=one, format="minimal"), request_id=one)
        batch.execute()
        return found

    same(run(ids), {one: one for one in ids}, "a batch")
    same(run([ids[0], "19c0ffffffffffff"]), {ids[0]: ids[0], "19c0ffffffffffff": 404}, "each part has an outcome of its own")
    control("traps/batch_reversed", {"times": 1})
    same(run(ids), {one: one for one in ids}, "in any order")
    control("traps/batch_429", {"times": 1})
    same(run(ids), {one: 429 if at % 2 else one for at, one in enumerate(ids)}, "too many requests")
    same(control("traps", method="GET")["traps"].count("batch_401"), 1, "a trap")
    control(f"mail/{ALICE}/units", {"limit": 50})
    control("advance", {"seconds": 61})
    same(list(run(ids).values()).count(429), 4, "a message is 20 units")
    control("traps/units_403", {"times": 1})
    refused(messages.get(userId="me", id=ids[0]), 403, "userRateLimitExceeded", "the other spelling")
    control("advance", {"seconds": 61})
    same(messages.get(userId="me", id=ids[0]).execute()["id"], ids[0], "a minute later")
    units = control(f"mail/{ALICE}/units", method="GET")
    same((units["refused"], units["limit"]), (5, 50), "units")
    control(f"mail/{ALICE}/units", {"limit": 1000000})
    for target in ("https://gmail.googleapis.com/gmail/v1/users/me/profile", "/calendar/v3/colors", "/upload/gmail/v1/users/me/messages"):
        check(part_status(mail, target) in (400, 404), target)


def part_status(mail, target):
    """The status of the one part of a batch that asks for this."""
    body = f"--b\r\nContent-Type: application/http\r\nContent-ID: <1>\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n"
    token = mail._http.credentials.token
    request = urllib.request.Request(f"{URL}/batch/gmail/v1", data=body.encode(), method="POST", headers={
        "authorization": "Bearer " + token, "content-type": "multipart/mixed; boundary=b"})
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    check("Content-ID: <response-1>" in text, text)
    return int(text.split("HTTP/1.1 ")[1].split(" ")[0])


def renewal():
    """The parts of a batch whose token has expired answer 401; the client renews the token and sends them again."""
    token = control("tokens", {"user": ALICE, "scopes": [AUTH + "gmail.readonly"]})["accessToken"]
    fresh = control("tokens", {"user": ALICE, "scopes": [AUTH + "gmail.readonly"]})["accessToken"]

    class Renewed(google.oauth2.credentials.Credentials):
        def refresh(self, request):
            self.token = fresh

    mail = service(Renewed(token, refresh_token="r", token_uri=URL + "/token", client_id="c", client_secret="s"))
    control("traps/batch_401", {"times": 1})
    found = []
    batch = mail.new_batch_http_request(callback=lambda name, answer, error: found.append(error or answer["emailAddress"]))
    batch.add(mail.users().getProfile(userId="me"))
    batch.execute()
    same(found, [ALICE], "parts are sent again")


def watches(mail):
    users = mail.users()
    topic = "projects/p/topics/mail"
    made = users.watch(userId="me", body={"topicName": topic}).execute()
    check(made["historyId"].isdigit() and made["expiration"].isdigit(), made)
    users.watch(userId="me", body={"topicName": topic}).execute()
    refused(users.watch(userId="me", body={"topicName": topic + "2"}), 400, "invalidArgument", "another topic")
    users.stop(userId="me").execute()
    users.watch(userId="me", body={"topicName": topic + "2"}).execute()
    refused(users.watch(userId="me", body={"topicName": "mail"}), 400, "invalidArgument", "no topic")
    control("traps/watch_not_authorized", {"times": 1})
    refused(users.watch(userId="me", body={"topicName": topic}), 403, "forbidden", "no publisher")


def main():
    control("users", {"email": ALICE, "name": "Alice Example", "timeZone": "Europe/Berlin"})
    control("users", {"email": BOB, "name": "Bob Example", "timeZone": "UTC"})
    control(f"mail/{ALICE}/units", {"limit": 1000000})
    mail = signed_in(ALICE, AUTH + "gmail.modify")
    for part in (profile, reading, lists, labels, history, sending, drafts, batches, watches):
        part(mail)
    renewal()
    same(control("violations", method="GET"), {"violations": []}, "what Google's document forbids")
    print(f"{checks} checks of the official client passed")


main()
