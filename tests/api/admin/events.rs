//! Events: the list, one of them, and the list while it is watched.

use std::time::Duration;

use base::tenant::Tenant;
use harness::panel_user::PanelUser;
use harness::receiver::Receiver;
use harness::{Exchange, TestServer};
use reqwest::{Response, Url};
use serde_json::json;
use service::app::event_log::{NewLogEntry, Origin, append};
use service::manage::actor::{Actor, Role};
use service::manage::operators::rights;
use storage::log;
use tokio::time::timeout;

use crate::admin::client::{assert_whole, event_of, led_to, other_application, token};

/// How long a test waits for what has to come: far longer than it takes.
const LIMIT: Duration = Duration::from_secs(60);
const HOUR_MS: i64 = 3_600_000;
const HOSTILE: &str = "<script>alert(1)</script>";

/// A server whose lists look at the log without long waits.
async fn server() -> TestServer {
    let loopback = "127.0.0.0/8".parse().expect("a network");
    TestServer::builder()
        .config(|config| {
            config.webhook_allow = vec![loopback];
            config.event_streams.look_every = Duration::from_millis(50);
            config.event_streams.beat_every = Duration::from_millis(50);
        })
        .start()
        .await
}

/// A change of a resource.
fn change(entry_type: &str, resource_id: &str) -> NewLogEntry {
    NewLogEntry {
        connection_id: Some("conn_a".to_owned()),
        account_ids: None,
        entry_type: entry_type.to_owned(),
        change_type: "created",
        resource_type: "task",
        resource_id: resource_id.to_owned(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::Provider,
        resource: Some(json!({ "id": resource_id, "title": HOSTILE }).to_string()),
    }
}

/// Writes events to the log of an application; the id of the last.
async fn write(server: &TestServer, tenant: &Tenant, entries: Vec<NewLogEntry>) -> String {
    let (app, of) = (server.app.clone(), tenant.clone());
    let written: base::error::Result<i64> =
        app.db.clone().write(move |tx| Box::pin(async move { append(tx, &app, &of, entries).await })).await;
    written.expect("the events are stored");
    let reader = server.app.db.reader();
    let last = log::last_sequence(reader, tenant).await.expect("the log is read");
    let lines = log::light_after(reader, tenant, last - 1, 1).await.expect("the log is read");
    lines.first().expect("the event is there").id.clone()
}

async fn page(user: &PanelUser, path: &str) -> Exchange {
    let page = user.get(path).send().await;
    assert_eq!(page.status, 200, "{path}: {page}");
    assert_whole(&page);
    page
}

/// The path and the query that an attribute of a page at `path` leads to.
#[track_caller]
fn target(page: &Exchange, path: &str, attribute: &str) -> String {
    let (_, rest) = page.text.split_once(attribute).unwrap_or_else(|| panic!("no {attribute} in {page}"));
    let value = rest.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let url = Url::parse("http://panel.test").and_then(|url| url.join(path)).and_then(|url| url.join(&value));
    let url = url.expect("an address");
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

/// The answer to the request of a page's script for what comes.
async fn watch(server: &TestServer, user: &PanelUser, path: &str, last_id: Option<i64>) -> Response {
    let client = harness::http_client().redirect(reqwest::redirect::Policy::none()).build();
    let asked = client.expect("an HTTP client").get(format!("http://{}{path}", server.address));
    let asked = asked.header("cookie", &user.cookies).header("accept", "text/event-stream");
    let asked = match last_id {
        Some(id) => asked.header("last-event-id", id.to_string()),
        None => asked,
    };
    asked.send().await.expect("the service answers")
}

/// A list that is watched.
struct LiveReader {
    response: Response,
    unread: Vec<u8>,
}

impl LiveReader {
    async fn open(server: &TestServer, user: &PanelUser, path: &str, last_id: Option<i64>) -> LiveReader {
        let response = watch(server, user, path, last_id).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        LiveReader { response, unread: Vec::new() }
    }

    /// The next block, without its end; none: the list has ended.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|two| two == b"\n\n") {
                let bytes: Vec<u8> = self.unread.drain(..end + 2).collect();
                return Some(String::from_utf8(bytes).expect("UTF-8").trim_end().to_owned());
            }
            let chunk = timeout(LIMIT, self.response.chunk()).await.expect("something in time");
            self.unread.extend_from_slice(&chunk.expect("the list is readable")?);
        }
    }

    /// The next rows.
    async fn rows(&mut self) -> String {
        loop {
            let block = self.block().await.expect("rows, and not the end");
            if block.contains("event: rows\n") {
                return block;
            }
        }
    }

    /// The last block before the end.
    async fn end(&mut self) -> String {
        let mut last = String::new();
        while let Some(block) = self.block().await {
            last = block;
        }
        last
    }
}

