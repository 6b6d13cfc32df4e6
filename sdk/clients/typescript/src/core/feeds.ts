/** Feeds: the changes of a collection by polling, and the event stream. */
import type { Notification, SyncChanges } from "../generated/types.js";
import { ApiError, ConnectionError, TimeoutError, errorOf } from "./errors.js";
import type { RequestOptions } from "./options.js";
import { queryString } from "./path.js";
import { type SseEvent, readEvents } from "./sse.js";
import { assertMoved, assertPage } from "./pages.js";
import { type CursorStore, MemoryStore } from "./stores.js";
import { backoff, type Transport } from "./transport.js";

const DEFAULT_POLL_MS = 30_000;
/** The longest wait between attempts during an outage, unless the server asks for a longer one. */
const MAX_OUTAGE_WAIT_MS = 30_000;
/** The longest wait that the server can ask for. */
const MAX_ASKED_MS = 3_600_000;
/** The shortest wait before a stream is opened again. */
const MIN_PAUSE_MS = 100;
/** The server writes every 15 seconds; a stream that is silent for so long is dead. */
const MAX_SILENCE_MS = 40_000;

/** What all feeds take. */
export interface FeedOptions {
  /** The store of the position. The default keeps it until the loop ends. */
  store?: CursorStore | undefined;
  /** Ends the feed: the loop throws the signal's `reason`. */
  signal?: AbortSignal | undefined;
  /**
   * Called when the position is no longer kept. A change feed then begins with everything there is: delete your copy here. The event stream
   * then continues from now: read your resources again here. Without it the loop throws a `ConflictError` with the code
   * `sync_reset_required`.
   */
  onReset?: (() => void | Promise<void>) | undefined;
}

/** What `follow` of a change feed takes beside the parameters of the feed. */
export interface FollowOptions extends FeedOptions {
  /** Milliseconds between two reads when there is nothing new; 30,000 by default. */
  pollMs?: number | undefined;
}

/** What `events.follow` takes. */
export interface StreamOptions extends FeedOptions {
  /** Exact names such as `calendar.event.created`, families such as `calendar.*`, or `*`; all by default. */
  types?: string[] | undefined;
  /** Only events of these connections. */
  connectionIds?: string[] | undefined;
  /** Also what a first reading of a collection finds. */
  includeBackfill?: boolean | undefined;
  /** The position where the stream begins if the store has none. The default is now. */
  afterSequence?: number | undefined;
}

/**
 * The changes of a collection, and then new ones as they come. The cursor of a page is stored when its last change was processed and the
 * next one is asked for, so that after a crash some may come twice and none is lost. Once the feed has begun, it waits until an outage is
 * over.
 */
export async function* followChanges(
  transport: Transport,
  path: string,
  options: FollowOptions & { afterSequence?: number | undefined; limit?: number | undefined; include?: string | undefined } = {},
): AsyncGenerator<SyncChanges["data"][number], void, undefined> {
  const { store = new MemoryStore(), pollMs = DEFAULT_POLL_MS, signal, onReset, limit, include, ...rest } = options;
  let { afterSequence, ...filter } = rest;
  const feed = path + queryString(filter);
  const call = signal ? { signal } : {};
  let cursor = (await store.get(feed)) ?? null;
  const outage = new Outage(transport, signal);
  for (;;) {
    const from = cursor === null ? { afterSequence } : { cursor };
    const request = { method: "GET", path, query: { ...filter, limit, include, ...from } };
    // Without a position, another reset would follow.
    const reset = cursor === null && afterSequence === undefined ? undefined : onReset;
    const page = await outage.bridge(() => transport.json<SyncChanges>(request, call), reset);
    if (page === "reset") {
      cursor = null;
      afterSequence = undefined;
      continue;
    }
    if (page === null) continue;
    assertPage(page);
    yield* page.data;
    assertMoved(cursor, page.next_cursor);
    const reached: string = page.next_cursor ?? page.sync_cursor;
    if (reached !== cursor) await store.set(feed, reached);
    cursor = reached;
    if (!page.next_cursor) await transport.sleep(pollMs, signal);
  }
}

