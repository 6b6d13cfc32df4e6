//! The lifecycle of a booking: `/v1/scheduling/bookings/{bookingId}` and below.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::bookings::event_write::BOOKING_EVENT;
use service::bookings::host_changes::BOOKING_RECHECK;
use service::bookings::timed_transitions::BOOKING_COMPLETE;
use service::bookings::timed_transitions::BOOKING_EXPIRE;
use service::job_runner::runner;
use storage::sql::query;

use super::{BOOKINGS, DAY, Desk, booking, on, starts, text};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Runs the due jobs of bookings, as the service does by itself.
pub async fn run_jobs(server: &TestServer) {
    let kinds = [BOOKING_EVENT, BOOKING_RECHECK, BOOKING_EXPIRE, BOOKING_COMPLETE];
    runner::drain(&server.app, &kinds).await.expect("the jobs are run");
}

/// Returns the log entries of a booking or of an event type, in order: the kind and the origin.
pub async fn logged(server: &TestServer, id: &str) -> Vec<(String, String)> {
    query("select type, origin from log where resource_id = $1 order by sequence")
        .bind(id)
        .fetch_all(server.app.db.reader(), |row| Ok((row.get("type")?, row.get("origin")?)))
        .await
        .expect("a query")
}

pub fn entries(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(kind, origin)| ((*kind).to_owned(), (*origin).to_owned())).collect()
}

/// The invitee's token, as the answer to the booking has it.
fn token_of(booked: &Value) -> String {
    text(&booked["manageToken"])
}

pub async fn book(desk: &Desk, event_type: &str, time: &str) -> Value {
    desk.api.post(BOOKINGS, booking(event_type, time)).send().await.expect(201)
}

pub fn path(booked: &Value, verb: &str) -> String {
    format!("{BOOKINGS}/{}{verb}", text(&booked["id"]))
}

pub async fn read(api: &Actor, booked: &Value) -> Value {
    api.get(path(booked, "")).send().await.expect(200)
}

fn at(time: &str) -> Value {
    json!(format!("{DAY}T{time}:00.000Z"))
}

fn confirmed_first() -> Value {
    json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 60 })
}

/// Exactly one of several simultaneous confirmations succeeds.
#[tokio::test]
async fn two_confirms_one_wins() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", confirmed_first()).await;
    let booked = book(&desk, &id, "09:00").await;
    assert_eq!(booked["status"], "pending");

    let asked: Vec<_> = (0..8)
        .map(|n| {
            let verb = if n == 7 { "/reject" } else { "/confirm" };
            let ask = desk.api.post(path(&booked, verb), json!({}));
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut winners = Vec::new();
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        match answer.status {
            200 => winners.push(answer.answer["status"].clone()),
            _ => drop(answer.refused(409, "invalid_state")),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(read(&desk.api, &booked).await["status"], winners[0]);
    let decisions = logged(&server, &text(&booked["id"])).await;
    let decided = |kind: &str| decisions.iter().filter(|(logged, _)| logged == kind).count();
    assert_eq!(decided("booking.confirmed") + decided("booking.rejected"), 1, "{decisions:?}");
}

/// A refusal names the current status of the booking.
#[tokio::test]
async fn a_rejected_one_frees_its_time() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", confirmed_first()).await;
    let booked = book(&desk, &id, "09:00").await;
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));

    let body = json!({ "reason": "I am away" });
    let rejected = desk.api.post(path(&booked, "/reject"), body).keyed("r").send().await.expect(200);
    assert_eq!(
        (&rejected["status"], &rejected["rejectionReason"], &rejected["confirmBy"]),
        (&json!("rejected"), &json!("I am away"), &Value::Null)
    );
    assert!(starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
    book(&desk, &id, "09:00").await;

    let again = desk.api.post(path(&booked, "/reject"), json!({ "reason": "I am away" })).keyed("r");
    assert_eq!(again.send().await.header("idempotent-replayed"), Some("true"));
    let refused = desk.api.post(path(&booked, "/confirm"), json!({})).send().await;
    let message = text(&refused.refused(409, "invalid_state")["message"]);
    assert!(message.contains("rejected"), "{message}");
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.refused(409, "invalid_state");
}

