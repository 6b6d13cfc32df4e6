//! Our side: a server with the calendars of many sandbox accounts, which are synced, and event types with meetings.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Map, Value, json};

use crate::bench::load::Load;
use crate::bench::rig::Rig;
use crate::http::Client;
use crate::server::Server;

const SCOPES: &str =
    "connections.read,connections.write,calendar.read,calendar.write,scheduling.read,scheduling.write";
const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const SLOTS: &str = "/v1/scheduling/availability/query";
pub const BOOKINGS: &str = "/v1/scheduling/bookings";
/// Clients that make calendars in parallel.
const CLIENTS: usize = 10;
/// The time limit until calendars have been read, and meetings written to them.
const SETTLED: Duration = Duration::from_secs(120);
/// The first meetings are the earliest ones, so that one day reaches its limit.
const EARLIEST: usize = 10;

/// The data of both sides.
pub struct SchedulingData {
    /// The output of `peer.mjs`.
    data: Value,
    calendars: Vec<Vec<Value>>,
}

impl SchedulingData {
    /// Reads the output of `peer.mjs`.
    pub fn from_value(mut data: Value) -> Result<SchedulingData> {
        let calendars = serde_json::from_value(data["calendars"].take()).context("there are no calendars")?;
        Ok(SchedulingData { data, calendars })
    }

    /// How many events a calendar has.
    pub fn events(&self) -> usize {
        self.calendars.first().map_or(0, Vec::len)
    }

    /// The month that most of the range lies in, as `2026-10`.
    pub fn month(&self) -> &str {
        self.data["month"].as_str().unwrap_or_default()
    }

    /// Returns a search for the slots of an event type in the first days.
    pub fn query(&self, of: &EventType, days: usize) -> Value {
        json!({ "eventTypeId": of.id, "start": self.data["start"], "end": self.data["ends"][days.to_string()] })
    }

    /// Returns the fields of an event type without its name and hosts.
    fn rules(&self) -> Map<String, Value> {
        let rules = json!({
            "durationMinutes": 30, "slotIntervalMinutes": 15, "bufferBeforeMinutes": 10, "bufferAfterMinutes": 5,
            "minNoticeMinutes": 120, "limits": { "perDay": 8 },
            "schedule": {
                "timeZone": self.data["zone"],
                "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "17:00" }],
            },
        });
        rules.as_object().cloned().unwrap_or_default()
    }
}

/// An account with its calendar.
pub struct CalendarHost {
    pub connection: String,
    pub calendar: String,
}

impl CalendarHost {
    /// Returns the host as a host of an event type.
    pub fn role(&self, role: &str) -> Value {
        json!({
            "connectionId": self.connection, "calendarId": self.calendar,
            "conflictCalendarIds": [self.calendar], "role": role,
        })
    }
}

/// An event type, with its bookings.
pub struct EventType {
    pub id: String,
    pub slug: String,
    pub hosts: usize,
    bookings: Vec<Value>,
}

/// A server with hosts.
pub struct Service {
    pub server: Server,
    pub client: Client,
    key: String,
    pub hosts: Vec<CalendarHost>,
}

impl Service {
    /// Starts a server with an empty database, and makes a key.
    pub fn start(rig: &Rig, name: &str, environment: &[(&str, &str)]) -> Result<Service> {
        let server = rig.server(&rig.folder(name)?, environment)?;
        let (_, key) = server.create_key(SCOPES, &["--rate-limit-per-minute", "100000000"])?;
        let key = text(&key, "key")?;
        let client = Client::new(&server.url, &key);
        Ok(Service { server, client, key, hosts: Vec::new() })
    }

