// What people do on the page.

/** The day on which scenarios book, and its page. */
export const DAY = "2026-03-10";
export const onDay = (url, more = "") => `${url}?day=${DAY}&tz=UTC${more}`;
const CONFIRMED = "Your booking is confirmed";
const MOVED = "Your new time is confirmed";

export const heading = (page) => page.locator("h1").innerText();

/** Fills in the form as somebody does, for whom two seconds pass meanwhile. */
export const fill = async ({ advance }, page, name = "Ada", email = "ada@example.org") => {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Email").fill(email);
  await advance(2_000);
};
const book = (page) => page.getByRole("button", { name: "Book this time" });

/** Books the time of this name in the list that is shown. */
export const bookAt = async (stage, page, time) => {
  await page.getByRole("link", { name: time, exact: true }).click();
  await page.getByRole("heading", { name: "Your details" }).waitFor();
  await fill(stage, page);
  await book(page).click();
  await page.getByRole("heading", { name: CONFIRMED }).waitFor();
};

const moveAndCancel = async ({ check }, page, day, time, when) => {
  await page.getByRole("link", { name: "Reschedule", exact: true }).click();
  await page.getByRole("link", { name: day }).click();
  await page.getByRole("link", { name: time, exact: true }).click();
  await page.getByRole("button", { name: "Confirm new time" }).click();
  await page.getByRole("heading", { name: MOVED }).waitFor();
  check((await page.locator("main").innerText()).includes(when), `it was moved to ${when}`);
  await page.getByRole("link", { name: "Cancel booking" }).click();
  await page.getByRole("button", { name: "Cancel booking" }).click();
  await page.getByRole("heading", { name: "Booking cancelled" }).waitFor();
};

export const choose_book_move_cancel = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForURL(/tz=Europe%2FBerlin/);
  await page.evaluate(() => { window.isSame = true; });
  await page.getByRole("link", { name: "Next month" }).click();
  await page.getByRole("heading", { name: "April 2026", exact: true }).waitFor();
  stage.check(page.url().includes("month=2026-04"), "the address says which month is shown");
  await page.goBack();
  await page.getByRole("heading", { name: "March 2026", exact: true }).waitFor();
  await page.getByRole("link", { name: /^Tuesday, 10 March 2026/ }).click();
  await page.getByRole("heading", { name: "Tuesday, 10 March 2026", exact: true }).waitFor();
  stage.equal(await page.evaluate(() => document.activeElement.id), "times", "what has the focus");
  stage.equal(await page.evaluate(() => window.isSame), true, "that it is one page");
  await bookAt(stage, page, "10:00");
  stage.check((await page.locator("main").innerText()).includes("10:00–10:30 · Central European Time, Berlin"), "the time is told in the visitor's zone");
  await moveAndCancel(stage, page, /^Tuesday, 10 March 2026/, "11:00", "11:00–11:30 · Central European Time, Berlin");
  stage.equal(faults, [], "what must not be");
};

export const the_same_without_javascript = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor({ javaScriptEnabled: false });
  await page.goto(url);
  stage.check((await page.locator("main").innerText()).includes("UTC (the host’s time zone)"), "the host's zone is told");
  await page.locator(".zone summary").click();
  await page.getByLabel("Time zone", { exact: true }).fill("Asia/Kathmandu");
  await page.getByRole("button", { name: "Show times" }).click();
  await page.getByText("Asia/Kathmandu", { exact: true }).waitFor();
  await page.getByRole("link", { name: /^Tuesday, 10 March 2026/ }).click();
  await bookAt(stage, page, "14:45");
  await moveAndCancel(stage, page, /^Tuesday, 10 March 2026/, "15:15", "15:15–15:45 · Asia/Kathmandu");
  stage.equal(faults, [], "what must not be");
};

export const taken_meanwhile_keeps_what_was_typed = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await page.getByRole("link", { name: "09:00", exact: true }).click();
  await fill(stage, page, "Bob", "bob@example.org");
  const other = { eventTypeId: id, start: `${DAY}T09:00:00Z`, inviteeEmail: "eve@example.org", inviteeName: "Eve" };
  await stage.api("POST", "/v1/scheduling/bookings", other, 201);
  await book(page).click();
  await page.getByRole("alert").getByText("no longer available").waitFor();
  stage.equal(await page.getByRole("alert").evaluate((note) => note === document.activeElement), true, "that the note has the focus");
  stage.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Bob", "the name");
  stage.equal(await page.locator("input[name=start]:checked").count(), 0, "times that are chosen beforehand");
  // A link to the control at fault moves on this page and keeps it.
  await page.getByRole("alert").getByRole("link").click();
  stage.equal(await page.getByLabel("Email").inputValue(), "bob@example.org", "the address");
  await page.getByLabel("09:30", { exact: true }).check();
  await book(page).click();
  await page.getByRole("heading", { name: CONFIRMED }).waitFor();
  stage.equal(faults, [], "what must not be");
};

export const a_calendar_that_is_down_is_not_an_empty_one = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await stage.fault(true);
  await page.getByRole("link", { name: "Next month" }).click();
  await page.getByRole("heading", { name: "Times can’t be shown right now" }).waitFor();
  await stage.fault(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "April 2026", exact: true }).waitFor();
  stage.equal(faults, [], "what must not be");
};

