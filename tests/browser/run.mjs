// Plays one scenario: `node run.mjs NAME ORIGIN HOST`. It asks the test that started it for what a browser cannot do (`ASK` lines on standard
// output, answers on standard input): to move the clock, to call the API, to let the provider fail.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { readFileSync } from "node:fs";

const [name, origin, host] = process.argv.slice(2);
const { BROWSER_MODULES: modules, BROWSER_PATH: executablePath, BROWSER_PICTURES: pictures } = process.env;
const { chromium } = createRequire(join(modules, "-"))("playwright-core");

const asked = new Map();
const answers = createInterface({ input: process.stdin });
answers.on("line", (line) => {
  const { id, value } = JSON.parse(line);
  asked.get(id)(value);
  asked.delete(id);
});
let asks = 0;
const ask = (op, fields = {}) =>
  new Promise((resolve) => {
    const id = ++asks;
    asked.set(id, resolve);
    process.stdout.write(`ASK ${JSON.stringify({ id, op, ...fields })}\n`);
  });

const api = async (method, path, body, status) => {
  const answer = await ask("api", { method, path, body });
  if (answer.status !== status) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body;
};

/** An event type of half an hour, on weekdays from 09:00 to 12:00 UTC, with other fields; its id and the address of its page. */
const openEventType = async (slug, fields = {}) => {
  const { connectionId, calendarId } = JSON.parse(host);
  const hosts = [{ connectionId, calendarId, conflictCalendarIds: [calendarId], displayName: "Alice" }];
  const schedule = { timeZone: "UTC", weekly: [{ days: [1, 2, 3, 4, 5], start: "09:00", end: "12:00" }] };
  const body = { slug, title: "Intro call", durationMinutes: 30, hosts, schedule, ...fields };
  const { id } = await api("POST", "/v1/scheduling/event-types", body, 201);
  const { url } = await api("GET", `/v1/scheduling/booking-links/${slug}`, undefined, 200);
  return { id, url };
};

const browser = await chromium.launch({ executablePath, args: ["--disable-gpu", "--font-render-hinting=none"] });

/** A visitor's tab. What it must never do is collected in `faults`: break its policy, fail in a script, ask others. */
const visitor = async (options = {}, { mayAskOthers = false, root = "/book/" } = {}) => {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "Europe/Berlin", viewport: { width: 1280, height: 900 }, ...options });
  const faults = [];
  await context.exposeBinding("reportViolation", (_, text) => faults.push(`policy: ${text}`));
  if (options.javaScriptEnabled !== false) {
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => window.reportViolation(`${event.violatedDirective} ${event.blockedURI}`));
    });
  }
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("pageerror", (error) => faults.push(`script: ${error}`));
  page.on("console", (message) => {
    // Pages of errors have their status, which the browser notes.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!mayAskOthers && !request.url().startsWith(`${origin}${root}`)) faults.push(`request: ${request.url()}`);
  });
  return { page, context, faults };
};

const equal = (found, expected, about = "") => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${about} is ${one}, not ${other}`);
};
const check = (holds, about) => {
  if (!holds) throw new Error(`it does not hold: ${about}`);
};

const stage = {
  ask, api, openEventType, visitor, browser, equal, check, origin, pictures,
  advance: (ms) => ask("advance", { ms }),
  fault: (isDown) => ask("fault", { isDown }),
  axe: readFileSync(join(modules, "axe-core/axe.min.js"), "utf8"),
};

let failure;
try {
  const files = ["flows", "keys", "zones", "embed", "looks", "calls", "calendars", "hosts", "admin-walk", "admin-looks", "docs", "walk", "client"];
  const parts = await Promise.all(files.map((file) => import(`./scenarios/${file}.mjs`)));
  const scenario = parts.map((part) => part[name]).find(Boolean);
  check(scenario, `there is a scenario ${name}`);
  await scenario(stage);
} catch (error) {
  failure = error;
  console.log(error.stack);
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      console.log(`${page.url()}\n${await page.locator("body").innerText().catch(() => "")}`);
      await page.screenshot({ path: join(pictures, `failed-${name}.png`) }).catch(() => {});
    }
  }
}
await browser.close();
answers.close();
process.exitCode = failure ? 1 : 0;
