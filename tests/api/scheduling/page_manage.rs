//! `/book/b/{token}` and the pages below it: what an invitee does with a booking, walked as a browser without scripts walks it.

use harness::TestServer;
use harness::browser::{Browser, Page};
use reqwest::Method;
use serde_json::{Value, json};

use super::lifecycle::path;
use super::page::{ADA, address, follow, form, leads, send};
use super::{BOOKINGS, DAY, Desk, booking, on, starts, text};

const CANCEL: &str = "Cancel booking";
const CANCEL_REQUEST: &str = "Cancel request";
const MOVE: &str = "Reschedule";
const DAY_MS: i64 = 24 * 60 * 60_000;

/// Books by the page of a link; the booking's page.
async fn booked(server: &TestServer, desk: &Desk, browser: &Browser, (slug, time): (&str, &str)) -> Page {
    let page = form(server, browser, &address(&desk.api, slug).await, time).await;
    follow(browser, &send(browser, &page, &ADA).await).await
}

/// The page that asks whether a booking is to be moved to a time of the day.
async fn asked_to_move(browser: &Browser, booked: &Page, time: &str) -> Page {
    let list = browser.open(&format!("{}?day={DAY}", leads(booked, MOVE))).await;
    assert_eq!(list.status, 200, "{list:#?}");
    let asked = browser.open(&leads(&list, time)).await;
    assert_eq!(asked.status, 200, "{asked:#?}");
    asked
}

/// The one booking of an event type, as a key with every right sees it.
async fn the_booking(desk: &Desk, event_type: &str) -> Value {
    let mut all = desk.api.all(&format!("{BOOKINGS}?event_type_id={event_type}")).await;
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

fn at(time: &str) -> Value {
    json!(format!("{DAY}T{time}:00.000Z"))
}

/// A form cancels, with a reason if there is one; sent once more it finds that done.
#[tokio::test]
async fn the_invitee_cancels_on_the_page() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let done = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let asked = browser.open(&leads(&done, CANCEL)).await;
    assert_eq!(asked.status, 200, "{asked:#?}");
    for shown in ["Cancel this booking?", "Intro call", "09:00–09:30", "(optional, Alice reads it)"] {
        assert!(asked.text.contains(shown), "{shown}: {}", asked.text);
    }
    let policy = asked.header("content-security-policy");
    assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
    let mut own = done.url.clone();
    own.set_query(None);
    assert_eq!(leads(&asked, "Keep it"), own.as_str());

    let long = "x".repeat(2_001);
    let refused = send(&browser, &asked, &[("reason", &long)]).await;
    assert_eq!(refused.status, 400, "{refused:#?}");
    assert!(refused.text.contains("was not changed") && refused.text.contains(&long));
    let over = follow(&browser, &send(&browser, &asked, &[("reason", "ill & tired")]).await).await;
    assert_eq!(over.url, own);
    assert!(over.text.contains("Booking cancelled"), "{over:#?}");
    assert!(!over.text.contains(CANCEL) && !over.text.contains(MOVE), "{over:#?}");
    let cancelled = the_booking(&desk, &id).await;
    assert_eq!(cancelled["source"], "widget");
    assert_eq!(
        (&cancelled["status"], &cancelled["cancelledBy"], &cancelled["cancellationReason"]),
        (&json!("cancelled"), &json!("invitee"), &json!("ill & tired"))
    );
    assert!(starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));

    assert_eq!(send(&browser, &asked, &[]).await.status, 303);
    assert_eq!(the_booking(&desk, &id).await, cancelled);
    let told = browser.open(asked.url.as_str()).await;
    assert_eq!(told.status, 200);
    assert!(told.text.contains("Booking cancelled"), "{told:#?}");
}

