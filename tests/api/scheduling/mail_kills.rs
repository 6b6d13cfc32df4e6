//! The mail about a booking after a `kill -9`: each message of each step of its life is put into the outbox once, and arrives once,
//! wherever the service dies. The service runs as a process of its own; the provider runs in this one and lives on.
//!
//! `CRASH_KILLS=50 cargo xtask test -- -p switchboard-tests --test api scheduling::mail_kills::` kills more often.

use std::collections::BTreeSet;
use std::time::{Duration, Instant as Moment};

use base::clock::Clock;
use harness::{Actor, TestServer};
use model::Instant;
use reqwest::Client;
use serde_json::{Value, json};
use service::resources::mail::compose::message_id;
use storage::sql::query;
use storage::{Db, Options};

use super::{BOOKINGS, EVENT_TYPES, text};
use crate::crash::{Stubborn, key_with};
use crate::kills::{Process, answered, made};

/// How often the service is killed, where `CRASH_KILLS` does not say another number.
const KILLS: usize = 6;
/// A job that has lost its host waits longer each time.
const LIMIT: Duration = Duration::from_secs(120);
const WAIT: Duration = Duration::from_millis(1);
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const HOST: &str = "alice@sandbox.test";

/// A step of a booking's life.
struct Step {
    /// The action below the booking's path; empty: the booking is made.
    verb: &'static str,
    /// The method of the request that writes to the host's calendar.
    method: &'static str,
    /// The kind of its messages, and the booking's sequence after it.
    kind: &'static str,
    sequence: i64,
    /// The recipients, a message each.
    roles: &'static [&'static str],
}

const ALL: &[&str] = &["invitee", "guests", "hosts"];
const STEPS: [Step; 4] = [
    // Guests are invited to what takes place.
    Step { verb: "", method: "POST", kind: "pending", sequence: 0, roles: &["invitee", "hosts"] },
    Step { verb: "/confirm", method: "PATCH", kind: "confirmed", sequence: 0, roles: ALL },
    Step { verb: "/reschedule", method: "PATCH", kind: "rescheduled", sequence: 1, roles: ALL },
    Step { verb: "/cancel", method: "DELETE", kind: "cancelled", sequence: 1, roles: ALL },
];

/// The moment at which the service is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// As soon as a message is being written.
    InTheTurn,
    /// When the host's calendar has the change and has not answered: the messages wait for it.
    BeforeTheCalendarAnswers,
    /// When the provider has a message and has not answered.
    BeforeTheProviderAnswers,
}

const DEATHS: [Death; 3] =
    [Death::InTheTurn, Death::BeforeTheCalendarAnswers, Death::BeforeTheProviderAnswers];

struct Scene {
    process: Process,
    hosts: Vec<Stubborn>,
    db: Db,
    provider: TestServer,
    event_type: String,
    /// The provider's path of the calendar's events.
    events: String,
    first_ms: i64,
}

/// A message in the outbox.
struct Outgoing {
    id: String,
    /// When the provider may have got it, ms since 1970.
    handed_over_at: Option<i64>,
}

impl Scene {
    /// A class with seats, which the host confirms: the service itself invites people to it.
    async fn open() -> Scene {
        let provider = TestServer::start().await;
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
        let (process, mut api) = Process::start(None, &http).await;
        api.key = key_with(process.data.path(), &[]);
        let hosts = vec![api];
        let file = format!("sqlite://{}", process.data.path().join("switchboard.db").display());
        let db = Db::connect(&Options::for_url(file)).await.expect("the database");
        let account = json!({
            "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
            "credentials": { "username": HOST, "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write", "email.read", "email.write", "email.send"],
        });
        let connection = made(&hosts, "/v1/connections", &account).await;
        let calendar = json!({ "connectionId": connection["id"], "name": "Kills", "timeZone": "UTC" });
        let calendar = made(&hosts, "/v1/calendars", &calendar).await;
        let event_type = json!({
            "slug": "class", "title": "Class", "durationMinutes": 60, "requiresConfirmation": true, "seatsPerSlot": 3,
            "hosts": [{
                "connectionId": connection["id"], "calendarId": calendar["id"],
                "conflictCalendarIds": [calendar["id"]],
            }],
            "schedule": {
                "timeZone": "UTC",
                "weekly": [{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }],
            },
        });
        let event_type = text(&made(&hosts, EVENT_TYPES, &event_type).await["id"]);
        let events = format!("/sandbox/v1/calendars/{}/events", text(&calendar["externalId"]));
        let now = Clock::system().now_ms();
        let first_ms = now - now.rem_euclid(DAY_MS) + 2 * DAY_MS;
        Scene { process, hosts, db, provider, event_type, events, first_ms }
    }

