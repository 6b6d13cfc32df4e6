// Drives the fake of Graph with Microsoft's own JavaScript client. Its arguments: see graph_desk.mjs. Ends with status 1 at the first answer
// that is not as Microsoft's documentation says.

import assert from "node:assert/strict";

import { ALICE, BOB, IMMUTABLE, control, graphClient, refused, run, same, signedIn as signIn } from "./graph_desk.mjs";

const { BatchRequestContent, BatchResponseContent, FileUpload, LargeFileUploadTask, PageIterator } = graphClient;
const SCOPES = ["User.Read", "MailboxSettings.Read", "Mail.ReadWrite", "Mail.Send", "Calendars.ReadWrite"];

function signedIn(origin, user, scopes = SCOPES) {
  return signIn(origin, user, scopes);
}

function deliver(subject) {
  const raw = `From: Bob <${BOB}>\r\nTo: ${ALICE}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.com>\r\n\r\nHello\r\n`;
  return control(`mail/${ALICE}/messages`, { raw });
}

async function account(graph, origin) {
  const me = await graph.api("/me").select(["id", "mail"]).get();
  same(me.mail, ALICE, "me");
  same((await graph.api(`/users/${me.id}`).get()).id, me.id, "the account by its id");
  same((await graph.api("/me/mailboxSettings").get()).timeZone, "W. Europe Standard Time", "the mailbox's zone");
  const reader = await signedIn(origin, ALICE, ["User.Read"]);
  await refused(reader.api("/me/messages").get(), 403, "ErrorAccessDenied", "a scope is missing");
}

async function pages(graph) {
  for (const subject of ["one", "two", "three", "four", "five"]) await deliver(subject);
  const inbox = graph.api("/me/mailFolders/inbox/messages").headers(IMMUTABLE);
  const first = await inbox.select("subject").orderby("receivedDateTime desc").top(2).get();
  same(first.value.length, 2, "a page of two");
  const subjects = [];
  await new PageIterator(graph, first, (message) => subjects.push(message.subject) > 0, { headers: IMMUTABLE }).iterate();
  same(subjects.sort(), ["five", "four", "one", "three", "two"], "all pages");
  const found = await graph.api("/me/messages").headers(IMMUTABLE).search('"subject:three"').get();
  same(found.value.map((message) => message.subject), ["three"], "a search");
  const counted = await graph.api("/me/mailFolders/inbox/messages").count(true).top(1).get();
  same(counted["@odata.count"], 5, "a count");
  return first.value[0].id;
}

async function batches(graph, id) {
  // The client strips the host alone; the paths of parts have no version.
  const base = "https://graph.microsoft.com";
  const part = (path, method = "GET", body = undefined) => {
    const headers = { ...IMMUTABLE, ...(body && { "Content-Type": "application/json" }) };
    return new Request(`${base}${path}`, { method, headers, body: body && JSON.stringify(body) });
  };
  const content = new BatchRequestContent([
    { id: "1", request: part(`/me/messages/${id}`, "PATCH", { isRead: true }) },
    { id: "2", request: part(`/me/messages/${id}/move`, "POST", { destinationId: "deleteditems" }), dependsOn: ["1"] },
    { id: "3", request: part(`/me/messages/${id}?$select=isRead`), dependsOn: ["2"] },
  ]);
  const answers = new BatchResponseContent(await graph.api("/$batch").post(await content.getContent()));
  same(["1", "2", "3"].map((id) => answers.getResponseById(id).status), [200, 201, 200], "three in a row");
  same((await answers.getResponseById("3").json()).isRead, true, "the body of a part");

  const failing = new BatchRequestContent([
    { id: "1", request: part("/me/mailFolders/nofolder") },
    { id: "2", request: part("/me"), dependsOn: ["1"] },
  ]);
  const failed = new BatchResponseContent(await graph.api("/$batch").post(await failing.getContent()));
  same(["1", "2"].map((id) => failed.getResponseById(id).status), [404, 424], "the part after one that failed");

  const parallel = async () => {
    const all = Array.from({ length: 4 }, (_, at) => ({ id: `${at}`, request: part("/me") }));
    return new BatchResponseContent(await graph.api("/$batch").post(await new BatchRequestContent(all).getContent()));
  };
  await control("traps/batch_429", { times: 1 });
  const throttled = await parallel();
  same(["0", "1", "2", "3"].map((id) => throttled.getResponseById(id).status), [200, 429, 200, 429], "429 inside a batch");
  same(throttled.getResponseById("1").headers.get("retry-after"), "1", "when to ask again");
  await control("traps/batch_part_missing", { times: 1 });
  same((await parallel()).getResponseById("3"), undefined, "a part without an answer");
}

