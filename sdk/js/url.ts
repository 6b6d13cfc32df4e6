/** Addresses at a provider. */

import { Failure } from "./failure.ts";

/**
 * An address: the server's, then these segments of a path, then this query. Segments and values are escaped, so that an id from a
 * provider cannot lead elsewhere. A segment that is a step in a path, `.` or `..`, has no escaped form (WHATWG, URL, section 4.4): nothing
 * has such an id, failure "not-found". A value that is undefined or null is left out.
 */
export function url(
  server: string,
  segments: readonly string[],
  query: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
): string {
  if (segments.some((segment) => segment === "." || segment === "..")) {
    throw new Failure("not-found", "nothing has an id that is a step in a path");
  }
  const path = segments.map((segment) => `/${escaped(segment)}`).join("");
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = pairs.map(([name, value]) => `${escaped(name)}=${escaped(String(value))}`).join("&");
  return server.replace(/\/+$/, "") + path + (text === "" ? "" : `?${text}`);
}

/** RFC 3986, section 2.3. */
function escaped(text: string): string {
  const wellFormed = text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  return encodeURIComponent(wellFormed).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
