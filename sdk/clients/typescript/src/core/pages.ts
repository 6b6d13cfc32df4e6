/** Lists in pages. */
import { SwitchboardError } from "./errors.js";

/** A page of a list, as the API answers it. */
export interface Page<T> {
  data: T[];
  next_cursor?: string | null;
}

/** Throws if an answer is no page: another service may listen at the address. */
export function assertPage(page: { data?: unknown } | null): void {
  if (!Array.isArray(page?.data)) throw new SwitchboardError("the server answered something that is not a page of a list");
}

/** Throws if a cursor leads to itself: the loop would not end. */
export function assertMoved(cursor: string | null | undefined, next: string | null | undefined): void {
  if (typeof next === "string" && next === cursor) throw new SwitchboardError("the server answered the cursor of the same page again");
}

/**
 * A list. `for await` goes through all its items and loads pages as it needs them; `await` returns the first page.
 * Nothing is requested before that.
 */
export class Pages<P extends Page<T>, T> implements AsyncIterable<T>, PromiseLike<P> {
  readonly #load: (cursor?: string) => Promise<P>;

  constructor(load: (cursor?: string) => Promise<P>) {
    this.#load = load;
  }

  /** All pages, one after the other. A page can be short or empty without being the last. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#load(cursor);
      assertPage(page);
      yield page;
      const next: string | undefined = page.next_cursor ?? undefined;
      assertMoved(cursor, next);
      cursor = next;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The first items, at most `limit`. */
  async toArray(limit = 1000): Promise<T[]> {
    const items: T[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }

  then<A = P, B = never>(
    resolve?: ((page: P) => A | PromiseLike<A>) | null,
    reject?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#load().then(resolve, reject);
  }
}