/// From the list of times to the booking at its new time; who comes too late chooses another one.
#[tokio::test]
async fn the_invitee_moves_it_on_the_page() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let done = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let list = browser.open(&format!("{}?day={DAY}", leads(&done, MOVE))).await;
    assert_eq!(list.status, 200, "{list:#?}");
    for shown in ["Current time", "09:00–09:30", ">09:30</a>", "Back to the booking"] {
        assert!(list.text.contains(shown), "{shown}: {}", list.text);
    }
    assert!(!list.text.contains(">09:00</a>"), "it takes place then: {list:#?}");
    let asked = browser.open(&leads(&list, "10:30")).await;
    assert_eq!(asked.status, 200, "{asked:#?}");
    assert!(asked.text.contains("09:00–09:30") && asked.text.contains("10:30–11:00"), "{asked:#?}");
    assert!(browser.open(&leads(&asked, "Choose another time")).await.text.contains(">11:00</a>"));

    let moved = follow(&browser, &send(&browser, &asked, &[]).await).await;
    assert!(moved.text.contains("Your new time is confirmed") && moved.text.contains("10:30–11:00"));
    let shown = the_booking(&desk, &id).await;
    assert_eq!(
        (&shown["start"], &shown["previousStart"], &shown["rescheduledBy"], &shown["rescheduleCount"]),
        (&at("10:30"), &at("09:00"), &json!("invitee"), &json!(1))
    );
    let free = starts(&desk.api, &on(&id, DAY)).await;
    assert!(free.contains(&"09:00".to_owned()) && !free.contains(&"10:30".to_owned()), "{free:?}");
    assert_eq!(send(&browser, &asked, &[]).await.status, 303);
    assert_eq!(the_booking(&desk, &id).await, shown, "a form that is sent twice moves once");
    let back = follow(&browser, &browser.open(asked.url.as_str()).await).await;
    assert_eq!((back.url.path(), back.status), (done.url.path(), 200), "who goes back finds it: {back:#?}");

    let late = browser.open(&leads(&list, "11:00")).await;
    assert_eq!(late.status, 200);
    let other = desk.open("other", json!({})).await;
    desk.api.post(BOOKINGS, booking(&other, "11:00")).send().await.expect(201);
    let refused = send(&browser, &late, &[]).await;
    assert_eq!(refused.status, 409, "{refused:#?}");
    for shown in ["was not changed", "no longer available", "Other free times"] {
        assert!(refused.text.contains(shown), "{shown}: {}", refused.text);
    }
    assert_eq!(browser.open(late.url.as_str()).await.status, 409);
    let asked = browser.open(&leads(&refused, "11:30")).await;
    assert_eq!(send(&browser, &asked, &[]).await.status, 303);
    assert_eq!(the_booking(&desk, &id).await["start"], at("11:30"));
}

/// A double click on the form moves once, and both answers lead to the booking.
#[tokio::test]
async fn a_doubled_form_moves_once() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let done = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let asked = asked_to_move(&browser, &done, "10:30").await;
    let (first, second) = tokio::join!(send(&browser, &asked, &[]), send(&browser, &asked, &[]));
    assert_eq!((first.status, second.status), (303, 303), "{second:#?}");
    assert_eq!(first.location(), second.location());
    let shown = the_booking(&desk, &id).await;
    assert_eq!(
        (&shown["start"], &shown["previousStart"], &shown["rescheduleCount"]),
        (&at("10:30"), &at("09:00"), &json!(1))
    );
}

/// A moved booking needs the host's confirmation again, and one that waits for it cannot be moved.
#[tokio::test]
async fn a_moved_one_waits_for_the_host_again() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let fields = json!({ "requiresConfirmation": true, "reschedule": { "maxCount": 1 } });
    let id = desk.open("intro", fields).await;
    let waiting = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    assert!(!waiting.text.contains(CANCEL) && !waiting.text.contains(MOVE), "{waiting:#?}");
    let to_move = leads(&waiting, CANCEL_REQUEST).replace("/cancel", "/move");
    let told = browser.open(&to_move).await;
    assert_eq!(told.status, 200);
    assert!(told.text.contains("has not confirmed this booking yet"), "{told:#?}");

    let path = format!("{BOOKINGS}/{}/confirm", text(&the_booking(&desk, &id).await["id"]));
    desk.api.post(&path, json!({})).send().await.expect(200);
    let confirmed = browser.open(waiting.url.as_str()).await;
    let asked = asked_to_move(&browser, &confirmed, "10:00").await;
    assert!(asked.text.contains("has to confirm the new time"), "{asked:#?}");
    let moved = follow(&browser, &send(&browser, &asked, &[]).await).await;
    assert!(moved.text.contains("Waiting for confirmation") && moved.text.contains("10:00–10:30"));
    assert_eq!(send(&browser, &asked, &[]).await.status, 303, "the same form once more");
    desk.api.post(&path, json!({})).send().await.expect(200);
    let told = browser.open(&to_move).await;
    assert!(told.text.contains("rescheduled as often as allowed"), "{told:#?}");
}

