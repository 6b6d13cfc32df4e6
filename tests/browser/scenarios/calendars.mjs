// The ways of a booking into its invitee's own calendar.
import { readFile } from "node:fs/promises";
import { bookAt } from "./flows.mjs";
import { tabTo } from "./keys.mjs";
import { barriers } from "./looks.mjs";

/** In this zone the meeting is on the day after the one that it is on at the host's. */
const ZONE = "Pacific/Auckland";
const WAYS = ["Google Calendar", "Outlook.com", "Microsoft 365", "Calendar file (.ics)"];

const parameters = (href, ...names) => names.map((name) => new URL(href).searchParams.get(name));

/** The links name the instants of the meeting, whatever the visitor's zone is, and not the address by which it is cancelled. */
const linksHold = async ({ equal, check }, page) => {
  const token = new URL(page.url()).pathname.split("/").pop();
  const ways = page.locator("main li a");
  equal(await ways.allInnerTexts(), WAYS, "the ways");
  const [google, outlook, microsoft] = await ways.evaluateAll((all) => all.map(({ href, target, rel }) => ({ href, target, rel })));
  for (const { href, target, rel } of [google, outlook, microsoft]) {
    equal([target, rel], ["_blank", "noopener"], `how ${href} is opened`);
    check(!href.includes(token), `it does not tell the booking's address: ${href}`);
  }
  equal(new URL(google.href).origin, "https://calendar.google.com", "the site");
  equal(
    parameters(google.href, "action", "text", "dates"),
    ["TEMPLATE", "Intro call with Alice", "20260310T110000Z/20260310T113000Z"], "what Google is told",
  );
  for (const [{ href }, site] of [[outlook, "https://outlook.live.com"], [microsoft, "https://outlook.office.com"]]) {
    equal(new URL(href).origin, site, "the site");
    equal(
      parameters(href, "rru", "subject", "startdt", "enddt"),
      ["addevent", "Intro call with Alice", "2026-03-10T11:00:00Z", "2026-03-10T11:30:00Z"], `what ${site} is told`,
    );
  }
};

/** The file, fetched by keys alone: the page stays, and the calendar knows the meeting again by its UID. */
const fileHolds = async ({ equal, check }, page, uid) => {
  const address = page.url();
  for (const [at, name] of WAYS.entries()) {
    if (at === 0) await tabTo(page, check, () => document.activeElement.innerText === "Google Calendar");
    else await page.keyboard.press("Tab");
    equal(await page.evaluate(() => document.activeElement.innerText), name, "the next stop");
  }
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  equal(download.suggestedFilename(), "invite.ics", "the file's name");
  const lines = (await readFile(await download.path(), "utf8")).replace(/\r\n /g, "").split("\r\n");
  for (const line of ["BEGIN:VCALENDAR", `UID:${uid}`, "DTSTART:20260310T110000Z", "DTEND:20260310T113000Z", "END:VCALENDAR"]) {
    check(lines.includes(line), `the file has ${line}: ${lines.join("\n")}`);
  }
  equal(page.url(), address, "the page that is shown");
};

/** A site of another calendar is opened in a tab of its own, which is not told where the visitor comes from. */
const siteIsOpened = async ({ equal }, { page, context }) => {
  await context.route(/^https:\/\/calendar\.google\.com\//, (route) => route.fulfill({ contentType: "text/html", body: "<h1>A calendar</h1>" }));
  const [tab] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Google Calendar" }).click()]);
  await tab.getByRole("heading", { name: "A calendar" }).waitFor();
  equal(await tab.evaluate(() => [document.referrer, window.opener]), ["", null], "what the site knows of the page");
  await tab.close();
};

export const the_booking_goes_into_the_visitors_calendar = async (stage) => {
  const { id, url } = await stage.openEventType("intro");
  const { page, context, faults } = await stage.visitor({ timezoneId: ZONE });
  await page.goto(`${url}?day=2026-03-11&tz=${ZONE}`);
  await bookAt(stage, page, "00:00");
  const shown = await page.locator("main").innerText();
  stage.check(shown.includes(`00:00–00:30 · ${ZONE}`), `the time is told in the visitor's zone: ${shown}`);
  const { data: [{ id: bookingId, iCalUid, start }] } = await stage.api("GET", `/v1/scheduling/bookings?event_type_id=${id}`, undefined, 200);
  stage.equal(start, "2026-03-10T11:00:00.000Z", "the start");
  await linksHold(stage, page);
  await fileHolds(stage, page, iCalUid);
  await siteIsOpened(stage, { page, context });

  const booking = page.url().split("?")[0];
  for (const look of ["lang=en&theme=light", "lang=en&theme=dark", "lang=ar&theme=light", "lang=ar&theme=dark"]) {
    await page.goto(`${booking}?${look}`);
    stage.equal(await page.locator("main li a").count(), WAYS.length, `${look}: the number of ways`);
    stage.equal(await barriers(page, stage.axe), [], `${look}: what keeps people out`);
  }
  await stage.api("POST", `/v1/scheduling/bookings/${bookingId}/cancel`, {}, 200);
  await page.reload();
  stage.equal(await page.locator("main li a").count(), 0, "the number of ways of a booking that does not take place");
  stage.equal(faults, [], "what must not be");
};
