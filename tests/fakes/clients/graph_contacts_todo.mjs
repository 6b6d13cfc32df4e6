// Drives contacts and To Do of the fake of Graph with Microsoft's own JavaScript client. Its arguments: see graph_desk.mjs. Ends with status
// 1 at the first answer that is not as Microsoft's documentation says.

import { ALICE, IMMUTABLE, control, graphClient, refused, run, same, signedIn } from "./graph_desk.mjs";

const { BatchRequestContent, BatchResponseContent, PageIterator } = graphClient;
const SCOPES = ["User.Read", "Contacts.ReadWrite", "Tasks.ReadWrite"];
const PICTURE = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);

/** All pages of a delta, from a link where one is given: its entries, and the link to go on. */
async function readDelta(graph, path, size = 2) {
  const headers = { Prefer: `${IMMUTABLE.Prefer}, odata.maxpagesize=${size}` };
  const entries = [];
  let link = path;
  for (;;) {
    const page = await graph.api(link).headers(headers).get();
    entries.push(...page.value.map((entry) => [entry.id, entry["@removed"]?.reason]));
    if (!page["@odata.nextLink"]) return [entries.sort(), page["@odata.deltaLink"]];
    link = page["@odata.nextLink"];
  }
}

async function folders(graph) {
  same((await graph.api("/me/contactFolders").get()).value, [], "the default folder is not in the list");
  const friends = await graph.api("/me/contactFolders").post({ displayName: "Friends" });
  const inner = await graph.api(`/me/contactFolders/${friends.id}/childFolders`).post({ displayName: "Old friends" });
  same(inner.parentFolderId, friends.id, "a folder inside");
  const renamed = await graph.api(`/me/contactFolders/${inner.id}`).patch({ displayName: "Older friends" });
  same(renamed.displayName, "Older friends", "another name");
  const [all, link] = await readDelta(graph, "/me/contactFolders/delta", 1);
  same(all, [[friends.id, undefined], [inner.id, undefined]].sort(), "the tree");
  await graph.api(`/me/contactFolders/${inner.id}`).delete();
  same((await readDelta(graph, link))[0], [[inner.id, "deleted"]], "a folder that is gone");
  return friends;
}

async function contacts(graph, friends) {
  const book = `/me/contactFolders/${friends.id}/contacts`;
  const ada = { givenName: "Ada", surname: "King", emailAddresses: [{ address: "ada@example.com" }], homeAddress: { city: "London" } };
  const made = await graph.api(book).headers(IMMUTABLE).post(ada);
  same([made.displayName, made.emailAddresses[0].name], ["Ada King", "ada@example.com"], "a new contact");
  const path = `/me/contacts/${made.id}`;
  const changed = await graph.api(path).headers(IMMUTABLE).patch({ surname: "Lovelace", homeAddress: null });
  same([changed.id, changed.displayName, changed.homeAddress], [made.id, "Ada Lovelace", {}], "a change");
  const fourth = { emailAddresses: ["a", "b", "c", "d"].map((name) => ({ address: `${name}@example.com` })) };
  await refused(graph.api(path).patch(fourth), 400, "ErrorPropertyValidationFailure", "a fourth address");
  await refused(graph.api(`${path}/photo`).get(), 404, "ErrorItemNotFound", "no picture");
  await graph.api(`${path}/photo/$value`).headers({ "Content-Type": "image/jpeg" }).put(PICTURE);
  same((await graph.api(`${path}/photo`).get())["@odata.mediaContentType"], "image/jpeg", "the picture");
  const picture = await graph.api(`${path}/photo/$value`).responseType("arraybuffer").get();
  same(new Uint8Array(picture), PICTURE, "its bytes");

  for (const givenName of ["Bea", "Cleo"]) await graph.api(book).post({ givenName });
  const first = await graph.api(book).select("givenName").orderby("givenName").top(2).get();
  const names = [];
  await new PageIterator(graph, first, (contact) => names.push(contact.givenName) > 0).iterate();
  same(names, ["Ada", "Bea", "Cleo"], "all pages");
  const [all, link] = await readDelta(graph, `${book}/delta`);
  same(all.length, 3, "the delta");
  await graph.api(path).delete();
  same((await readDelta(graph, link))[0], [[made.id, "deleted"]], "a contact that is gone");
  await control(`contacts/${ALICE}/expire-tokens`, {});
  await refused(graph.api(link).headers(IMMUTABLE).get(), 410, "SyncStateNotFound", "a token that is forgotten");
}

async function tasks(graph) {
  const house = await graph.api("/me/todo/lists").post({ displayName: "House" });
  const list = `/me/todo/lists/${house.id}/tasks`;
  const due = { dateTime: "2026-03-05T17:30:00", timeZone: "Europe/Berlin" };
  const made = await graph.api(list).post({ title: "Paint", dueDateTime: due, checklistItems: [{ displayName: "Brush" }] });
  same(made.dueDateTime, { dateTime: "2026-03-04T23:00:00.0000000", timeZone: "UTC" }, "a day is midnight of its zone, in UTC");
  const task = `${list}/${made.id}`;
  const [, link] = await readDelta(graph, `${list}/delta`);
  await graph.api(`${task}/linkedResources`).post({ webUrl: "https://example.com/1", applicationName: "Shop", displayName: "One" });
  const whole = await graph.api(task).expand("checklistItems,linkedResources").get();
  same(whole.checklistItems.map((one) => one.displayName), ["Brush"], "steps");
  same(whole.linkedResources.map((one) => one.webUrl), ["https://example.com/1"], "links");
  await graph.api(`${task}/checklistItems/${whole.checklistItems[0].id}`).patch({ isChecked: true });
  const without = await graph.api(task).patch({ dueDateTime: null, status: "completed" });
  same([without.dueDateTime, without.status], [undefined, "completed"], "no day, and done");
  same((await readDelta(graph, link))[0], [[made.id, undefined]], "the task has changed, once");
  const pattern = { type: "weekly", interval: 1, daysOfWeek: ["thursday"] };
  const weekly = { title: "Water", dueDateTime: due, recurrence: { pattern, range: { type: "noEnd", startDate: "2026-03-05" } } };
  await refused(graph.api(list).post(weekly), 400, "invalidRequest", "a rule");

  // A change and the task as it is then, in one batch: the client strips the host alone, and the paths of parts have no version.
  const part = (path, method = "GET", body = undefined) => new Request(`https://graph.microsoft.com${path}`, {
    method, headers: body && { "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  });
  const content = new BatchRequestContent([
    { id: "1", request: part(task, "PATCH", { title: "Varnish" }) },
    { id: "2", request: part(`${task}?$expand=checklistItems`), dependsOn: ["1"] },
  ]);
  const answers = new BatchResponseContent(await graph.api("/$batch").post(await content.getContent()));
  const read = await answers.getResponseById("2").json();
  same([read.title, read.checklistItems[0].isChecked], ["Varnish", true], "the task after its change");
  await graph.api(task).delete();
  same((await readDelta(graph, link))[0], [[made.id, "deleted"]], "a task that is gone");
  await graph.api(`/me/todo/lists/${house.id}`).delete();
  await refused(graph.api(list).get(), 404, "ErrorItemNotFound", "no list");
}

await run(async (origin) => {
  const graph = await signedIn(origin, ALICE, SCOPES);
  await contacts(graph, await folders(graph));
  await tasks(graph);
});