/// Programs that open every link of a mail change nothing, and neither does a form of another site.
#[tokio::test]
async fn a_get_changes_nothing() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let done = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let before = the_booking(&desk, &id).await;
    let cancel = leads(&done, CANCEL);
    let asked = asked_to_move(&browser, &done, "10:30").await;
    for url in [done.url.as_str(), &cancel, &leads(&done, MOVE), asked.url.as_str()] {
        assert_eq!(browser.open(url).await.status, 200, "{url}");
        assert_eq!(browser.ask(Method::HEAD, url).await.status, 200, "{url}");
    }
    let of_cancel = browser.open(&cancel).await;
    for url in [of_cancel.url.path(), asked.url.path()] {
        for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
            let ask = server.anonymous().ask(Method::POST, url.to_owned(), None);
            let sent = ask.header(name, value).raw("application/x-www-form-urlencoded", String::new()).send();
            assert_eq!(sent.await.status, 403, "{name}");
        }
    }
    assert_eq!(the_booking(&desk, &id).await, before);
}

/// Changes that the event type does not allow to invitees, or no longer, are refused with a reason before the form and after it.
#[tokio::test]
async fn too_late_is_told() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let rules = json!({ "minNoticeMinutes": 120 });
    let id = desk.open("intro", json!({ "cancellation": rules, "reschedule": rules })).await;
    let none = json!({ "allowed": false });
    let never = desk.open("never", json!({ "cancellation": none, "reschedule": none })).await;
    let done = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let fixed = booked(&server, &desk, &browser, ("never", "10:00")).await;
    let to_cancel = browser.open(&leads(&done, CANCEL)).await;
    let to_move = asked_to_move(&browser, &done, "11:00").await;
    assert!(!fixed.text.contains(CANCEL) && !fixed.text.contains(MOVE), "{fixed:#?}");
    let mut own = fixed.url.clone();
    own.set_query(None);
    for below in ["cancel", "move", "move/at/2026-03-10T11:00:00Z"] {
        let told = browser.open(&format!("{own}/{below}")).await;
        assert_eq!(told.status, 200, "{below}: {told:#?}");
        assert!(told.text.contains("does not offer this here"), "{below}: {told:#?}");
        if below != "move" {
            assert_eq!(browser.submit(&format!("{own}/{below}"), &[]).await.status, 403, "{below}");
        }
    }

    // An hour before it begins.
    server.clock.advance_ms(9 * DAY_MS);
    for page in [&to_cancel, &to_move] {
        let told = browser.open(page.url.as_str()).await;
        assert_eq!(told.status, 200, "{told:#?}");
        assert!(told.text.contains("too late") && !told.text.contains("<form"), "{told:#?}");
        let refused = send(&browser, page, &[]).await;
        assert_eq!(refused.status, 409, "{refused:#?}");
        assert!(refused.text.contains("too late"), "{refused:#?}");
    }
    let now = browser.open(done.url.as_str()).await;
    assert!(!now.text.contains(CANCEL) && !now.text.contains(MOVE), "{now:#?}");
    for id in [&id, &never] {
        assert_eq!(the_booking(&desk, id).await["status"], "confirmed");
    }
}

