//! Replays in the panel: what a webhook missed is sent again, once for a form; and the webhook of an operator who leaves.

use harness::panel_user::PanelUser;
use harness::receiver::Receiver;
use harness::{Exchange, TestServer};
use serde_json::{Value, json};
use service::app::event_log::{NewLogEntry, Origin, append};
use service::manage::actor::{Actor, Role};
use service::manage::operators::rights;
use storage::log;

use crate::admin::client::{assert_whole, led_to, token};

const HOUR_MS: i64 = 3_600_000;

/// A developer at the webhooks of the application "test", and a server that events are sent to.
struct ReplayDesk {
    server: TestServer,
    developer: PanelUser,
    receiver: Receiver,
    /// The path of the list of webhooks.
    webhooks: String,
}

impl ReplayDesk {
    async fn start() -> ReplayDesk {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let server = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
        let server = server.start().await;
        let developer = server.operator(Some(Role::Developer)).await;
        let webhooks = format!("/admin/apps/{}/webhooks", server.test_application().await.application_id);
        ReplayDesk { server, developer, receiver: Receiver::start().await, webhooks }
    }

    /// The id of a new webhook for tasks.
    async fn subscribe(&self) -> String {
        let body = json!({ "url": self.receiver.url(), "eventTypes": ["task.*"] });
        let made = self.server.client().await.post("/v1/webhooks", body).send().await.expect(201);
        made["id"].as_str().expect("an id").to_owned()
    }

    /// Lets something happen to a task, and delivers it; the id of the event.
    async fn happen(&self) -> String {
        let (app, tenant) = (self.server.app.clone(), self.server.test_application().await);
        let of = tenant.clone();
        let entry = NewLogEntry {
            connection_id: None,
            account_ids: None,
            entry_type: "task.created".to_owned(),
            change_type: "created",
            resource_type: "task",
            resource_id: "tsk_1".to_owned(),
            parent_id: String::new(),
            changed_fields: None,
            etag: None,
            origin: Origin::Provider,
            resource: None,
        };
        let written: base::error::Result<i64> = app
            .db
            .clone()
            .write(move |tx| Box::pin(async move { append(tx, &app, &of, vec![entry]).await }))
            .await;
        let sequence = written.expect("the event is stored");
        self.server.deliver().await;
        let lines = log::light_after(self.server.app.db.reader(), &tenant, sequence - 1, 1).await;
        lines.expect("the log is read").first().expect("the event is there").id.clone()
    }

    async fn page(&self, path: &str) -> Exchange {
        let page = self.developer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert_whole(&page);
        page
    }

    /// Sends the form with this token.
    async fn send(&self, path: &str, form: &str, fields: &[(&str, &str)]) -> Exchange {
        let sent = self.developer.post(path, form, fields).send().await;
        if sent.status != 303 {
            assert_whole(&sent);
        }
        sent
    }

    async fn replays(&self, id: &str) -> Vec<Value> {
        self.server.client().await.all(&format!("/v1/webhooks/{id}/replays")).await
    }
}

