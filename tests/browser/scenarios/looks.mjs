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

const STATES = ["month", "details", "mistake", "taken", "confirmed", "cancel", "move", "none-free", "unknown-zone", "not-found", "unreadable"];

/** Brings a tab to a state. `addresses`: of the pages that were made before. */
const reach = async (stage, page, state, { url, rare, booking, look }) => {
  const isDown = state === "unreadable";
  if (isDown) await stage.fault(true);
  const of = {
    month: onDay(url, look), details: `${url}?tz=UTC&at=${DAY}T10:00:00Z${look}`, mistake: `${url}?tz=UTC&at=${DAY}T10:00:00Z${look}`,
    taken: `${url}?tz=UTC&at=${DAY}T09:00:00Z${look}`, confirmed: `${booking}?${look}`, cancel: `${booking}/cancel?${look}`,
    move: `${booking}/move?day=${DAY}${look}`, "none-free": `${rare}?tz=UTC${look}`, "unknown-zone": `${url}?tz=Mars${look}`,
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
    await page.locator("#email-error").waitFor();
  }
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
  const first = await stage.visitor();
  await first.page.goto(`${url}?tz=UTC&at=${DAY}T09:00:00Z`);
  await fill(stage, first.page);
  await first.page.getByRole("button", { name: "Book this time" }).click();
  await first.page.getByRole("heading", { name: "Your booking is confirmed" }).waitFor();
  const booking = first.page.url().split("?")[0];
  await first.context.close();

  const found = [];
  const picture = async (state, width, theme, lang) => {
    const { page, context, faults } = await stage.visitor({ viewport: { width, height: width < 600 ? 640 : 900 }, colorScheme: theme, reducedMotion: "reduce" });
    const at = `${state}-${width}-${theme}-${lang}`;
    await reach(stage, page, state, { url, rare: rare.url, booking, look: `&lang=${lang}` });
    await page.screenshot({ path: join(stage.pictures, `${at}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const all = [...(await barriers(page, stage.axe)), ...faults, ...(wide > 0 ? [`${wide} pixels too wide`] : [])];
    found.push(...all.map((one) => `${at}: ${one}`));
    await context.close();
  };
  for (const state of STATES) {
    for (const width of [320, 1280]) for (const theme of ["light", "dark"]) await picture(state, width, theme, "en");
  }
  for (const lang of ["ja", "ar"]) {
    for (const state of ["month", "details"]) for (const width of [320, 1280]) await picture(state, width, "light", lang);
  }
  for (const width of [768, 3840]) await picture("month", width, "light", "en");
  console.log(`pictures: ${stage.pictures}`);
  stage.equal(found, [], "what keeps people out");
};
