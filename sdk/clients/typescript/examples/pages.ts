import { Switchboard } from "switchboard-client";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });

for await (const calendar of sb.calendars.list()) console.log(calendar.name); // every item; pages are loaded as they are needed
for await (const page of sb.calendars.list({ limit: 50 }).pages()) console.log(page.data.length); // page by page
const first = await sb.calendars.list({ limit: 5 }); // the first page
const some = await sb.calendars.list().toArray(100); // at most 100 items
console.log(first.next_cursor, some.length);
