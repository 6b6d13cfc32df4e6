// What the scripts of Microsoft's JavaScript client share: the client, checks, and the other side of the fake. It is driven over TLS: without
// it the client sends no token. Arguments of a script: the origin of a fresh fake, the folder whose node_modules has the client, and the
// folder of a server certificate for localhost (srv.pem, srv.key) whose authority NODE_EXTRA_CA_CERTS names.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , url, modules, tls] = process.argv;
/** The package of Microsoft's client. */
export const graphClient = createRequire(join(modules, "package.json"))("@microsoft/microsoft-graph-client");
export const ALICE = "alice@example.com";
export const BOB = "bob@example.com";
export const IMMUTABLE = { Prefer: 'IdType="ImmutableId"' };
let checks = 0;

export function same(found, wanted, what) {
  checks += 1;
  assert.deepEqual(found, wanted, what);
}

export async function control(path, body, method = "POST") {
  const answer = await fetch(`${url}/__control/${path}`, { method, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

export async function refused(call, status, code, what) {
  const error = await call.then((answer) => assert.fail(`${what}: ${JSON.stringify(answer)}`), (error) => error);
  same([error.statusCode, error.code], [status, code], what);
}

/** TLS in front of an origin of the fake. */
async function front(target) {
  const options = { cert: readFileSync(join(tls, "srv.pem")), key: readFileSync(join(tls, "srv.key")) };
  const { hostname, port } = new URL(target);
  const server = https.createServer(options, (request, response) => {
    const { method, headers, url: path } = request;
    const inner = http.request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    inner.on("error", () => response.destroy());
    request.pipe(inner);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

export async function signedIn(origin, user, scopes) {
  const { accessToken } = await control("tokens", { user, scopes });
  return graphClient.Client.initWithMiddleware({
    authProvider: { getAccessToken: async () => accessToken },
    baseUrl: `${origin}/`,
    customHosts: new Set(["localhost"]),
    defaultVersion: "v1.0",
  });
}

/** Runs a story with accounts for Alice and Bob. It gets the origin of the fake, over TLS. */
export async function run(story) {
  const { uploads: uploadUrl } = await control("own-origins", {});
  const fronts = [await front(url), await front(uploadUrl)];
  const [graphPort, uploadPort] = fronts.map((server) => server.address().port);
  const origin = `https://localhost:${graphPort}`;
  // The client takes its token to hosts of this name alone, whatever their port.
  await control("own-origins", { links: origin, uploads: `https://127.0.0.1:${uploadPort}` });
  for (const [email, name] of [[ALICE, "Alice Example"], [BOB, "Bob Example"]]) {
    await control("accounts", { email, name, timeZone: "W. Europe Standard Time" });
  }
  await story(origin);
  same(await control("violations", undefined, "GET"), { violations: [] }, "what Graph's description forbids");
  console.log(`${checks} checks of the official client passed`);
  for (const server of fronts) {
    server.close();
    server.closeAllConnections();
  }
}
