// The TypeScript client in pages of other origins: compiled file by file, as its package is, and loaded as modules.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, normalize } from "node:path";

const PAGE = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A site</title></head><body><h1>A site</h1></body></html>';
/** The host whose pages the key is for. Browsers lead every name below `localhost` to their own machine. */
const HOST = "app.localhost";
const { CLIENT_SOURCES: sources, CLIENTS_TYPESCRIPT: tools } = process.env;

/** A module of the client as JavaScript. */
const compiled = (path) => {
  const typescript = createRequire(join(tools, "-"))("typescript");
  const { ModuleKind, ScriptTarget } = typescript;
  const text = readFileSync(join(sources, normalize(path).replace(/\.js$/, ".ts")), "utf8");
  const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.ES2022, verbatimModuleSyntax: true };
  return typescript.transpileModule(text, { compilerOptions }).outputText;
};

/** Serves a page at `/` of this host, and the client below `/client/`; its origin. */
const site = async (host) => {
  const server = createServer((request, response) => {
    const path = request.url.match(/^\/client\/([\w/]+\.js)$/)?.[1];
    response.setHeader("content-type", path ? "text/javascript" : "text/html").end(path ? compiled(path) : PAGE);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A scenario that fails closes nothing, and must end all the same.
  server.unref();
  return { origin: `http://${host}:${server.address().port}`, close: () => server.close() };
};

/** What a script of the page gets from the client: a list, a new event, an error of the API; or the error of each. */
const calls = (page, given) =>
  page.evaluate(async ({ key, server, calendarId }) => {
    const { ApiError, ConnectionError, NotFoundError, Switchboard, SwitchboardError, responseOf } = await import("/client/index.js");
    const sb = new Switchboard({ apiKey: key, baseUrl: server, maxRetries: 0 });
    const KINDS = { ApiError, ConnectionError, NotFoundError, SwitchboardError };
    const tried = async (call) => {
      try {
        return await call();
      } catch (error) {
        const kinds = Object.entries(KINDS).filter(([, kind]) => error instanceof kind).map(([name]) => name);
        return { kinds, name: error.name, status: error.status, code: error.code, requestId: error.requestId, message: error.message };
      }
    };
    const event = { title: "From a page", start: "2026-03-02T12:00:00Z", end: "2026-03-02T13:00:00Z" };
    const created = await tried(async () => {
      const answer = await sb.calendars.events.create(calendarId, event);
      return { title: answer.title, status: responseOf(answer)?.status };
    });
    const read = await tried(async () => {
      const events = await sb.calendars.events.list(calendarId).toArray();
      return events.map(({ title }) => title);
    });
    const missing = await tried(() => sb.calendars.events.get(calendarId, "evt_none"));
    return { created, read, missing };
  }, given);

/** A tab with the page of a site at this host, and what the client's calls end with there. */
const tab = async (stage, host, given) => {
  const { origin, close } = await site(host);
  const { page, context, faults } = await stage.visitor({}, { mayAskOthers: true });
  await page.goto(origin);
  const results = await calls(page, { ...given, server: stage.origin });
  await context.close();
  close();
  return { results, faults };
};

export const the_client_runs_in_a_page_of_another_origin = async (stage) => {
  const { equal, check } = stage;
  check(tools, "CLIENTS_TYPESCRIPT names the folder with the compiler");
  const { data: calendars } = await stage.api("GET", "/v1/calendars", undefined, 200);
  const calendarId = calendars.find(({ name }) => name === "Bookings").id;
  const restricted = { name: "A page", scopes: ["calendar.read", "calendar.write"], allowedDomains: [HOST] };
  const { key } = await stage.api("POST", "/v1/api-keys", restricted, 201);
  await stage.advance(1_000);

  const own = await tab(stage, HOST, { key, calendarId });
  equal(own.results.created, { title: "From a page", status: 201 }, "the event that the page creates");
  equal(own.results.read, ["From a page"], "the events that the page reads");
  const { missing } = own.results;
  equal([missing.kinds, missing.status, missing.code], [["ApiError", "NotFoundError", "SwitchboardError"], 404, "not_found"], "the error of the API");
  check(missing.requestId?.startsWith("req_"), `the page reads the id of the request: ${missing.requestId}`);
  equal(own.faults, [], "what must not be");

  // The browser shows a page of another host nothing of an answer, so the client cannot say more.
  const foreign = await tab(stage, "other.localhost", { key, calendarId });
  for (const [call, error] of Object.entries(foreign.results)) {
    equal([error.kinds, error.name], [["ConnectionError", "SwitchboardError"], "ConnectionError"], `the error of a foreign page: ${call}`);
    check(error.message.includes(new URL(stage.origin).host), `it names the server: ${error.message}`);
  }
  check(foreign.faults.length > 0 && foreign.faults.every((fault) => fault.includes("blocked by CORS policy")), `the console says why: ${foreign.faults.join("\n")}`);
  const { data: events } = await stage.api("GET", `/v1/calendars/${calendarId}/events`, undefined, 200);
  equal(events.map(({ title }) => title), ["From a page"], "the events at the end");
};
