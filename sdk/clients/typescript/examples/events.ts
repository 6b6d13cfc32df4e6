import { Switchboard } from "switchboard-client";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });
await sb.connections.create(
  { provider: "sandbox", credentials: { username: "bob@sandbox.test", password: "sandbox" }, scopes: ["calendar.read"] },
  { allowDuplicate: true },
);

// The stream is opened again when it ends, after the last event that was processed. Without `afterSequence` it begins now.
for await (const event of sb.events.follow({ types: ["connection.*"], afterSequence: 0 })) {
  console.log(event.sequence, event.type, event.data.resourceId);
  break;
}
