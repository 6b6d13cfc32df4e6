//! A calendar whose events are delivered to a receiver on this machine.

use base::tenant::Tenant;
use harness::receiver::{Received, Receiver};
use harness::{Actor, Builder, TestServer};
use serde_json::{Value, json};
use service::app::config::Config;
use service::app::event_log::{NewLogEntry, Origin, append};
use storage::api_keys;
use storage::sql::query;

/// The event type of the events that a desk creates.
pub const CREATED: &[&str] = &["calendar.event.created"];

/// A server that may deliver to the loopback interface, with a key, a calendar and who receives.
pub struct Desk {
    pub server: TestServer,
    pub api: Actor,
    pub connection: String,
    pub calendar: String,
    pub receiver: Receiver,
}

impl Desk {
    pub async fn start() -> Desk {
        Desk::start_with(|_| ()).await
    }

    /// Starts a desk with a setting changed.
    pub async fn start_with(change: impl FnOnce(&mut Config)) -> Desk {
        Desk::start_from(|builder| builder.config(change)).await
    }

    /// Starts a desk with changes beyond a setting.
    pub async fn start_from(change: impl FnOnce(Builder) -> Builder) -> Desk {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let allowed = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
        let server = change(allowed).start().await;
        let api = server.client().await;
        let connection = api.connect_sandbox().await;
        let calendar = api.calendar(&connection, "Work").await;
        let connection = connection["id"].as_str().expect("an id").to_owned();
        Desk { server, api, connection, calendar, receiver: Receiver::start().await }
    }

    /// The path of a new subscription to these event types.
    pub async fn subscribe(&self, event_types: &[&str]) -> String {
        let made = self.subscription(json!({ "eventTypes": event_types })).await;
        format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
    }

    /// A new subscription with these fields.
    pub async fn subscription(&self, fields: Value) -> Value {
        let mut body = fields;
        body["url"] = self.receiver.url().into();
        self.api.post("/v1/webhooks", body).send().await.expect(201)
    }

    pub async fn create_event(&self, title: &str) {
        let body = json!({
            "connection_id": self.connection,
            "title": title,
            "start": "2026-03-02T09:00:00Z",
            "end": "2026-03-02T10:00:00Z",
        });
        self.api.post(format!("/v1/calendars/{}/events", self.calendar), body).send().await.expect(201);
    }

    /// Creates events and takes their deliveries, in the order of the log.
    pub async fn delivered(&mut self, titles: &[&str]) -> Vec<Received> {
        for title in titles {
            self.create_event(title).await;
        }
        self.server.deliver().await;
        let mut received = self.receiver.taken();
        received.sort_by_key(|r| r.json()["sequence"].as_i64());
        received
    }

    /// The answer to the request for a replay.
    pub async fn ask_replay(&self, webhook: &str, body: Value) -> Value {
        self.api.post(format!("{webhook}/replay"), body).send().await.expect(202)
    }

    /// Replays these events.
    pub async fn replay(&self, webhook: &str, ids: &[&str]) -> Value {
        self.ask_replay(webhook, json!({ "eventIds": ids })).await
    }

    /// Returns the state of a replay.
    pub async fn standing(&self, webhook: &str, replay: &Value) -> Value {
        let id = replay["replayId"].as_str().expect("an id");
        self.api.get(format!("{webhook}/replays/{id}")).send().await.expect(200)
    }

    pub async fn set(&self, webhook: &str, status: &str) {
        self.api.patch(webhook, json!({ "status": status })).send().await.expect(200);
    }

    /// The ids of all events of calendar events, delivered or not, in the order of the log.
    pub async fn logged(&self) -> Vec<String> {
        let sql =
            "select id from log where type = 'calendar.event.created' and origin = 'api' order by sequence";
        query(sql).fetch_all(self.server.app.db.reader(), |row| row.get("id")).await.expect("the log")
    }

    pub async fn tenant(&self) -> Tenant {
        api_keys::tenants(self.server.app.db.reader()).await.expect("a query").remove(0)
    }

    /// Logs this number of events of this type, each about another calendar event: faster than creating them through the API.
    pub async fn log_events(&self, count: usize, entry_type: &str) {
        let note = |n: usize| NewLogEntry {
            connection_id: Some(self.connection.clone()),
            account_ids: None,
            entry_type: entry_type.to_owned(),
            change_type: "created",
            resource_type: "calendar.event",
            resource_id: format!("evt_{n}"),
            parent_id: self.calendar.clone(),
            changed_fields: None,
            etag: None,
            origin: Origin::Api,
            resource: Some(json!({ "title": format!("event {n}") }).to_string()),
        };
        let notes: Vec<NewLogEntry> = (0..count).map(note).collect();
        let (app, tenant) = (self.server.app.clone(), self.tenant().await);
        let db = app.db.clone();
        let written: base::error::Result<i64> =
            db.write(move |tx| Box::pin(async move { append(tx, &app, &tenant, notes).await })).await;
        written.expect("the log is written");
    }
}

pub fn id(received: &Received) -> &str {
    received.header("webhook-id")
}

pub fn ids(received: &[Received]) -> Vec<&str> {
    received.iter().map(id).collect()
}
