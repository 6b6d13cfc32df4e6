/** Changes that are based on the newest version. */
import { StaleEtagError } from "./errors.js";
import type { RequestOptions } from "./options.js";
import { responseOf } from "./response.js";

const DEFAULT_ATTEMPTS = 3;

/** Settings of `modify`. */
export interface ModifyOptions extends Omit<RequestOptions, "ifMatch" | "idempotencyKey"> {
  /** Times that the resource is read; after the last one the `StaleEtagError` is thrown. 3 by default. */
  attempts?: number | undefined;
}

/** Returns the patch for the resource as it is now, or null to leave it. */
export type Change<R, B> = (current: R) => B | null | undefined | Promise<B | null | undefined>;

/** Reads a resource and writes a change of it, again if it was changed in between. */
export async function modify<R, B, W>(
  read: (options: RequestOptions) => Promise<R>,
  write: (patch: B, options: RequestOptions) => Promise<W>,
  change: Change<R, B>,
  { attempts = DEFAULT_ATTEMPTS, ...options }: ModifyOptions = {},
): Promise<R | W> {
  for (let attempt = 1; ; attempt++) {
    // A version that the server has just refused must not be read again.
    const current = await read(attempt === 1 ? options : { ...options, fresh: true });
    const patch = await change(current);
    if (patch === null || patch === undefined) return current;
    const { etag } = current as { etag?: string | null };
    const ifMatch = etag ?? responseOf(current)?.headers.get("etag");
    try {
      return await write(patch, ifMatch ? { ...options, ifMatch } : options);
    } catch (error) {
      if (!(error instanceof StaleEtagError) || attempt >= attempts) throw error;
    }
  }
}
