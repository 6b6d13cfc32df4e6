/** Client of the Switchboard API. */
export { Switchboard } from "./client.js";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  ProviderError,
  RateLimitError,
  ReauthRequiredError,
  ServerError,
  StaleEtagError,
  SwitchboardError,
  TimeoutError,
} from "./core/errors.js";
export type { FeedOptions, FollowOptions, StreamOptions } from "./core/feeds.js";
export type { Change, ModifyOptions } from "./core/modify.js";
export type { ApiRequest, ClientOptions, LogEntry, RequestOptions } from "./core/options.js";
export { Pages, type Page } from "./core/pages.js";
export { type ResponseInfo, responseOf } from "./core/response.js";
export { type CursorStore, MemoryStore } from "./core/stores.js";
export type * as types from "./types.js";
export { VERSION } from "./version.js";
