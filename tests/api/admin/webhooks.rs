//! Webhooks: how each stands and why, what a test shows, how one is made, paused and deleted, and who may do what.

use std::cell::Cell;

use harness::panel_user::PanelUser;
use harness::receiver::Receiver;
use harness::{Exchange, TestServer};
use serde_json::{Value, json};
use service::manage::actor::Role;
use storage::sql::query;

use crate::admin::client::{assert_whole, led_to, other_application, token, webhook_of};

const HOSTILE: &str = "<script>alert(1)</script>";

/// A developer at the webhooks of the application "test", and a server that events are sent to.
struct Desk {
    server: TestServer,
    developer: PanelUser,
    receiver: Receiver,
    /// The path of the list.
    list: String,
}

impl Desk {
    async fn start() -> Desk {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let server = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
        let server = server.start().await;
        let developer = server.operator(Some(Role::Developer)).await;
        let list = format!("/admin/apps/{}/webhooks", server.test_application().await.application_id);
        Desk { server, developer, receiver: Receiver::start().await, list }
    }

    /// The id of a new webhook that leads to the receiver.
    async fn subscribe(&self) -> String {
        let body = json!({ "url": self.receiver.url(), "eventTypes": ["calendar.*"] });
        let made = self.server.client().await.post("/v1/webhooks", body).send().await.expect(201);
        made["id"].as_str().expect("an id").to_owned()
    }

    async fn webhook(&self, id: &str) -> Value {
        self.server.client().await.get(format!("/v1/webhooks/{id}")).send().await.expect(200)
    }

    async fn page(&self, path: &str) -> Exchange {
        let page = self.developer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        assert_whole(&page);
        page
    }

