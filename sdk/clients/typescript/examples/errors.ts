import { ApiError, ConnectionError, NotFoundError, RateLimitError, Switchboard, TimeoutError } from "switchboard-client";

const sb = new Switchboard({ apiKey: process.env.SWITCHBOARD_API_KEY ?? "", baseUrl: process.env.SWITCHBOARD_SERVER ?? "http://127.0.0.1:8080" });

try {
  await sb.calendars.get("cal_00000000000000000000000000");
} catch (error) {
  if (error instanceof NotFoundError) console.log("not found:", error.message, error.requestId);
  else if (error instanceof RateLimitError) console.log("wait", error.retryAfterMs, "ms");
  else if (error instanceof ApiError && error.code === "capability_not_supported") console.log("this provider cannot do that");
  else if (error instanceof ApiError) for (const { field, message } of error.details) console.log(field, message);
  else if (error instanceof ConnectionError || error instanceof TimeoutError) console.log("the server cannot be reached:", error.message);
  else throw error;
}