/// A booking that is not confirmed expires at `confirmBy`, and its time is free.
#[tokio::test]
async fn a_pending_one_expires() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", confirmed_first()).await;
    let booked = book(&desk, &id, "09:00").await;
    assert_eq!(booked["confirmBy"], "2026-03-01T09:00:00.000Z");

    server.clock.advance_ms(59 * MINUTE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "pending");
    server.clock.advance_ms(MINUTE_MS);
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.refused(409, "invalid_state");
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "expired");
    assert!(starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
    let last = logged(&server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.expired", "system")]).pop());
}

/// A booking that took place is completed, and stays that.
#[tokio::test]
async fn what_took_place_is_completed() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", confirmed_first()).await;
    let booked = book(&desk, &id, "09:00").await;
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    // Ten minutes before its end, and at its end.
    server.clock.advance_ms(9 * DAY_MS + 80 * MINUTE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
    server.clock.advance_ms(10 * MINUTE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "completed");
    for verb in ["/cancel", "/confirm", "/reject"] {
        desk.api.post(path(&booked, verb), json!({})).send().await.refused(409, "invalid_state");
    }
    let moved = json!({ "start": at("10:00") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.refused(409, "invalid_state");
}

/// A booking is over at its end, even before the job that completes it has run.
#[tokio::test]
async fn what_is_over_is_neither_cancelled_nor_moved() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    // At its end, 09:30.
    server.clock.advance_ms(9 * DAY_MS + 90 * MINUTE_MS);
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.refused(409, "invalid_state");
    let next_day = json!({ "start": "2026-03-11T09:00:00Z" });
    desk.api.post(path(&booked, "/reschedule"), next_day).send().await.refused(409, "invalid_state");
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "completed");
}

/// A moved booking keeps its id, and its old slot is free for others.
#[tokio::test]
async fn a_move_keeps_id_and_uid_and_frees_the_old_time() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "bufferAfterMinutes": 15, "slotIntervalMinutes": 15 })).await;
    let booked = book(&desk, &id, "09:00").await;
    let body = json!({ "start": at("09:15") });
    let moved = desk.api.post(path(&booked, "/reschedule"), body).send().await.expect(200);
    for same in ["id", "iCalUid", "hostIds", "invitee", "title"] {
        assert_eq!(moved[same], booked[same], "{same}");
    }
    assert_eq!((&moved["start"], &moved["end"]), (&at("09:15"), &at("09:45")));
    assert_eq!(
        (&moved["previousStart"], &moved["rescheduledBy"], &moved["rescheduleCount"], &moved["sequence"]),
        (&at("09:00"), &json!("api"), &json!(1), &json!(1))
    );
    assert_ne!(moved["etag"], booked["etag"]);
    run_jobs(&server).await;
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.first().map(String::as_str), Some("10:00"));
    let same = json!({ "start": at("09:15") });
    let refused = desk.api.post(path(&booked, "/reschedule"), same).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "start");
    let kinds: Vec<String> =
        logged(&server, &text(&booked["id"])).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["booking.created", "booking.confirmed", "booking.rescheduled"]);
}

/// A booking that cannot have its new time keeps its old one.
#[tokio::test]
async fn moving_into_a_slot_that_is_being_booked() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    let mut asked = Vec::new();
    for n in 0..20 {
        let ask = match n {
            10 => desk.api.post(path(&booked, "/reschedule"), json!({ "start": at("10:00") })),
            _ => desk.api.post(BOOKINGS, booking(&id, "10:00")),
        };
        asked.push(tokio::spawn(async move { ask.send().await }));
    }
    let mut statuses = Vec::new();
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        statuses.push(answer.status);
        if answer.status >= 400 {
            answer.refused(409, "slot_unavailable");
        }
    }
    assert_eq!(statuses.iter().filter(|status| **status < 400).count(), 1, "{statuses:?}");
    let is_moved = statuses.contains(&200);
    let start = if is_moved { at("10:00") } else { at("09:00") };
    assert_eq!(read(&desk.api, &booked).await["start"], start);
    run_jobs(&server).await;
    let free = starts(&desk.api, &on(&id, DAY)).await;
    assert!(!free.contains(&"10:00".to_owned()));
    assert_eq!(free.contains(&"09:00".to_owned()), is_moved);
}

