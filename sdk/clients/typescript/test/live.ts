/** A client of the server that the environment names, with an account of the sandbox. */
import assert from "node:assert/strict";
import { Switchboard, type types } from "switchboard-client";

const { SWITCHBOARD_SERVER, SWITCHBOARD_API_KEY, SWITCHBOARD_LIVE } = process.env;

/** Why tests on a server do not run; false where there is one. */
export const skip = SWITCHBOARD_SERVER && SWITCHBOARD_API_KEY ? false : "SWITCHBOARD_SERVER and SWITCHBOARD_API_KEY are not set";
assert.ok(!(skip && SWITCHBOARD_LIVE === "1"), String(skip));

export const environment = { ...process.env, SWITCHBOARD_LIVE: "" };

export function client(): Switchboard {
  return new Switchboard({ apiKey: SWITCHBOARD_API_KEY ?? "", baseUrl: SWITCHBOARD_SERVER ?? "" });
}

/** Connects an account of the sandbox for mail and calendars. */
export function connect(sb: Switchboard, account: string): Promise<types.WrittenConnection> {
  const scopes: types.NewConnection["scopes"] = ["email.read", "email.write", "email.send", "calendar.read", "calendar.write"];
  const credentials = { username: `${account}@sandbox.test`, password: "sandbox" };
  return sb.connections.create({ provider: "sandbox", credentials, scopes }, { allowDuplicate: true });
}
