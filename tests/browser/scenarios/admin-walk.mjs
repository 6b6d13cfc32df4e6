// The administration panel in use: a newcomer's walk from the printed link to a first request, with scripts and without.

/** A tab at the panel, in which the panel alone may be asked. */
export const panelVisitor = (stage, options = {}) => stage.visitor(options, { root: "/admin" });

/** The URL and the header of a line for a terminal. */
const readLine = (line) => {
  const [, url, , header] = line.split("'");
  return { url, authorization: header.replace("Authorization: ", "") };
};

const walk = async (stage, options) => {
  const { ask, origin, equal, check } = stage;
  const { page, faults } = await panelVisitor(stage, options);
  let clicks = 0;
  const click = async (name, role = "button") => {
    clicks += 1;
    await page.getByRole(role, { name, exact: true }).first().click();
  };
  const title = (name) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

  await page.goto(`${origin}${await ask("firstLink")}`);
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("Password").fill("a staple for 7 horses");
  await click("Create account");
  await title("Organizations");
  await click("Create organization", "link");
  await page.getByLabel("Name").fill("Acme");
  await click("Create");
  await title("Applications");
  await click("Create application", "link");
  await page.getByLabel("Name").fill("Scheduling");
  await click("Create");
  await title("Overview");
  await page.getByText("0 of 5 done").waitFor();
  await click("Create key", "link");
  await page.getByLabel("Name").fill("Server, production");
  await click("Create key");
  await title("Key created");
  const [key, line] = await page.locator(".code pre").allInnerTexts();
  const { url, authorization } = readLine(line);
  equal(authorization, `Bearer ${key}`, "the key in the line");
  const answer = await fetch(url, { headers: { authorization } });
  equal(answer.status, 200, "the answer to the line");
  await click("I have saved the key", "link");
  await title("API keys");
  check(!(await page.content()).includes(key), "the key is shown once");
  check(clicks <= 12, `clicks: ${clicks}`);
  equal(faults, [], "what must not be");
  return page;
};

export const a_newcomer_makes_a_key = async (stage) => {
  const page = await walk(stage, {});
  // The next step opens by itself, and the page stays in place.
  await page.evaluate(() => { window.isSamePage = true; });
  await page.getByRole("link", { name: "Overview", exact: true }).first().click();
  await page.getByText("1 of 5 done").waitFor();
  stage.check(await page.evaluate(() => window.isSamePage), "links put pages in place");
  stage.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "what has the focus");
};

export const a_newcomer_without_javascript = async (stage) => {
  const page = await walk(stage, { javaScriptEnabled: false });
  stage.equal(await page.locator("button[data-copied]:visible").count(), 0, "buttons that need a script");
};

export const a_key_is_copied = async (stage) => {
  const { ask, origin, equal } = stage;
  const { page, context, faults } = await panelVisitor(stage);
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await context.addCookies([{ ...(await ask("operator")), url: origin }]);
  await page.goto(`${origin}${await ask("applicationPage")}/keys/new`);
  await page.getByLabel("Name").fill("Robot");
  await page.getByText("Booking page").click();
  await page.getByRole("button", { name: "Create key", exact: true }).click();
  await page.getByRole("button", { name: "Copy key", exact: true }).click();
  await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
  equal(await page.evaluate(() => navigator.clipboard.readText()), await page.locator(".secret pre").innerText(), "what was copied");
  equal(faults, [], "what must not be");
};

/** Presets tick their scopes, and a tick of one's own is one's own choice. */
export const presets_tick_scopes = async (stage) => {
  const { ask, origin, equal } = stage;
  const { page, context, faults } = await panelVisitor(stage);
  await context.addCookies([{ ...(await ask("operator")), url: origin }]);
  await page.goto(`${origin}${await ask("applicationPage")}/keys/new`);
  await page.getByText("Scopes", { exact: true }).click();
  const ticked = () => page.locator("input[name=scope]:checked").evaluateAll((boxes) => boxes.map((box) => box.value));
  await page.getByLabel("Calendars", { exact: true }).check();
  equal((await ticked()).sort(), ["calendar.read", "calendar.write", "connections.read"], "the scopes of a preset");
  await page.locator("input[value='tasks.read']").check();
  equal(await page.locator("input[name=preset]:checked").inputValue(), "own", "the preset after a tick");
  await page.getByLabel("Name").fill("Robot");
  await page.getByRole("button", { name: "Create key", exact: true }).click();
  await page.getByText("Reads and writes calendars; Reads tasks and accounts").waitFor();
  equal(faults, [], "what must not be");
};

/** Events come to the open list, until it is paused, and again after that. */
export const events_come_to_the_open_list = async (stage) => {
  const { ask, openEventType, origin, equal } = stage;
  const { page, context, faults } = await panelVisitor(stage);
  await context.addCookies([{ ...(await ask("operator")), url: origin }]);
  await openEventType("first");
  await page.goto(`${origin}${await ask("applicationPage")}/events`);
  await page.getByText("New events appear by themselves.", { exact: true }).waitFor();
  const rows = page.locator("tbody tr");
  const before = await rows.count();
  await openEventType("second");
  await rows.nth(before).waitFor();
  equal(await rows.first().locator("th a").innerText(), "event_type.created", "the newest event");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText("Paused.", { exact: true }).waitFor();
  const paused = await rows.count();
  await openEventType("third");
  equal(await rows.count(), paused, "rows while the list is paused");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await rows.nth(paused).waitFor();
  equal(faults, [], "what must not be");
};
