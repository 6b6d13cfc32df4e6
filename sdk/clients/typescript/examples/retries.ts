import { Switchboard } from "switchboard-client";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });
const account = await sb.connections.create(
  { provider: "sandbox", credentials: { username: "bob@sandbox.test", password: "sandbox" }, scopes: ["calendar.read", "calendar.write"] },
  { allowDuplicate: true },
);
// With a key of your own a write is executed once, even if your program crashes and repeats it.
const body = { connectionId: account.id, name: "Orders", timeZone: "UTC" };
const first = await sb.calendars.create(body, {}, { idempotencyKey: `orders-${account.id}` });
const again = await sb.calendars.create(body, {}, { idempotencyKey: `orders-${account.id}` });
console.log(first.id === again.id);
