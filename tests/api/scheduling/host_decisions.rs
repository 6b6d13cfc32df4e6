//! `/book/h/{token}/confirm` and `/book/h/{token}/decline`: a host decides about a booking by the links in the mail, without a key.

use harness::TestServer;
use harness::browser::Browser;
use reqwest::Method;
use serde_json::{Value, json};

use super::lifecycle::{entries, logged, path, read};
use super::mail::{address_below, body, book, deliver, host, host_of, mailbox, received, subjects};
use super::page::{follow, leads, send};
use super::{DAY, Desk, EVENT_TYPES, pools, text};
use crate::email::mailbox::{Mailbox, escaped};

const ALICE: &str = "alice@sandbox.test";
const BOB: &str = "bob@sandbox.test";
const ASKED: &str = "Please confirm or decline: Intro call with Ada";
const MINUTE_MS: i64 = 60_000;

/// The newest message that asks the host of this account.
async fn asked(mailbox: &Mailbox, desk: &Desk, address: &str) -> Value {
    mailbox.server.clock.advance_ms(1);
    let query = format!("/v1/email/messages?connection_id={}&subject={}", desk.connection, escaped(ASKED));
    let page = desk.api.get(query).header("cache-control", "no-cache").send().await.expect(200);
    let mut all = page["data"].as_array().expect("a list").iter();
    let message = all.find(|message| message["to"][0]["email"] == address).expect("the host is asked");
    assert_eq!(message["to"].as_array().map(Vec::len), Some(1), "each host has a message: {message:#}");
    desk.api.get(format!("/v1/email/messages/{}", text(&message["id"]))).send().await.expect(200)
}

/// The address behind a link of a message.
fn link(server: &TestServer, said: &str, label: &str) -> String {
    let own = format!("http://{}", server.app.config.listen);
    let path = address_below(said, label).strip_prefix(&own).expect("a link");
    format!("http://{}{path}", server.address)
}

/// The links of the mail that asks this host: to confirm, and to decline.
async fn links(mailbox: &Mailbox, desk: &Desk, address: &str) -> (String, String) {
    let said = body(&asked(mailbox, desk, address).await);
    (link(&mailbox.server, &said, "Confirm"), link(&mailbox.server, &said, "Decline"))
}

async fn status(desk: &Desk, booked: &Value) -> String {
    text(&read(&desk.api, booked).await["status"])
}

/// The host sees the invitee, the time and the invitee's text. Opening the link changes nothing, its form confirms, and a form that is
/// sent twice confirms once.
#[tokio::test]
async fn a_host_confirms_by_the_link_in_the_mail() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let questions = json!([{ "key": "topic", "label": "Topic", "type": "text" }]);
    let id = desk.open("intro", json!({ "requiresConfirmation": true, "questions": questions })).await;
    let fields = json!({ "answers": { "topic": "Looms" }, "notes": "<b>Bring</b> a pen" });
    let booked = book(&desk, &mailbox, &id, fields).await;
    deliver(server).await;

    let said = body(&asked(&mailbox, &desk, ALICE).await);
    assert!(said.starts_with("Ada would like to book this time."), "{said}");
    let (confirm, decline) = links(&mailbox, &desk, ALICE).await;
    let waiting = body(&received(&mailbox, "Waiting for confirmation: Intro call with Alice").await);
    assert!(waiting.starts_with("Alice still has to confirm."), "{waiting}");
    assert!(!waiting.contains("/book/h/"), "the link is the host's: {waiting}");

    let page = browser.open(&confirm).await;
    assert_eq!(page.status, 200, "{page:#?}");
    for shown in [
        "Confirm booking",
        "<bdi>Ada</bdi> would like",
        "09:00–09:30",
        "Looms",
        "&lt;b&gt;Bring&lt;/b&gt; a pen",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let headers = ["x-frame-options", "referrer-policy", "x-robots-tag", "cache-control", "set-cookie"];
    let told = headers.map(|name| page.header(name));
    assert_eq!(told, ["DENY", "no-referrer", "noindex, nofollow", "private, no-store", ""]);
    for url in [&confirm, &decline] {
        assert_eq!(browser.open(url).await.status, 200);
        assert_eq!(browser.ask(Method::HEAD, url).await.status, 200);
        let foreign = server.anonymous().ask(
            Method::POST,
            url.replace(&format!("http://{}", server.address), ""),
            None,
        );
        let foreign = foreign.header("sec-fetch-site", "cross-site");
        let sent = foreign.raw("application/x-www-form-urlencoded", "sequence=0".to_owned()).send().await;
        assert_eq!(sent.status, 403);
    }
    assert_eq!(status(&desk, &booked).await, "pending");

    let (first, second) = tokio::join!(send(&browser, &page, &[]), send(&browser, &page, &[]));
    assert_eq!((first.status, second.status), (303, 303), "{second:#?}");
    assert_eq!(first.location(), second.location());
    let done = follow(&browser, &first).await;
    assert!(done.text.contains("Booking confirmed"), "{done:#?}");
    assert!(done.text.contains("You confirmed this booking on Sunday, 1 March 2026"), "{done:#?}");
    assert!(!done.text.contains("<form") && !done.text.contains("Looms"), "{done:#?}");
    assert_eq!(status(&desk, &booked).await, "confirmed");
    let expected = [("booking.created", "api"), ("booking.pending", "api"), ("booking.confirmed", "api")];
    assert_eq!(logged(server, &text(&booked["id"])).await, entries(&expected));

    let late = follow(&browser, &browser.submit(&decline, &[("sequence", "0")]).await).await;
    assert!(late.text.contains("You confirmed this booking on"), "{late:#?}");
    assert_eq!(status(&desk, &booked).await, "confirmed");
    deliver(server).await;
    received(&mailbox, "Confirmed: Intro call with Alice").await;
}

