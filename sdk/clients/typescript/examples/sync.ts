import { Switchboard } from "switchboard-client";
import { FileStore } from "switchboard-client/node";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });
const account = await sb.connections.create(
  { provider: "sandbox", credentials: { username: "alice@sandbox.test", password: "sandbox" }, scopes: ["calendar.read", "calendar.write"] },
  { allowDuplicate: true },
);
const calendar = await sb.calendars.create({ connectionId: account.id, name: "Mirror", timeZone: "UTC" });
await sb.calendars.sync.start(calendar.id, {});
await sb.calendars.events.create(calendar.id, { title: "Review", start: "2026-03-02T09:00:00Z", end: "2026-03-02T10:00:00Z" });

const copy = new Map<string, unknown>();
const store = new FileStore("cursors/switchboard.json"); // or your database: an object with get(feed) and set(feed, cursor)
for await (const change of sb.calendars.sync.follow(calendar.id, { store, onReset: () => copy.clear() })) {
  if (change.changeType === "deleted") copy.delete(change.resourceId);
  else copy.set(change.resourceId, change.resource);
  console.log(change.changeType, change.resourceId);
  break; // without it the loop continues with changes as they come
}
