//! The sandbox connector against the sandbox provider, both in this process: the connector's code runs natively, through the host's own
//! entry point, over a real socket.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod contacts;
mod mail;
mod tasks;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use connector_sandbox::Sandbox;
use connector_sdk::http::{Http, Request};
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Answer, Calendar as _, Context, Failure, Lifecycle as _, Outcome, code};
use model::Instant;
use model::calendar::{
    AccessRole, Attendee, AttendeeKind, AttendeeRole, Calendar, Conference, ConferencePhone,
    ConferenceProvider, ConferenceStatus, Event, EventAttachment, EventKind, EventStatus, EventType,
    IncludeInAvailability, Location, Reminder, ReminderMethod, Reminders, ResponseStatus, ShowAs, Visibility,
};
use model::wire::calendar::{
    EventConference, EventRespond, EventTarget, EventWrite, FreeBusyRequest, RecurrenceScope,
};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Connection, Mutated, Source, SourceRef, Sources,
};
use sandbox_provider::{self, Config};
use serde_json::{Value, json};

/// Tuesday 2026-03-10, 08:00 in Berlin.
const NOW_MS: i64 = 1_773_126_000_000;

/// A running provider and one account's connection to it.
struct Api {
    live: Live,
    server_url: String,
    mail: String,
    now_ms: Arc<AtomicI64>,
}

impl Api {
    fn start() -> Self {
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let clock = now_ms.clone();
        let config = Config { seed: Some(7), ..Config::new(Arc::new(move || clock.load(Ordering::Relaxed))) };
        let router = sandbox_provider::router(sandbox_provider::Sandbox::new(config).unwrap());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server_url = format!("http://{}/sandbox", listener.local_addr().unwrap());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), router).await.unwrap();
            });
        });
        Api { live: live("alice"), server_url, mail: "alice@sandbox.test".to_owned(), now_ms }
    }

    fn as_person(&self, name: &str) -> Self {
        let (server_url, now_ms) = (self.server_url.clone(), self.now_ms.clone());
        Api { live: live(name), server_url, mail: format!("{name}@sandbox.test"), now_ms }
    }

    fn context(&self) -> Context<'_> {
        let settings = json!({ "serverUrl": self.server_url });
        let connection = Connection {
            settings: settings.as_object().unwrap().clone(),
            addresses: vec![self.mail.clone()],
            username: Some(self.mail.clone()),
        };
        Context::new(&self.live, connection)
    }

    fn fault(&self, fault: Value) {
        let request = Request::post(format!("{}/faults", self.server_url)).json(&fault);
        assert_eq!(self.live.send(request).unwrap().status, 201);
    }

    fn changes(&self, cursor: Option<String>, limit: u32) -> Outcome<Answer<Sources>> {
        let args = ChangesRequest { collection: Some("work".to_owned()), limit, ..ChangesRequest::default() };
        Sandbox::changes(&self.context().at(cursor), args)
    }

    /// All pages from a cursor on, and the cursor at the end.
    fn walk(&self, cursor: Option<String>, enumeration: bool) -> (Vec<Source>, Option<String>) {
        pages(|cursor| self.changes(cursor, 7), cursor, enumeration)
    }

    fn create(&self, event: &Event, key: &str) -> Outcome<Mutated> {
        Sandbox::create_event(&self.context().keyed(key), write(EventTarget::default(), event, &[]))
    }

    fn read(&self, source: &str) -> Source {
        let args = SourceRef { collection: "work".to_owned(), source: source.to_owned(), time_zone: None };
        Sandbox::get_event(&self.context(), args).unwrap().sources.remove(0)
    }
}

/// Returns all pages of `page` from a cursor on, and the cursor at the end.
fn pages(
    page: impl Fn(Option<String>) -> Outcome<Answer<Sources>>,
    mut cursor: Option<String>,
    enumeration: bool,
) -> (Vec<Source>, Option<String>) {
    let mut sources = Vec::new();
    loop {
        let page = page(cursor.clone()).unwrap();
        assert_eq!(page.body.enumeration, enumeration);
        assert!(!page.more || page.cursor != cursor, "a cursor never leads to itself while there is more");
        sources.extend(page.body.sources);
        cursor = page.cursor;
        if !page.more {
            return (sources, cursor);
        }
    }
}

/// The names of all fields that a value has.
fn fields(of: &Value) -> Vec<String> {
    of.as_object().unwrap().keys().cloned().collect()
}

fn live(name: &str) -> Live {
    let username = format!("{name}@sandbox.test");
    Live::new(Credentials::Basic { username, password: "sandbox".to_owned() })
}