/// Newest first, by type and account. A page looks at 5,000 entries of the log at most, and the next one goes on where it stopped.
#[tokio::test]
async fn the_list_is_newest_first_and_narrowed() {
    let server = server().await;
    let developer = server.operator(Some(Role::Developer)).await;
    let tenant = server.test_application().await;
    let list = format!("/admin/apps/{}/events", tenant.application_id);
    let empty = page(&developer, &list).await;
    assert!(empty.text.contains("No events yet") && empty.text.contains("accounts/new\""), "{empty}");
    assert!(empty.text.contains("aria-current=\"page\""), "it has its entry in the menu: {empty}");

    write(&server, &tenant, vec![change("task.created", "tsk_first")]).await;
    let initial =
        NewLogEntry { origin: Origin::Backfill, ..change("email.message.created", "msg_of_initial_sync") };
    let many = (0..5_000).map(|n| change("email.message.created", &format!("msg_{n}_")));
    write(&server, &tenant, many.chain([initial]).collect()).await;
    let first = page(&developer, &list).await;
    assert_eq!(first.text.matches("<th scope=\"row\"").count(), 50);
    let place = |id: &str| first.text.find(id).unwrap_or_else(|| panic!("no {id} in {first}"));
    assert!(place("msg_4999_") < place("msg_4998_") && place("msg_4998_") < place("msg_4950_"), "{first}");
    assert!(!first.text.contains("msg_4949_") && !first.text.contains("msg_of_initial_sync"), "{first}");
    let next = target(&first, &list, "rel=\"next\" href=\"");
    let second = page(&developer, &next).await;
    assert!(second.text.contains("msg_4949_") && !second.text.contains("msg_4950_"), "{second}");
    let shown = page(&developer, &format!("{list}?initial=shown")).await;
    assert!(shown.text.contains("msg_of_initial_sync"), "{shown}");

    let tasks = format!("{list}?type=task.*");
    let none = page(&developer, &tasks).await;
    assert!(none.text.contains("None of the 5,000 events here match."), "{none}");
    let older = page(&developer, &target(&none, &list, "rel=\"next\" href=\"")).await;
    assert!(older.text.contains("tsk_first"), "{older}");
    assert_eq!(developer.get(next.replace('?', "?type=task.*&")).send().await.status, 400);
    for (query, status) in [
        ("account=conn_none".to_owned(), 200),
        ("type=%25".to_owned(), 400),
        ("type=_".to_owned(), 400),
        (format!("type={}", "x".repeat(5_000)), 400),
        (format!("account={}", "x".repeat(5_000)), 200),
    ] {
        let found = developer.get(format!("{list}?{query}")).send().await;
        assert_eq!(found.status, status, "{query}: {found}");
        assert!(found.text.contains("No matching events"), "{query}: {found}");
        assert_whole(&found);
    }
}

/// A viewer sees ids: in the list, on the page of an event, and in what comes while the list is watched. A developer sees what is in an event, as
/// text, and on its page alone.
#[tokio::test]
async fn content_is_for_developers() {
    let server = server().await;
    let tenant = server.test_application().await;
    let id = write(&server, &tenant, vec![change("task.created", "tsk_1")]).await;
    let list = format!("/admin/apps/{}/events", tenant.application_id);
    for (role, sees_content) in [(Role::Viewer, false), (Role::Developer, true)] {
        let user = server.operator(Some(role)).await;
        let all = page(&user, &list).await;
        assert!(all.text.contains("tsk_1") && !all.text.contains("alert(1)"), "{role:?}: {all}");
        let one = page(&user, &format!("{list}/{id}")).await;
        assert!(one.text.contains("tsk_1") && !one.text.contains("<script>alert"), "{role:?}: {one}");
        let shows_content = one.text.contains("&lt;script&gt;alert(1)");
        assert_eq!(shows_content, sees_content, "{role:?}: {one}");
        let mut live = LiveReader::open(&server, &user, &format!("{list}/live?after=0"), None).await;
        let rows = live.rows().await;
        assert!(rows.contains("tsk_1") && !rows.contains("alert(1)"), "{role:?}: {rows}");
    }
}

/// An event is found by its id, by those who may see it, behind its own application.
#[tokio::test]
async fn events_of_others_are_not_there() {
    let server = server().await;
    let developer = server.operator(Some(Role::Developer)).await;
    let (own, other) = (server.test_application().await, other_application(&server).await);
    let (mine, theirs) = (event_of(&server, &own).await, event_of(&server, &other).await);
    let list = |tenant: &Tenant| format!("/admin/apps/{}/events", tenant.application_id);
    let search = format!("/admin/search?q={mine}");
    let found = developer.get(&search).send().await;
    assert_eq!(led_to(&search, &found), format!("{}/{mine}", list(&own)));
    for path in [
        format!("{}/{theirs}", list(&own)),
        format!("{}/{theirs}", list(&other)),
        list(&other),
        format!("/admin/search?q={theirs}"),
    ] {
        assert_eq!(developer.get(&path).send().await.status, 404, "{path}");
    }
    let live = format!("{}/live", list(&other));
    assert_eq!(watch(&server, &developer, &live, None).await.status(), 404);
}