/// The holder of a booking's token can cancel it, and can access no other booking.
#[tokio::test]
async fn cancelled_by_the_invitee_within_the_rules() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "cancellation": { "allowed": true, "minNoticeMinutes": 60 } })).await;
    let booked = book(&desk, &id, "09:00").await;
    let browser = server.client_with(&["scheduling.book"]).await;
    browser.get(path(&booked, "")).send().await.refused(403, "insufficient_scope");
    let body = json!({ "manageToken": token_of(&booked), "reason": "ill" });
    let cancelled = browser.post(path(&booked, "/cancel"), body.clone()).send().await.expect(200);
    assert_eq!(
        (&cancelled["status"], &cancelled["cancelledBy"], &cancelled["cancellationReason"]),
        (&json!("cancelled"), &json!("invitee"), &json!("ill"))
    );
    assert_eq!(
        (&cancelled["hostIds"], &cancelled["organizerConnectionId"], &cancelled["calendarEvents"]),
        (&json!([]), &Value::Null, &json!([]))
    );
    assert!(starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
    browser.post(path(&booked, "/cancel"), body).send().await.refused(409, "invalid_state");
    let last = logged(&server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.cancelled", "api")]).pop());
}

/// The event type's rules bind the invitee, and no key that may write.
#[tokio::test]
async fn too_late_to_cancel() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let rules = json!({ "minNoticeMinutes": 120 });
    let fields = json!({ "cancellation": rules, "reschedule": rules });
    let id = desk.open("intro", fields).await;
    let never = desk.open("never", json!({ "cancellation": { "allowed": false } })).await;
    let (booked, fixed) = (book(&desk, &id, "09:00").await, book(&desk, &never, "10:00").await);
    let of = |token: String| json!({ "manageToken": token });
    let body = of(token_of(&fixed));
    desk.api.post(path(&fixed, "/cancel"), body).send().await.refused(403, "forbidden");

    // An hour before it begins.
    server.clock.advance_ms(9 * DAY_MS);
    let token = token_of(&booked);
    let late = desk.api.post(path(&booked, "/cancel"), of(token.clone())).send().await;
    let message = text(&late.refused(409, "invalid_state")["message"]);
    assert!(message.contains("120 minutes"), "{message}");
    let body = json!({ "manageToken": token, "start": at("11:00") });
    desk.api.post(path(&booked, "/reschedule"), body).send().await.refused(409, "invalid_state");
    let cancelled = desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    assert_eq!(cancelled["cancelledBy"], "api");
}

/// The invitee moves a booking as often as the event type lets them; where it needs a confirmation, it needs one again.
#[tokio::test]
async fn an_invitee_moves_within_the_rules() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let mut fields = confirmed_first();
    fields["reschedule"] = json!({ "maxCount": 1 });
    let id = desk.open("intro", fields).await;
    let booked = book(&desk, &id, "09:00").await;
    let browser = server.client_with(&["scheduling.book"]).await;
    let token = token_of(&booked);
    let to = |time: &str| json!({ "start": at(time), "manageToken": token });
    // It is not confirmed.
    browser.post(path(&booked, "/reschedule"), to("10:00")).send().await.refused(409, "invalid_state");
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);

    let moved = browser.post(path(&booked, "/reschedule"), to("10:00")).send().await.expect(200);
    assert_eq!(
        (&moved["status"], &moved["rescheduledBy"], &moved["confirmBy"]),
        (&json!("pending"), &json!("invitee"), &json!("2026-03-01T09:00:00.000Z"))
    );
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    browser.post(path(&booked, "/reschedule"), to("11:00")).send().await.refused(409, "invalid_state");
    let by_key = desk.api.post(path(&booked, "/reschedule"), json!({ "start": at("11:00") }));
    let moved = by_key.send().await.expect(200);
    assert_eq!((&moved["status"], &moved["rescheduleCount"]), (&json!("confirmed"), &json!(2)));
}

