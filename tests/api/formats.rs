//! Time zones and addresses, in whichever field of whichever request: one rule for each.

use harness::{Actor, Exchange, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::email::mailbox::text;

const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const SCHEDULES: &str = "/v1/scheduling/schedules";
const BOOKINGS: &str = "/v1/scheduling/bookings";
const SLOTS: &str = "/v1/scheduling/availability/query";

/// A request with a field that has a format.
struct Case {
    method: Method,
    path: String,
    body: Value,
    /// The field in the body, and in the answer; empty where the answer does not show it.
    field: &'static str,
    shown: &'static str,
    /// The field as errors name it.
    param: &'static str,
}

impl Case {
    fn new(method: Method, path: impl Into<String>, body: Value, field: &'static str) -> Case {
        Case { method, path: path.into(), body, field, shown: field, param: "" }
    }

    fn post(path: impl Into<String>, body: Value, field: &'static str) -> Case {
        Case::new(Method::POST, path, body, field)
    }

    fn patch(path: impl Into<String>, body: Value, field: &'static str) -> Case {
        Case::new(Method::PATCH, path, body, field)
    }

    /// An error names it so.
    fn named(self, param: &'static str) -> Case {
        Case { param, ..self }
    }

    /// The answer shows it there.
    fn shown_at(self, shown: &'static str) -> Case {
        Case { shown, ..self }
    }

    fn unshown(self) -> Case {
        self.shown_at("")
    }

    async fn send(&self, api: &Actor, value: &str) -> Exchange {
        let mut body = self.body.clone();
        *body.pointer_mut(self.field).expect("the body has the field") = json!(value);
        api.ask(self.method.clone(), self.path.clone(), Some(body)).send().await
    }
}

/// An account with a calendar, an event type and a schedule.
struct Desk {
    _server: TestServer,
    api: Actor,
    connection: String,
    calendar: String,
    event_type: String,
}

impl Desk {
    async fn new() -> Desk {
        let server = TestServer::start().await;
        let api = server.client().await;
        let connection = api.connect_account("alice").await;
        let body = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
        let calendar = text(&api.post("/v1/calendars", body).send().await.expect(201)["id"]);
        let mut desk = Desk { _server: server, api, connection, calendar, event_type: String::new() };
        let made = desk.api.post(EVENT_TYPES, desk.open("intro")).send().await.expect(201);
        desk.event_type = text(&made["id"]);
        desk
    }

    /// An event type that is open on weekdays.
    fn open(&self, slug: &str) -> Value {
        json!({
            "slug": slug, "title": "Intro call", "durationMinutes": 30, "schedule": hours(),
            "hosts": [{
                "connectionId": self.connection, "calendarId": self.calendar,
                "conflictCalendarIds": [self.calendar], "schedule": hours(),
            }],
        })
    }

    /// A booking of this time on 10 March 2026.
    fn booking(&self, time: &str) -> Value {
        json!({
            "eventTypeId": self.event_type, "start": format!("2026-03-10T{time}:00Z"), "inviteeName": "Ada",
            "inviteeEmail": "ada@example.org", "inviteeTimeZone": "UTC",
            "guests": [{ "email": "bob@example.org" }],
        })
    }

    fn event(&self) -> Value {
        json!({
            "title": "Fair", "start": "2026-03-11T09:00:00Z", "end": "2026-03-11T10:00:00Z", "timeZone": "UTC",
            "endTimeZone": "UTC", "attendees": [{ "email": "bob@example.org" }],
        })
    }
}

fn hours() -> Value {
    json!({ "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "00:00", "end": "24:00" }] })
}

/// The requests that take a time zone.
async fn zones(desk: &Desk) -> Vec<Case> {
    let api = &desk.api;
    let events = format!("/v1/calendars/{}/events", desk.calendar);
    let event = text(&api.post(&events, desk.event()).send().await.expect(201)["id"]);
    let lists = format!("/v1/task-lists?connection_id={}", desk.connection);
    let list = text(&api.all(&lists).await[0]["id"]);
    let tasks = format!("/v1/task-lists/{list}/tasks");
    let task = json!({ "title": "Dig", "dueDate": "2026-03-11", "dueTime": "09:00", "timeZone": "UTC" });
    let dig = text(&api.post(&tasks, task.clone()).send().await.expect(201)["id"]);
    let schedule = json!({ "name": "Office", "timeZone": "UTC", "weekly": hours()["weekly"] });
    let office = text(&api.post(SCHEDULES, schedule.clone()).send().await.expect(201)["id"]);
    let times = json!({ "start": "2026-03-10T00:00:00Z", "end": "2026-03-10T12:00:00Z", "timeZone": "UTC" });
    let with = |fields: Value| {
        let mut body = times.clone();
        for (name, value) in fields.as_object().expect("an object") {
            body[name] = value.clone();
        }
        body
    };
    let open = json!([{ "days": [2], "start": "09:00", "end": "12:00", "timeZone": "UTC" }]);
    let members = json!([{ "members": [{ "connectionId": desk.connection, "openHours": open }] }]);
    let targets = json!([{ "connectionId": desk.connection }]);
    let new = json!({ "connectionId": desk.connection, "name": "Project", "timeZone": "UTC" });
    let zone = json!({ "timeZone": "UTC" });
    let (plain, of_schedule) = ("/timeZone", "/schedule/timeZone");
    let of_host = "/hosts/0/schedule/timeZone";
    vec![
        Case::post("/v1/calendars", new, plain),
        Case::patch(format!("/v1/calendars/{}", desk.calendar), zone.clone(), plain),
        Case::post(&events, desk.event(), plain),
        Case::post(&events, desk.event(), "/endTimeZone").named("endTimeZone"),
        Case::patch(format!("{events}/{event}"), zone.clone(), plain),
        Case::post(&tasks, task, plain),
        Case::patch(format!("{tasks}/{dig}"), zone.clone(), plain),
        Case::post(SCHEDULES, schedule, plain),
        Case::patch(format!("{SCHEDULES}/{office}"), zone, plain),
        Case::post(EVENT_TYPES, desk.open("by-schedule"), of_schedule).named("schedule.timeZone"),
        Case::post(EVENT_TYPES, desk.open("by-host"), of_host).named("hosts[0].schedule.timeZone"),
        Case::patch(
            format!("{EVENT_TYPES}/{}", desk.event_type),
            json!({ "schedule": hours() }),
            of_schedule,
        )
        .named("schedule.timeZone"),
        Case::post(BOOKINGS, desk.booking("09:00"), "/inviteeTimeZone")
            .named("inviteeTimeZone")
            .shown_at(plain),
        Case::post(BOOKINGS, desk.booking("10:00"), "/inviteeTimeZone")
            .named("inviteeTimeZone")
            .shown_at("/invitee/timeZone"),
        Case::post(SLOTS, with(json!({ "eventTypeId": desk.event_type })), plain).shown_at("/time_zone"),
        Case::post("/v1/calendars/freebusy/query", with(json!({ "targets": targets })), plain).unshown(),
        Case::post(
            "/v1/calendars/availability/query",
            with(json!({ "durationMinutes": 30, "participants": members })),
            "/participants/0/members/0/openHours/0/timeZone",
        )
        .named("participants[0].members[0].openHours[0].timeZone")
        .unshown(),
    ]
}

/// `Etc/Unknown` is the name of an unknown zone, so it is refused; and a zone is stored and shown under its name in the tz database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_zone_is_an_iana_name_and_is_shown_as_the_database_has_it() {
    let desk = Desk::new().await;
    for case in zones(&desk).await {
        let param = if case.param.is_empty() { "timeZone" } else { case.param };
        for unknown in ["Etc/Unknown", "etc/unknown", "Factory", "Mars/Olympus", "+02:00"] {
            let error = case.send(&desk.api, unknown).await.refused(400, "invalid_time_zone");
            assert_eq!(error["param"], param, "{} {}", case.method, case.path);
            let message = text(&error["message"]);
            assert!(message.contains(unknown) && message.contains("Europe/Berlin"), "{message}");
        }
        let answer = case.send(&desk.api, "asia/kolkata").await;
        assert!((200..300).contains(&answer.status), "{answer}");
        if !case.shown.is_empty() {
            assert_eq!(answer.answer.pointer(case.shown), Some(&json!("Asia/Kolkata")), "{answer}");
        }
    }
    let event_types = desk.api.all(EVENT_TYPES).await;
    let stored = event_types.iter().find(|one| one["slug"] == "by-host").expect("it was made");
    assert_eq!(stored["hosts"][0]["schedule"]["timeZone"], "Asia/Kolkata");
}

/// An address has one `@` outside of quotes: any other text is refused, with its field, and nothing is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_no_mail_can_be_sent_to_is_refused_wherever_one_is_taken() {
    let desk = Desk::new().await;
    let events = format!("/v1/calendars/{}/events", desk.calendar);
    let lists = format!("/v1/task-lists?connection_id={}", desk.connection);
    let list = text(&desk.api.all(&lists).await[0]["id"]);
    let person = json!([{ "email": "bob@example.org" }]);
    let task = json!({ "title": "Dig", "assignees": person });
    let contact =
        json!({ "connectionId": desk.connection, "displayName": "Bob", "emails": [{ "value": "" }] });
    let busy = json!({
        "start": "2026-03-10T00:00:00Z", "end": "2026-03-10T12:00:00Z",
        "targets": [{ "email": "bob@sandbox.test", "viaConnectionId": desk.connection }],
    });
    let cases = [
        Case::post(BOOKINGS, desk.booking("09:00"), "/inviteeEmail").named("inviteeEmail"),
        Case::post(BOOKINGS, desk.booking("09:00"), "/guests/0/email").named("guests[0].email"),
        Case::post(&events, desk.event(), "/attendees/0/email").named("attendees[0].email"),
        Case::post(format!("/v1/task-lists/{list}/tasks"), task, "/assignees/0/email")
            .named("assignees[0].email"),
        Case::post("/v1/contacts", contact, "/emails/0/value").named("emails[0].value"),
        Case::post("/v1/calendars/freebusy/query", busy, "/targets/0/email").named("targets[0].email"),
    ];
    for case in &cases {
        for wrong in ["a@b@c.org", "a@@c.org", "a@b..org", "a@-b.org", "ada", "a b@c.org"] {
            let error = case.send(&desk.api, wrong).await.refused(400, "invalid_parameter");
            assert_eq!(error["param"], case.param, "{}", case.path);
            let message = text(&error["message"]);
            let begin =
                format!("{} must be one email address such as ada@example.com; got {wrong:?}", case.param);
            assert!(message.starts_with(&begin), "{message}");
        }
    }
    let account = json!({
        "provider": "sandbox", "credentials": { "username": "bob@sandbox.test", "password": "sandbox" },
        "scopes": ["email.read", "email.send"],
    });
    let sender = text(&desk.api.connect(account).await["id"]);
    let message = json!({ "connectionId": sender, "to": person, "subject": "x", "body": { "text": "x" } });
    let mail = Case::post("/v1/email/send", message, "/to/0/email");
    let error = mail.send(&desk.api, "a@b@c.org").await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "to[0].email");
    assert!(desk.api.all(BOOKINGS).await.is_empty());
}
