/** Where feeds keep their positions. */

/**
 * A place for the cursors of feeds. Keep them where you keep the copy that the feed updates, such as your database. The name of a feed has
 * its path and filters, neither the server nor the application: give each of those a store of its own.
 */
export interface CursorStore {
  /** Returns the cursor of a feed; null or undefined if there is none yet. */
  get(feed: string): string | null | undefined | Promise<string | null | undefined>;
  /** Stores the cursor of a feed. */
  set(feed: string, cursor: string): unknown;
}

/** Keeps positions until the program ends. */
export class MemoryStore implements CursorStore {
  readonly #cursors = new Map<string, string>();

  async get(feed: string): Promise<string | null> {
    return this.#cursors.get(feed) ?? null;
  }

  async set(feed: string, cursor: string): Promise<void> {
    this.#cursors.set(feed, cursor);
  }
}