/// A token is good for its own booking, and without one a key that cannot write does nothing.
#[tokio::test]
async fn a_wrong_token_is_404() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (booked, other) = (book(&desk, &id, "09:00").await, book(&desk, &id, "10:00").await);
    let browser = server.client_with(&["scheduling.book"]).await;
    let theirs = token_of(&other);
    for token in [theirs.as_str(), "nonsense", ""] {
        let body = json!({ "manageToken": token, "start": at("11:00") });
        for verb in ["/cancel", "/reschedule"] {
            let mut body = body.clone();
            if verb == "/cancel" {
                body.as_object_mut().expect("an object").remove("start");
            }
            browser.post(path(&booked, verb), body).send().await.refused(404, "not_found");
        }
    }
    for (verb, body) in [("/cancel", json!({})), ("/reschedule", json!({ "start": at("11:00") }))] {
        let refused = browser.post(path(&booked, verb), body).send().await;
        assert_eq!(refused.refused(400, "missing_field")["param"], "manageToken", "{verb}");
    }
    for verb in ["/confirm", "/reject"] {
        browser.post(path(&booked, verb), json!({})).send().await.refused(403, "insufficient_scope");
    }
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
}

/// Lists go by when bookings begin, page by page.
#[tokio::test]
async fn bookings_are_listed_by_their_start() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let (intro, review) = (desk.open("intro", json!({})).await, desk.open("review", json!({})).await);
    let later = book(&desk, &intro, "11:00").await;
    let mut body = booking(&review, "09:30");
    body["inviteeEmail"] = json!("Bob@Example.org");
    let first = desk.api.post(BOOKINGS, body).send().await.expect(201);
    let gone = book(&desk, &intro, "10:00").await;
    desk.api.post(path(&gone, "/cancel"), json!({})).send().await.expect(200);

    let ids = |all: &[Value]| all.iter().map(|b| text(&b["id"])).collect::<Vec<_>>();
    let [first_id, gone_id, later_id] = [&first, &gone, &later].map(|b| text(&b["id"]));
    for (filter, expected) in [
        ("", vec![&first_id, &gone_id, &later_id]),
        ("&status=confirmed", vec![&first_id, &later_id]),
        ("&status=cancelled", vec![&gone_id]),
        ("&invitee_email=BOB@example.org", vec![&first_id]),
        ("&start=2026-03-10T10:00:00Z", vec![&gone_id, &later_id]),
        ("&end=2026-03-10T10:00:00Z", vec![&first_id]),
        ("&start=2026-03-11", vec![]),
    ] {
        let all = desk.api.all(&format!("{BOOKINGS}?limit=1{filter}")).await;
        assert_eq!(ids(&all).iter().collect::<Vec<_>>(), expected, "{filter}");
    }
    let of_type = desk.api.all(&format!("{BOOKINGS}?event_type_id={intro}&status=confirmed")).await;
    assert_eq!(ids(&of_type), std::slice::from_ref(&later_id));
    assert_eq!(of_type[0], read(&desk.api, &later).await, "a list shows what a read shows");

    for (filter, code, param) in [
        ("status=open", "invalid_parameter", "status"),
        ("start=tomorrow", "invalid_parameter", "start"),
        ("start=2026-03-10&end=2026-03-10", "invalid_time_range", "end"),
        ("limit=0", "invalid_parameter", "limit"),
        ("cursor=x", "invalid_cursor", "cursor"),
    ] {
        let refused = desk.api.get(format!("{BOOKINGS}?{filter}")).send().await;
        assert_eq!(refused.refused(400, code)["param"], param, "{filter}");
    }
}

/// Bookings of others, and of hosts that a key is not bound to, are not there.
#[tokio::test]
async fn another_tenants_booking_is_404() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    let stranger = server.key("stranger", |_| {}).await;
    let bound = server.key("test", |key| key.connection_ids = vec!["conn_other".to_owned()]).await;
    for api in [&stranger, &bound] {
        api.get(path(&booked, "")).send().await.refused(404, "not_found");
        assert_eq!(api.all(&format!("{BOOKINGS}?event_type_id={id}")).await, Vec::<Value>::new());
        for (verb, body) in [
            ("/confirm", json!({})),
            ("/reject", json!({})),
            ("/cancel", json!({})),
            ("/reschedule", json!({ "start": at("10:00") })),
        ] {
            api.post(path(&booked, verb), body).send().await.refused(404, "not_found");
        }
        api.patch(path(&booked, ""), json!({ "metadata": {} })).send().await.refused(404, "not_found");
    }
    let token = token_of(&booked);
    let body = json!({ "manageToken": token });
    stranger.post(path(&booked, "/cancel"), body).send().await.refused(404, "not_found");
}

