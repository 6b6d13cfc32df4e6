// How the page looks, how much it is, and who is kept out by it.
import { join } from "node:path";
import { DAY, fill, onDay } from "./flows.mjs";

export const budgets_hold = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro");
  const { page, context, faults } = await visitor();
  await context.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value; })).observe({ type: "layout-shift", buffered: true });
  });
  const sizes = [];
  page.on("requestfinished", async (request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => [new URL(request.url()).pathname.split("/").pop(), responseBodySize]));
  });
  await page.goto(onDay(url), { waitUntil: "networkidle" });
  const all = await Promise.all(sizes);
  console.log(`first view: ${JSON.stringify(all)}`);
  const sizeOf = (name) => all.find(([found]) => found === name)[1];
  const sum = all.reduce((sum, [, size]) => sum + size, 0);
  check(all.length <= 3, `there are at most three requests: ${all.length}`);
  check(sum <= 20 * 1024, `the first view is at most 20 KB: ${sum}`);
  check(sizeOf("intro") <= 8 * 1024, "the month with its style is at most 8 KB");
  check(sizeOf("page.js") <= 6 * 1024, "the script is at most 6 KB");
  equal(await page.evaluate(() => window.shift), 0, "what moved while it was drawn");
  equal(faults, [], "what must not be");
};

/** Serious barriers of a page, in a few words each. */
export const barriers = async (page, axe) => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
};

