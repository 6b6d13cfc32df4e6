import { StaleEtagError, Switchboard } from "switchboard-client";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });
const account = await sb.connections.create(
  { provider: "sandbox", credentials: { username: "alice@sandbox.test", password: "sandbox" }, scopes: ["calendar.read", "calendar.write"] },
  { allowDuplicate: true },
);
const { id, etag } = await sb.calendars.create({ connectionId: account.id, name: "Team", timeZone: "UTC" });

// Reads, changes and writes; starts again if the resource was changed in between. Return null to leave it as it is.
await sb.calendars.modify(id, (calendar) => ({ name: `${calendar.name} (2026)` }), { attempts: 5 });
try {
  await sb.calendars.update(id, { name: "Old" }, {}, { ifMatch: etag });
} catch (error) {
  if (!(error instanceof StaleEtagError)) throw error;
  console.log("somebody changed it, it is now", error.currentEtag);
}
