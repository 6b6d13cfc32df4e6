// An assistant's day with the official client: over HTTP in the current version of the protocol, and by `switchboard mcp` in the one before
// it. The client itself checks each message by the protocol's schemas, and each result of a tool by the tool's `outputSchema`.
//
// MCP_SERVER     address of the server
// MCP_KEY        key that may write, and send after the person was asked
// MCP_PROGRAM    the program `switchboard`
// MCP_HOME       an empty folder in place of the user's settings
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { MCP_SERVER, MCP_KEY, MCP_PROGRAM, MCP_HOME } = process.env;
const DAY_MS = 86_400_000;
const CURRENT = "2026-07-28";
const BEFORE = "2025-11-25";

/** The questions that a person was asked, and what the person decides about the next ones. */
const questions = [];
const decisions = [];

/** Returns a client that is connected. It shows questions to the person if it can. */
async function connect(transport, mode, canAsk) {
  const capabilities = canAsk ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "story", version: "1.0" }, { capabilities, versionNegotiation: { mode } });
  if (canAsk) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { decision: decisions.shift() } };
    });
  }
  await client.connect(transport);
  return client;
}

const overHttp = () =>
  new StreamableHTTPClientTransport(new URL("/mcp", MCP_SERVER), { requestInit: { headers: { Authorization: `Bearer ${MCP_KEY}` } } });

const byStdio = () =>
  new StdioClientTransport({
    command: MCP_PROGRAM,
    args: ["mcp", "--server", MCP_SERVER],
    env: { SWITCHBOARD_API_KEY: MCP_KEY, XDG_CONFIG_HOME: MCP_HOME },
  });

/** Calls a tool that succeeds. Returns its structured result, which the text repeats. */
async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
  assert.equal(result.content[0].type, "text");
  return result.structuredContent;
}

/** Calls a tool that fails. Returns its error. */
async function refused(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.isError, `${name}: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text).error;
}

const day = (offset) => new Date(Date.now() + offset * DAY_MS).toISOString();

/** Reads mail, calendars, contacts and tasks. */
async function read(client) {
  const { connections } = await call(client, "list_connections");
  assert.equal(connections.length, 1);
  const connectionId = connections[0].id;

  const { folders } = await call(client, "list_folders", { connectionId });
  assert.ok(folders.some(({ role }) => role === "inbox"), JSON.stringify(folders));
  const { messages, nextCursor } = await call(client, "search_mail", { folder: "inbox", limit: 5 });
  assert.equal(messages.length, 5);
  const next = await call(client, "search_mail", { folder: "inbox", limit: 5, cursor: nextCursor });
  assert.ok(!messages.some(({ id }) => next.messages.some((other) => other.id === id)));
  const message = await call(client, "read_message", { messageId: messages[0].id });
  assert.ok(message.untrustedText.length > 0, JSON.stringify(message));
  const thread = await call(client, "read_thread", { threadId: messages[0].threadId });
  assert.ok(thread.messages.some(({ id }) => id === messages[0].id), JSON.stringify(thread));

  const { calendars } = await call(client, "list_calendars");
  const primary = calendars.find(({ isPrimary }) => isPrimary);
  const range = { start: day(-7), end: day(14) };
  const { events } = await call(client, "search_events", { ...range, calendarIds: [primary.id] });
  assert.ok(events.length > 0);
  const { id: eventId, calendarId } = events[0];
  const { event } = await call(client, "read_event", { calendarId, eventId });
  assert.equal(event.untrustedTitle, events[0].untrustedTitle);
  const free = await call(client, "find_free_time", { ...range, durationMinutes: 30, dayStart: "09:00", dayEnd: "17:00" });
  assert.ok(free.complete && free.times.length > 0, JSON.stringify(free));

  const { contacts } = await call(client, "search_contacts", { query: "bob" });
  assert.ok(contacts.length > 0);
  assert.ok((await call(client, "list_tasks")).tasks.length > 0);
  const { next: since } = await call(client, "whats_new");
  assert.equal(typeof (await call(client, "whats_new", { since })).next, "string");
  return messages[0];
}

/** Reads resources and prompts. */
async function browse(client, message) {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), ["switchboard://guide"]);
  const guide = await client.readResource({ uri: resources[0].uri });
  assert.equal(guide.contents[0].mimeType, "text/markdown");
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates.length, 4);
  const shown = await client.readResource({ uri: `switchboard://messages/${message.id}` });
  assert.ok(shown.contents[0].text.includes(message.id), JSON.stringify(shown));
  // The code of a resource that is not there was another one before 2026-07-28.
  const missing = client.readResource({ uri: "switchboard://messages/msg_none" });
  await assert.rejects(missing, ({ code }) => code === -32602 || code === -32002);

  const { prompts } = await client.listPrompts();
  assert.equal(prompts.length, 3);
  const prompt = await client.getPrompt({ name: "prepare-reply", arguments: { messageId: message.id } });
  assert.ok(prompt.messages[0].content.text.includes(message.id));
  await assert.rejects(client.getPrompt({ name: "prepare-reply", arguments: {} }), { code: -32602 });
}

