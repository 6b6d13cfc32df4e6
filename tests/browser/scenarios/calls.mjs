// Pages of other origins call the API.
import { DAY } from "./flows.mjs";
import { serve } from "./site.mjs";

const LINK = "/v1/scheduling/booking-links/intro";
const SLOTS = "/v1/scheduling/availability/query";
const BOOKINGS = "/v1/scheduling/bookings";
const PAGE = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A site</title></head><body><h1>A site</h1></body></html>';
/** The host whose pages the key is for. Browsers lead every name below `localhost` to their own machine. */
const HOST = "app.localhost";

/** What a script of the page gets when it calls: the answer with all headers that it may read, or the error that says no more. */
const call = (page, method, url, { key, body, headers = {}, credentials = "same-origin" } = {}) =>
  page.evaluate(async ({ method, url, key, body, headers, credentials }) => {
    const sent = { ...headers };
    if (key) sent.authorization = `Bearer ${key}`;
    if (body) sent["content-type"] = "application/json";
    try {
      const response = await fetch(url, { method, headers: sent, body: body && JSON.stringify(body), credentials });
      return { status: response.status, body: await response.json(), headers: Object.fromEntries(response.headers) };
    } catch (error) {
      return { error: error.name };
    }
  }, { method, url, key, body, headers, credentials });

/** The preflights of a tab, which nothing but the browser's own tools shows, and a way to wait for one of a path. */
const preflights = async ({ context, page }) => {
  const lower = (headers = {}) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [asked, sent, seen, waiting] = [new Map(), new Map(), [], []];
  const session = await context.newCDPSession(page);
  // What is told of one request comes in no certain order.
  const note = (told) => {
    told();
    for (const look of waiting) look();
  };
  session.on("Network.requestWillBeSent", ({ requestId, request }) => note(() => asked.set(requestId, request)));
  session.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => note(() => sent.set(requestId, lower(headers))));
  session.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type === "Preflight") note(() => seen.push({ requestId, response, path: new URL(response.url).pathname }));
  });
  await session.send("Network.enable");
  const of = (path) => seen.filter((preflight) => preflight.path === path);
  const whole = ({ requestId, response }) => {
    const [request, extra] = [asked.get(requestId), sent.get(requestId)];
    if (!request && !extra) return undefined;
    return { method: request?.method ?? extra[":method"], sent: { ...lower(request?.headers), ...extra }, status: response.status, got: lower(response.headers) };
  };
  const first = (path) => new Promise((resolve, reject) => {
    const look = () => {
      const found = of(path).map(whole).find(Boolean);
      if (found) resolve(found);
    };
    waiting.push(look);
    look();
    AbortSignal.timeout(15_000).addEventListener("abort", () => reject(new Error(`no preflight of ${path}`)));
  });
  return { of, first };
};

/** A tab with the page of a site at this host. */
const tab = async ({ visitor }, host) => {
  const { url, close } = await serve(PAGE, host);
  const opened = await visitor({}, { mayAskOthers: true });
  await opened.page.goto(url);
  return { ...opened, site: new URL(url).origin, close };
};

/** The browser told the page's makers, and nobody else, why each of their calls cannot be read. */
const areBlocked = ({ equal, check }, faults, number, reason) => {
  equal(faults.length, number, `what the console says: ${faults.join("\n")}; its number`);
  const isBlocked = (fault) => fault.includes("blocked by CORS policy") && fault.includes(reason);
  check(faults.every(isBlocked), `each says ${reason}: ${faults.join("\n")}`);
};