    fn host(&self) -> Actor {
        self.provider.provider("alice")
    }

    /// Has the answer to the next such request held.
    async fn hold(&self, method: &str, path: &str) {
        let fault = json!({ "method": method, "pathPrefix": path, "heldAnswer": true });
        self.host().post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// Takes a step, and kills the service in the midst of what follows; when it was killed, in ms since 1970.
    async fn step(&mut self, booking_id: &mut String, step: &Step, (death, number): (Death, i64)) -> i64 {
        match death {
            Death::InTheTurn => {}
            Death::BeforeTheCalendarAnswers => self.hold(step.method, &self.events).await,
            Death::BeforeTheProviderAnswers => self.hold("POST", "/sandbox/v1/mail/send").await,
        }
        let start =
            |hours: i64| Instant::from_millis(self.first_ms + (2 * number + hours) * HOUR_MS).to_string();
        let (path, body) = match step.verb {
            "" => {
                let body = json!({
                    "eventTypeId": self.event_type, "start": start(0), "inviteeEmail": "ci-reader@sandbox.test",
                    "inviteeName": "Ada", "guests": [{ "email": "ci-writer@sandbox.test" }],
                });
                (BOOKINGS.to_owned(), body)
            }
            "/reschedule" => (format!("{BOOKINGS}/{booking_id}{}", step.verb), json!({ "start": start(1) })),
            verb => (format!("{BOOKINGS}/{booking_id}{verb}"), json!({})),
        };
        let key = format!("{number}{}", step.verb);
        let (status, answer) = answered(&self.hosts, 0, ("POST", path.as_str()), &body, &key).await;
        assert!(status.is_success(), "{key}: {status} {answer}");
        *booking_id = text(&answer["id"]);
        match death {
            Death::InTheTurn => self.until_a_message_is_written(booking_id).await,
            _ => self.until_held().await,
        }
        self.process.kill_and_start();
        let killed_at = Clock::system().now_ms();
        if death != Death::InTheTurn {
            self.host().delete("/sandbox/faults").send().await.expect(204);
        }
        self.hosts[0].ready().await;
        killed_at
    }

    /// Waits until a run writes a message, or all are written.
    async fn until_a_message_is_written(&self, booking_id: &str) {
        let end = Moment::now() + LIMIT;
        loop {
            let all = self.jobs(booking_id).await;
            if all.is_empty() || all.iter().any(|state| state == "running") {
                return;
            }
            assert!(Moment::now() < end, "no message is written: {all:?}");
            tokio::time::sleep(WAIT).await;
        }
    }

    async fn until_held(&self) {
        let (host, end) = (self.host(), Moment::now() + LIMIT);
        while host.get("/sandbox/faults").send().await.expect(200)["held"] != 1 {
            assert!(Moment::now() < end, "the provider is not asked");
            tokio::time::sleep(WAIT).await;
        }
    }

    /// Returns the states of the jobs that write the messages about a booking.
    async fn jobs(&self, booking_id: &str) -> Vec<String> {
        query("select state from jobs where id like $1")
            .bind(format!("booking_mail:{booking_id}:%"))
            .fetch_all(self.db.reader(), |row| row.get("state"))
            .await
            .expect("the jobs")
    }

    /// How many events are still to be written.
    async fn unwritten(&self) -> i64 {
        query("select count(*) as n from meeting_events where status not in ('written', 'deleted')")
            .fetch_one(self.db.reader(), |row| row.get("n"))
            .await
            .expect("a number")
    }

    async fn outbox(&self) -> Vec<Outgoing> {
        query("select internet_message_id, handed_over_at from outbox")
            .fetch_all(self.db.reader(), |row| {
                Ok(Outgoing {
                    id: row.get("internet_message_id")?,
                    handed_over_at: row.get("handed_over_at")?,
                })
            })
            .await
            .expect("the outbox")
    }

    /// How often a message is in the inbox of whom it is for.
    async fn arrived(&self, role: &str, message_id: &str) -> usize {
        let account = match role {
            "invitee" => "ci-reader",
            "guests" => "ci-writer",
            _ => "alice",
        };
        let path = format!("/sandbox/v1/mail/messages?limit=200&messageId={message_id}");
        let page = self.provider.provider(account).get(path).send().await.expect(200);
        let all = page["messages"].as_array().expect("messages").iter();
        let is_in_inbox =
            |message: &&Value| message["folderIds"].as_array().is_some_and(|f| f.contains(&json!("inbox")));
        all.filter(is_in_inbox).count()
    }

    /// Waits until the messages of a step have arrived; returns the number with an unknown outcome. A message that was being handed over
    /// when the service died, and that the provider does not have, may still arrive: the service searches for it, and never sends it
    /// again.
    async fn until_arrived(&self, booking_id: &str, step: &Step, killed_at: i64) -> usize {
        let end = Moment::now() + LIMIT;
        let mut unknown = BTreeSet::new();
        for role in step.roles {
            let id = message_of(booking_id, step, role);
            while self.arrived(role, &id).await == 0 {
                let outbox = self.outbox().await;
                let row = outbox.iter().find(|row| row.id == id);
                if row.is_some_and(|row| row.handed_over_at.is_some_and(|at| at < killed_at)) {
                    unknown.insert(id.clone());
                    break;
                }
                let is_written = row.is_some();
                assert!(Moment::now() < end, "{} for {role} never arrives; written: {is_written}", step.kind);
                tokio::time::sleep(WAIT).await;
            }
        }
        // None that would come once more is on its way, and the calendar is ready for the next step.
        while !self.jobs(booking_id).await.is_empty() || self.unwritten().await > 0 {
            assert!(Moment::now() < end, "what follows {} has no end", step.kind);
            tokio::time::sleep(WAIT).await;
        }
        unknown.len()
    }
}

/// Returns the Message-ID of a step's message, the same for each attempt and host.
fn message_of(booking_id: &str, step: &Step, role: &str) -> String {
    message_id(&format!("booking/{booking_id}/{}/{}/{role}", step.kind, step.sequence), Some(HOST))
}

/// Bookings are made, confirmed, moved and cancelled, and the service is killed after each of these steps at another place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_each_message_arrives_once() {
    let kills = std::env::var("CRASH_KILLS").map_or(KILLS, |n| n.parse().expect("CRASH_KILLS is a number"));
    let mut scene = Scene::open().await;
    let (mut killed, mut unknown, mut booked) = (0, 0, Vec::new());
    for number in 0.. {
        let mut booking_id = String::new();
        for step in &STEPS {
            let death = DEATHS[killed % DEATHS.len()];
            let killed_at = scene.step(&mut booking_id, step, (death, number)).await;
            unknown += scene.until_arrived(&booking_id, step, killed_at).await;
            killed += 1;
        }
        booked.push(booking_id);
        if killed >= kills {
            break;
        }
    }
    let (mut wanted, mut arrived) = (BTreeSet::new(), 0);
    for booking_id in &booked {
        for (step, role) in STEPS.iter().flat_map(|step| step.roles.iter().map(move |role| (step, role))) {
            let id = message_of(booking_id, step, role);
            let count = scene.arrived(role, &id).await;
            assert!(count <= 1, "{} for {role} of {booking_id} has arrived {count} times", step.kind);
            arrived += count;
            wanted.insert(id);
        }
    }
    let outbox = scene.outbox().await;
    let written: BTreeSet<String> = outbox.iter().map(|row| row.id.clone()).collect();
    assert_eq!(
        (written.len(), &written),
        (outbox.len(), &wanted),
        "each message is written once, and no other"
    );
    assert!(
        arrived + unknown >= wanted.len(),
        "{arrived} of {} have arrived, {unknown} may be lost",
        wanted.len()
    );
    assert!(
        arrived > unknown,
        "{arrived} messages have arrived, of {unknown} nobody can know: too many to prove anything"
    );
    println!("{killed} kills: {arrived} messages arrived once, of {unknown} nobody can know");
    scene.db.close().await;
}
