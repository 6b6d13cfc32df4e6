// The documentation: readable without scripts, and with them a search box and requests with the reader's own key.
import { join } from "node:path";
import { barriers } from "./looks.mjs";

const PAGES = ["/docs", "/docs/guides/webhooks", "/docs/api", "/docs/api/events", "/docs/errors", "/docs/errors/stale_etag"];

/** A reader's tab, which asks this server alone. */
const reader = (stage, options) => stage.visitor(options, { root: "/" });

/** Where the answer to a request that the reader sends is shown: the examples beside it have statuses too. */
const answer = (part) => part.locator("[aria-live]");

export const docs_are_accessible_and_fit = async (stage) => {
  const found = [];
  for (const [width, theme] of [[320, "light"], [1280, "light"], [1280, "dark"], [3840, "light"]]) {
    const { page, context, faults } = await reader(stage, { viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: "reduce" });
    for (const path of PAGES) {
      await page.goto(stage.origin + path, { waitUntil: "networkidle" });
      const at = `docs${path.replace("/docs", "").replaceAll("/", "-")}-${width}-${theme}`;
      await page.screenshot({ path: join(stage.pictures, `${at}.png`) });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const all = [...(await barriers(page, stage.axe)), ...(wide > 0 ? [`${wide} pixels too wide`] : [])];
      found.push(...all.map((one) => `${at}: ${one}`));
    }
    found.push(...faults);
    await context.close();
  }
  stage.equal(found, [], "what keeps people out");
};

export const docs_are_read_without_scripts = async (stage) => {
  const { page } = await reader(stage, { javaScriptEnabled: false });
  await page.goto(`${stage.origin}/docs/api/events`);
  await page.getByRole("heading", { name: "Create an event", exact: true }).waitFor();
  const operation = page.locator("section[id='calendars.events.create']");
  const sample = (language) => operation.locator(`.sample[data-language=${language}] pre`);
  stage.check(await sample("curl").isVisible(), "the sample for curl is shown");
  await operation.locator("summary", { hasText: "Python" }).click();
  await sample("python").getByText("sb.calendars.events.create(").waitFor();
  stage.equal(await sample("curl").isVisible(), false, "the other sample is shown");
  stage.equal(await page.locator("#search").isVisible(), false, "the search box is shown");
};

export const docs_find_what_is_asked_for = async (stage) => {
  const { page, faults } = await reader(stage);
  await page.goto(`${stage.origin}/docs`);
  const first = async (query) => {
    await page.locator("#search").fill(query);
    await page.locator("#hits a").first().waitFor();
    return page.locator("#hits a").first().getAttribute("href");
  };
  stage.equal(await first("stale_etag"), "/docs/errors/stale_etag", "an error code");
  stage.equal(await first("create an evnt"), "/docs/api/events#calendars.events.create", "a title with a typing error");
  stage.equal(await first("CalendarEvent.attendees"), "/docs/api/events#schema-CalendarEvent", "a field");
  stage.equal(await first("rotate the secr"), "/docs/guides/webhooks#rotate-the-secret", "a heading by the beginnings of its words");
  await page.locator("#search").press("Enter");
  await page.waitForURL(/\/docs\/guides\/webhooks/);
  stage.equal(faults, [], "what must not be");
};

export const docs_send_requests_with_the_readers_key = async (stage) => {
  const key = await stage.ask("key");
  const { page, context, faults } = await reader(stage);
  await page.goto(`${stage.origin}/docs`);
  const steps = page.locator(".run");
  await steps.first().getByRole("button", { name: "Run" }).click();
  await steps.first().getByText("Enter your API key above.").waitFor();
  await page.locator("#key").fill(key);
  await steps.first().getByRole("button", { name: "Run" }).click();
  await answer(steps.first()).getByText(/^200/).waitFor();

  await page.goto(`${stage.origin}/docs/api/events#calendars.events.create`);
  stage.equal(await page.locator("#key").inputValue(), key, "the key in the same tab");
  const operation = page.locator("section[id='calendars.events.create']");
  await operation.getByText("Try it").click();
  const calendar = operation.getByLabel("calendarId");
  await calendar.focus();
  const choice = operation.locator("datalist option", { hasText: "Bookings" });
  await choice.waitFor({ state: "attached" });
  const id = await choice.getAttribute("value");
  stage.check(id.startsWith("cal_"), `a calendar is offered: ${id}`);
  await calendar.fill(id);
  const sent = await operation.getByLabel("Idempotency-Key").inputValue();
  stage.check(sent.length === 32, "an Idempotency-Key is filled in");
  await operation.getByLabel("Body").fill('{"title": "Lunch", "start": "2026-03-02T12:00:00Z", "end": "2026-03-02T13:00:00Z"}');
  await operation.getByRole("button", { name: "Send" }).click();
  await answer(operation).getByText(/^201/).waitFor();
  stage.check((await operation.getByLabel("Idempotency-Key").inputValue()) !== sent, "the next request gets a new Idempotency-Key");

  await page.goto(`${stage.origin}/docs/api/event-log#events.stream`);
  const stream = page.locator("section[id='events.stream']");
  await stream.getByText("Try it").click();
  await stream.getByLabel("after_sequence").fill("0");
  await stream.getByRole("button", { name: "Send" }).click();
  await answer(stream).getByText("event: calendar.event.created").waitFor();
  await stream.getByRole("button", { name: "Stop" }).click();
  await answer(stream).getByText("Stopped.").waitFor();

  const other = await context.newPage();
  await other.goto(`${stage.origin}/docs`);
  stage.equal(await other.locator("#key").inputValue(), "", "the key in another tab");
  const kept = await page.evaluate(() => [document.cookie, localStorage.length]);
  stage.equal(kept, ["", 0], "cookies and entries that outlive the tab");
  stage.equal(faults, [], "what must not be");
};

export const docs_follow_the_addresses_of_the_former_page = async (stage) => {
  const { page, faults } = await reader(stage);
  for (const [hash, path] of [["error-stale_etag", "/docs/errors/stale_etag"], ["calendars.events.create", "/docs/api/events#calendars.events.create"], ["scopes", "/docs/api#scopes"]]) {
    await page.goto("about:blank");
    await page.goto(`${stage.origin}/docs#${hash}`);
    await page.waitForURL(`${stage.origin}${path}`);
  }
  stage.equal(faults, [], "what must not be");
};

export const docs_first_view_is_small = async (stage) => {
  const { page, faults } = await reader(stage);
  const sizes = [];
  page.on("requestfinished", (request) => sizes.push(request.sizes().then(({ responseBodySize }) => [new URL(request.url()).pathname, responseBodySize])));
  await page.goto(`${stage.origin}/docs`, { waitUntil: "networkidle" });
  const all = await Promise.all(sizes);
  console.log(`first view: ${JSON.stringify(all)}`);
  const sum = all.reduce((sum, [, size]) => sum + size, 0);
  stage.check(sum > 0 && sum <= 60 * 1024, `the first view is at most 60 KB: ${sum}`);
  stage.equal(faults, [], "what must not be");
};