fn write(target: EventTarget, event: &Event, changed: &[&str]) -> EventWrite {
    EventWrite {
        collection: "work".to_owned(),
        target,
        event: event.clone(),
        changed: changed.iter().map(|c| (*c).to_owned()).collect(),
        ..EventWrite::default()
    }
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn event(source: &Source, item: usize) -> Event {
    source.items[item].body.read().unwrap()
}

fn lunch() -> Event {
    Event {
        start: at("2026-03-12T11:00:00Z"),
        end: at("2026-03-12T12:00:00Z"),
        time_zone: "Europe/Berlin".to_owned(),
        title: Some("Lunch".to_owned()),
        ..Event::default()
    }
}

fn daily() -> Event {
    Event { recurrence: vec!["RRULE:FREQ=DAILY;COUNT=10".to_owned()], ..lunch() }
}

fn of(mutated: &Mutated) -> EventTarget {
    let source = &mutated.sources[0];
    EventTarget {
        source: Some(source.external_id.clone()),
        if_match: source.etag.clone(),
        scope: RecurrenceScope::All,
        ..EventTarget::default()
    }
}

fn instance(mutated: &Mutated, id: &str, scope: RecurrenceScope) -> EventTarget {
    EventTarget { recurrence_id: Some(id.to_owned()), scope, ..of(mutated) }
}

fn refused<T: std::fmt::Debug>(outcome: Outcome<T>, code: &str) -> Failure {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.code, code, "{failure:?}");
    failure
}

#[test]
fn check() {
    let api = Api::start();
    let account = Sandbox::check(&api.context()).unwrap();
    assert_eq!(account.external_account_id, "acc_alice");
    assert_eq!(account.email.as_deref(), Some("alice@sandbox.test"));
    assert_eq!(account.surfaces, ["email", "calendar", "contacts", "tasks"]);
    refused(Sandbox::check(&api.as_person("revoked").context()), code::AUTH_EXPIRED);
    refused(Sandbox::check(&Context::new(&api.live, Connection::default())), code::INVALID);
}

/// Every field that a client can set comes back as sent, together with the provider's own fields.
#[test]
fn every_field_of_a_calendar() {
    let api = Api::start();
    let mut calendar = Calendar {
        name: "Side".to_owned(),
        description: Some("what I do aside".to_owned()),
        time_zone: Some("Asia/Tokyo".to_owned()),
        color: Some("#aabbcc".to_owned()),
        is_primary: false,
        is_owned: true,
        read_only: false,
        access_role: AccessRole::Owner,
        location: Some("Shed".to_owned()),
        default_reminders: vec![
            Reminder { method: ReminderMethod::Email, minutes_before: 1440 },
            Reminder { method: ReminderMethod::Popup, minutes_before: 0 },
        ],
        include_in_availability: IncludeInAvailability::Attending,
        conference_types: vec![ConferenceProvider::Other, ConferenceProvider::Zoom],
    };
    let args = CollectionWrite { body: calendar.clone(), ..CollectionWrite::default() };
    let made = Sandbox::create_calendar(&api.context().keyed("c1"), args.clone()).unwrap();
    let body = |mutated: &Mutated| mutated.sources[0].items[0].body.read::<Calendar>().unwrap();
    assert_eq!(body(&made), calendar);
    let again = Sandbox::create_calendar(&api.context().keyed("c1"), args).unwrap();
    assert_eq!(again, made, "a repeated create finds what the first one left");

    calendar.name = "Aside".to_owned();
    calendar.description = None;
    let id = made.item.clone().unwrap();
    let mut args = CollectionWrite {
        source: Some(id.clone()),
        body: Calendar { color: Some("#000000".to_owned()), ..calendar.clone() },
        changed: vec!["name".to_owned(), "description".to_owned()],
        if_match: made.sources[0].etag.clone(),
    };
    let changed = Sandbox::update_calendar(&api.context(), args.clone()).unwrap();
    assert_eq!(body(&changed), calendar, "a field that is not named stays as it is");
    args.changed = vec!["color".to_owned()];
    refused(Sandbox::update_calendar(&api.context(), args), code::CONFLICT);

    let listed = Sandbox::list_calendars(&api.context(), ChangesRequest::default()).unwrap();
    assert!(listed.body.enumeration && !listed.more);
    assert_eq!(listed.body.sources.len(), 4);
    assert!(listed.body.sources.contains(&changed.sources[0]));
    let gone = CollectionDelete { source: id, ..CollectionDelete::default() };
    assert!(Sandbox::delete_calendar(&api.context(), gone.clone()).unwrap().sources[0].deleted);
    assert!(Sandbox::delete_calendar(&api.context(), gone).unwrap().sources[0].deleted);
}

