/** The package: its size, its documentation and its examples. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { environment, skip } from "./live.js";

/** The most that a page has to load, in bytes. */
const MAX_GZIP_BYTES = 12 * 1024;

const root = new URL("../../", import.meta.url);
const run = promisify(execFile);

test("the JavaScript is small", async () => {
  const dist = new URL("dist/", root);
  const names = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".js") && name !== "node.js");
  const texts = await Promise.all(names.sort().map((name) => readFile(new URL(name, dist))));
  const size = gzipSync(Buffer.concat(texts), { level: 9 }).length;
  assert.ok(size <= MAX_GZIP_BYTES, `${size} bytes`);
});

test("the package depends on nothing", async () => {
  const manifest = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  assert.equal(manifest.dependencies, undefined);
});

test("every block of the README is an example", async () => {
  const readme = await readFile(new URL("README.md", root), "utf8");
  const blocks = [...readme.matchAll(/<!-- (examples\/[a-z-]+\.ts) -->\n```ts\n([^]*?)```/g)];
  assert.equal(blocks.length, readme.split("```ts\n").length - 1, "each block names its file");
  for (const [, name = "", text] of blocks) assert.equal(text, await readFile(new URL(name, root), "utf8"), name);
  const files = await readdir(new URL("examples/", root));
  assert.deepEqual(files.map((name) => `examples/${name}`).sort(), blocks.map(([, name]) => name).sort());
});

describe("examples", { skip }, () => {
  let cwd: string;
  before(async () => void (cwd = await mkdtemp(join(tmpdir(), "switchboard-"))));
  after(() => rm(cwd, { recursive: true }));
  for (const name of ["quickstart", "configuration", "pages", "errors", "retries", "versions", "sync", "events", "webhooks", "testing"]) {
    test(name, async () => {
      const script = fileURLToPath(new URL(`build/examples/${name}.js`, root));
      await run(process.execPath, [script], { cwd, env: environment, timeout: 30_000 });
    });
  }
});
