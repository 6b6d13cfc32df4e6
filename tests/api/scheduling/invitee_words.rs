//! The invitee's texts reach hosts. They reach no other people in the host's name: anyone can be named as invitee or guest.

use harness::TestServer;
use harness::browser::Browser;
use serde_json::{Value, json};

use super::lifecycle::{path, run_jobs};
use super::pools::{desks, host};
use super::provider_side::the_event;
use super::{BOOKINGS, Desk, booking, text};

/// Parts of `words`, and of the names in it.
const WORDS: [&str; 5] = ["evil.example", "Pay at", "reply soon", "555 0100", "Bring"];

/// Returns a booking for another person, with text in every field.
fn words(event_type: &str, time: &str) -> Value {
    let mut body = booking(event_type, time);
    let fields = json!({
        "inviteeEmail": "bob@sandbox.test", "inviteePhone": "+1 900 555 0100",
        "guests": [{ "email": "carol@sandbox.test", "name": "Renew at evil.example" }],
        "answers": { "topic": "See https://evil.example/a\nand reply soon" },
        "notes": "Pay at https://evil.example/login\nBring a card",
    });
    for (name, value) in fields.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

fn questions() -> Value {
    json!([{ "key": "topic", "label": "Topic", "type": "textarea" }])
}

/// Everything of the day in an account's own calendar, to which it is invited, as text.
async fn calendar_of(server: &TestServer, account: &str) -> String {
    let api = server.key("theirs", |_| {}).await;
    let connection = api.connect_account(account).await;
    let mut found = String::new();
    let calendars = api.all(&format!("/v1/calendars?connection_id={connection}")).await;
    for calendar in calendars.iter().filter(|calendar| calendar["isPrimary"] == true) {
        let events =
            format!("/v1/calendars/{}/events?start=2026-03-10&end=2026-03-11", text(&calendar["id"]));
        for event in api.all(&events).await {
            found.push_str(&event.to_string());
        }
    }
    found
}

#[track_caller]
fn assert_silent(said: &str) {
    for word in WORDS {
        assert!(!said.contains(word), "{word} is in {said}");
    }
}

/// The page that an event's description leads hosts to.
fn page_of(event: &Value) -> String {
    let description = text(&event["description"]);
    let (says, url) = description.split_once('\n').expect("two lines");
    assert!(says.starts_with("For the host") && url.contains("/book/h/"), "{description}");
    url.to_owned()
}

/// With or without confirmation, and from any caller: an event that invites people contains none of the invitee's texts. It links hosts
/// to a page that does, as plain text.
#[tokio::test]
async fn an_event_that_invites_says_nothing_of_the_invitees() {
    for is_confirmed in [false, true] {
        let server = TestServer::start().await;
        let desk = Desk::of(&server, "alice").await;
        let fields = json!({
            "questions": questions(), "locations": [{ "type": "phoneInvitee" }], "requiresConfirmation": is_confirmed,
        });
        let id = desk.open("intro", fields).await;
        let key = server.client_with(&["scheduling.book"]).await;
        let booked = key.post(BOOKINGS, words(&id, "09:00")).send().await.expect(201);
        run_jobs(&server).await;
        if is_confirmed {
            let (pending, _) = the_event(&server, &desk).await;
            assert_silent(&pending.to_string());
            assert_eq!(pending["attendees"], json!([]), "nobody is asked before the host has decided");
            desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
            run_jobs(&server).await;
        }
        let (event, _) = the_event(&server, &desk).await;
        assert_silent(&event.to_string());
        let invited: Vec<&Value> =
            event["attendees"].as_array().expect("a list").iter().map(|one| &one["email"]).collect();
        assert!(invited.contains(&&json!("bob@sandbox.test")), "{event:#}");
        for account in ["bob", "carol"] {
            let theirs = calendar_of(&server, account).await;
            assert!(theirs.contains("Intro call with Ada"), "{account} is invited: {theirs}");
            assert_silent(&theirs);
        }

        let (browser, url) = (Browser::default(), page_of(&event));
        let page = browser.open(&url).await;
        assert_eq!((page.status, page.header("x-frame-options")), (200, "DENY"), "{page:#?}");
        for word in WORDS {
            assert!(page.text.contains(word), "{word} is not in {page:#?}");
        }
        assert!(page.text.contains("Topic") && page.text.contains("carol@sandbox.test"), "{page:#?}");
        for markup in ["href=\"http", "<form", "/cancel", "/move"] {
            assert!(!page.text.contains(markup), "{markup} is in {page:#?}");
        }
    }
}

/// The link of hosts reads a booking and does nothing else, and that of the invitee is another one.
#[tokio::test]
async fn the_link_of_hosts_changes_nothing() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "questions": questions() })).await;
    let booked = desk.api.post(BOOKINGS, words(&id, "09:00")).send().await.expect(201);
    run_jobs(&server).await;
    let (event, _) = the_event(&server, &desk).await;
    let (browser, url) = (Browser::default(), page_of(&event));
    let as_invitee = url.replace("/book/h/", "/book/b/");
    for (address, status) in [
        (url.clone(), 200),
        (as_invitee.clone(), 404),
        (format!("{as_invitee}/cancel"), 404),
        (format!("{as_invitee}/invite.ics"), 404),
        (format!("http://{}/book/h/{}", server.address, text(&booked["manageToken"])), 404),
        (format!("{url}x"), 404),
    ] {
        assert_eq!(browser.open(&address).await.status, status, "{address}");
    }
    assert_eq!(browser.submit(&format!("{as_invitee}/cancel"), &[]).await.status, 404);
    let token = url.rsplit('/').next().expect("a token");
    let key = server.client_with(&["scheduling.book"]).await;
    let cancel = key.post(path(&booked, "/cancel"), json!({ "manageToken": token })).send().await;
    cancel.refused(404, "not_found");
}

