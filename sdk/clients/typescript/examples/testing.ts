import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { sign } from "switchboard-client/webhooks";
import { receiver } from "./webhooks.js";

await new Promise<void>((resolve) => receiver.listen(0, resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
const body = JSON.stringify({ id: "ev_1", type: "calendar.event.created", data: { resourceId: "evt_1" } });
const headers = await sign("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", { id: "ev_1", timestamp: Date.now() / 1000, body });
assert.equal((await fetch(url, { method: "POST", headers, body })).status, 204);
assert.equal((await fetch(url, { method: "POST", headers, body: body.replace("evt_1", "evt_2") })).status, 401);
receiver.close();
