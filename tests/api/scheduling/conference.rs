//! Meetings by video: whose calendar makes the conference, and where its link is then.

use harness::TestServer;
use serde_json::{Value, json};

use super::lifecycle::{book, logged, path, read, run_jobs};
use super::mail;
use super::pools::host;
use super::provider_side::{events, the_event};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, text};

/// Has the provider make conferences of these services in the desk's calendar.
async fn services(server: &TestServer, (account, desk): (&str, &Desk), services: &[&str]) {
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let theirs = format!("/sandbox/v1/calendars/{}", text(&calendar["externalId"]));
    let change = json!({ "conferenceTypes": services });
    server.provider(account).patch(theirs, change).send().await.expect(200);
    server.clock.advance_ms(1);
}

/// The event of a booking in the organizer's calendar.
async fn event(desk: &Desk, booked: &Value) -> Value {
    let shown = read(&desk.api, booked).await;
    let event = &shown["calendarEvents"][0];
    assert_eq!(event["status"], "written", "{shown:#}");
    let path = format!("/v1/calendars/{}/events/{}", desk.calendar, text(&event["eventId"]));
    desk.api.get(path).send().await.expect(200)
}

fn at(time: &str) -> Value {
    json!({ "start": format!("{DAY}T{time}:00Z") })
}

/// Returns the booking's conference link; null as long as there is none.
async fn join_url(desk: &Desk, booked: &Value) -> Value {
    read(&desk.api, booked).await["location"]["joinUrl"].clone()
}

/// The calendar's provider makes it with the event. The booking, its mail, its page and its file have the link, and a move keeps it.
#[tokio::test]
async fn the_calendar_makes_the_conference_and_everybody_has_its_link() {
    let mailbox = mail::mailbox().await;
    let server = &mailbox.server;
    let desk = mail::host(server).await;
    services(server, ("alice", &desk), &["other", "googleMeet", "teams"]).await;
    for (slug, kind, name, (time, later)) in [
        ("meet", "googleMeet", "Google Meet", ("09:00", "10:00")),
        ("teams", "teams", "Microsoft Teams", ("11:00", "11:30")),
    ] {
        let fields = json!({ "title": name, "locations": [{ "type": kind }] });
        let id = desk.open(slug, fields).await;
        let booked = mail::book(&desk, &mailbox, &id, at(time)).await;
        assert_eq!(booked["location"], json!({ "type": kind, "value": null, "joinUrl": null }));

        mail::deliver(server).await;
        let url = join_url(&desk, &booked).await;
        let link = text(&url);
        assert!(link.starts_with(&format!("https://meet.sandbox.test/{slug}/")), "{link}");
        let first = event(&desk, &booked).await;
        let made = &first["conference"];
        assert_eq!(
            (&made["provider"], &made["status"], &made["joinUrl"]),
            (&json!(kind), &json!("ready"), &url)
        );
        let said = mail::body(&mail::received(&mailbox, &format!("Confirmed: {name} with Alice")).await);
        assert!(said.contains(&format!("Where: {name}\n       {link}\n")), "{said}");

        let address = format!("http://{}", server.app.config.listen);
        let found = mail::address_below(&said, "View booking").strip_prefix(&address);
        let (page, _) = found.and_then(|page| page.split_once('?')).expect("a link to the booking's page");
        let shown = server.anonymous().get(page).send().await;
        assert!(shown.text.contains(&format!("<a href=\"{link}\"")), "{}", shown.text);
        let file = server.anonymous().get(format!("{page}/invite.ics")).send().await;
        let lines = file.text.replace("\r\n ", "");
        assert!(lines.contains(&format!("LOCATION:{link}")), "{lines}");

        let moved = desk.api.post(path(&booked, "/reschedule"), at(later)).send().await.expect(200);
        assert_eq!(moved["location"]["joinUrl"], url);
        mail::deliver(server).await;
        let second = event(&desk, &booked).await;
        assert_eq!((&second["start"], &second["id"]), (&moved["start"], &first["id"]));
        assert_eq!((&second["conference"], join_url(&desk, &booked).await), (&first["conference"], url));
        let said = mail::body(&mail::received(&mailbox, &format!("New time: {name} with Alice")).await);
        assert!(said.contains(&format!("Where: {name}\n       {link}\n")), "{said}");
    }
}