/** Events as they happen. The stream is opened again where it ended, and continues after the last event that was processed. */
export async function* followEvents(
  transport: Transport,
  path: string,
  options: StreamOptions = {},
): AsyncGenerator<Notification, void, undefined> {
  const { store = new MemoryStore(), signal, onReset, types, connectionIds, includeBackfill } = options;
  let { afterSequence } = options;
  const query = { type: types, connection_id: connectionIds, include_backfill: includeBackfill };
  const feed = path + queryString(query);
  let position = (await store.get(feed)) ?? null;
  const outage = new Outage(transport, signal);
  for (;;) {
    const from = position === null ? { afterSequence } : {};
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (position !== null) headers["last-event-id"] = position;
    const link = new AbortController();
    const call: RequestOptions = { headers, signal: linked(link, signal) };
    const reset = position === null && afterSequence === undefined ? undefined : onReset;
    const opened = await outage.bridge(() => transport.raw({ method: "GET", path, query: { ...query, ...from } }, call), reset);
    if (opened === null) continue;
    let isReset = opened === "reset";
    const events = opened === "reset" ? [] : whileAlive(readEvents(opened), link);
    try {
      for await (const event of events) {
        if (event.retryMs !== undefined) outage.pauseMs = Math.min(Math.max(event.retryMs, MIN_PAUSE_MS), MAX_OUTAGE_WAIT_MS);
        if ((isReset = event.type === "sync_reset_required")) break;
        if (event.data !== "") yield JSON.parse(event.data) as Notification;
        if (event.id !== undefined && event.id !== position) await store.set(feed, (position = event.id));
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionError)) throw error;
    } finally {
      // Also when the loop is left: the connection ends with it.
      link.abort();
    }
    if (isReset) {
      if (opened !== "reset") await outage.reset(reset);
      position = null;
      afterSequence = undefined;
    } else await transport.sleep(outage.pauseMs, signal);
  }
}

/** Attempts of a feed: once one has succeeded, it waits until an outage is over. */
class Outage {
  /** Wait before a stream that ended is opened again. */
  pauseMs = 1_000;
  #failures = 0;
  #hasSucceeded = false;

  constructor(
    private readonly transport: Transport,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Returns the result; null after a failure that was waited for; "reset" if the position is too old and the caller was informed. */
  async bridge<T>(attempt: () => Promise<T>, onReset: FeedOptions["onReset"]): Promise<T | "reset" | null> {
    try {
      const result = await attempt();
      this.#failures = 0;
      this.#hasSucceeded = true;
      return result;
    } catch (error) {
      if (error instanceof ApiError && error.code === "sync_reset_required" && onReset) {
        await onReset();
        return "reset";
      }
      const passes = error instanceof ApiError ? error.retryable : error instanceof ConnectionError || error instanceof TimeoutError;
      if (!passes || !this.#hasSucceeded) throw error;
      this.#failures += 1;
      const asked = Math.min((error instanceof ApiError && error.retryAfterMs) || 0, MAX_ASKED_MS);
      await this.transport.sleep(Math.max(asked, backoff(this.#failures, MAX_OUTAGE_WAIT_MS)), this.signal);
      return null;
    }
  }

  /** Handles a position that was lost while the stream was open. */
  async reset(onReset: FeedOptions["onReset"]): Promise<void> {
    const error = { type: "conflict_error", code: "sync_reset_required", message: "the position of the event stream is no longer kept" };
    if (!onReset) throw errorOf(409, new Headers(), { error });
    await onReset();
  }
}

/** Returns the signal of a connection, which ends with the caller's. */
function linked(link: AbortController, signal: AbortSignal | undefined): AbortSignal {
  if (signal?.aborted) link.abort(signal.reason);
  const end = () => link.abort(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  link.signal.addEventListener("abort", () => signal?.removeEventListener("abort", end), { once: true });
  return link.signal;
}

/** Ends a connection that is silent for too long. */
async function* whileAlive(events: AsyncIterable<SseEvent | null>, link: AbortController): AsyncGenerator<SseEvent, void, undefined> {
  const arm = () => setTimeout(() => link.abort(), MAX_SILENCE_MS);
  let timer = arm();
  try {
    for await (const event of events) {
      clearTimeout(timer);
      if (event) yield event;
      timer = arm();
    }
  } finally {
    clearTimeout(timer);
  }
}