/// The other link declines, with a reason that the invitee reads. The page is in the reader's language.
#[tokio::test]
async fn a_host_declines_with_a_reason() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, decline) = links(&mailbox, &desk, ALICE).await;
    let german = browser.open(&format!("{confirm}?lang=de")).await;
    assert!(german.text.contains("<bdi>Ada</bdi> möchte diese Zeit buchen"), "{german:#?}");
    // The page that confirms has the other form folded, and the one that declines leads back to it.
    assert!(german.text.contains("<summary>Stattdessen ablehnen</summary>"), "{german:#?}");
    let page = browser.open(&format!("{decline}?lang=de")).await;
    assert!(page.text.contains("(optional, wird von Ada gelesen)"), "{page:#?}");
    assert_eq!(leads(&page, "Stattdessen bestätigen"), format!("{confirm}?lang=de"));

    let long = "x".repeat(2_001);
    let refused = send(&browser, &page, &[("reason", &long)]).await;
    assert_eq!(refused.status, 400, "{refused:#?}");
    assert!(refused.text.contains(&long) && refused.text.contains("nicht geändert"), "{refused:#?}");
    let sent = send(&browser, &refused, &[("reason", "I am ill")]).await;
    assert!(sent.text.contains("<h1 dir=\"auto\">Weiter</h1>"), "it says nothing of the outcome: {sent:#?}");
    let done = follow(&browser, &sent).await;
    assert!(done.text.contains("Buchung abgelehnt") && done.text.contains("Sie haben"), "{done:#?}");
    let shown = read(&desk.api, &booked).await;
    assert_eq!((&shown["status"], &shown["rejectionReason"]), (&json!("rejected"), &json!("I am ill")));
    let told = browser.open(&decline).await;
    assert_eq!(told.status, 200);
    assert!(told.text.contains("You declined this booking on"), "{told:#?}");
    deliver(server).await;
    let said = body(&received(&mailbox, "Declined: Intro call with Alice").await);
    assert!(said.starts_with("Alice declined your booking.") && said.contains("> I am ill"), "{said}");
}

/// A form decides about the time that was on its page, and about no other one.
#[tokio::test]
async fn a_host_decides_about_the_time_that_was_shown() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, decline) = links(&mailbox, &desk, ALICE).await;
    let unseen = "open for too long";
    for (url, fields, status, says) in [
        (&confirm, vec![], 400, unseen),
        (&decline, vec![], 400, unseen),
        (&confirm, vec![("sequence", "-1")], 400, unseen),
        (&decline, vec![("sequence", "0x0")], 400, unseen),
        (&confirm, vec![("sequence", "1")], 409, "has a new time"),
    ] {
        let refused = browser.submit(url, &fields).await;
        assert_eq!(refused.status, status, "{refused:#?}");
        assert!(refused.text.contains(says) && refused.text.contains("<form"), "{refused:#?}");
    }
    assert_eq!(status(&desk, &booked).await, "pending");
    let page = browser.open(&confirm).await;
    assert_eq!(send(&browser, &page, &[]).await.status, 303);
    assert_eq!(status(&desk, &booked).await, "confirmed");
}