/// The page of an event says which webhooks were sent it.
#[tokio::test]
async fn an_event_says_who_was_sent_it() {
    let server = server().await;
    let (developer, receiver) = (server.operator(Some(Role::Developer)).await, Receiver::start().await);
    let tenant = server.test_application().await;
    let body = json!({ "url": receiver.url(), "eventTypes": ["task.*"] });
    let made = server.client().await.post("/v1/webhooks", body).send().await.expect(201);
    let webhook = made["id"].as_str().expect("an id");
    let list = format!("/admin/apps/{}/events", tenant.application_id);
    let id = write(&server, &tenant, vec![change("task.created", "tsk_1")]).await;
    let before = page(&developer, &format!("{list}/{id}")).await;
    assert!(before.text.contains("No webhook has been sent this event."), "{before}");
    server.deliver().await;
    let after = page(&developer, &format!("{list}/{id}")).await;
    assert!(after.text.contains(&format!("/webhooks/{webhook}/{id}\"")), "{after}");
    assert!(after.text.contains("204 after ") && after.text.contains("Delivered"), "{after}");
}

/// Events come to a page that is open, in rows of the list, from where the page was read or the connection broke. The list ends with the session,
/// which it does not keep alive, and with the role.
#[tokio::test]
async fn a_list_is_watched_until_the_session_ends() {
    let server = server().await;
    let developer = server.operator(Some(Role::Developer)).await;
    let tenant = server.test_application().await;
    let list = format!("/admin/apps/{}/events", tenant.application_id);
    write(&server, &tenant, vec![change("task.created", "tsk_1")]).await;
    let shown = page(&developer, &list).await;
    let source = target(&shown, &list, "<div class=\"row\" data-live=\"");
    let opened = developer.get(&source).send().await;
    assert_eq!(led_to(&source, &opened), list, "as a page it is the list");
    let foreign = developer.get(&source).header("accept", "text/event-stream");
    let foreign = foreign.header("sec-fetch-site", "same-site").send().await;
    assert_eq!(led_to(&source, &foreign), list, "and for another site");

    let mut live = LiveReader::open(&server, &developer, &source, None).await;
    write(&server, &tenant, vec![change("task.created", "tsk_2")]).await;
    let rows = live.rows().await;
    assert!(rows.contains("tsk_2") && !rows.contains("tsk_1"), "{rows}");
    let link = format!("href=\"../../apps/{}/events/ev_", tenant.application_id);
    assert!(rows.contains(&link) && rows.contains("data: <tr role=\"row\">"), "{rows}");
    let first = log::last_sequence(server.app.db.reader(), &tenant).await.expect("the log is read") - 1;
    let mut later = LiveReader::open(&server, &developer, &source, Some(first)).await;
    assert!(later.rows().await.contains("tsk_2"), "it goes on where the browser was");

    server.clock.advance_ms(7 * HOUR_MS);
    write(&server, &tenant, vec![change("email.message.created", "msg_1"), change("task.created", "tsk_3")])
        .await;
    let rows = live.rows().await;
    assert!(rows.contains("tsk_3") && rows.find("tsk_3") < rows.find("msg_1"), "newest first: {rows}");
    server.clock.advance_ms(7 * HOUR_MS);
    assert_eq!(live.end().await, "event: over\ndata: over", "12 hours without a page");
    assert_eq!(watch(&server, &developer, &source, None).await.status(), 303, "and it is not opened again");

    let (leaving, removed) =
        (server.operator(Some(Role::Developer)).await, server.operator(Some(Role::Viewer)).await);
    let form = token(&leaving).await;
    let narrow = format!("{list}/live?type=task.*");
    let mut lists = [
        LiveReader::open(&server, &leaving, &narrow, None).await,
        LiveReader::open(&server, &removed, &narrow, None).await,
    ];
    write(&server, &tenant, vec![change("email.message.created", "msg_2"), change("task.created", "tsk_4")])
        .await;
    for live in &mut lists {
        let rows = live.rows().await;
        assert!(rows.contains("tsk_4") && !rows.contains("msg_2"), "{rows}");
    }
    assert_eq!(leaving.post("/admin/sign-out", &form, &[]).send().await.status, 303);
    let command = Actor::command("a test");
    let changed = rights::set_role(&server.app, &command, &removed.id, &tenant.organization_id, None).await;
    changed.expect("the role is taken away");
    server.clock.advance_ms(2_000);
    for live in &mut lists {
        assert_eq!(live.end().await, "event: over\ndata: over");
    }
}

/// An operator watches ten lists at a time.
#[tokio::test]
async fn streams_have_room() {
    let server = server().await;
    let (one, other) =
        (server.operator(Some(Role::Developer)).await, server.operator(Some(Role::Viewer)).await);
    let live = format!("/admin/apps/{}/events/live", server.test_application().await.application_id);
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(LiveReader::open(&server, &one, &live, None).await);
    }
    let refused = watch(&server, &one, &live, None).await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    LiveReader::open(&server, &other, &live, None).await;
    for list in &mut open {
        assert!(list.block().await.is_some_and(|block| block.starts_with("retry: 2000\nid: ")));
    }
}
