// Zones and clocks.
import { DAY, onDay } from "./flows.mjs";

export const a_zone_is_found = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro");
  const { page, faults } = await visitor();
  await page.goto(onDay(url));
  await page.locator(".zone summary").click();
  const field = page.getByRole("combobox", { name: "Time zone" });
  await page.waitForFunction(() => document.activeElement.id === "tz");
  await field.fill("kathmand");
  // The zone's present time stands beside it, five hours and 45 minutes after UTC.
  await page.getByRole("option", { name: /^Asia\/Kathmandu .*\d\d:\d\d$/ }).waitFor();
  await page.keyboard.press("Escape");
  equal(await page.getByRole("option").count(), 0, "choices that are shown");
  await page.keyboard.press("ArrowDown");
  check(await field.getAttribute("aria-activedescendant"), "a choice is marked");
  await page.keyboard.press("Enter");
  await page.waitForURL(/tz=Asia%2FKathmandu/);
  await page.getByRole("link", { name: "14:45", exact: true }).waitFor();
  check(page.url().includes(`day=${DAY}`), "the day stays");
  await page.locator(".zone summary").click();
  await page.getByRole("combobox").fill("nowhere at all");
  await page.getByRole("status").getByText("No time zone found").waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY", "what has the focus");
  equal(faults, [], "what must not be");
};

export const the_visitors_own_zone = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro");
  const american = await visitor({ locale: "en-US", timezoneId: "America/Phoenix" });
  await american.page.goto(`${url}?day=${DAY}`, { waitUntil: "commit" });
  await american.page.waitForURL(/tz=America%2FPhoenix&hc=12/);
  await american.page.getByRole("link", { name: "2:00 AM", exact: true }).waitFor();
  equal(await american.page.locator(".zone strong").innerText(), "America/Phoenix", "the zone");
  check(/now \d+:\d\d [AP]M/.test(await american.page.locator(".zone p:not(.hint)").innerText()), "its present time is told by the visitor's clock");
  await american.page.getByRole("link", { name: "24h", exact: true }).click();
  await american.page.getByRole("link", { name: "02:00", exact: true }).waitFor();
  equal(await american.page.evaluate(() => document.activeElement.innerText), "24h", "what has the focus");
  equal(await american.page.locator(".slots .switch [aria-current]").innerText(), "24h", "the clock that is chosen");

  const hidden = await visitor({ timezoneId: "UTC" });
  await hidden.page.goto(`${url}?day=${DAY}`, { waitUntil: "networkidle" });
  check(!hidden.page.url().includes("tz="), "nothing is chosen for who says nothing");
  check((await hidden.page.locator("main").innerText()).includes("(the host’s time zone)"), "the page says whose zone it is");
  equal([...american.faults, ...hidden.faults], [], "what must not be");
};
