// The page in sites of other origins.
import { onDay } from "./flows.mjs";
import { serve } from "./site.mjs";

/** A site with this in its body, which notes what it is told; its address. */
const site = (origin, body) => serve(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A site</title>
<script>
window.told = [];
for (const type of ["ready", "resize", "slot", "booked", "close"]) {
  addEventListener("switchboard:" + type, (event) => told.push({ type, ...event.detail }));
}
</script>
<script src="${origin}/book/embed.js" async></script></head><body><h1>A site</h1>${body}</body></html>`);
const told = (page, type) => page.evaluate((type) => window.told.filter((event) => event.type === type), type);

/** A link in whose place the page is shown. */
const inline = (address, more = "") =>
  `<a href="${address}" data-switchboard="inline" data-name="Ada" data-email="ada@example.org" ${more}>Book</a>`;

export const embedded_inline_resizes_and_tells = async ({ openEventType, visitor, advance, origin, equal, check }) => {
  const questions = [{ key: "companySize", label: "Company size", type: "number" }];
  const { url } = await openEventType("intro", { questions });
  const { url: address, close } = await site(origin, inline(onDay(url), 'data-answers-companySize="50"'));
  const { page, faults } = await visitor({}, { mayAskOthers: true });
  await page.goto(address);
  const frame = page.frameLocator("iframe");
  await frame.getByRole("link", { name: "09:00", exact: true }).waitFor();
  await page.waitForFunction(() => told.some(({ type }) => type === "resize"));
  equal(await page.getByRole("link", { name: "Book", exact: true }).isVisible(), false, "that the link is seen");
  const inner = page.frames()[1];
  await inner.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight);
  check((await inner.evaluate(() => innerHeight)) > 300, "the frame is as high as the page");
  await frame.getByRole("link", { name: "09:00", exact: true }).click();
  await frame.getByRole("heading", { name: "Your details" }).waitFor();
  equal(await frame.getByLabel("Name", { exact: true }).inputValue(), "Ada", "the name");
  equal(await frame.getByLabel("Company size").inputValue(), "50", "the answer to a question whose key has a capital letter");
  await advance(2_000);
  await frame.getByRole("button", { name: "Book this time" }).click();
  await frame.getByRole("heading", { name: "Your booking is confirmed" }).waitFor();
  await page.waitForFunction(() => told.some(({ type }) => type === "booked"));
  equal(await told(page, "slot"), [{ type: "slot", start: "2026-03-10T09:00:00.000Z", end: "2026-03-10T09:30:00.000Z" }], "the slot");
  const [booked, ...more] = await told(page, "booked");
  equal([booked.status, booked.start, booked.timeZone, more.length], ["confirmed", "2026-03-10T09:00:00.000Z", "UTC", 0], "the booking");
  check(booked.bookingId.startsWith("bk_"), "the booking has its id");
  check(!JSON.stringify(await page.evaluate(() => window.told)).includes("ada@"), "the site is told nothing of people");
  equal(faults, [], "what must not be");
  close();
};

export const the_next_site_in_the_same_tab = async ({ openEventType, visitor, origin, equal }) => {
  const { url } = await openEventType("intro");
  const sites = [await site(origin, inline(onDay(url))), await site(origin, inline(onDay(url)))];
  const { page, faults } = await visitor({}, { mayAskOthers: true });
  for (const { url: address } of sites) {
    await page.goto(address);
    await page.frameLocator("iframe").getByRole("link", { name: "09:00", exact: true }).waitFor();
    await page.waitForFunction(() => document.querySelector("iframe").clientHeight > 300);
  }
  equal(faults, [], "what must not be");
  for (const { close } of sites) close();
};

export const a_notice_in_a_frame_is_read = async ({ openEventType, visitor, advance, api, origin, equal }) => {
  const { id, url } = await openEventType("intro");
  const { url: address, close } = await site(origin, inline(onDay(url)));
  const { page, faults } = await visitor({}, { mayAskOthers: true });
  const frame = page.frameLocator("iframe");
  const notice = frame.getByRole("heading", { name: "There is nothing to book here" });
  await page.goto(address);
  await frame.getByRole("link", { name: "09:00", exact: true }).click();
  await frame.getByRole("heading", { name: "Your details" }).waitFor();
  await advance(2_000);
  await api("PATCH", `/v1/scheduling/event-types/${id}`, { active: false }, 200);
  await frame.getByRole("button", { name: "Book this time" }).click();
  await notice.waitFor();
  await page.goto(address);
  await notice.waitFor();
  equal(await page.getByRole("link", { name: "Book", exact: true }).isVisible(), false, "that the link is seen");
  equal(faults, [], "what must not be");
  close();
};

export const popup_and_button_give_focus_back = async ({ openEventType, visitor, origin, equal, check }) => {
  const { url } = await openEventType("intro");
  const link = (kind) => `<p><a href="${onDay(url)}" data-switchboard="${kind}" data-theme="dark">Book by ${kind}</a></p>`;
  const { url: address, close } = await site(origin, link("popup") + link("button"));
  const { page, faults } = await visitor({}, { mayAskOthers: true });
  await page.goto(address, { waitUntil: "networkidle" });
  for (const name of ["Book by popup", "Book by button"]) {
    const opener = page.getByRole("link", { name });
    await opener.focus();
    await page.keyboard.press("Enter");
    const frame = page.frameLocator("dialog iframe");
    await frame.getByRole("link", { name: "09:00", exact: true }).focus();
    equal(await page.evaluate(() => Boolean(document.activeElement.closest("dialog"))), true, "that the dialog has the focus");
    equal(await page.frames()[1].evaluate(() => document.documentElement.dataset.theme), "dark", "the theme");
    // The focus is in the frame: its page tells the site of the key.
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    equal(await page.evaluate(() => document.activeElement.innerText), name, "what has the focus");
  }
  await page.getByRole("link", { name: "Book by popup" }).click();
  await page.frameLocator("dialog iframe").getByRole("link", { name: "09:00", exact: true }).waitFor();
  const edge = await page.locator("dialog").boundingBox();
  await page.mouse.click(edge.x + 4, edge.y + 4);
  equal(await page.locator("dialog").isVisible(), true, "that a click on its edge leaves the dialog open");
  await page.mouse.click(4, 4);
  await page.locator("dialog").waitFor({ state: "detached" });
  const box = await page.getByRole("link", { name: "Book by button" }).boundingBox();
  check(box.height >= 48 && box.x + box.width > 1_200 && box.y + box.height > 850, `the button is in the corner: ${JSON.stringify(box)}`);
  equal(faults, [], "what must not be");
  close();
};