/// Notes belong to the client; no-shows can be set once the booking has begun, and are reported.
#[tokio::test]
async fn notes_and_who_did_not_come() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    let etag = text(&booked["etag"]);
    let noted = desk.api.patch(path(&booked, ""), json!({ "metadata": { "lead": "7" } })).if_match(&etag);
    let noted = noted.send().await.expect(200);
    assert_eq!(noted["metadata"], json!({ "lead": "7" }));
    let stale = desk.api.patch(path(&booked, ""), json!({ "metadata": {} })).if_match(&etag);
    stale.send().await.refused(409, "stale_etag");

    let no_show = json!({ "noShow": { "inviteeEmails": ["ADA@example.org"] } });
    let early = desk.api.patch(path(&booked, ""), no_show.clone()).send().await;
    early.refused(409, "invalid_state");
    server.clock.advance_ms(9 * DAY_MS + 60 * MINUTE_MS);
    let noted = desk.api.patch(path(&booked, ""), no_show.clone()).send().await.expect(200);
    assert_eq!(noted["noShow"], json!({ "host": false, "inviteeEmails": ["ADA@example.org"] }));
    // Said once more it is no news.
    desk.api.patch(path(&booked, ""), no_show).send().await.expect(200);
    let told = logged(&server, &text(&booked["id"])).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "booking.no_show").count(), 1, "{told:?}");

    for (body, code, param) in [
        (json!({ "noShow": { "inviteeEmails": ["x@y.z"] } }), "invalid_parameter", "noShow.inviteeEmails[0]"),
        (json!({ "start": at("10:00") }), "invalid_parameter", "start"),
        (json!({ "status": "cancelled" }), "invalid_parameter", "status"),
        (json!({ "noShow": 1 }), "invalid_parameter", "noShow"),
        (json!({ "metadata": { "": "x" } }), "invalid_parameter", "metadata."),
    ] {
        let refused = desk.api.patch(path(&booked, ""), body.clone()).send().await;
        assert_eq!(refused.refused(400, code)["param"], param, "{body}");
    }
}

/// Each fault is reported with its field.
#[tokio::test]
async fn wrong_input_names_its_field() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "durationOptions": [60] })).await;
    let booked = book(&desk, &id, "09:00").await;
    let long = "x".repeat(2_001);
    for (verb, body, code, param) in [
        ("/reschedule", json!({}), "missing_field", "start"),
        ("/reschedule", json!({ "start": "10:00" }), "invalid_parameter", "start"),
        ("/reschedule", json!({ "start": "9999-01-01T00:00:00Z" }), "invalid_parameter", "start"),
        (
            "/reschedule",
            json!({ "start": at("10:00"), "durationMinutes": 45 }),
            "invalid_parameter",
            "durationMinutes",
        ),
        ("/reschedule", json!({ "start": at("10:00"), "slotToken": "x" }), "invalid_parameter", "slotToken"),
        ("/cancel", json!({ "reason": long }), "invalid_parameter", "reason"),
        ("/cancel", json!({ "manageToken": 1 }), "invalid_parameter", "manageToken"),
        ("/reject", json!({ "reason": 1 }), "invalid_parameter", "reason"),
    ] {
        let refused = desk.api.post(path(&booked, verb), body.clone()).send().await;
        assert_eq!(refused.refused(400, code)["param"], param, "{verb} {body}");
    }
    let off_grid = json!({ "start": at("10:10") });
    desk.api.post(path(&booked, "/reschedule"), off_grid).send().await.refused(409, "slot_unavailable");
    let longer = json!({ "start": at("09:00"), "durationMinutes": 60 });
    let moved = desk.api.post(path(&booked, "/reschedule"), longer).send().await.expect(200);
    assert_eq!(moved["end"], at("10:00"));
    let unknown = desk.api.post(format!("{BOOKINGS}/bk_unknown/cancel"), json!({})).send().await;
    unknown.refused(404, "not_found");
}
