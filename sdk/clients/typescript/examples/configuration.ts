import { Switchboard, responseOf } from "switchboard-client";

const sb = new Switchboard({
  apiKey: async () => process.env.SWITCHBOARD_API_KEY ?? "", // a string, or a function that is called for each attempt
  baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080",
  timeoutMs: 10_000, // for one attempt; 30 s by default
  maxRetries: 4, // after the first attempt; 2 by default
  headers: { "x-team": "calendar" },
  logger: ({ method, path, status, attempt, durationMs }) => console.log(method, path, status, attempt, durationMs),
});
const page = await sb.calendars.list({ limit: 10 }, { signal: AbortSignal.timeout(20_000), fresh: true });
console.log(page.data.length, responseOf(page)?.requestId, responseOf(page)?.dataSource);
