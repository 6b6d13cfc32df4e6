//! `/book/b/{token}`: the page of a booking for its invitee, by status. Each status has its own text.

use harness::TestServer;
use harness::browser::{Browser, Page};
use serde_json::{Value, json};

use super::lifecycle::{path, run_jobs};
use super::mail::{host, mailbox};
use super::page::{ADA, address, follow, form, leads, send};
use super::{BOOKINGS, DAY, Desk, booking, text};

const MINUTE_MS: i64 = 60_000;

/// The page of a booking, as its invitee opens it from a bookmark.
async fn opened(server: &TestServer, booked: &Value) -> Page {
    let token = text(&booked["manageToken"]);
    Browser::default().open(&format!("http://{}/book/b/{token}", server.address)).await
}

/// The page's heading, the colour of its seal or badge, and the word of the badge; empty where there is none.
fn head(page: &Page) -> (String, &str, &str) {
    let between = |before: &str, after: &str| {
        let rest = page.text.split_once(before).map_or("", |(_, rest)| rest);
        rest.split_once(after).map_or("", |(found, _)| found)
    };
    let heading = between("<h1", "</h1>").split_once('>').map_or("", |(_, text)| text);
    let badge = between("<span class=\"badge", "</span>");
    match badge.split_once("</svg>") {
        Some((attributes, word)) => {
            (heading.to_owned(), attributes.split('"').next().unwrap_or_default(), word)
        }
        None => (heading.to_owned(), between("<span class=\"seal", "\""), ""),
    }
}

#[track_caller]
fn shows(page: &Page, shown: &[&str], hidden: &[&str]) {
    assert_eq!(page.status, 200, "{page:#?}");
    for text in shown {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
    for text in hidden {
        assert!(!page.text.contains(text), "{text} is in {}", page.text);
    }
    assert_eq!(page.text.matches("<h1").count(), 1, "one heading: {}", page.text);
}

/// Right after it was made a booking is confirmed with a seal; later its page has a badge, and what can be done comes first.
#[tokio::test]
async fn a_confirmed_booking() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let place = json!([{ "type": "link", "value": "https://meet.example.org/alice/room" }]);
    desk.open("intro", json!({ "locations": place })).await;
    let page = form(&server, &browser, &address(&desk.api, "intro").await, "09:00").await;
    let made = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert_eq!(head(&made), ("Your booking is confirmed".to_owned(), " good", ""));
    let facts = [
        "<strong>Tuesday, 10 March 2026</strong> <span>09:00–09:30 · UTC</span>",
        "<bdi>Alice</bdi>",
        "href=\"https://meet.example.org/alice/room\"",
        ">meet.example.org/<wbr>alice/<wbr>room</a>",
        "<bdi>Ada</bdi>",
    ];
    shows(&made, &facts, &["<details"]);
    assert!(
        leads(&made, "Reschedule").ends_with("/move") && leads(&made, "Cancel booking").ends_with("/cancel")
    );

    let mut later = made.url.clone();
    later.set_query(None);
    let later = browser.open(later.as_str()).await;
    assert_eq!(head(&later), ("Intro call".to_owned(), " good", "Confirmed"));
    shows(&later, &facts, &["class=\"seal"]);
    let filled = "/move\" class=\"button\" target=\"_top\">Reschedule</a>";
    shows(&later, &[filled, "class=\"button danger\"", "<details class=\"foot\"><summary>"], &[]);
}

/// The page says until when a booking can be changed, if that ends before the booking begins.
#[tokio::test]
async fn the_end_of_the_time_to_change_a_booking() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let notice = |minutes: i64| json!({ "minNoticeMinutes": minutes });
    for (slug, time, cancellation, reschedule, said) in [
        ("both", "09:00", 60, 60, vec!["You can reschedule or cancel until Tuesday, 10 March 2026, 08:00."]),
        (
            "two",
            "10:00",
            60,
            120,
            vec![
                "You can reschedule until Tuesday, 10 March 2026, 08:00.",
                "You can cancel until Tuesday, 10 March 2026, 09:00.",
            ],
        ),
        ("none", "11:00", 0, 0, vec![]),
    ] {
        let fields = json!({ "cancellation": notice(cancellation), "reschedule": notice(reschedule) });
        let id = desk.open(slug, fields).await;
        let booked = desk.api.post(BOOKINGS, booking(&id, time)).send().await.expect(201);
        let page = opened(&server, &booked).await;
        shows(&page, &said, if said.is_empty() { &[" until "] } else { &[] });
    }
}