/// A conference service that the possible organizers' calendars cannot create is refused when the event type is saved. With a link of the
/// host's own none has to be created.
#[tokio::test]
async fn what_no_calendar_makes_needs_a_link() {
    let server = TestServer::start().await;
    let (alice, bob) = (Desk::of(&server, "alice").await, Desk::of(&server, "bob").await);
    services(&server, ("alice", &alice), &["other", "googleMeet", "teams", "zoom"]).await;
    let of = |kind: &str, role: &str| {
        let mut body = alice.event_type(&format!("with-{}", role.to_lowercase()));
        body["locations"] = json!([{ "type": "inPerson", "value": "Room 1" }, { "type": kind }]);
        body["hosts"] = json!([host(&alice, json!({})), host(&bob, json!({ "role": role }))]);
        body
    };
    for (kind, role) in [("googleMeet", "required"), ("teams", "required"), ("zoom", "optional")] {
        let refused = alice.api.post(EVENT_TYPES, of(kind, role)).send().await;
        let refused = refused.refused(400, "capability_not_supported");
        assert_eq!(refused["param"], "locations[1].type", "{kind}: {refused}");
    }
    // Who is invited and not needed is never the organizer.
    alice.api.post(EVENT_TYPES, of("googleMeet", "optional")).send().await.expect(201);

    for (slug, kind) in [("meet", "googleMeet"), ("teams", "teams"), ("zoom", "zoom"), ("link", "link")] {
        let link = format!("https://{slug}.example.org/alice");
        let id = alice.open(slug, json!({ "locations": [{ "type": kind, "value": link }] })).await;
        let booked = book(&alice, &id, "09:00").await;
        assert_eq!(booked["location"], json!({ "type": kind, "value": link, "joinUrl": link }));
        run_jobs(&server).await;
        let event = event(&alice, &booked).await;
        assert_eq!((&event["location"], &event["conference"]), (&json!(link), &Value::Null));
        alice.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
        run_jobs(&server).await;
    }
}

/// A calendar that supported conferences when the event type was saved and no longer does still gets the event, and people get the known
/// details.
#[tokio::test]
async fn an_event_without_its_conference_is_better_than_none() {
    let mailbox = mail::mailbox().await;
    let server = &mailbox.server;
    let desk = mail::host(server).await;
    services(server, ("alice", &desk), &["other", "googleMeet"]).await;
    let id = desk.open("intro", json!({ "locations": [{ "type": "googleMeet" }] })).await;
    services(server, ("alice", &desk), &["other"]).await;
    let booked = mail::book(&desk, &mailbox, &id, json!({})).await;
    mail::deliver(server).await;
    assert_eq!(event(&desk, &booked).await["conference"], Value::Null);
    assert_eq!(join_url(&desk, &booked).await, Value::Null);
    let said = mail::body(&mail::received(&mailbox, "Confirmed: Intro call with Alice").await);
    assert!(said.lines().any(|line| line == "Where: Google Meet"), "{said}");
}

/// A provider that makes the event and fails at the conference is asked again, for the conference of the same event.
#[tokio::test]
async fn a_conference_that_fails_for_now_comes_later() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    services(&server, ("alice", &desk), &["other", "teams"]).await;
    let id = desk.open("intro", json!({ "locations": [{ "type": "teams" }] })).await;
    let provider = server.provider("alice");
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    // Paths below an event, and not the list in which events are made.
    let below = format!("/sandbox/v1/calendars/{}/events/", text(&calendar["externalId"]));
    let fault = json!({ "status": 503, "times": 1_000, "method": "POST", "pathPrefix": below });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let shown = read(&desk.api, &booked).await;
    assert_eq!(
        (&shown["location"]["joinUrl"], &shown["calendarEvents"][0]["status"]),
        (&Value::Null, &json!("pending"))
    );

    provider.delete("/sandbox/faults").send().await.expect(204);
    server.clock.advance_ms(10_000);
    run_jobs(&server).await;
    let made = event(&desk, &booked).await;
    assert_eq!(made["conference"]["provider"], "teams");
    assert_eq!(join_url(&desk, &booked).await, made["conference"]["joinUrl"]);
    let all = events(&server, &desk).await;
    assert_eq!(all.len(), 1, "{all:#?}");
}