/// Each host of the meeting has a separate link; a host who is not in it has none. The slower one sees the other's decision.
#[tokio::test]
async fn each_host_has_a_link_of_their_own() {
    let mailbox = mailbox().await;
    let (server, browser) = (&mailbox.server, Browser::default());
    let (alice, bob) = (host(server).await, host_of(server, "bob").await);
    let hosts = json!([pools::host(&alice, json!({})), pools::host(&bob, json!({}))]);
    let fields = json!({ "hosts": hosts, "assignment": "collective", "requiresConfirmation": true });
    let id = alice.open("both", fields).await;
    let booked = book(&alice, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (of_alice, of_bob) = (links(&mailbox, &alice, ALICE).await.0, links(&mailbox, &bob, BOB).await.0);
    assert_ne!(of_alice, of_bob);
    // The account that sends both keeps no copy of the other host's links.
    for (desk, address, is_kept) in [(&alice, ALICE, true), (&bob, BOB, false)] {
        let id = text(&asked(&mailbox, desk, address).await["internetMessageId"]);
        let there = format!("/sandbox/v1/mail/messages?messageId={id}");
        let there = server.provider("alice").get(there).send().await.expect(200);
        assert_eq!(there["messages"] != json!([]), is_kept, "{there:#}");
    }
    assert_eq!(send(&browser, &browser.open(&of_bob).await, &[]).await.status, 303);
    assert!(browser.open(&of_bob).await.text.contains("You confirmed this booking on"));
    let told = browser.open(&of_alice).await;
    assert!(told.text.contains("This booking was confirmed on"), "{told:#?}");
    assert_eq!(status(&alice, &booked).await, "confirmed");

    let rotation = |desk: &Desk| pools::host(desk, json!({ "role": "rotation", "displayName": "Alice" }));
    let fields = json!({
        "hosts": [rotation(&alice), rotation(&bob)], "assignment": "roundRobin", "requiresConfirmation": true,
    });
    let id = alice.open("one", fields).await;
    server.clock.advance_ms(MINUTE_MS);
    let start = json!({ "start": format!("{DAY}T10:00:00Z") });
    let booked = book(&alice, &mailbox, &id, start).await;
    deliver(server).await;
    let organizer = text(&booked["organizerConnectionId"]);
    let (chosen, address) = if organizer == alice.connection { (&alice, ALICE) } else { (&bob, BOB) };
    let (confirm, _) = links(&mailbox, chosen, address).await;
    assert_eq!(send(&browser, &browser.open(&confirm).await, &[]).await.status, 303);
    assert_eq!(status(&alice, &booked).await, "confirmed");
}

/// The right to decide ends with the host's part in the booking, and with the time to decide. Other links of the booking do not give it.
#[tokio::test]
async fn the_right_to_decide_ends() {
    let mailbox = mailbox().await;
    let (server, browser) = (&mailbox.server, Browser::default());
    let (alice, bob) = (host(server).await, host_of(server, "bob").await);
    let fields = json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 60 });
    let id = alice.open("intro", fields).await;
    let booked = book(&alice, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, _) = links(&mailbox, &alice, ALICE).await;
    let page = browser.open(&confirm).await;
    let invitee = format!("http://{}/book/h/{}", server.address, text(&booked["manageToken"]));
    for other in
        [format!("{invitee}/confirm"), format!("{invitee}/decline"), confirm.replace("/confirm", "x/confirm")]
    {
        assert_eq!(browser.open(&other).await.status, 404, "{other}");
        assert_eq!(browser.submit(&other, &[("sequence", "0")]).await.status, 404, "{other}");
    }

    let path_of = format!("{EVENT_TYPES}/{id}");
    let hosts = |desk: &Desk| json!({ "hosts": [pools::host(desk, json!({ "displayName": "Alice" }))] });
    alice.api.patch(&path_of, hosts(&bob)).send().await.expect(200);
    assert_eq!(browser.open(&confirm).await.status, 404, "she is no host of the event type");
    assert_eq!(send(&browser, &page, &[]).await.status, 404);
    alice.api.patch(&path_of, hosts(&alice)).send().await.expect(200);
    assert_eq!(browser.open(&confirm).await.status, 200);

    server.clock.advance_ms(61 * MINUTE_MS);
    let late = browser.open(&confirm).await;
    assert!(late.text.contains("Booking expired") && !late.text.contains("<form"), "{late:#?}");
    let sent = follow(&browser, &send(&browser, &page, &[]).await).await;
    assert!(sent.text.contains("Booking expired"), "{sent:#?}");
    assert_ne!(status(&alice, &booked).await, "confirmed");

    let later = json!({ "start": format!("{DAY}T11:00:00Z") });
    let booked = book(&alice, &mailbox, &id, later).await;
    deliver(server).await;
    let (confirm, decline) = links(&mailbox, &alice, ALICE).await;
    assert_eq!(browser.open(&confirm).await.status, 200);
    alice.api.delete(format!("/v1/connections/{}", alice.connection)).send().await.expect(204);
    for url in [&confirm, &decline] {
        assert_eq!(browser.open(url).await.status, 404, "the account was disconnected");
        assert_eq!(browser.submit(url, &[("sequence", "0")]).await.status, 404);
    }
    assert_eq!(status(&alice, &booked).await, "pending");
}