/// The value of a field that people do not see.
#[track_caller]
fn hidden(page: &Exchange, name: &str) -> String {
    let field = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.text.split_once(&field).unwrap_or_else(|| panic!("no {name} in {page}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Two clicks from a webhook that fails to everything that it missed; a form that is sent twice makes one replay.
#[tokio::test]
async fn a_webhook_gets_what_it_missed_since_it_broke() {
    let mut desk = ReplayDesk::start().await;
    let id = desk.subscribe().await;
    let early = desk.happen().await;
    let path = format!("{}/{id}/replays", desk.webhooks);
    assert!(!desk.page(&path).await.text.contains("Since it broke"));
    desk.server.clock.advance_ms(HOUR_MS);
    desk.receiver.answer(500, &[]);
    let missed = desk.happen().await;
    desk.receiver.taken();

    let own = desk.page(&format!("{}/{id}", desk.webhooks)).await;
    assert!(own.text.contains(&format!("webhooks/{id}/replays\">Send events again")), "{own}");
    let page = desk.page(&path).await;
    assert!(page.text.contains("value=\"since\" checked>"), "it is chosen: {page}");
    let since = hidden(&page, "since_at");
    let form = token(&desk.developer).await;
    for _ in 0..2 {
        let sent = desk.send(&path, &form, &[("which", "since"), ("since_at", &since)]).await;
        assert_eq!(led_to(&path, &sent), path);
        desk.server.deliver().await;
    }
    let received = desk.receiver.taken();
    let ids: Vec<&str> = received.iter().map(|received| received.header("webhook-id")).collect();
    assert_eq!(ids, [missed.as_str()], "once, and not what arrived an hour before: {early}");
    let replays = desk.replays(&id).await;
    assert_eq!(replays.len(), 1);
    assert_eq!(replays[0]["createdBy"], json!(desk.developer.id));
    let page = desk.page(&path).await;
    assert!(page.text.contains("Completed") && page.text.contains("Everything since "), "{page}");
    assert!(page.text.contains("The events are being sent again."), "{page}");

    desk.server.clock.advance_ms(HOUR_MS);
    desk.server.deliver().await;
    assert!(!desk.page(&path).await.text.contains("Since it broke"), "a delivery has succeeded");
    desk.server.clock.advance_ms(HOUR_MS);
    desk.receiver.answer(500, &[]);
    desk.happen().await;
    let client = desk.server.client().await;
    for status in ["disabled", "active"] {
        client.patch(format!("/v1/webhooks/{id}"), json!({ "status": status })).send().await.expect(200);
    }
    let page = desk.page(&path).await;
    assert!(page.text.contains("Since it broke"), "it was disabled, and nothing has arrived since: {page}");
}

/// Events are chosen by a time range, by their ids, or because they were given up; what is wrong stands at its field.
#[tokio::test]
async fn replays_are_chosen_by_time_ids_and_failure() {
    let mut desk = ReplayDesk::start().await;
    let id = desk.subscribe().await;
    let event = desk.happen().await;
    desk.receiver.taken();
    let path = format!("{}/{id}/replays", desk.webhooks);
    let unknown = "ev_01JQ8Z6V9C4T7R2M5N8P3K1W0X";
    let named = format!("{event}\n{unknown}");
    for (fields, text) in [
        (vec![], "Choose which events to send again."),
        (vec![("which", "nonsense")], "Choose which events to send again."),
        (vec![("which", "since"), ("since_at", "x")], "Choose which events to send again."),
        (vec![("which", "range")], "Enter the time of the first event."),
        (vec![("which", "range"), ("from", "yesterday")], "Enter a date and time"),
        (vec![("which", "range"), ("from", "2026-03-02 09:00")], "This time can&#39;t be used: "),
        (
            vec![("which", "range"), ("from", "2026-03-01T07:00"), ("to", "2026-03-01T06:00")],
            "This time can&#39;t be used: ",
        ),
        (vec![("which", "ids"), ("event_ids", " ,\n")], "Enter at least one event ID."),
        (vec![("which", "ids"), ("event_ids", named.as_str())], unknown),
        (
            vec![("which", "ids"), ("event_ids", "<script>alert(1)</script>")],
            "There are no events with these",
        ),
    ] {
        let sent = desk.send(&path, &token(&desk.developer).await, &fields).await;
        assert_eq!(sent.status, 400, "{fields:?}: {sent}");
        let (summary, _) = sent.text.split_once("<form class=\"form").expect("a form");
        assert!(summary.contains(text) && !sent.text.contains("<script>alert"), "{fields:?}: {sent}");
    }
    assert_eq!(desk.replays(&id).await.len(), 0);

    let mut counts = Vec::new();
    for fields in [
        vec![("which", "range"), ("from", "2026-03-01T07:00"), ("to", "2026-03-01T09:00")],
        vec![("which", "ids"), ("event_ids", event.as_str())],
        vec![("which", "failed")],
    ] {
        let sent = desk.send(&path, &token(&desk.developer).await, &fields).await;
        assert_eq!(led_to(&path, &sent), path, "{fields:?}");
        desk.server.deliver().await;
        counts.push(desk.receiver.taken().len());
    }
    assert_eq!(counts, [1, 1, 0], "nothing was given up");
    let page = desk.page(&path).await;
    for text in ["From ", "Single events", "Failed ones since "] {
        assert!(page.text.contains(text), "{text}: {page}");
    }

    let viewer = desk.server.operator(Some(Role::Viewer)).await;
    let seen = viewer.get(&path).send().await;
    assert!(seen.text.contains("Events sent again") && !seen.text.contains("method=\"post\""), "{seen}");
    let fields = [("which", "failed")];
    assert_eq!(viewer.post(&path, &token(&viewer).await, &fields).send().await.status, 404);
    let pause = format!("{}/{id}/pause", desk.webhooks);
    desk.send(&pause, &token(&desk.developer).await, &[]).await;
    let refused = desk.send(&path, &token(&desk.developer).await, &fields).await;
    assert_eq!(refused.status, 409, "{refused}");
    assert!(refused.text.contains("Resume it first."), "{refused}");
    assert_eq!(desk.replays(&id).await.len(), 3);
}

/// A webhook that was made in the panel goes on when its operator is disabled and has no role any more. Its page says who made it.
#[tokio::test]
async fn a_webhook_outlasts_its_operator() {
    let mut desk = ReplayDesk::start().await;
    let new = format!("{}/new", desk.webhooks);
    let url = desk.receiver.url();
    let fields = [("url", url.as_str()), ("events", "tasks")];
    let made = desk.send(&new, &token(&desk.developer).await, &fields).await;
    let (_, rest) = made.text.split_once("/webhooks/wh_").expect("a link to it");
    let id = format!("wh_{}", rest.split('"').next().unwrap_or_default());
    let tenant = desk.server.test_application().await;
    let (app, command, operator) = (&desk.server.app, Actor::command("a test"), desk.developer.id.clone());
    rights::disable(app, &command, &operator).await.expect("the operator is disabled");
    let removed = rights::set_role(app, &command, &operator, &tenant.organization_id, None).await;
    removed.expect("the role is taken away");
    desk.server.clock.advance_ms(HOUR_MS);
    let own = format!("{}/{id}", desk.webhooks);
    assert_eq!(desk.developer.get(&own).send().await.status, 303, "nobody is signed in");

    let event = desk.happen().await;
    assert_eq!(desk.receiver.next().await.header("webhook-id"), event);
    let client = desk.server.client().await;
    let webhook = client.get(format!("/v1/webhooks/{id}")).send().await.expect(200);
    assert_eq!((&webhook["status"], &webhook["keyId"]), (&json!("active"), &json!(operator)));
    let other = desk.server.operator(Some(Role::Viewer)).await;
    let page = other.get(&own).send().await;
    assert!(page.text.contains("Grace Member") && page.text.contains(&operator), "{page}");
}