export const double_click_books_once = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await page.getByRole("link", { name: "09:00", exact: true }).click();
  await fill(stage, page);
  await book(page).dblclick();
  await page.getByRole("heading", { name: CONFIRMED }).waitFor();
  const { data } = await stage.api("GET", `/v1/scheduling/bookings?event_type_id=${id}`, undefined, 200);
  stage.equal(data.length, 1, "the number of bookings");
  stage.equal(faults, [], "what must not be");
};

export const back_after_a_booking_leads_to_the_times = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await bookAt(stage, page, "09:00");
  await page.goBack();
  await page.getByRole("link", { name: "09:30", exact: true }).waitFor();
  stage.equal(await page.getByRole("link", { name: "09:00", exact: true }).count(), 0, "links to the time that is booked");

  const plain = await stage.visitor({ javaScriptEnabled: false });
  await plain.page.goto(onDay(url));
  await bookAt(stage, plain.page, "10:00");
  await plain.page.goBack();
  await plain.page.getByRole("alert").getByText("no longer available").waitFor();
  stage.check(!(await plain.page.locator("main").innerText()).includes("booked yet"), "nothing is said of a booking that was not made");
  stage.equal([...faults, ...plain.faults], [], "what must not be");
};

export const the_same_day_once_more_is_no_step_back = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  const lengths = [];
  for (let round = 0; round < 2; round++) {
    await page.evaluate(() => { document.querySelector("main").isBefore = true; });
    await page.getByRole("link", { name: /^Wednesday, 11 March 2026/ }).click();
    await page.waitForFunction(() => !document.querySelector("main").isBefore);
    lengths.push(await page.evaluate(() => history.length));
  }
  stage.equal(lengths[1], lengths[0], "the length of the history");
  await page.goBack();
  await page.getByRole("heading", { name: "Tuesday, 10 March 2026", exact: true }).waitFor();
  stage.equal(faults, [], "what must not be");
};

export const a_stopped_form_can_be_sent_again = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const { page, context, faults } = await stage.visitor();
  // What is to be done later is done when the scenario says so.
  await context.addInitScript(() => {
    const soon = window.setTimeout;
    window.later = [];
    window.setTimeout = (run, ms, ...rest) => (ms > 5_000 ? window.later.push(run) : soon(run, ms, ...rest));
  });
  let sent = 0;
  let stop;
  const stopped = new Promise((resolve) => { stop = resolve; });
  await page.route(({ href }) => href.startsWith(url), async (route) => {
    if (route.request().method() !== "POST" || ++sent > 1) {
      await route.continue();
      return;
    }
    // An answer without a page: the browser stays where it is, as for somebody who stops it.
    await route.fulfill({ status: 204 });
    stop();
  });
  await page.goto(onDay(url));
  await page.getByRole("link", { name: "09:00", exact: true }).click();
  await page.getByRole("heading", { name: "Your details" }).waitFor();
  await fill(stage, page);
  await book(page).click();
  await stopped;
  await book(page).click();
  stage.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Ada", "the name");
  await page.evaluate(() => window.later.forEach((run) => run()));
  await book(page).click();
  await page.getByRole("heading", { name: CONFIRMED }).waitFor();
  stage.equal(sent, 2, "how often it was sent");
  const { data } = await stage.api("GET", `/v1/scheduling/bookings?event_type_id=${id}`, undefined, 200);
  stage.equal(data.length, 1, "the number of bookings");
  stage.equal(faults, [], "what must not be");
};

export const another_version_is_loaded_anew = async (stage) => {
  const { url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await page.evaluate(() => { window.isSame = true; });
  await page.route(({ href }) => href.startsWith(url), async (route) => {
    if (route.request().resourceType() !== "fetch") {
      await route.continue();
      return;
    }
    const response = await route.fetch();
    const body = (await response.text()).replace(/[0-9a-f]{16}\/page\.js/, "0123456789abcdef/page.js");
    await route.fulfill({ response, body });
  });
  await page.getByRole("link", { name: "Next month" }).click();
  await page.waitForFunction(() => !window.isSame);
  await page.getByRole("heading", { name: "April 2026", exact: true }).waitFor();
  stage.equal(faults, [], "what must not be");
};

export const a_scanner_changes_nothing = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const { page, faults } = await stage.visitor();
  await page.goto(onDay(url));
  await bookAt(stage, page, "09:00");
  const seen = new Set();
  const left = [page.url()];
  while (left.length > 0 && seen.size < 40) {
    const next = left.shift();
    if (seen.has(next)) continue;
    seen.add(next);
    if (new URL(next).pathname.endsWith(".ics")) {
      // A browser saves it in place of showing it.
      stage.check((await page.request.get(next)).ok(), "the file is there");
      continue;
    }
    await page.goto(next, { waitUntil: "networkidle" });
    const links = await page.locator("main a[href]").evaluateAll((all) => all.map((link) => link.href.split("#")[0]));
    left.push(...links.filter((link) => link.startsWith(stage.origin)));
  }
  stage.check(seen.size > 10, "it has looked around");
  const { data } = await stage.api("GET", `/v1/scheduling/bookings?event_type_id=${id}`, undefined, 200);
  const told = data.map(({ status, start, rescheduleCount }) => ({ status, start, rescheduleCount }));
  stage.equal(told, [{ status: "confirmed", start: `${DAY}T09:00:00.000Z`, rescheduleCount: 0 }], "the booking");
  stage.equal(faults, [], "what must not be");
};