/// A request that waits is in no calendar and can only be withdrawn. The page says how long its time is held.
#[tokio::test]
async fn a_booking_that_waits_for_its_host() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let fields = json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 60 });
    let id = desk.open("intro", fields).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    let page = opened(server, &booked).await;
    assert_eq!(head(&page), ("Waiting for confirmation".to_owned(), " warn", ""));
    let shown = [
        "Alice still has to confirm. We’ll email you as soon as that happens.",
        "The time is held for you until Sunday, 1 March 2026, ",
        "class=\"button danger\" target=\"_top\">Cancel request</a>",
    ];
    shows(&page, &shown, &["Reschedule", "invite.ics", "calendar.google.com"]);

    let fields = json!({ "requiresConfirmation": true, "pendingBlocksSlot": false });
    let id = desk.open("free", fields).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);
    let page = opened(server, &booked).await;
    shows(&page, &["Without an answer the request expires on Tuesday, 10 March 2026, 10:00."], &["is held"]);
}

/// A page of a booking that has ended says how it ended, crosses the time out, and leads to other times.
#[tokio::test]
async fn a_booking_that_does_not_take_place() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let fields = json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 60 });
    let id = desk.open("intro", fields).await;
    let crossed = "<s><strong>Tuesday, 10 March 2026</strong>";
    let made = async |time: &str| desk.api.post(BOOKINGS, booking(&id, time)).send().await.expect(201);
    let (cancelled, declined, expired) = (made("09:00").await, made("10:00").await, made("11:00").await);

    let reason = json!({ "reason": "I am <b>ill</b>" });
    desk.api.post(path(&cancelled, "/cancel"), reason.clone()).send().await.expect(200);
    let page = opened(server, &cancelled).await;
    assert_eq!(head(&page), ("Booking cancelled".to_owned(), "", ""));
    shows(&page, &["This booking was cancelled.", crossed, "I am &lt;b&gt;ill&lt;/b&gt;"], &["Reschedule"]);

    desk.api.post(path(&declined, "/reject"), reason).send().await.expect(200);
    let page = opened(server, &declined).await;
    assert_eq!(head(&page), ("Booking declined".to_owned(), "", ""));
    shows(&page, &["The host declined this booking.", crossed, "I am &lt;b&gt;ill"], &["invite.ics"]);

    server.clock.advance_ms(61 * MINUTE_MS);
    run_jobs(server).await;
    let page = opened(server, &expired).await;
    assert_eq!(head(&page), ("Booking expired".to_owned(), "", ""));
    shows(&page, &["It wasn’t confirmed in time.", crossed], &["Cancel request"]);

    let list = Browser::default().open(&format!("{}?day={DAY}", leads(&page, "Book another time"))).await;
    shows(&list, &[">Intro call</h1>", ">11:00</a>"], &[]);
    desk.api
        .patch(format!("/v1/scheduling/event-types/{id}"), json!({ "active": false }))
        .send()
        .await
        .expect(200);
    shows(&opened(server, &cancelled).await, &["Booking cancelled"], &["Book another time"]);
}

/// An invitee's reason is for the hosts only, because the invitee's address is not verified.
#[tokio::test]
async fn an_invitees_own_reason_is_not_shown() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    let asked = browser.open(&leads(&opened(&server, &booked).await, "Cancel booking")).await;
    assert_eq!(head(&asked).0, "Cancel this booking?");
    shows(
        &asked,
        &["The time becomes free for others.", "<button class=\"danger\">Cancel booking</button>"],
        &[],
    );
    let over = follow(&browser, &send(&browser, &asked, &[("reason", "See evil.example")]).await).await;
    assert_eq!(head(&over).0, "Booking cancelled");
    assert!(!over.text.contains("evil.example"), "{over:#?}");
}

/// A move is confirmed as one.
#[tokio::test]
async fn a_booking_that_was_moved() {
    let server = TestServer::start().await;
    let (desk, browser) = (Desk::of(&server, "alice").await, Browser::default());
    let id = desk.open("intro", json!({})).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    let list = leads(&opened(&server, &booked).await, "Reschedule");
    let list = browser.open(&format!("{list}?day={DAY}")).await;
    let asked = browser.open(&leads(&list, "10:00")).await;
    let both = ["<strong>Tuesday, 10 March 2026</strong> <span>10:00–10:30 · UTC</span>", "09:00–09:30"];
    shows(&asked, &both, &[]);
    shows(
        &asked,
        &["You keep this time until you confirm a new one.", "<button>Confirm new time</button>"],
        &[],
    );
    let moved = follow(&browser, &send(&browser, &asked, &[]).await).await;
    assert_eq!(head(&moved), ("Your new time is confirmed".to_owned(), " good", ""));
}
