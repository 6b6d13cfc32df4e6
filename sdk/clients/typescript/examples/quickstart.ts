import { Switchboard } from "switchboard-client";

const sb = new Switchboard({
  apiKey: process.env.SWITCHBOARD_API_KEY ?? "",
  baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080",
});
const account = await sb.connections.create(
  { provider: "sandbox", credentials: { username: "alice@sandbox.test", password: "sandbox" }, scopes: ["calendar.read", "calendar.write"] },
  { allowDuplicate: true },
);
const calendar = await sb.calendars.create({ connectionId: account.id, name: "Team", timeZone: "Europe/Berlin" });
const lunch = await sb.calendars.events.create(calendar.id, { title: "Lunch", start: "2026-03-02T12:00:00+01:00", end: "2026-03-02T13:00:00+01:00" });
for await (const event of sb.calendars.events.list(calendar.id)) console.log(event.id === lunch.id, event.title, event.start);