/// Has the provider make the account's next meeting without a link, until `link_is_made` is called.
async fn link_comes_later(server: &TestServer, account: &str) {
    let fault = json!({ "pendingVideo": true });
    server.provider(account).post("/sandbox/faults", fault).send().await.expect(201);
}

/// Has the provider make the link of this event.
async fn link_is_made(server: &TestServer, account: &str, theirs: &str) {
    let change = json!({ "conference": { "status": "ready" } });
    server.provider(account).patch(theirs, change).send().await.expect(200);
}

/// Returns the updates of the booking that clients were notified of beside its state, with their origins.
async fn updates(server: &TestServer, booked: &Value) -> Vec<String> {
    let all = logged(server, &text(&booked["id"])).await;
    all.into_iter().filter(|(kind, _)| kind == "booking.updated").map(|(_, origin)| origin).collect()
}

/// A provider that makes the event at once and its link a moment later is asked again, and the confirmation waits for the link.
#[tokio::test]
async fn the_confirmation_waits_for_a_link_that_comes_a_moment_later() {
    let mailbox = mail::mailbox().await;
    let server = &mailbox.server;
    let desk = mail::host(server).await;
    services(server, ("alice", &desk), &["other", "googleMeet"]).await;
    let id = desk.open("intro", json!({ "locations": [{ "type": "googleMeet" }] })).await;
    link_comes_later(server, "alice").await;
    let booked = mail::book(&desk, &mailbox, &id, json!({})).await;
    run_jobs(server).await;
    mail::deliver(server).await;
    let (pending, theirs) = the_event(server, &desk).await;
    assert_eq!(
        (&pending["conference"]["status"], &pending["conference"]["joinUrl"]),
        (&json!("pending"), &Value::Null)
    );
    assert_eq!(join_url(&desk, &booked).await, Value::Null);
    assert!(mail::subjects(&mailbox).await.is_empty());

    link_is_made(server, "alice", &theirs).await;
    server.clock.advance_ms(10_000);
    run_jobs(server).await;
    let link = text(&join_url(&desk, &booked).await);
    assert!(link.starts_with("https://meet.sandbox.test/meet/"), "{link}");
    assert_eq!(event(&desk, &booked).await["conference"]["joinUrl"], link.as_str());
    assert_eq!(updates(server, &booked).await, ["provider"]);
    mail::deliver(server).await;
    assert_eq!(mail::subjects(&mailbox).await, ["Confirmed: Intro call with Alice"]);
    let said = mail::body(&mail::received(&mailbox, "Confirmed: Intro call with Alice").await);
    assert!(said.contains(&format!("Where: Google Meet\n       {link}\n")), "{said}");
}

/// A confirmation waits for a minute at most. Recipients of mail without the link get it once, when it exists.
#[tokio::test]
async fn a_link_that_comes_after_the_confirmation_is_told_once() {
    let mailbox = mail::mailbox().await;
    let server = &mailbox.server;
    let desk = mail::host(server).await;
    services(server, ("alice", &desk), &["other", "teams"]).await;
    let id = desk.open("intro", json!({ "locations": [{ "type": "teams" }] })).await;
    link_comes_later(server, "alice").await;
    let booked = mail::book(&desk, &mailbox, &id, json!({})).await;
    run_jobs(server).await;
    let (_, theirs) = the_event(server, &desk).await;
    server.clock.advance_ms(60_000);
    run_jobs(server).await;
    mail::deliver(server).await;
    let said = mail::body(&mail::received(&mailbox, "Confirmed: Intro call with Alice").await);
    assert!(said.lines().any(|line| line == "Where: Microsoft Teams"), "{said}");

    link_is_made(server, "alice", &theirs).await;
    // By now the provider is asked every few minutes.
    server.clock.advance_ms(5 * 60_000);
    for _ in 0..2 {
        run_jobs(server).await;
        mail::deliver(server).await;
        server.clock.advance_ms(60_000);
    }
    let link = text(&join_url(&desk, &booked).await);
    assert_eq!(updates(server, &booked).await, ["provider"]);
    assert_eq!(
        mail::subjects(&mailbox).await,
        ["Confirmed: Intro call with Alice", "Link to join: Intro call with Alice"]
    );
    let said = mail::body(&mail::received(&mailbox, "Link to join: Intro call with Alice").await);
    assert!(said.contains("Here is the link to join."), "{said}");
    assert!(said.contains(&format!("Where: Microsoft Teams\n       {link}\n")), "{said}");
}

