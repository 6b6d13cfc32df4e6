/** Paths with ids in them. */

/** Builds a path: each value is encoded as one segment. An empty id, `.` and `..` would name another resource and are refused. */
export function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return parts.reduce((whole, part, at) => whole + segment(ids[at - 1]) + part);
}

function segment(id: string | undefined): string {
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new TypeError(`an id in a path must be a text that is not empty, "." or ".."; got ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(id);
}

/** Encodes a text as forms do; most texts need nothing. */
function formText(text: string): string {
  return /^[\w.*-]*$/.test(text) ? text : new URLSearchParams([["", text]]).toString().slice(1);
}

/** Returns a query string with its question mark. Names become snake_case, lists have commas, and unset values are left out. */
export function queryString(query: object | undefined): string {
  let text = "";
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    text += `${text === "" ? "?" : "&"}${formText(snake)}=${formText(String(value))}`;
  }
  return text;
}
