// The page by keys alone, and from right to left.
import { DAY, onDay } from "./flows.mjs";

const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label") || document.activeElement.innerText || document.activeElement.id);
const onFocused = (page, start) =>
  page.waitForFunction((start) => (document.activeElement.getAttribute("aria-label") ?? "").startsWith(start), start);

/** Presses Tab until the page says that it is where it should be. */
export const tabTo = async (page, check, holds) => {
  for (let stops = 0; stops < 40; stops++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(holds)) return;
  }
  check(false, "a stop is reached by Tab");
};

export const by_keyboard_alone = async ({ openEventType, visitor, advance, equal, check }) => {
  const { url } = await openEventType("intro");
  const { page, faults } = await visitor();
  await page.goto(onDay(url));
  await tabTo(page, check, () => Boolean(document.activeElement.closest(".days")));
  check((await focused(page)).startsWith("Tuesday, 10 March 2026"), "the chosen day is the grid's one stop");
  for (const [key, day] of [
    ["ArrowRight", "Wednesday, 11 March"], ["ArrowDown", "Wednesday, 18 March"], ["Home", "Monday, 16 March"], ["ArrowUp", "Monday, 9 March"],
    ["End", "Friday, 13 March"], ["ArrowRight", "Monday, 16 March"], ["ArrowLeft", "Friday, 13 March"],
    ["PageDown", "Wednesday, 1 April"], ["ArrowLeft", "Tuesday, 31 March"], ["ArrowRight", "Wednesday, 1 April"],
  ]) {
    await page.keyboard.press(key);
    await onFocused(page, day);
  }
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => !document.activeElement.closest(".days")), "the grid is left by one Tab");
  await page.keyboard.press("Shift+Tab");
  await onFocused(page, "Wednesday, 1 April");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "times");
  check((await page.getByRole("status").innerText()).includes("Wednesday, 1 April 2026, free times: 6"), "the number of times is announced");
  await page.keyboard.press("Tab");
  equal(await focused(page), "09:00", "the first time");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.tagName === "H1" && document.querySelector("main[data-page=details]"));
  await tabTo(page, check, () => document.activeElement.id === "name");
  await page.keyboard.type("Ada");
  await page.keyboard.press("Tab");
  await page.keyboard.type("ada@example.org");
  await advance(2_000);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your booking is confirmed" }).waitFor();
  equal(faults, [], "what must not be");
};

export const space_chooses_a_day = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro");
  const { page, faults } = await visitor();
  await page.goto(onDay(url));
  await tabTo(page, check, () => Boolean(document.activeElement.closest(".days")));
  await page.keyboard.press("ArrowRight");
  await onFocused(page, "Wednesday, 11 March");
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.activeElement.id === "times");
  check(page.url().includes("day=2026-03-11"), "the day is chosen");
  equal(faults, [], "what must not be");
};

export const the_times_are_two_keys_away = async ({ openEventType, visitor, axe, equal, check }) => {
  const { url } = await openEventType("intro", { durationOptions: [60] });
  for (const [look, options, name] of [
    ["", {}, "Skip to the times"], ["&theme=dark", { javaScriptEnabled: false }, "Skip to the times"],
    ["&lang=ar", { viewport: { width: 320, height: 640 } }, "الانتقال مباشرة إلى الأوقات"],
  ]) {
    const { page, context, faults } = await visitor(options);
    await page.goto(onDay(url, look));
    const link = page.getByRole("link", { name, exact: true });
    equal(await link.evaluate((link) => getComputedStyle(link).clipPath), "inset(50%)", `${look}: how the link is hidden`);
    await page.keyboard.press("Tab");
    equal(await page.locator(":focus").innerText(), name, `${look}: the first stop`);
    equal(await link.evaluate((link) => getComputedStyle(link).clipPath), "none", `${look}: how it is shown`);
    const box = await link.boundingBox();
    const { width } = page.viewportSize();
    check(look === "&lang=ar" ? box.x + box.width > width - 24 : box.x < 24, `${look}: it begins where lines begin: ${JSON.stringify(box)}`);
    await page.keyboard.press("Enter");
    await page.locator("#times:focus").waitFor();
    await page.keyboard.press("Tab");
    equal(await page.locator(":focus").innerText(), "09:00", `${look}: the next stop`);
    if (options.javaScriptEnabled !== false) {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["skip-link", "bypass"] }));
      equal(violations.map(({ id }) => id), [], `${look}: what keeps people out`);
    }
    equal(faults, [], "what must not be");
    await context.close();
  }
};

export const arabic_is_mirrored = async ({ openEventType, visitor, equal, check }) => {
  const { url } = await openEventType("intro");
  const { page, faults } = await visitor({ locale: "ar-EG", timezoneId: "Africa/Cairo", viewport: { width: 320, height: 640 } });
  await page.goto(`${url}?day=${DAY}&tz=Africa/Cairo`);
  equal(await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang]), ["rtl", "ar"], "the direction");
  const columns = await page.locator(".days th").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
  check(columns.every((x, at) => at === 0 || x < columns[at - 1]), "the week runs from right to left");
  equal(await page.locator(".days th").first().getAttribute("abbr"), "السبت", "the first day");
  await page.locator(".days a[aria-current]").focus();
  await page.keyboard.press("ArrowLeft");
  await onFocused(page, "الأربعاء، 11 مارس");
  await page.keyboard.press("ArrowRight");
  await onFocused(page, "الثلاثاء، 10 مارس");
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
  equal(faults, [], "what must not be");
};