/// A link that comes with a change of the calendar is stored like any other change of the event, also for a meeting that the same change
/// moved, and days later. No request asks for it.
#[tokio::test]
async fn a_link_comes_with_a_change_of_the_event() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    services(&server, ("alice", &desk), &["other", "googleMeet"]).await;
    let id = desk.open("intro", json!({ "locations": [{ "type": "googleMeet" }] })).await;
    link_comes_later(&server, "alice").await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    server.clock.advance_ms(3 * 24 * 3_600_000);
    run_jobs(&server).await;
    assert_eq!(join_url(&desk, &booked).await, Value::Null);

    let when = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    let change = json!({
        "conference": { "status": "ready" }, "start": when("10:00"), "end": when("10:30"), "timeZone": "UTC",
    });
    server.provider("alice").patch(theirs, change).send().await.expect(200);
    events(&server, &desk).await;
    run_jobs(&server).await;
    let shown = read(&desk.api, &booked).await;
    assert_eq!(shown["start"], format!("{DAY}T10:00:00.000Z"));
    let link = text(&shown["location"]["joinUrl"]);
    assert!(link.starts_with("https://meet.sandbox.test/meet/"), "{link}");
    assert_eq!(updates(&server, &booked).await, ["provider"]);
}

/// A person who gets a seat in a meeting has its conference, and loses it with the seat.
#[tokio::test]
async fn each_seat_has_the_conference_of_its_meeting() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    services(&server, ("alice", &desk), &["other", "googleMeet"]).await;
    let fields = json!({ "seatsPerSlot": 2, "locations": [{ "type": "googleMeet" }] });
    let id = desk.open("class", fields).await;
    let first = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let of_first = join_url(&desk, &first).await;
    assert_ne!(of_first, Value::Null);
    let mut body = booking(&id, "09:00");
    body["inviteeEmail"] = json!("grace@example.org");
    let second = desk.api.post(BOOKINGS, body).send().await.expect(201);
    assert_eq!(second["location"]["joinUrl"], of_first);

    let alone = desk.api.post(path(&second, "/reschedule"), at("10:00")).send().await.expect(200);
    assert_eq!(alone["location"]["joinUrl"], Value::Null);
    run_jobs(&server).await;
    let of_second = join_url(&desk, &second).await;
    assert!(of_second != Value::Null && of_second != of_first, "{of_second}");
    let back = desk.api.post(path(&second, "/reschedule"), at("09:00")).send().await.expect(200);
    assert_eq!(back["location"]["joinUrl"], of_first);
    run_jobs(&server).await;
    assert_eq!(join_url(&desk, &second).await, of_first);
    assert_eq!(join_url(&desk, &first).await, of_first);
}

/// Another organizer makes a separate conference: the former one's link is removed.
#[tokio::test]
async fn another_organizer_makes_another_conference() {
    let server = TestServer::start().await;
    let (alice, bob) = (Desk::of(&server, "alice").await, Desk::of(&server, "bob").await);
    services(&server, ("alice", &alice), &["other", "googleMeet"]).await;
    services(&server, ("bob", &bob), &["other", "googleMeet"]).await;
    let fields = json!({ "locations": [{ "type": "googleMeet" }] });
    let id = alice.open("intro", fields).await;
    let booked = book(&alice, &id, "09:00").await;
    run_jobs(&server).await;
    let before = join_url(&alice, &booked).await;
    let change = json!({ "hosts": [host(&bob, json!({}))] });
    alice.api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    let moved = alice.api.post(path(&booked, "/reschedule"), at("10:00")).send().await.expect(200);
    assert_eq!(moved["location"]["joinUrl"], Value::Null);
    run_jobs(&server).await;
    let after = join_url(&alice, &booked).await;
    assert!(before != Value::Null && after != Value::Null && before != after, "{before} {after}");
}