/** The page of the key's own host: it lists times and books one, without cookies, and reads what it is told. */
const ownPage = async (stage, { key, eventTypeId }) => {
  const { origin, equal, check } = stage;
  const { page, context, faults, site, close } = await tab(stage, HOST);
  const { of, first } = await preflights({ context, page });
  const shown = await call(page, "GET", origin + LINK, { key });
  equal([shown.status, shown.body.eventTypeId], [200, eventTypeId], "the booking link");
  const range = { slug: "intro", start: `${DAY}T00:00:00Z`, end: `${DAY}T23:59:59Z` };
  const times = await call(page, "POST", origin + SLOTS, { key, body: range });
  const starts = times.body.data.map(({ start }) => start.slice(11, 16));
  equal([times.status, starts], [200, ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"]], "the times");

  const body = { eventTypeId, start: times.body.data[0].start, inviteeEmail: "ada@example.org", inviteeName: "Ada" };
  const booking = { key, body, headers: { "idempotency-key": "one" } };
  const booked = await call(page, "POST", origin + BOOKINGS, booking);
  equal([booked.status, booked.body.status, booked.body.start], [201, "confirmed", `${DAY}T09:00:00.000Z`], "the booking");
  for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "etag"]) {
    check(booked.headers[name], `the page reads ${name}: ${JSON.stringify(booked.headers)}`);
  }
  for (const name of ["vary", "x-content-type-options", "access-control-allow-origin"]) {
    equal(booked.headers[name], undefined, `what the page reads of ${name}`);
  }
  const again = await call(page, "POST", origin + BOOKINGS, booking);
  equal([again.status, again.body.id, again.headers["idempotent-replayed"]], [201, booked.body.id, "true"], "the answer to the same once more");
  const late = await call(page, "POST", origin + BOOKINGS, { ...booking, headers: {} });
  equal([late.status, late.body.error.code], [409, "slot_unavailable"], "the answer to who comes too late");
  const other = await call(page, "GET", `${origin}/v1/scheduling/event-types`, { key });
  equal([other.status, other.body.error.code], [403, "insufficient_scope"], "the answer to what the key may not");
  const keyless = await call(page, "GET", origin + LINK);
  equal([keyless.status, keyless.body.error.code], [401, "missing_api_key"], "the answer without a key");

  const { method, sent, status, got } = await first(BOOKINGS);
  equal([method, status, got["access-control-allow-origin"]], ["OPTIONS", 204, site], "the preflight");
  equal([sent["access-control-request-method"], sent.authorization, sent.cookie], ["POST", undefined, undefined], "what it tells");
  equal(got["access-control-allow-credentials"], undefined, "the leave to send cookies");
  equal(of(BOOKINGS).length, 1, "the number of preflights of three calls");
  equal((await context.cookies()).length, 0, "the number of cookies");
  equal(faults, [], "what must not be");

  // A script that wants cookies to go along gets nothing: there are none, and no answer is for them.
  equal(await call(page, "GET", origin + LINK, { key, credentials: "include" }), { error: "TypeError" }, "a call with cookies");
  areBlocked(stage, faults, 1, "Access-Control-Allow-Credentials");
  close();
};

/** A page of a host that the key does not name, though it knows the key: nothing is read, and nothing is done. */
const foreignPage = async (stage, host, { key, eventTypeId }) => {
  const { origin, equal } = stage;
  const { page, faults, close } = await tab(stage, host);
  const body = { eventTypeId, start: `${DAY}T10:00:00Z`, inviteeEmail: "eve@example.org", inviteeName: "Eve" };
  for (const [method, path, options] of [["GET", LINK, { key }], ["POST", BOOKINGS, { key, body }], ["GET", LINK, {}]]) {
    equal(await call(page, method, origin + path, options), { error: "TypeError" }, `${host}: ${method} ${path}`);
  }
  areBlocked(stage, faults, 3, "No 'Access-Control-Allow-Origin' header");
  close();
};

export const a_page_of_another_origin_calls_the_api = async (stage) => {
  const { id: eventTypeId } = await stage.openEventType("intro");
  const restricted = { name: "A page", scopes: ["scheduling.book"], allowedDomains: [HOST] };
  const { key } = await stage.api("POST", "/v1/api-keys", restricted, 201);
  await stage.advance(1_000);
  await ownPage(stage, { key, eventTypeId });
  // The domain above, and the service's own host at another port.
  for (const host of ["localhost", "127.0.0.1"]) await foreignPage(stage, host, { key, eventTypeId });
  const { data } = await stage.api("GET", `${BOOKINGS}?event_type_id=${eventTypeId}`, undefined, 200);
  stage.equal(data.map(({ invitee }) => invitee.email), ["ada@example.org"], "who has booked");
};