    /// Sends a form of the panel.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Exchange {
        self.developer.post(path, &token(&self.developer).await, fields).send().await
    }

    /// Sends a test with this token, and delivers meanwhile.
    async fn test(&self, id: &str, form: &str) -> Exchange {
        let (path, is_answered) = (format!("{}/{id}/test", self.list), Cell::new(false));
        let asked = async {
            let answer = self.developer.post(path, form, &[]).send().await;
            is_answered.set(true);
            answer
        };
        let delivering = async {
            while !is_answered.get() {
                self.server.deliver().await;
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(asked, delivering).0
    }

    /// Runs a statement with one text and the id of a webhook.
    async fn change(&self, sql: &'static str, text: &str, id: &str) {
        let (text, id) = (text.to_owned(), id.to_owned());
        let changed: anyhow::Result<u64> = self
            .server
            .app
            .db
            .write(move |tx| Box::pin(async move { query(sql).bind(&text).bind(&id).execute(tx).await }))
            .await;
        assert_eq!(changed.expect("it is written"), 1);
    }
}

#[tokio::test]
async fn an_application_without_webhooks_says_what_they_are() {
    let desk = Desk::start().await;
    let page = desk.page(&desk.list).await;
    assert!(page.text.contains("No webhooks yet"), "{page}");
    assert!(page.text.contains("aria-current=\"page\""), "it has its entry in the menu: {page}");
}

/// Each state has its word and its reason, in the list and on the webhook's page.
#[tokio::test]
async fn a_webhook_says_how_it_stands_and_why() {
    let desk = Desk::start().await;
    let id = desk.subscribe().await;
    let own = format!("{}/{id}", desk.list);
    let failure = json!({ "status": 500, "error": "http", "at": "2026-03-01T08:00:00Z" }).to_string();
    for (sql, text, word, why) in [
        ("update webhooks set status = $1 where id = $2", "active", "Active", ""),
        ("update webhooks set status = $1 where id = $2", "paused", "Paused", "Nothing is sent while"),
        (
            "update webhooks set status = 'disabled', disabled_reason = $1 where id = $2",
            "gone_410",
            "Disabled",
            "answered 410 Gone",
        ),
        (
            "update webhooks set status = 'disabled', disabled_reason = $1 where id = $2",
            "failures_5d",
            "Disabled",
            "failed for 5 days",
        ),
        (
            "update webhooks set status = 'disabled', disabled_reason = $1 where id = $2",
            "key_ended",
            "Disabled",
            "was revoked or has expired",
        ),
        (
            "update webhooks set status = 'active', disabled_reason = null, consecutive_failures = 12, last_failure = $1 \
             where id = $2",
            failure.as_str(),
            "Failing",
            "The last 12 attempts failed: your server answered 500.",
        ),
    ] {
        desk.change(sql, text, &id).await;
        for path in [&desk.list, &own] {
            let page = desk.page(path).await;
            assert!(page.text.contains(word) && page.text.contains(why), "{word} {path}: {page}");
        }
    }
}

/// A test shows what the server answered; a form that is sent twice sends one.
#[tokio::test]
async fn a_test_shows_the_answer() {
    let mut desk = Desk::start().await;
    let id = desk.subscribe().await;
    let form = token(&desk.developer).await;
    let tested = desk.test(&id, &form).await;
    assert_eq!(tested.status, 200, "{tested}");
    assert_whole(&tested);
    assert!(tested.text.contains("Test delivered: your server answered 204 after "), "{tested}");
    let event = desk.receiver.next().await.header("webhook-id").to_owned();
    assert!(tested.text.contains(&event), "it is among the deliveries: {tested}");
    let again = desk.test(&id, &form).await;
    assert!(again.text.contains("Test delivered"), "{again}");
    assert!(desk.receiver.taken().is_empty(), "it is sent once");

    desk.receiver.answer(500, &[]);
    let failed = desk.test(&id, &token(&desk.developer).await).await;
    assert!(failed.text.contains("Test failed: your server answered 500 ("), "{failed}");
    assert!(failed.text.contains("Will retry"), "{failed}");
}

/// A pause keeps what happens; while it lasts there is nothing to test.
#[tokio::test]
async fn a_webhook_is_paused_and_resumed() {
    let desk = Desk::start().await;
    let id = desk.subscribe().await;
    let own = format!("{}/{id}", desk.list);
    let paused = desk.post(&format!("{own}/pause"), &[]).await;
    assert_eq!(led_to(&format!("{own}/pause"), &paused), own);
    assert_eq!(desk.webhook(&id).await["status"], "paused");
    let page = desk.page(&own).await;
    assert!(page.text.contains("Webhook paused."), "{page}");
    assert!(page.text.contains("/resume\"") && !page.text.contains("/pause\""), "{page}");
    let refused = desk.post(&format!("{own}/test"), &[]).await;
    assert_eq!(refused.status, 409, "{refused}");
    assert!(refused.text.contains("Resume it first."), "{refused}");
    assert_eq!(desk.post(&format!("{own}/resume"), &[]).await.status, 303);
    assert_eq!(desk.webhook(&id).await["status"], "active");
}

/// Deleting is asked for by a page that says what follows; the same form sent twice has the same answer.
#[tokio::test]
async fn deleting_is_confirmed() {
    let desk = Desk::start().await;
    let id = desk.subscribe().await;
    let path = format!("{}/{id}/delete", desk.list);
    let page = desk.page(&path).await;
    assert!(page.text.contains("Delete the webhook 127.0.0.1?"), "{page}");
    let form = token(&desk.developer).await;
    for _ in 0..2 {
        let deleted = desk.developer.post(&path, &form, &[]).send().await;
        assert_eq!(led_to(&path, &deleted), desk.list);
    }
    let client = desk.server.client().await;
    client.get(format!("/v1/webhooks/{id}")).send().await.refused(404, "not_found");
}

/// A viewer reads the pages, has no button, and finds no form.
#[tokio::test]
async fn viewers_change_nothing() {
    let desk = Desk::start().await;
    let id = desk.subscribe().await;
    let viewer = desk.server.operator(Some(Role::Viewer)).await;
    let (own, form) = (format!("{}/{id}", desk.list), token(&viewer).await);
    for path in [&desk.list, &own] {
        let page = viewer.get(path).send().await;
        assert_eq!(page.status, 200, "{path}: {page}");
        for button in ["method=\"post\"", "/delete\"", "webhooks/new\""] {
            assert!(!page.text.contains(button), "{path} {button}: {page}");
        }
    }
    for end in ["test", "pause", "resume", "rotate", "delete"] {
        let sent = viewer.post(format!("{own}/{end}"), &form, &[]).send().await;
        assert_eq!(sent.status, 404, "{end}: {sent}");
    }
    assert_eq!(desk.webhook(&id).await["status"], "active");
}

/// The ids of another organization's webhooks are unknown behind one's own application.
#[tokio::test]
async fn webhooks_of_others_are_not_there() {
    let desk = Desk::start().await;
    let theirs = webhook_of(&desk.server, &other_application(&desk.server).await).await;
    for end in ["", "/delete"] {
        let path = format!("{}/{theirs}{end}", desk.list);
        assert_eq!(desk.developer.get(&path).send().await.status, 404, "{path}");
    }
    for end in ["test", "pause", "resume", "rotate", "delete"] {
        let path = format!("{}/{theirs}/{end}", desk.list);
        assert_eq!(desk.post(&path, &[]).await.status, 404, "{path}");
    }
    let page = desk.page(&desk.list).await;
    assert!(!page.text.contains(&theirs), "{page}");
    let asked = format!("/admin/search?q={theirs}");
    assert_eq!(desk.developer.get(&asked).send().await.status, 404);
    let own = desk.subscribe().await;
    let asked = format!("/admin/search?q={own}");
    assert_eq!(
        led_to(&asked, &desk.developer.get(&asked).send().await),
        format!("{}/{own}", desk.list),
        "one's own is found"
    );
}

/// The page of an event has the body as it was sent and each attempt; the event is sent again, once for a form.
#[tokio::test]
async fn an_event_is_sent_again() {
    let mut desk = Desk::start().await;
    let id = desk.subscribe().await;
    desk.receiver.answer(500, &[]);
    desk.test(&id, &token(&desk.developer).await).await;
    let sent = desk.receiver.next().await;
    let event = sent.header("webhook-id").to_owned();
    let path = format!("{}/{id}/{event}", desk.list);
    let page = desk.page(&path).await;
    let body = String::from_utf8_lossy(&sent.body).replace('"', "&quot;");
    assert!(page.text.contains(&body), "byte for byte: {page}");
    assert!(page.text.contains("your server answered 500 ("), "{page}");
    let viewer = desk.server.operator(Some(Role::Viewer)).await;
    let seen = viewer.get(&path).send().await;
    assert!(!seen.text.contains(&body) && !seen.text.contains("method=\"post\""), "{seen}");
    let (again, form) = (format!("{path}/send-again"), token(&desk.developer).await);
    for _ in 0..2 {
        assert_eq!(led_to(&again, &desk.developer.post(&again, &form, &[]).send().await), path);
    }
    assert_eq!(viewer.post(&again, &token(&viewer).await, &[]).send().await.status, 404);
    desk.server.deliver().await;
    let received = desk.receiver.taken();
    assert_eq!(received.len(), 1, "once more");
    assert_eq!(received[0].header("webhook-id"), event);
    let page = desk.page(&path).await;
    assert!(page.text.contains("Sent again") && page.text.contains("204 after "), "{page}");
    let unknown = format!("{}/{id}/ev_01JQ8Z6V9C4T7R2M5N8P3K1W0X", desk.list);
    assert_eq!(desk.developer.get(unknown).send().await.status, 404);
}

/// The answer of a server is text, and so is the URL.
#[tokio::test]
async fn answers_are_text() {
    let desk = Desk::start().await;
    let id = desk.subscribe().await;
    let form = token(&desk.developer).await;
    desk.receiver.answer(500, &[]);
    desk.test(&id, &form).await;
    let hostile = json!([{
        "n": 1, "at": "2026-03-01T08:00:00Z", "statusCode": 500, "error": "http", "durationMs": 7, "responseSnippet": HOSTILE,
    }]);
    desk.change(
        "update webhook_deliveries set attempts = $1 where webhook_id = $2",
        &hostile.to_string(),
        &id,
    )
    .await;
    desk.change("update webhooks set url = $1 where id = $2", &format!("https://a.test/{HOSTILE}"), &id)
        .await;
    let page = desk.page(&format!("{}/{id}", desk.list)).await;
    assert!(!page.text.contains("<script>alert"), "{page}");
    assert!(page.text.contains("&lt;script&gt;alert(1)"), "the URL is text: {page}");
    assert!(!page.text.contains("href=\"https://a.test"), "and no link: {page}");
    assert!(page.text.contains("your server answered 500 (7 ms)"), "{page}");
    let (_, rest) = page.text.split_once(&format!("{id}/ev_")).expect("a link to the event");
    let event = rest.split('"').next().unwrap_or_default();
    let path = format!("{}/{id}/ev_{event}", desk.list);
    let page = desk.page(&path).await;
    assert!(!page.text.contains("<script>alert"), "{page}");
    assert!(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the answer is text: {page}");
    // A server may repeat what it was sent.
    let viewer = desk.server.operator(Some(Role::Viewer)).await;
    let seen = viewer.get(&path).send().await;
    assert!(seen.text.contains("your server answered 500 (7 ms)"), "{seen}");
    assert!(!seen.text.contains("alert(1)"), "no answer for viewers: {seen}");
}

/// A form makes one webhook, however often it is sent, and shows the secret that signs what the webhook sends. It ends with no key.
#[tokio::test]
async fn a_webhook_is_made_and_its_secret_shown_once() {
    let mut desk = Desk::start().await;
    let path = format!("{}/new", desk.list);
    desk.page(&path).await;
    let (form, url) = (token(&desk.developer).await, desk.receiver.url());
    let fields = [("url", url.as_str()), ("events", "calendars"), ("events", "tasks")];
    let mut ids = Vec::new();
    let mut secret = String::new();
    for _ in 0..2 {
        let made = desk.developer.post(&path, &form, &fields).send().await;
        assert_eq!(made.status, 200, "{made}");
        assert_whole(&made);
        secret = secret_of(&made);
        let (_, rest) = made.text.split_once("/webhooks/wh_").expect("a link to it");
        ids.push(format!("wh_{}", rest.split('"').next().unwrap_or_default()));
    }
    assert_eq!(ids[0], ids[1], "it is made once");
    let webhook = desk.webhook(&ids[0]).await;
    assert_eq!(webhook["eventTypes"], json!(["calendar.*", "task.*", "task_list.*"]));
    assert_eq!(webhook["keyId"], json!(desk.developer.id));
    for path in [desk.list.clone(), format!("{}/{}", desk.list, ids[0])] {
        let page = desk.page(&path).await;
        assert!(!page.text.contains(&secret), "{path}: {page}");
    }
    desk.test(&ids[0], &token(&desk.developer).await).await;
    assert!(desk.receiver.next().await.is_signed(&secret));
}

/// The signing secret that a page shows.
#[track_caller]
fn secret_of(page: &Exchange) -> String {
    let (_, rest) = page.text.split_once("whsec_").unwrap_or_else(|| panic!("no secret in {page}"));
    format!("whsec_{}", rest.split('<').next().unwrap_or_default())
}

#[tokio::test]
async fn a_form_that_lacks_something_says_what() {
    let desk = Desk::start().await;
    let path = format!("{}/new", desk.list);
    for (url, events, text) in [
        ("", "mail", "Enter the URL."),
        ("https://1.1.1.1/hook", "nonsense", "Choose at least one kind of event."),
        ("http://1.1.1.1/hook", "mail", "This URL can&#39;t be used: "),
        ("https://10.0.0.1/hook", "mail", "This URL can&#39;t be used: "),
        ("javascript:alert(1)", "mail", "This URL can&#39;t be used: "),
        (HOSTILE, "mail", "This URL can&#39;t be used: "),
    ] {
        let page = desk.post(&path, &[("url", url), ("events", events)]).await;
        assert_eq!(page.status, 400, "{url}: {page}");
        assert!(page.text.contains(text) && !page.text.contains(HOSTILE), "{url}: {page}");
        assert_whole(&page);
    }
    assert!(desk.page(&desk.list).await.text.contains("No webhooks yet"));
}

/// After a rotation the new secret signs first; the old one signs beside it until its time is over.
#[tokio::test]
async fn a_secret_is_rotated() {
    let mut desk = Desk::start().await;
    let id = desk.subscribe().await;
    let rotated = desk.post(&format!("{}/{id}/rotate", desk.list), &[("overlap", "3600")]).await;
    assert_eq!(rotated.status, 200, "{rotated}");
    assert_whole(&rotated);
    let secret = secret_of(&rotated);
    desk.test(&id, &token(&desk.developer).await).await;
    let sent = desk.receiver.next().await;
    assert!(sent.is_signed(&secret));
    assert_eq!(sent.header("webhook-signature").split(' ').count(), 2);
}

/// 50 webhooks a page, each on one of them; a cursor is of its list.
#[tokio::test]
async fn pages_hold_each_webhook_once() {
    let desk = Desk::start().await;
    let tenant = desk.server.test_application().await;
    let mut ids = Vec::new();
    for _ in 0..52 {
        ids.push(webhook_of(&desk.server, &tenant).await);
    }
    let first = desk.page(&desk.list).await;
    let (_, rest) = first.text.split_once("rel=\"next\" href=\"").expect("there are more");
    let next = rest.split('"').next().unwrap_or_default();
    let (_, query) = next.split_once('?').expect("a query");
    let second = desk.page(&format!("{}?{query}", desk.list)).await;
    for id in &ids {
        let times = [&first, &second].map(|page| usize::from(page.text.contains(id.as_str())));
        assert_eq!(times.iter().sum::<usize>(), 1, "{id}");
    }
    let other = desk.developer.get(format!("{}/{}?{query}", desk.list, ids[0])).send().await;
    assert_eq!(other.status, 400, "{other}");
}