/** Errors of tools are results that a model reads. An unknown tool is an error of the protocol. */
async function fail(client) {
  await assert.rejects(client.callTool({ name: "delete_everything", arguments: {} }), { code: -32602 });
  const unknown = await refused(client, "list_calendars", { password: "x" });
  assert.deepEqual([unknown.code, unknown.param], ["unknown_parameter", "password"]);
  assert.equal((await refused(client, "read_message", { messageId: "msg_none" })).code, "not_found");
}

/** Writes an answer. Nothing is sent before a person has decided so. */
async function answer(client, message) {
  const draft = { replyToMessageId: message.id, text: "The numbers are on their way." };
  const { draft: { id: draftId, to } } = await call(client, "create_draft", draft);
  assert.deepEqual(to, [message.from]);
  decisions.push("do_not_send");
  assert.equal((await refused(client, "send_draft", { draftId })).code, "send_declined");
  decisions.push("send");
  assert.ok((await call(client, "send_draft", { draftId })).message.id);
  assert.equal(questions.length, 2);
  assert.ok(questions.every((question) => question.includes(message.from) && question.includes(draft.text)), questions.join("\n"));

  const times = { start: day(3), end: day(3.05) };
  const { event } = await call(client, "create_event", { title: "Call back", ...times });
  assert.equal((await call(client, "delete_event", { calendarId: event.calendarId, eventId: event.id })).deleted, true);
}

const assistant = await connect(overHttp(), { pin: CURRENT }, true);
assert.equal(assistant.getServerVersion().name, "switchboard");
assert.match(assistant.getInstructions(), /untrusted/);
const { tools } = await assistant.listTools();
const message = await read(assistant);
await browse(assistant, message);
await fail(assistant);
await answer(assistant, message);
await assistant.close();

// A client that starts a program, in the version before: the person cannot be asked there, so nothing is sent.
const older = await connect(byStdio(), "legacy", true);
assert.equal(older.getNegotiatedProtocolVersion(), BEFORE);
assert.deepEqual((await older.listTools()).tools, tools);
const { draft } = await call(older, "create_draft", { to: ["bob@sandbox.test"], text: "Hi" });
assert.equal((await refused(older, "send_draft", { draftId: draft.id })).code, "person_required");
await browse(older, message);
await older.close();

// The same program in the current version.
const newer = await connect(byStdio(), { pin: CURRENT }, false);
assert.equal(newer.getNegotiatedProtocolVersion(), CURRENT);
assert.equal((await call(newer, "list_connections")).connections.length, 1);
assert.equal((await refused(newer, "send_draft", { draftId: draft.id })).code, "person_required");
await newer.close();