fn full_event() -> Event {
    let text = |t: &str| Some(t.to_owned());
    Event {
        i_cal_uid: text("uid-1@example.com"),
        end_time_zone: text("America/New_York"),
        description: text("plain"),
        description_html: text("<b>rich</b>"),
        location: text("Room 1"),
        locations: Some(vec![Location {
            name: text("HQ"),
            address: text("Main St 1"),
            uri: text("https://example.com/map"),
            geo: text("52.5,13.4"),
        }]),
        color: text("#123456"),
        status: EventStatus::Tentative,
        show_as: ShowAs::Oof,
        visibility: Visibility::Confidential,
        event_kind: EventKind::FocusTime,
        attendees: vec![
            Attendee {
                email: "dana@customer.example".to_owned(),
                name: text("Dana"),
                response_status: ResponseStatus::Accepted,
                role: AttendeeRole::NonParticipant,
                kind: AttendeeKind::Resource,
                comment: text("by phone"),
                is_self: false,
                organizer: false,
            },
            Attendee {
                email: "alice@sandbox.test".to_owned(),
                is_self: true,
                organizer: true,
                ..Attendee::default()
            },
        ],
        hide_attendees: true,
        guests_can_modify: true,
        guests_can_invite: true,
        capacity: Some(12),
        recurrence: vec![
            "RRULE:FREQ=WEEKLY;BYDAY=TH;COUNT=4".to_owned(),
            "EXDATE;TZID=Europe/Berlin:20260319T120000".to_owned(),
        ],
        conference: Some(Conference {
            provider: ConferenceProvider::Zoom,
            status: ConferenceStatus::Pending,
            join_url: text("https://zoom.example/1"),
            meeting_id: text("1"),
            passcode: text("s3"),
            phones: vec![ConferencePhone {
                number: "+49 30 1".to_owned(),
                pin: text("2"),
                region: text("DE"),
            }],
            create_request_id: text("r"),
        }),
        reminders: Reminders {
            use_default: false,
            overrides: vec![Reminder { method: ReminderMethod::Email, minutes_before: 40_320 }],
        },
        attachments: vec![EventAttachment {
            title: text("Agenda"),
            url: text("https://example.com/a.pdf"),
            mime_type: text("application/pdf"),
        }],
        ..lunch()
    }
}

/// Every field that a client can set comes back as it was sent, on create and on update.
#[test]
fn every_field_of_an_event() {
    let api = Api::start();
    let sent = full_event();
    let made = api.create(&sent, "e1").unwrap();
    let got = event(&made.sources[0], 0);
    let me = got.organizer.clone().unwrap();
    assert_eq!((me.email.as_deref(), me.is_self), (Some("alice@sandbox.test"), true));
    let expected = Event {
        event_type: EventType::Series,
        busy: true,
        html_link: got.html_link.clone(),
        organizer: got.organizer.clone(),
        creator: got.organizer.clone(),
        my_response: Some(ResponseStatus::NeedsAction),
        ..sent.clone()
    };
    assert_eq!(got, expected);
    assert!(got.html_link.is_some());
    assert_eq!(event(&api.read(&made.sources[0].external_id), 0), expected);

    // The same by an update of all fields.
    let fields = fields(&json!(sent));
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let other = api.create(&lunch(), "e2").unwrap();
    let changed = Sandbox::update_event(&api.context(), write(of(&other), &sent, &fields)).unwrap();
    let got = event(&changed.sources[0], 0);
    let uid = got.i_cal_uid.clone();
    assert_eq!(got, Event { i_cal_uid: uid, html_link: got.html_link.clone(), sequence: 1, ..expected });
}

/// A rule that has no place for an exception any more drops it, with a warning.
#[test]
fn dropped_exceptions() {
    let api = Api::start();
    let made = api.create(&daily(), "d").unwrap();
    let target = instance(&made, "2026-03-13T12:00:00", RecurrenceScope::This);
    let change = Event { title: Some("Other".to_owned()), ..lunch() };
    let changed = Sandbox::update_event(&api.context(), write(target, &change, &["title"])).unwrap();
    let rule = Event { recurrence: vec!["RRULE:FREQ=DAILY;INTERVAL=2".to_owned()], ..daily() };
    let changed = Sandbox::update_event(&api.context(), write(of(&changed), &rule, &["recurrence"])).unwrap();
    assert_eq!(changed.sources[0].items.len(), 1);
    assert_eq!(changed.warnings[0].target.as_deref(), Some("2026-03-13T12:00:00"));
}