/// The token in the API is that of the page, and is valid for its own booking only; the pages keep the chosen language.
#[tokio::test]
async fn the_token_of_the_api_opens_the_page() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let made = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    let page = |token: &str| format!("http://{}/book/b/{token}", server.address);
    let own = page(&text(&made["manageToken"]));
    let shown = browser.open(&format!("{own}?lang=de")).await;
    let asked = browser.open(&leads(&shown, "Buchung stornieren")).await;
    assert!(asked.text.contains("Diese Buchung stornieren?"), "{asked:#?}");
    let over = follow(&browser, &send(&browser, &asked, &[]).await).await;
    assert!(over.text.contains("Buchung storniert"), "{over:#?}");

    let forged = page("x.y");
    for url in [format!("{forged}/cancel"), format!("{forged}/move/at/2026-03-10T10:00:00Z")] {
        assert_eq!(browser.open(&url).await.status, 404, "{url}");
        assert_eq!(browser.submit(&url, &[]).await.status, 404, "{url}");
    }
    assert_eq!(browser.open(&format!("{forged}/move")).await.status, 404);
    let nonsense = format!("{own}/move/at/noon");
    assert_eq!(browser.open(&nonsense).await.status, 404);
    assert_eq!(browser.submit(&nonsense, &[]).await.status, 404);
}

/// The booking goes into the invitee's own calendar: as a file, which knows it again after a move, or by a link that fills in a site's
/// form.
#[tokio::test]
async fn the_booking_goes_into_the_invitees_own_calendar() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let places = json!([{ "type": "link", "value": "https://meet.example.org/alice" }]);
    let id = desk.open("intro", json!({ "locations": places, "requiresConfirmation": true })).await;
    let waiting = booked(&server, &desk, &browser, ("intro", "09:00")).await;
    let made = the_booking(&desk, &id).await;
    // A request that may be declined is offered to no calendar.
    assert!(!waiting.text.contains("invite.ics"), "{waiting:#?}");
    let file_of = |page: &Page| {
        let mut url = page.url.clone();
        url.set_query(None);
        format!("{url}/invite.ics")
    };
    let tentative = browser.open(&file_of(&waiting)).await.text;
    assert!(tentative.contains("STATUS:TENTATIVE"), "{tentative}");
    desk.api.post(path(&made, "/confirm"), json!({})).send().await.expect(200);
    let done = browser.open(waiting.url.as_str()).await;
    let google = "&text=Intro%20call%20with%20Alice&dates=20260310T090000Z%2F20260310T093000Z&location=";
    assert!(leads(&done, "Google Calendar").contains(google), "{done:#?}");
    for site in ["Outlook.com", "Microsoft 365"] {
        let link = leads(&done, site);
        assert!(link.contains("startdt=2026-03-10T09%3A00%3A00Z") && !link.contains("b%2F"), "{link}");
    }

    let address = leads(&done, "Calendar file (.ics)");
    let file = browser.open(&address).await;
    assert_eq!((file.status, file.header("content-type")), (200, "text/calendar; charset=utf-8"));
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"invite.ics\"");
    assert!(file.header("cache-control").contains("no-store"), "{file:#?}");
    let lines = file.text.replace("\r\n ", "");
    let uid = format!("UID:{}", text(&made["iCalUid"]));
    let url = format!("/book/b/{}", done.url.path_segments().and_then(Iterator::last).expect("a token"));
    for line in [uid.as_str(), "DTSTART:20260310T090000Z", "SEQUENCE:0", "STATUS:CONFIRMED", url.as_str()] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    // The file is no invitation: it asks for no reply, and does not contain the host's address.
    for absent in ["METHOD", "ORGANIZER", "ATTENDEE", "sandbox.test"] {
        assert!(!lines.contains(absent), "{absent}: {lines}");
    }

    let moved = json!({ "start": at("10:00") });
    desk.api.post(path(&made, "/reschedule"), moved).send().await.expect(200);
    let lines = browser.open(&address).await.text;
    for line in [uid.as_str(), "DTSTART:20260310T100000Z", "SEQUENCE:1", "STATUS:CONFIRMED"] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    desk.api.post(path(&made, "/cancel"), json!({})).send().await.expect(200);
    let over = follow(&browser, &browser.open(&address).await).await;
    assert!(over.text.contains("Booking cancelled"), "{over:#?}");
    assert!(!over.text.contains("invite.ics") && !over.text.contains("calendar.google.com"), "{over:#?}");
    let forged = format!("http://{}/book/b/x.y/invite.ics", server.address);
    assert_eq!(browser.open(&forged).await.status, 404);
}
