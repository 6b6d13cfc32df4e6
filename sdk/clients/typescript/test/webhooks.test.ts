/** Signatures of webhooks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SignatureError, sign, verify } from "switchboard-client/webhooks";
import { cases } from "./cases.js";

describe("verify", () => {
  for (const { name, secret, headers, body, now, toleranceS, sequence, reason } of cases.webhooks.verify) {
    test(name, async () => {
      const options = { now, ...(toleranceS === undefined ? {} : { toleranceS }) };
      for (const raw of [body, new TextEncoder().encode(body)]) {
        const verified = verify(secret, headers, raw, options);
        if (reason) await assert.rejects(verified, (error) => error instanceof SignatureError && error.reason === reason);
        else assert.equal((await verified).sequence, sequence);
      }
    });
  }

  test("a time that is no number is too far away", async () => {
    const { secret, headers, body, now } = cases.webhooks.verify[0] ?? assert.fail();
    for (const options of [{ now: NaN }, { now, toleranceS: NaN }]) await assert.rejects(verify(secret, headers, body, options), { reason: "timestamp" });
  });

  test("headers of another implementation of fetch", async () => {
    const { secret, headers, body, now, sequence } = cases.webhooks.verify[0] ?? assert.fail();
    const others = { get: (name: string) => headers[name] ?? null } as unknown as Headers;
    assert.equal((await verify(secret, others, body, { now })).sequence, sequence);
  });

  test("a body that was parsed is refused", async () => {
    const { secret, headers } = cases.webhooks.verify[0] ?? assert.fail();
    await assert.rejects(verify(secret, headers, {} as string), TypeError);
  });
});

test("sign makes the headers of the server", async () => {
  const { secret, headers, ...request } = cases.webhooks.sign;
  assert.deepEqual(await sign(secret, request), headers);
  const now = request.timestamp;
  assert.equal((await verify(secret, new Headers(await sign(secret, request)), request.body, { now })).sequence, 4711);
});
