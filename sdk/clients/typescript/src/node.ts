/** What needs files: for Node, Deno and Bun. */
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { CursorStore } from "./core/stores.js";

/** The last change of each file: several stores may have the same file. */
const pending = new Map<string, Promise<unknown>>();

/** Keeps positions in a JSON file. One program may use the file at a time; in it, several feeds may. */
export class FileStore implements CursorStore {
  readonly #file: string;

  constructor(file: string) {
    this.#file = resolve(file);
  }

  async get(feed: string): Promise<string | null> {
    await pending.get(this.#file);
    return (await this.#read())[feed] ?? null;
  }

  set(feed: string, cursor: string): Promise<void> {
    const write = async () => {
      const text = JSON.stringify({ ...(await this.#read()), [feed]: cursor }, null, 1);
      await mkdir(dirname(this.#file), { recursive: true });
      // A crash leaves the old file or the new one.
      const file = await open(`${this.#file}.new`, "w");
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${this.#file}.new`, this.#file);
    };
    const done = (pending.get(this.#file) ?? Promise.resolve()).then(write);
    pending.set(this.#file, done.catch(() => {}));
    return done;
  }

  async #read(): Promise<Record<string, string>> {
    try {
      return JSON.parse(await readFile(this.#file, "utf8"));
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return {};
      throw error;
    }
  }
}