#[test]
fn answer_an_invitation() {
    let api = Api::start();
    let bob = api.as_person("bob");
    let guest = |mail: &str| Attendee { email: mail.to_owned(), ..Attendee::default() };
    let invited =
        Event { attendees: vec![guest("alice@sandbox.test"), guest("bob@sandbox.test")], ..lunch() };
    Sandbox::check(&bob.context()).unwrap();
    let made = api.create(&invited, "i").unwrap();
    let id = made.item.clone().unwrap();
    let copy = event(&bob.read(&id), 0);
    assert_eq!((copy.read_only, copy.my_response), (true, Some(ResponseStatus::NeedsAction)));
    let respond = |response| EventRespond {
        collection: "work".to_owned(),
        target: EventTarget {
            source: Some(id.clone()),
            scope: RecurrenceScope::All,
            ..EventTarget::default()
        },
        response,
        comment: Some("gladly".to_owned()),
        notify_organizer: true,
        ..EventRespond::default()
    };
    let answered = Sandbox::respond(&bob.context(), respond(ResponseStatus::Accepted)).unwrap();
    assert_eq!(event(&answered.sources[0], 0).my_response, Some(ResponseStatus::Accepted));
    let hosted = event(&api.read(&id), 0);
    assert_eq!(hosted.attendees[1].response_status, ResponseStatus::Accepted);
    assert_eq!(hosted.attendees[1].comment.as_deref(), Some("gladly"));
    let failure =
        refused(Sandbox::respond(&api.context(), respond(ResponseStatus::Accepted)), code::CONFLICT);
    assert_eq!(failure.detail.unwrap()["reason"], "organizer_cannot_rsvp");
}

#[test]
fn conferences() {
    let api = Api::start();
    let made = api.create(&lunch(), "m").unwrap();
    let args = |made: &Mutated, provider| EventConference {
        collection: "work".to_owned(),
        target: of(made),
        provider,
        ..Default::default()
    };
    // The calendar supports the provider's own service only.
    let teams = args(&made, Some(ConferenceProvider::Teams));
    refused(Sandbox::conference(&api.context(), teams), code::UNSUPPORTED);
    let with = Sandbox::conference(&api.context().keyed("v"), args(&made, None)).unwrap();
    let conference = event(&with.sources[0], 0).conference.unwrap();
    assert_eq!(
        (conference.provider, conference.status),
        (ConferenceProvider::Other, ConferenceStatus::Ready)
    );
    assert!(conference.join_url.unwrap().starts_with("https://meet.sandbox.test/"));
    let features = Sandbox::features(&api.context()).unwrap();
    assert_eq!(features.conference, [ConferenceProvider::Other]);
}

#[test]
fn free_and_busy() {
    let api = Api::start();
    let mut args = FreeBusyRequest {
        collections: vec!["personal".to_owned()],
        email: None,
        start: at("2026-03-15T00:00:00Z"),
        end: at("2026-03-16T00:00:00Z"),
    };
    let busy = Sandbox::free_busy(&api.context(), args.clone()).unwrap().busy;
    assert_eq!((busy.len(), busy[0].start, busy[0].show_as), (1, at("2026-03-15T08:00:00Z"), ShowAs::Busy));
    (args.collections, args.email) = (Vec::new(), Some("bob@sandbox.test".to_owned()));
    assert_eq!(Sandbox::free_busy(&api.context(), args.clone()).unwrap().busy.len(), 2);
    args.email = Some("nobody@sandbox.test".to_owned());
    refused(Sandbox::free_busy(&api.context(), args), code::NOT_FOUND);
}

/// Each fault of the provider becomes one defined failure.
#[test]
fn faults() {
    let api = Api::start();
    let (_, cursor) = api.walk(None, true);
    let cases = [
        (json!({ "status": 429, "retryAfterS": 3 }), code::RATE_LIMITED, Some(3000)),
        (json!({ "status": 401 }), code::AUTH_EXPIRED, None),
        (json!({ "status": 410, "syncTokenOnly": true }), code::CURSOR_EXPIRED, None),
        (json!({ "status": 503, "retryAfterS": 1 }), code::UNAVAILABLE, Some(1000)),
        (json!({ "status": 403 }), code::FORBIDDEN, None),
        (json!({ "lostAnswer": true }), code::UNAVAILABLE, None),
    ];
    for (fault, expected, retry_after_ms) in cases {
        api.fault(fault);
        let failure = refused(api.changes(cursor.clone(), 0), expected);
        assert_eq!(failure.retry_after_ms, retry_after_ms);
    }
    assert!(api.changes(cursor, 0).is_ok());
    let bad = Event { color: Some("red".to_owned()), ..lunch() };
    let failure = refused(api.create(&bad, "bad"), code::INVALID);
    assert_eq!(failure.message, "the provider rejected creating the event: color must look like #3b82f6");
}
