// The pictures of hosts, which come from other sites.
import { join } from "node:path";
import { onDay } from "./flows.mjs";
import { barriers } from "./looks.mjs";

/** A picture of two by two pixels, each of which can be seen through. */
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAC0lEQVR42mNgQAcAABIAAeRVjecAAAAASUVORK5CYII=", "base64");
const SITE = "https://pictures.example";

/** A tab to which the site of the pictures answers like this; what it was asked is in `asked`. */
const tab = async ({ visitor }, options, answer) => {
  const opened = await visitor(options, { mayAskOthers: true });
  const asked = [];
  await opened.context.route(`${SITE}/**`, (route) => {
    asked.push(route.request());
    return answer(route);
  });
  await opened.context.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value; })).observe({ type: "layout-shift", buffered: true });
  });
  return { ...opened, asked };
};
const loads = (route) => route.fulfill({ contentType: "image/png", body: PICTURE });
const breaks = (route) => route.abort();

export const hosts_have_pictures = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const path = `/v1/scheduling/event-types/${id}`;
  const { hosts: [alice] } = await stage.api("GET", path, undefined, 200);
  const pictured = { ...alice, displayName: "Ada Lovelace", avatarUrl: `${SITE}/ada.png` };
  await stage.api("PATCH", path, { hosts: [pictured] }, 200);
  for (const [look, options] of [
    ["en-light", {}], ["en-dark", { colorScheme: "dark" }], ["ar-dark", { colorScheme: "dark", viewport: { width: 320, height: 640 } }],
  ]) {
    for (const [answer, isThere] of [[loads, true], [breaks, false]]) {
      const { page, context, faults, asked } = await tab(stage, options, answer);
      await page.goto(onDay(url, `&lang=${look.slice(0, 2)}`), { waitUntil: "networkidle" });
      const face = page.locator(".face");
      // The initials go when the picture is there, which may have holes, and stay when it is not.
      await face.locator(isThere ? "img" : "span").waitFor();
      await face.locator(isThere ? "span" : "img").waitFor({ state: "detached" });
      stage.equal(await face.innerText(), isThere ? "" : "AL", `${look}: what stands in the circle`);
      const [circle, name] = [await face.boundingBox(), await page.locator(".title bdi").boundingBox()];
      stage.check(Math.abs(circle.width - circle.height) < 0.1 && circle.width > 47, `${look}: it is round: ${JSON.stringify(circle)}`);
      // Beside it on phones, below it elsewhere.
      stage.check(look.startsWith("ar") ? name.x < circle.x : name.y > circle.y, `${look}: the name follows the picture`);
      stage.equal(asked.map((request) => [request.url(), request.headers().referer]), [[`${SITE}/ada.png`, undefined]], `${look}: what the site is asked`);
      stage.equal(await page.evaluate(() => window.shift), 0, `${look}: what moved while it was drawn`);
      stage.equal(await barriers(page, stage.axe), [], `${look}: what keeps people out`);
      stage.equal(await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth)), 0, `${look}: pixels too wide`);
      await page.screenshot({ path: join(stage.pictures, `hosts-${isThere ? "there" : "broken"}-${look}.png`) });
      // A month that is put in place has it as well.
      await page.locator('a[rel="next"]').click();
      await page.waitForURL(/month=2026-04/);
      await page.locator(isThere ? ".face img" : ".face span").waitFor();
      await page.locator(isThere ? ".face span" : ".face img").waitFor({ state: "detached" });
      stage.equal(faults, [], "what must not be");
      await context.close();
    }
  }
};