/** Names and a day as long as they come. */
const LONG = {
  title: "Datenschutz-Folgenabschätzungsvorbesprechung with the Rechtsschutzversicherungsgesellschaften team, part 2",
  description: `We look at what you have written so far. ${"Bring the record of processing activities and the list of your processors. ".repeat(4)}`,
  durationMinutes: 15, durationOptions: [30, 45, 60, 90], schedule: { timeZone: "UTC", weekly: [{ days: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" }] },
  locations: [{ type: "inPerson", value: "Friedrichstraße 191, 10117 Berlin" }, { type: "phoneInvitee" }],
};

const STATES = [
  "month", "month-long", "month-one", "details", "mistake", "taken", "made", "confirmed", "cancel", "move", "none-free", "none-ever", "unknown-zone", "not-found",
  "unreadable", "embedded",
];

/** Brings a tab to a state. `addresses`: of the pages that were made before. */
const reach = async (stage, page, state, { url, long, rare, never, booking, look }) => {
  const isDown = state === "unreadable";
  if (isDown) await stage.fault(true);
  const of = {
    month: onDay(url, look), "month-long": onDay(long, look), "month-one": `${rare}?month=2026-05&tz=UTC${look}`, details: `${url}?tz=UTC&at=${DAY}T10:00:00Z${look}`, mistake: `${url}?tz=UTC&at=${DAY}T10:00:00Z${look}`,
    taken: `${url}?tz=UTC&at=${DAY}T09:00:00Z${look}`, made: `${booking}?new=1${look}`, confirmed: `${booking}?${look}`, cancel: `${booking}/cancel?${look}`,
    move: `${booking}/move?day=${DAY}${look}`, "none-free": `${rare}?tz=UTC${look}`, "none-ever": `${never}?tz=UTC${look}`, embedded: onDay(url, `&embed=1${look}`), "unknown-zone": `${url}?tz=Mars${look}`,
    "not-found": `${stage.origin}/book/nobody?${look}`, unreadable: onDay(url, look),
  };
  await page.goto(of[state], { waitUntil: "networkidle" });
  if (state === "mistake") {
    // Browsers refuse it themselves, unless they are told not to.
    await page.locator("form").evaluate((form) => { form.noValidate = true; });
    await page.locator("#name").fill("Ada");
    await page.locator("#email").fill("nobody");
    await stage.advance(2_000);
    await page.locator("form button").click();
    await page.locator("#error-email").waitFor();
  }
  // It has no ground of its own: it is read on that of the site, here on one that suits its theme.
  if (state === "embedded") await page.evaluate(() => { document.documentElement.style.background = "var(--ground)"; });
  if (isDown) await stage.fault(false);
};

export const every_state_is_accessible = async (stage) => {
  const { url } = await stage.openEventType("intro", {
    description: "Half an hour to get to know each other.", color: "#1257c4", durationOptions: [30, 60],
    questions: [
      { key: "topic", label: "Topic", type: "select", options: ["Sales", "Support"] },
      { key: "days", label: "Days that suit you", type: "multiselect", options: ["Monday", "Tuesday"] },
    ],
  });
  const once = { date: "2026-05-04", available: true, windows: [{ start: "09:00", end: "10:00" }] };
  const rare = await stage.openEventType("rare", { schedule: { timeZone: "UTC", weekly: [], overrides: [once] } });
  const long = await stage.openEventType("long", { ...LONG, color: "#ffd400" });
  const range = { kind: "range", startDate: "2026-03-01", endDate: "2026-05-10" };
  const never = await stage.openEventType("never", { schedule: { timeZone: "UTC", weekly: [] }, bookingWindow: range });
  const first = await stage.visitor();
  await first.page.goto(`${url}?tz=UTC&at=${DAY}T09:00:00Z`);
  await fill(stage, first.page);
  await first.page.getByRole("button", { name: "Book this time" }).click();
  await first.page.getByRole("heading", { name: "Your booking is confirmed" }).waitFor();
  const booking = first.page.url().split("?")[0];
  await first.context.close();

  const found = [];
  const picture = async (state, width, theme, lang) => {
    const { page, context, faults } = await stage.visitor({ viewport: { width, height: width < 600 ? 740 : 900 }, colorScheme: theme, reducedMotion: "reduce" });
    const at = `${state}-${width}-${theme}-${lang}`;
    await reach(stage, page, state, { url, long: long.url, rare: rare.url, never: never.url, booking, look: `&lang=${lang}` });
    await page.screenshot({ path: join(stage.pictures, `${at}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const all = [...(await barriers(page, stage.axe)), ...faults, ...(wide > 0 ? [`${wide} pixels too wide`] : [])];
    found.push(...all.map((one) => `${at}: ${one}`));
    await context.close();
  };
  for (const state of STATES) {
    for (const width of [360, 1280]) for (const theme of ["light", "dark"]) await picture(state, width, theme, "en");
    await picture(state, 320, "light", "en");
  }
  for (const lang of ["de", "ja", "ar"]) {
    for (const state of ["month", "details"]) for (const width of [320, 360, 1280]) await picture(state, width, "light", lang);
  }
  for (const width of [768, 1056, 3840]) await picture("month", width, "light", "en");
  console.log(`pictures: ${stage.pictures}`);
  stage.equal(found, [], "what keeps people out");
};

const PHONE = { width: 360, height: 740 };

export const the_calendar_is_in_the_first_view_of_a_phone = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro", { title: "Product consultation", description: "Half an hour to get to know each other.", durationOptions: [15, 60] });
  for (const look of ["en", "de", "es", "fr", "ja", "ar"]) {
    const { page, context, faults } = await visitor({ viewport: PHONE });
    await page.goto(onDay(url, `&lang=${look}&hc=12`));
    const { y, height } = await page.locator(".days").boundingBox();
    console.log(`${look}: the calendar ends at ${y + height}`);
    check(y + height < PHONE.height, `${look}: the calendar ends above the fold: ${y + height}`);
    const heights = await page.locator(".sheet :is(a, button, summary)").evaluateAll((all) =>
      all.filter((one) => one.checkVisibility()).map((one) => [one.innerText || one.getAttribute("aria-label"), one.getBoundingClientRect().height]));
    equal(heights.filter(([, height]) => height < 43.9), [], `${look}: what is too low to be touched`);
    equal(faults, [], "what must not be");
    await context.close();
  }
};

/** Pixels by which the page is wider than its window. */
const overflow = (page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));

export const large_text_and_long_names_fit = async ({ openEventType, visitor, equal }) => {
  const long = await openEventType("long", LONG);
  const usual = await openEventType("intro", { durationOptions: [15, 60] });
  for (const { url } of [usual, long]) {
    for (const [width, size] of [[320, "100%"], [360, "200%"], [768, "100%"]]) {
      const { page, context, faults } = await visitor({ viewport: { width, height: 740 } });
      await page.goto(onDay(url));
      // By the object model: the page's policy lets no other style in.
      await page.evaluate((size) => { document.documentElement.style.fontSize = size; }, size);
      equal(await overflow(page), 0, `${url} at ${width} with text of ${size}: pixels too wide`);
      equal(faults, [], "what must not be");
      await context.close();
    }
  }
};

export const what_is_chosen_is_seen_without_colours = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro", { durationOptions: [15, 60] });
  const { page, faults } = await visitor({ forcedColors: "active" });
  await page.goto(onDay(url));
  const outline = (selector) => page.locator(selector).first().evaluate((one) => getComputedStyle(one).outlineStyle);
  equal(await outline(".days a[aria-current]"), "solid", "the line around the chosen day");
  equal(await outline(".days a:not([aria-current])"), "none", "the line around another day");
  for (const [name, selector] of [["a free day", ".days a:not([aria-current])"], ["the chosen day", ".days a[aria-current]"], ["a time", ".times a"]]) {
    await page.keyboard.press("Tab");
    const shown = await page.locator(selector).first().evaluate((one) => {
      one.focus({ focusVisible: true });
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return [outlineStyle, parseFloat(outlineWidth)];
    });
    check(shown[0] === "solid" && shown[1] >= 2, `the focus is seen on ${name}: ${shown}`);
  }
  equal(faults, [], "what must not be");
};

export const the_clicked_day_is_marked_at_once = async ({ openEventType, visitor, equal }) => {
  const { url } = await openEventType("intro");
  const { page, faults } = await visitor();
  await page.goto(onDay(url));
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  await page.route(({ href }) => href.includes("day=2026-03-11"), async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("link", { name: /^Wednesday, 11 March 2026/ }).click();
  equal(await page.locator(".days a[aria-current]").innerText(), "11", "the day that is marked");
  // The bar comes after a while; nothing is dimmed.
  await page.getByRole("progressbar", { name: "Loading times" }).waitFor({ state: "attached" });
  equal(await page.locator("main").evaluate((main) => getComputedStyle(main).opacity), "1", "the opacity");
  go();
  await page.getByRole("heading", { name: "Wednesday, 11 March 2026", exact: true }).waitFor();
  equal(await page.getByRole("progressbar").count(), 0, "bars that are left");
  equal(faults, [], "what must not be");
};