/// A host beside the organizer has an event that invites no one: it contains the invitee's texts.
#[tokio::test]
async fn a_host_beside_the_organizer_reads_it_in_the_calendar() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "dave"]).await;
    let [alice, dave] = &all[..] else { panic!("two desks") };
    let fields = json!({
        "hosts": [host(alice, json!({})), host(dave, json!({}))], "assignment": "collective",
        "questions": questions(), "locations": [{ "type": "phoneInvitee" }],
    });
    let id = alice.open("both", fields).await;
    alice.api.post(BOOKINGS, words(&id, "09:00")).send().await.expect(201);
    run_jobs(&server).await;
    let (of_alice, _) = the_event(&server, alice).await;
    assert_silent(&of_alice.to_string());
    let (of_dave, _) = the_event(&server, dave).await;
    assert_eq!(of_dave["attendees"], json!([]));
    let expected = "+1 900 555 0100\nPay at https://evil.example/login\nBring a card\n\
                    Topic: See https://evil.example/a\nand reply soon";
    assert_eq!(of_dave["description"], expected);
}

/// A name that mail programs may turn into a link is shown to hosts only.
#[tokio::test]
async fn a_name_that_reads_as_a_link_is_in_no_title() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    for (time, name, title) in [
        ("09:00", "Renew at evil.example", "Intro call with ada@example.org"),
        ("09:30", "EVIL.COM", "Intro call with ada@example.org"),
        ("10:00", "J.R.R. Tolkien, Ph.D.", "Intro call with J.R.R. Tolkien, Ph.D."),
    ] {
        let mut body = booking(&id, time);
        body["inviteeName"] = json!(name);
        let booked = desk.api.post(BOOKINGS, body).send().await.expect(201);
        assert_eq!((&booked["title"], &booked["invitee"]["name"]), (&json!(title), &json!(name)));
    }
    let mut long = booking(&id, "10:30");
    long["inviteeName"] = json!("a".repeat(256));
    let booked = desk.api.post(BOOKINGS, long).send().await.expect(201);
    assert_eq!(booked["title"], format!("Intro call with {}\u{2026}", "a".repeat(100)));
}

/// An event that already contains the invitee's texts loses them before the provider notifies guests of a change. The host's texts stay.
#[tokio::test]
async fn a_change_takes_words_of_before_out_of_the_event() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "questions": questions() })).await;
    let booked = desk.api.post(BOOKINGS, words(&id, "09:00")).send().await.expect(201);
    run_jobs(&server).await;
    let (event, _) = the_event(&server, &desk).await;
    let url = page_of(&event);
    // As former versions wrote it, with a line of the host's.
    let before = "My own line\nPay at https://evil.example/login\nBring a card\n\
                  Topic: See https://evil.example/a\nand reply soon";
    let address = format!("/v1/calendars/{}/events/{}", desk.calendar, text(&event["id"]));
    desk.api.patch(address, json!({ "description": before })).send().await.expect(200);
    let moved = json!({ "start": "2026-03-10T10:00:00Z" });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    run_jobs(&server).await;
    let (event, _) = the_event(&server, &desk).await;
    let expected = format!("My own line\nFor the host, the details that the invitee gave:\n{url}");
    assert_eq!(event["description"], json!(expected));
}