    /// Connects an account for each calendar of the plan.
    pub fn with_hosts(self, plan: &SchedulingData) -> Result<Service> {
        let zone = &plan.data["zone"];
        let made: Result<Vec<Vec<(usize, CalendarHost)>>> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|first| {
                    let service = &self;
                    scope.spawn(move || {
                        let own = plan.calendars.iter().enumerate().skip(first).step_by(CLIENTS);
                        own.map(|(number, events)| Ok((number, service.host(number, zone, events)?)))
                            .collect::<Result<Vec<(usize, CalendarHost)>>>()
                    })
                })
                .collect();
            let joined = |client: std::thread::ScopedJoinHandle<'_, Result<Vec<(usize, CalendarHost)>>>| {
                client.join().map_err(|_| anyhow!("a client panicked"))?
            };
            clients.into_iter().map(joined).collect()
        });
        let mut made: Vec<(usize, CalendarHost)> = made?.into_iter().flatten().collect();
        made.sort_unstable_by_key(|(number, _)| *number);
        Ok(Service { hosts: made.into_iter().map(|(_, host)| host).collect(), ..self })
    }

    /// Connects an account, with a calendar that has these events and is synced.
    pub fn host(&self, number: usize, zone: &Value, events: &[Value]) -> Result<CalendarHost> {
        let client = Client::new(&self.server.url, &self.key);
        let body = json!({
            "provider": "sandbox",
            "credentials": { "username": format!("host{number}@sandbox.test"), "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection =
            text(&client.send("POST", "/v1/connections", &[], Some(&body))?.expect(&[201])?, "id")?;
        let body = json!({ "connectionId": connection, "name": "Bench", "timeZone": zone });
        let calendar = text(&client.send("POST", "/v1/calendars", &[], Some(&body))?.expect(&[201])?, "id")?;
        let path = format!("/v1/calendars/{calendar}");
        for event in events {
            client.send("POST", &format!("{path}/events"), &[], Some(event))?.expect(&[201])?;
        }
        let start = format!("{path}/sync/start");
        client.send("POST", &start, &[], Some(&json!({})))?.expect(&[200, 202])?;
        until("the calendar is not synced", || {
            Ok(client.get(&format!("{path}/sync/status"))?["status"] == "caught_up")
        })?;
        Ok(CalendarHost { connection, calendar })
    }

    /// Makes an event type with the first hosts: one, or a pool of which one is chosen.
    pub fn event_type(&self, slug: &str, plan: &SchedulingData, hosts: usize) -> Result<EventType> {
        let (assignment, role) = if hosts == 1 { ("fixed", "required") } else { ("roundRobin", "rotation") };
        let mut body = plan.rules();
        body.insert("assignment".to_owned(), json!(assignment));
        body.insert("hosts".to_owned(), self.hosts.iter().take(hosts).map(|host| host.role(role)).collect());
        self.make(slug, body, hosts)
    }

    /// Makes an event type of these fields.
    pub fn make(&self, slug: &str, mut body: Map<String, Value>, hosts: usize) -> Result<EventType> {
        for (name, value) in [("slug", slug), ("title", "Bench")] {
            body.insert(name.to_owned(), json!(value));
        }
        // No mail: the accounts have no mailbox.
        body.insert("notifications".to_owned(), json!({ "invitee": false }));
        let body = Value::from(body);
        let made = self.client.send("POST", EVENT_TYPES, &[], Some(&body))?.expect(&[201])?;
        Ok(EventType { id: text(&made, "id")?, slug: slug.to_owned(), hosts, bookings: Vec::new() })
    }

    /// The answer to a search.
    pub fn ask(&self, query: &Value) -> Result<Value> {
        self.client.send("POST", SLOTS, &[], Some(query))?.expect(&[200])
    }

    /// Books this number of meetings in the first days: some early ones, the others at any time.
    pub fn fill(
        &self,
        of: &mut EventType,
        plan: &SchedulingData,
        (days, count): (usize, usize),
    ) -> Result<()> {
        for number in 0..count {
            let found = self.ask(&plan.query(of, days))?;
            let slots = found["data"].as_array().context("there are no slots")?;
            ensure!(!slots.is_empty(), "everything is booked");
            let place = if number < EARLIEST { 0 } else { number * 7_919 % slots.len() };
            let start = slots.get(place).map(|slot| slot["start"].clone()).unwrap_or_default();
            let body = invitation(&of.id, &start, number);
            of.bookings.push(self.client.send("POST", BOOKINGS, &[], Some(&body))?.expect(&[201])?);
        }
        Ok(())
    }

    /// Waits until the meetings of event types are in their hosts' calendars.
    pub fn settle(&self, all: &[&EventType]) -> Result<()> {
        for booking in all.iter().flat_map(|of| &of.bookings) {
            let path = format!("{BOOKINGS}/{}", text(booking, "id")?);
            until("a meeting is not in its host's calendar", || {
                let read = self.client.get(&path)?;
                let events = read["calendarEvents"].as_array().map_or(&[][..], Vec::as_slice);
                Ok(!events.is_empty() && events.iter().all(|event| event["status"] == "written"))
            })?;
        }
        Ok(())
    }

    /// Returns the input for the other program: the same events, meetings and event types.
    pub fn input(&self, plan: &SchedulingData, all: &[&EventType]) -> Value {
        let hosts = self.hosts.iter().zip(&plan.calendars);
        let hosts: Vec<Value> =
            hosts.map(|(host, events)| json!({ "id": host.connection, "events": events })).collect();
        let meeting = |(id, booking): (&String, &Value)| {
            let host = &booking["hostIds"][0];
            json!({ "eventType": id, "host": host, "start": booking["start"], "end": booking["end"] })
        };
        let booked = all.iter().flat_map(|of| of.bookings.iter().map(|booking| (&of.id, booking)));
        let meetings: Vec<Value> = booked.map(meeting).collect();
        let mut event_types = Map::new();
        for of in all {
            let mut rules = plan.rules();
            let hosts = self.hosts.iter().take(of.hosts).map(|host| Value::from(host.connection.as_str()));
            rules.insert("hosts".to_owned(), hosts.collect());
            event_types.insert(of.id.clone(), Value::from(rules));
        }
        json!({ "secret": self.key, "hosts": hosts, "meetings": meetings, "eventTypes": event_types })
    }

    /// Load by searches.
    pub fn load(&self, query: &Value, clients: usize) -> Load {
        Load { clients, ..self.posts(SLOTS, query, 200) }
    }

    /// Returns the load that books a slot, with an invitee for each request and, if `is_keyed`, an Idempotency-Key for each.
    pub fn booking(&self, of: &EventType, start: &Value, is_keyed: bool) -> Load {
        let mut load = self.posts(BOOKINGS, &invitation(&of.id, start, "{n}"), 201);
        if is_keyed {
            load.headers.push("idempotency-key: race-{n}".to_owned());
        }
        load
    }

    /// Returns the load of one client with this body and expected status.
    fn posts(&self, path: &str, body: &Value, status: u16) -> Load {
        Load {
            address: self.server.options.listen,
            method: "POST",
            path: path.to_owned(),
            choices: Arc::default(),
            headers: vec![format!("authorization: Bearer {}", self.key)],
            body: body.to_string(),
            status,
            clients: 1,
        }
    }
}

/// Returns the body of a booking request.
pub fn invitation(event_type: &str, start: &Value, number: impl Display) -> Value {
    json!({
        "eventTypeId": event_type, "start": start,
        "inviteeEmail": format!("guest{number}@example.org"), "inviteeName": "Ada Lovelace",
    })
}

/// A text of an answer.
pub fn text(answer: &Value, name: &str) -> Result<String> {
    Ok(answer[name].as_str().with_context(|| format!("there is no {name} in the answer"))?.to_owned())
}

/// Repeats a check until it is true.
fn until(otherwise: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !is_so()? {
        ensure!(start.elapsed() < SETTLED, "{otherwise}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
