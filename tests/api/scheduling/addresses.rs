//! An address of mail is one address however it is written: for counting bookings, for finding them, and for telling people apart.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use super::lifecycle::path;
use super::{BOOKINGS, DAY, Desk, booking, on, starts, text};
use crate::email::mailbox::escaped;

const HOUR_MS: i64 = 3_600_000;

/// A booking of the event type for this address.
fn of(event_type: &str, time: &str, email: &str) -> Value {
    let mut body = booking(event_type, time);
    body["inviteeEmail"] = json!(email);
    body
}

/// Returns a booking by the first address, with two guests at these addresses.
fn with_guests(event_type: &str, time: &str, emails: [&str; 2]) -> Value {
    let mut body = of(event_type, time, emails[0]);
    let own = format!("guest-{}@example.org", time.replace(':', ""));
    body["guests"] = json!([{ "email": own }, { "email": emails[1] }]);
    body
}

async fn refused(key: &Actor, body: Value, param: &str) {
    let refused = key.post(BOOKINGS, body.clone()).send().await;
    assert!(refused.header("retry-after").is_some(), "{refused}");
    assert_eq!(refused.refused(429, "rate_limited")["param"], param, "{body:#}");
}

/// Four spellings of one address are four bookings of it, of which a browser's key makes three. Lists and limits of the event type go by
/// the address too.
#[tokio::test]
async fn an_address_has_its_limit_in_all_spellings() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    let mut made = Vec::new();
    for (time, email) in [
        ("09:00", "carol@sandbox.test"),
        ("09:30", "Carol@\u{17f}andbox.te\u{17f}t"),
        ("10:00", "carol@sandbox\u{ff0e}test"),
    ] {
        let booked = key.post(BOOKINGS, of(&id, time, email)).send().await.expect(201);
        assert_eq!(booked["invitee"]["email"], email, "it is kept as it was written");
        made.push(text(&booked["id"]));
    }
    for email in ["carol@SANDBOX.TEST", "CAROL@sandbox\u{3002}test", "\u{ff43}arol@sandbox.test"] {
        refused(&key, of(&id, "10:30", email), "inviteeEmail").await;
    }
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["10:30", "11:00", "11:30"]);
    for email in ["carol@sandbox.test", "CAROL@\u{17f}andbox.test", "carol@sandbox\u{ff61}test"] {
        let found = desk.api.all(&format!("{BOOKINGS}?invitee_email={}", escaped(email))).await;
        assert_eq!(found.iter().map(|b| text(&b["id"])).collect::<Vec<_>>(), made, "{email}");
    }

    let once = desk.open("once", json!({ "limits": { "activePerInvitee": 1 } })).await;
    let (first, second) = ("dora@b\u{fc}cher.example", "DORA@xn--bcher-kva.example");
    desk.api.post(BOOKINGS, of(&once, "11:00", first)).send().await.expect(201);
    let again = desk.api.post(BOOKINGS, of(&once, "11:30", second)).send().await;
    again.refused(409, "booking_limit_reached");
}

/// A guest's address gets mail as well, so it counts like the invitee's: in bookings of any invitee, and in any spelling.
#[tokio::test]
async fn guests_count_against_the_hour() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    for (time, emails) in [
        ("09:00", ["one@example.org", "victim@example.net"]),
        ("09:30", ["two@example.org", "VICTIM@example.net"]),
        ("10:00", ["victim@example\u{ff0e}net", "three@example.org"]),
    ] {
        key.post(BOOKINGS, with_guests(&id, time, emails)).send().await.expect(201);
    }
    let guest = with_guests(&id, "10:30", ["four@example.org", "Victim@example\u{3002}net"]);
    refused(&key, guest.clone(), "guests[1].email").await;
    refused(&key, of(&id, "10:30", "victim@example.net"), "inviteeEmail").await;
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["10:30", "11:00", "11:30"]);
    // Who is named twice in one booking has one booking by it, and keys of servers know who asks.
    let twice = with_guests(&id, "10:30", ["four@example.org", "FOUR@example.org"]);
    key.post(BOOKINGS, twice).send().await.expect(201);
    key.post(BOOKINGS, of(&id, "11:00", "four@example.org")).send().await.expect(201);
    desk.api.post(BOOKINGS, of(&id, "11:30", "victim@example.net")).send().await.expect(201);

    server.clock.advance_ms(HOUR_MS);
    let mut later = guest;
    later["start"] = json!("2026-03-11T10:30:00Z");
    key.post(BOOKINGS, later).send().await.expect(201);
}

/// An address with a tag after a plus sign has the same mailbox, in one booking too.
#[tokio::test]
async fn a_tag_makes_no_other_mailbox() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    let mut four = of(&id, "09:00", "ada@example.org");
    four["guests"] = (1..=4).map(|n| json!({ "email": format!("victim+{n}@example.net") })).collect();
    refused(&key, four.clone(), "guests[0].email").await;
    four["guests"].as_array_mut().expect("a list").truncate(2);
    key.post(BOOKINGS, four).send().await.expect(201);
    key.post(BOOKINGS, of(&id, "09:30", "victim+x@example.net")).send().await.expect(201);
    refused(&key, of(&id, "10:00", "Victim@example.net"), "inviteeEmail").await;
    // In lists, addresses are compared exactly.
    let found = desk.api.all(&format!("{BOOKINGS}?invitee_email={}", escaped("victim@example.net"))).await;
    assert_eq!(found, Vec::<Value>::new());
}

/// The domain of an address is checked as it is written into messages: some characters become dots, brackets and commas there.
#[tokio::test]
async fn an_address_that_becomes_another_one_on_its_way_is_refused() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    for email in [
        "bob@sandbox.test\u{ff0e}",
        "bob@sandbox\u{ff0e}\u{ff0e}test",
        "bob@sandbox.test\u{ff1e}\u{ff0c}eve",
        "bob@eve\u{ff20}sandbox.test",
        "bob@sandbox.test\u{ff1a}25",
    ] {
        let refused = desk.api.post(BOOKINGS, of(&id, "09:00", email)).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "inviteeEmail", "{email}");
        let guest = with_guests(&id, "09:00", ["ada@example.org", email]);
        let refused = desk.api.post(BOOKINGS, guest).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "guests[1].email", "{email}");
    }
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 6, "nothing was booked");
}

/// A no-show is found by any spelling of the address.
#[tokio::test]
async fn no_show_is_said_of_an_address_in_any_spelling() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = desk.api.post(BOOKINGS, of(&id, "09:00", "bob@sandbox.test")).send().await.expect(201);
    server.clock.advance_ms(10 * 24 * HOUR_MS);
    let spelled = "Bob@\u{17f}andbox\u{ff0e}test";
    let noted = json!({ "noShow": { "inviteeEmails": [spelled] } });
    let noted = desk.api.patch(path(&booked, ""), noted).send().await.expect(200);
    assert_eq!(noted["noShow"]["inviteeEmails"], json!([spelled]));
    let twice = json!({ "noShow": { "inviteeEmails": [spelled, "bob@sandbox.test"] } });
    let refused = desk.api.patch(path(&booked, ""), twice).send().await.refused(400, "invalid_parameter");
    assert_eq!(refused["param"], "noShow.inviteeEmails[1]");
}
