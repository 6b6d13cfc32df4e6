/** The recipes of `docs/connectors/cookbook.md` in TypeScript: the test replaces each line `// recipe: NAME` by the code of that recipe. */

import {
  type Answer,
  type Context,
  decode,
  defineConnector,
  Failure,
  type Given,
  type Instant,
  type Lifecycle,
  type Request,
  Response,
  type Source,
  type Sources,
  type Tasks,
  url,
  type Watch,
} from "#switchboard";
import type * as Model from "#switchboard";

interface Item {
  id: string;
}

declare const lifecycle: Lifecycle;
declare const tasks: Tasks;

declare function itemSource(item: Item): Source;

function address(context: Context, segments: string[]): string {
  return url(context.setting("serverUrl") ?? "", segments);
}

export function pageTokens(page: { nextPageToken?: string; nextSince?: string }, enumeration: boolean): { cursor: string; more: boolean } {
  // recipe: page-tokens
}

export function forgottenToken(context: Context, response: Response): never {
  // recipe: forgotten-token
}

export const reading: Tasks = {
  // recipe: batch
};

export function download(context: Context, url: string): Model.Content {
  // recipe: download
}

export function upload(url: string, args: Given.MessageSend): Request {
  // recipe: upload
  return request;
}

export function instant(context: Context, local: string, zone: string): Instant {
  // recipe: instant
  return start;
}

export function send(context: Context, request: Request): Response {
  // recipe: send
  return response;
}

export function handedOver(failure: Failure): never {
  // recipe: handed-over
}

export function rateLimit(context: Context, request: Request): Response {
  // recipe: rate-limit
  return response;
}

export function rateLimitInBody(): never {
  // recipe: rate-limit-in-body
}

export function waitInsideAnAnswer(context: Context, sources: Sources, cursor: string): Answer<Sources> {
  // recipe: wait-inside-an-answer
}

// recipe: notifications

export function precondition(url: string, args: Given.ItemWriteOfTask, fields: object): Request {
  // recipe: precondition
  return request;
}

export function changedId(old: string, current: Source): Source {
  // recipe: changed-id
  return source;
}

export function timeOfChange(theirs: { updateTime: string }, given: Source): Source {
  // recipe: time-of-change
  return source;
}
