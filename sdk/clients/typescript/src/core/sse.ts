/** Server-sent events (WHATWG HTML, section 9.2). */
import { ConnectionError, SwitchboardError } from "./errors.js";

/** The longest event, in characters. A server that never ends a line would fill the memory. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/** An event of a stream. `data` is empty where only the position is new. */
export interface SseEvent {
  id?: string;
  type: string;
  data: string;
  retryMs?: number;
}

/** The events of an answer. Null: bytes came, but no event is complete. Throws a `ConnectionError` when the connection breaks. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent | null, void, undefined> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let rest = "";
  let fields: string[] = [];
  let length = 0;
  let endsInReturn = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new ConnectionError("the event stream broke off", { cause });
      });
      if (done) return;
      const text: string = (endsInReturn ? "\r" : "") + decoder.decode(value, { stream: true });
      length += text.length;
      if (length > MAX_EVENT_LENGTH) throw new SwitchboardError("an event of the stream is too long");
      // A `\r` at the end may be the first half of a line's end.
      endsInReturn = text.endsWith("\r");
      const lines = (endsInReturn ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? "";
      let isWhole = false;
      for (const line of lines) {
        if (line !== "") fields.push(line);
        else {
          isWhole = true;
          length = 0;
          yield parse(fields);
          fields = [];
        }
      }
      if (!isWhole) yield null;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(lines: string[]): SseEvent {
  const event: SseEvent = { type: "message", data: "" };
  const data: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event.type = value;
    else if (name === "id" && !value.includes("\0")) event.id = value;
    else if (name === "retry" && /^\d+$/.test(value)) event.retryMs = Number(value);
  }
  event.data = data.join("\n");
  return event;
}