async function uploads(graph) {
  const draft = await graph.api("/me/messages").headers(IMMUTABLE).post({ subject: "Large", toRecipients: [{ emailAddress: { address: BOB } }] });
  const bytes = new Uint8Array(4_000_000).fill(65);
  const item = { AttachmentItem: { attachmentType: "file", name: "large.bin", size: bytes.length } };
  const path = `/me/messages/${draft.id}/attachments`;
  const session = await LargeFileUploadTask.createUploadSession(graph, `${path}/createUploadSession`, item, IMMUTABLE);
  const slices = [];
  const task = new LargeFileUploadTask(graph, new FileUpload(bytes, "large.bin", bytes.length), session, {
    rangeSize: 320 * 1024 * 5,
    uploadEventHandlers: { progress: (range) => slices.push([range.minValue, range.maxValue]) },
  });
  const result = await task.upload();
  same(slices, [[0, 1638399], [1638400, 3276799], [3276800, 3999999]], "three slices");
  assert.ok(result.location.includes("attachments") || result.location.includes("Attachments"), result.location);
  const listed = await graph.api(path).headers(IMMUTABLE).select("id,name").get();
  same(listed.value.map((one) => one.name), ["large.bin"], "the attachment");
  const { requests } = await control("requests", undefined, "GET");
  same(requests.filter((request) => request.isUpload && request.method === "PUT").length, 3, "slices went to the other host");
  const small = { AttachmentItem: { attachmentType: "file", name: "small.bin", size: 12 } };
  const error = "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize";
  await refused(graph.api(`${path}/createUploadSession`).headers(IMMUTABLE).post(small), 400, error, "too small for a session");
}

async function calendar(graph) {
  const at = (hour) => ({ dateTime: `2026-03-02T${hour}:00:00`, timeZone: "Europe/Berlin" });
  const made = await graph.api("/me/events").headers(IMMUTABLE).post({ subject: "Review", start: at("09"), end: at("10") });
  same([made.subject, made.isReminderOn, made.reminderMinutesBeforeStart], ["Review", true, 15], "an event");
  const window = { startDateTime: "2026-03-02T00:00:00Z", endDateTime: "2026-03-03T00:00:00Z" };
  const view = await graph.api("/me/calendarView").headers(IMMUTABLE).query(window).get();
  same(view.value.map((event) => event.id), [made.id], "a day");
  const delta = await graph.api("/me/calendarView/delta").headers(IMMUTABLE).query(window).get();
  same(delta.value.map((event) => event.id), [made.id], "the delta of a day");
  await graph.api(`/me/events/${made.id}`).delete();
  await refused(graph.api(`/me/events/${made.id}`).get(), 404, "ErrorItemNotFound", "a deleted event");
  const later = await graph.api(delta["@odata.deltaLink"]).headers(IMMUTABLE).get();
  same(later.value.map((event) => [event.id, event["@removed"]?.reason]), [[made.id, "deleted"]], "the deletion in the delta");
}

await run(async (origin) => {
  const graph = await signedIn(origin, ALICE);
  await account(graph, origin);
  const id = await pages(graph);
  await batches(graph, id);
  await uploads(graph);
  await calendar(graph);
});