/// A booking that was decided through the API, or cancelled, says so.
#[tokio::test]
async fn a_decided_booking_says_what_has_happened() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, decline) = links(&mailbox, &desk, ALICE).await;
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    for url in [&confirm, &decline] {
        let told = browser.open(url).await;
        assert!(told.text.contains("This booking was confirmed on"), "{told:#?}");
    }
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    let told = follow(&browser, &browser.submit(&confirm, &[("sequence", "0")]).await).await;
    assert!(told.text.contains("Booking cancelled") && !told.text.contains("<form"), "{told:#?}");
    deliver(server).await;
    assert!(subjects(&mailbox).await.contains(&"Cancelled: Intro call with Alice".to_owned()));
}

/// The words of the invitee come after the links, and an answer to the mail, which may quote those, does not reach the invitee.
#[tokio::test]
async fn the_links_of_a_host_stay_with_the_host() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let notes =
        json!({ "notes": "\n\nConfirm: https://evil.example/confirm\n\nDecline: https://evil.example" });
    book(&desk, &mailbox, &id, notes).await;
    deliver(server).await;
    let message = asked(&mailbox, &desk, ALICE).await;
    assert_eq!(message["replyTo"], json!([]));
    let said = body(&message);
    let (own, words) = said.split_once("it is not verified").expect("a warning");
    assert!(own.contains("\nConfirm:\nhttp://") && own.contains("\nDecline:\nhttp://"), "{own}");
    assert!(!own.contains("evil.example"), "{own}");
    let evil: Vec<&str> = words.lines().filter(|line| line.contains("evil.example")).collect();
    assert!(evil.len() == 2 && evil.iter().all(|line| line.starts_with("> ")), "{words}");
}

/// The invitee reads which of several hosts declined; who has to confirm is not known before.
#[tokio::test]
async fn the_invitee_reads_which_host_declined() {
    let mailbox = mailbox().await;
    let (server, browser) = (&mailbox.server, Browser::default());
    let (alice, bob) = (host(server).await, host_of(server, "bob").await);
    let named = |desk: &Desk, name: &str| pools::host(desk, json!({ "displayName": name }));
    let hosts = json!([named(&alice, "Alice"), named(&bob, "Bob")]);
    let fields = json!({ "hosts": hosts, "assignment": "collective", "requiresConfirmation": true });
    let id = alice.open("both", fields).await;
    let booked = book(&alice, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let waiting = body(&received(&mailbox, "Waiting for confirmation: Intro call with Alice").await);
    assert!(waiting.starts_with("The host still has to confirm."), "{waiting}");
    let page = format!("http://{}/book/b/{}", server.address, text(&booked["manageToken"]));
    let page = browser.open(&page).await;
    assert!(page.text.contains("The host still has to confirm."), "{page:#?}");
    let (_, decline) = links(&mailbox, &bob, BOB).await;
    follow(&browser, &send(&browser, &browser.open(&decline).await, &[]).await).await;
    deliver(server).await;
    let said = body(&received(&mailbox, "Declined: Intro call with Alice").await);
    assert!(said.starts_with("Bob declined your booking."), "{said}");
}

/// After a booking was moved, its page does not say that the host confirmed the new time.
#[tokio::test]
async fn a_new_time_is_not_what_a_host_confirmed() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, _) = links(&mailbox, &desk, ALICE).await;
    send(&browser, &browser.open(&confirm).await, &[]).await;
    assert!(browser.open(&confirm).await.text.contains("You confirmed this booking on"));
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    let told = browser.open(&confirm).await;
    assert!(told.text.contains("Booking confirmed") && told.text.contains("10:00–10:30"), "{told:#?}");
    assert!(!told.text.contains("You confirmed"), "{told:#?}");
}

/// Forms with wrong links from the same address do not affect a host's valid link, which has a separate budget.
#[tokio::test]
async fn forms_of_others_take_nothing_from_a_hosts_own() {
    let mailbox = mailbox().await;
    let (server, desk, browser) = (&mailbox.server, host(&mailbox.server).await, Browser::default());
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let (confirm, _) = links(&mailbox, &desk, ALICE).await;
    let page = browser.open(&confirm).await;
    let forged = format!("http://{}/book/h/x.y/confirm", server.address);
    let sent = async |url: &str| browser.submit(url, &[("sequence", "0")]).await.status;
    for _ in 0..20 {
        assert_eq!(sent(&forged).await, 404);
    }
    assert_eq!(sent(&forged).await, 429);
    assert_eq!(send(&browser, &page, &[]).await.status, 303);
    for _ in 0..19 {
        assert_eq!(sent(&confirm).await, 303, "it says what has happened");
    }
    assert_eq!(sent(&confirm).await, 429);
}
