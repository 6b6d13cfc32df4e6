/** What a connector in TypeScript or JavaScript is written with. */

import type { Connector } from "./surfaces.ts";

export { type Call, Context, type Host, type Level, type LocalTime } from "./context.ts";
export { type Circumstances, type Code, Failure } from "./failure.ts";
export type * as Given from "./given.ts";
export { type BlobInfo, type Request, Response, type Segment, SendError } from "./http.ts";
export type * from "./model.ts";
export type { Answer, Calendar as CalendarSurface, Connector, Contacts, Email, Lifecycle, Tasks, Watch } from "./surfaces.ts";
export { url } from "./url.ts";
export { decode, encode, fromBase64, toBase64 } from "./utf8.ts";

/** A connector, with the types of its methods. It is the module's default export. */
export function defineConnector<C extends Connector>(connector: C): C {
  return connector;
}
