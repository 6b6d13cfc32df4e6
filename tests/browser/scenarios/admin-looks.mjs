// How the administration panel looks, how much it is, and who is kept out by it.
import { join } from "node:path";
import { barriers } from "./looks.mjs";
import { panelVisitor } from "./admin-walk.mjs";

const pages = (application, organization) => ({
  home: "/admin/", organization, members: `${organization}/members`, audit: `${organization}/audit`, overview: application, keys: `${application}/keys`,
  "new-key": `${application}/keys/new`, settings: `${application}/settings`, requests: `${application}/requests`, usage: `${application}/usage`, account: "/admin/account", operators: "/admin/system/operators",
  system: "/admin/system", jobs: "/admin/system/jobs?state=queued", connectors: "/admin/system/connectors", connector: "/admin/system/connectors/sandbox",
  "not-found": "/admin/nothing",
});

const isWide = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

export const the_panel_keeps_nobody_out = async (stage) => {
  const { ask, origin, axe, equal, check, pictures } = stage;
  const cookie = { ...(await ask("operator")), url: origin };
  const addresses = pages(await ask("applicationPage"), await ask("organizationPage"));
  for (const [width, height, colorScheme] of [[1280, 900, "light"], [360, 740, "dark"]]) {
    const { page, context, faults } = await panelVisitor(stage, { viewport: { width, height }, colorScheme });
    await page.goto(`${origin}/admin/sign-in`);
    equal(await barriers(page, axe), [], `sign-in at ${width}: barriers`);
    await context.addCookies([cookie]);
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(`${origin}${address}`, { waitUntil: "networkidle" });
      await page.screenshot({ path: join(pictures, `panel-${name}-${colorScheme}-${width}.png`), fullPage: true });
      equal(await barriers(page, axe), [], `${name} at ${width}: barriers`);
      check(!(await isWide(page)), `${name} at ${width} does not scroll sideways`);
    }
    equal(faults, [], "what must not be");
  }
};

/** A first view is at most 60 KB in four requests, later pages 15 KB; nothing moves while it is drawn. */
export const the_panel_is_light = async (stage) => {
  const { ask, origin, equal, check } = stage;
  const { page, context, faults } = await panelVisitor(stage);
  await context.addCookies([{ ...(await ask("operator")), url: origin }]);
  await context.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value; })).observe({ type: "layout-shift", buffered: true });
  });
  const sizes = [];
  page.on("requestfinished", (request) => sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)));
  const application = await ask("applicationPage");
  await page.goto(`${origin}${application}/keys`, { waitUntil: "networkidle" });
  const first = await Promise.all(sizes.splice(0));
  console.log(`first view: ${JSON.stringify(first)}`);
  check(first.length <= 4, `requests: ${first.length}`);
  check(first.reduce((sum, size) => sum + size, 0) <= 60 * 1024, "the first view is at most 60 KB");
  equal(await page.evaluate(() => window.shift), 0, "what moved while it was drawn");
  await page.goto(`${origin}${application}/keys/new`, { waitUntil: "networkidle" });
  const later = await Promise.all(sizes.splice(0));
  check(later.reduce((sum, size) => sum + size, 0) <= 15 * 1024, "a later page is at most 15 KB");
  equal(faults, [], "what must not be");
};
