// Verifies deliveries as a receiver in Node does: `v1` by the npm package `standardwebhooks`, `v1a` by Node's own crypto. The argument is
// the folder whose node_modules has the package. Reads a JSON array of deliveries on stdin, and prints what is found of each.

import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { Webhook, WebhookVerificationError } = createRequire(join(process.argv[2], "package.json"))("standardwebhooks");

function byLibrary({ secret, headers }, body) {
  try {
    return `accepted ${new Webhook(secret).verify(body, headers).id}`;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

function byPublicKey({ publicKey, headers }, body) {
  const entry = headers["webhook-signature"].split(" ").find((one) => one.startsWith("v1a,"));
  const x = Buffer.from(publicKey.replace(/^whpk_/, ""), "base64").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const head = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
  return verify(null, Buffer.concat([Buffer.from(head), body]), key, Buffer.from(entry.slice("v1a,".length), "base64"));
}

const deliveries = JSON.parse(readFileSync(0, "utf8"));
const found = deliveries.map((delivery) => {
  const body = Buffer.from(delivery.body, "base64");
  return { v1: byLibrary(delivery, body), v1a: byPublicKey(delivery, body) };
});
console.log(JSON.stringify(found));
