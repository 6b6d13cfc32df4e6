//! Helpers of the tests of the panel: ways to sign in, addresses of routes, and checks of every page.

use std::collections::BTreeMap;

use base::ids::Kind;
use base::tenant::Tenant;
use harness::panel_user::{PanelUser, form_token};
use harness::{Exchange, TestServer};
use reqwest::Url;
use serde_json::{Value, json};
use service::app::event_log::{self, NewLogEntry, Origin};
use service::app::stored_response::IdempotentAttempt;
use service::connections::credentials::GivenCredentials;
use service::connections::{self, NewConnection};
use service::manage::actor::{Actor, Role};
use service::manage::operators::links::{self, Invitation};
use service::webhooks::subscription;
use storage::jobs::NewJob;
use storage::request_log::{self, RequestEntry};
use storage::wakes::JobClass;
use storage::{api_keys, jobs, log, operator_organization};

use crate::admin::PASSWORD;

/// Elements without an end.
const VOID: [&str; 6] = ["meta", "link", "input", "br", "hr", "wbr"];

/// The first operator, made by the printed link, in a browser of their own.
pub async fn first_operator(server: &TestServer) -> PanelUser {
    let link = links::first(&server.app).await.expect("the link is stored").expect("there is no operator");
    let mut browser = server.visitor();
    let fields = [("email", "ada@example.com"), ("name", "Ada"), ("password", PASSWORD)];
    let answer = browser.submit(&link.path(), &link.path(), &fields).await;
    assert_eq!(answer.status, 303, "{answer}");
    browser
}

/// Signs in by address and password in another browser.
pub async fn sign_in(server: &TestServer, email: &str, password: &str) -> PanelUser {
    let mut browser = server.visitor();
    let fields = [("email", email), ("password", password)];
    let answer = browser.submit("/admin/sign-in", "/admin/sign-in", &fields).await;
    assert_eq!(answer.status, 303, "{answer}");
    browser
}

/// The path, with its query, that an answer to a request for `path` leads to.
#[track_caller]
pub fn led_to(path: &str, answer: &Exchange) -> String {
    assert_eq!(answer.status, 303, "{answer}");
    let location = answer.header("location").expect("a location");
    let base = Url::parse("http://panel.test").and_then(|url| url.join(path)).expect("an address");
    let url = base.join(location).expect("an address");
    assert_eq!(url.host_str(), Some("panel.test"), "it stays on this host: {location}");
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// A token for forms of a session.
pub async fn token(user: &PanelUser) -> String {
    let page = user.get("/admin/account").send().await;
    assert_eq!(page.status, 200, "{page}");
    form_token(&page.text).to_owned()
}

/// An organization that the users of a test do not belong to, with an application.
pub async fn other_application(server: &TestServer) -> Tenant {
    let app = &server.app;
    let ids = (app.new_id(Kind::Organization), app.new_id(Kind::Application));
    let now = app.now();
    let made: anyhow::Result<Tenant> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                api_keys::ensure_application(tx, ("others", "theirs"), (&ids.0, &ids.1), now).await
            })
        })
        .await;
    made.expect("the application is stored")
}

/// The path of a route with things of this application in its places; they are made where the path names them.
pub async fn path_of(server: &TestServer, template: &str, tenant: &Tenant) -> String {
    let mut path = template.replace("{o}", &tenant.organization_id).replace("{a}", &tenant.application_id);
    if path.contains("{k}") {
        let id = match path.starts_with("/admin/system/") {
            true => key_of(server, &operator_tenant(server).await).await,
            false => key_of(server, tenant).await,
        };
        path = path.replace("{k}", &id);
    }
    if path.contains("{m}") {
        path = path.replace("{m}", &server.operator(Some(Role::Viewer)).await.id);
    }
    if path.contains("{i}") {
        let roles = BTreeMap::from([(tenant.organization_id.clone(), Role::Viewer)]);
        let invitation = Invitation { email: "new@example.com".to_owned(), is_admin: false, roles };
        let link = links::invite(&server.app, &Actor::command("test"), &invitation).await;
        path = path.replace("{i}", &link.expect("the invitation is stored").id);
    }
    if path.contains("{c}") {
        path = path.replace("{c}", &account_of(server, tenant).await);
    }
    if path.contains("{w}") {
        path = path.replace("{w}", &webhook_of(server, tenant).await);
    }
    if path.contains("{e}") {
        path = path.replace("{e}", &event_of(server, tenant).await);
    }
    if path.contains("{d}") {
        path = path.replace("{d}", &event_of(server, tenant).await);
    }
    if path.contains("{r}") {
        path = path.replace("{r}", &request_of(server, tenant).await);
    }
    if path.contains("{j}") {
        path = path.replace("{j}", &job_of(server, tenant).await);
    }
    path.replace("{n}", "sandbox")
        .replace("{p}", "sandbox")
        .replace("{u}", "1-a")
        .replace("{change}", "disable")
}

/// The id of a new job of an application, which waits for an hour.
pub async fn job_of(server: &TestServer, tenant: &Tenant) -> String {
    let (key, tenant, now) = (server.app.new_id(Kind::Message), tenant.clone(), server.app.now());
    let id = format!("report:{key}");
    let stored: anyhow::Result<()> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let new = NewJob {
                    kind: "report",
                    key: &key,
                    class: JobClass::Upkeep,
                    tenant: &tenant,
                    connection_id: None,
                    target: "",
                    due_at: Some(now + 3_600_000),
                    args: None,
                };
                jobs::enqueue(tx, &new, now).await
            })
        })
        .await;
    stored.expect("the job is stored");
    id
}

/// The id of a new connection of an application, to an account of the sandbox.
pub async fn account_of(server: &TestServer, tenant: &Tenant) -> String {
    let new = NewConnection {
        provider: "sandbox".to_owned(),
        credentials: GivenCredentials {
            username: Some("alice@sandbox.test".to_owned()),
            password: Some("sandbox".to_owned()),
            ..GivenCredentials::default()
        },
        scopes: vec!["calendar.read".to_owned()],
        ..NewConnection::default()
    };
    let attempt = IdempotentAttempt::new("test".to_owned(), false, None);
    let options =
        connections::ConnectOptions { allow_duplicate: true, ..connections::ConnectOptions::default() };
    let made = connections::create(&server.app, tenant, new, options, &attempt).await;
    let made = made.expect("the account is connected");
    let connection: Value = serde_json::from_slice(&made.body).expect("JSON");
    connection["id"].as_str().expect("an id").to_owned()
}

/// The id of a new logged request of an application, which was refused.
pub async fn request_of(server: &TestServer, tenant: &Tenant) -> String {
    let entry = RequestEntry {
        application_id: tenant.application_id.clone(),
        id: server.app.new_id(Kind::Request),
        key_id: key_of(server, tenant).await,
        at: server.app.now(),
        method: "POST".to_owned(),
        route: "/v1/webhooks".to_owned(),
        path: "/v1/webhooks".to_owned(),
        status: 400,
        ms: 7,
        ip: "203.0.113.7".to_owned(),
        error_code: Some("invalid_url".to_owned()),
        error_param: Some("url".to_owned()),
        bytes_in: 41,
        bytes_out: 1_536,
        has_bodies: false,
    };
    logged(server, entry).await
}

/// Stores a logged request; its id.
pub async fn logged(server: &TestServer, entry: RequestEntry) -> String {
    let id = entry.id.clone();
    let stored: anyhow::Result<()> =
        server.app.db.write(move |tx| Box::pin(async move { request_log::insert(tx, &[entry]).await })).await;
    stored.expect("the request is stored");
    id
}

/// The id of a new event in the log of an application.
pub async fn event_of(server: &TestServer, tenant: &Tenant) -> String {
    let (app, of) = (server.app.clone(), tenant.clone());
    let written: base::error::Result<i64> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let entry = NewLogEntry {
                    connection_id: None,
                    account_ids: None,
                    entry_type: "webhook.test".to_owned(),
                    change_type: "state",
                    resource_type: "webhook",
                    resource_id: "wh_other".to_owned(),
                    parent_id: String::new(),
                    changed_fields: None,
                    etag: None,
                    origin: Origin::Api,
                    resource: None,
                };
                event_log::append(tx, &app, &of, vec![entry]).await
            })
        })
        .await;
    let sequence = written.expect("the event is stored");
    let lines = log::light_after(server.app.db.reader(), tenant, sequence - 1, 1).await;
    lines.expect("the log is read").first().expect("the event is there").id.clone()
}

/// The id of a new webhook of an application; it is paused.
pub async fn webhook_of(server: &TestServer, tenant: &Tenant) -> String {
    let key_id = key_of(server, tenant).await;
    let key = api_keys::find_any(server.app.db.reader(), &key_id).await.expect("the key is read");
    let key = key.expect("the key is stored");
    let input = json!({ "url": "https://1.1.1.1/hook", "eventTypes": ["*"], "status": "paused" });
    let input = input.as_object().cloned().expect("an object");
    let attempt = IdempotentAttempt::new("test".to_owned(), false, None);
    let made = subscription::create(&server.app, &key, input, true, &attempt).await;
    let made = made.expect("the webhook is stored");
    let webhook: Value = serde_json::from_slice(&made.body).expect("JSON");
    webhook["id"].as_str().expect("an id").to_owned()
}

/// The tenant of the keys of the administration, which is made if it is missing.
pub async fn operator_tenant(server: &TestServer) -> Tenant {
    let app = &server.app;
    let new = Tenant {
        organization_id: app.new_id(Kind::Organization),
        application_id: app.new_id(Kind::Application),
    };
    let now = app.now();
    let made: anyhow::Result<Tenant> = app
        .db
        .write(move |tx| Box::pin(async move { operator_organization::ensure(tx, &new, now).await }))
        .await;
    made.expect("the organization is stored")
}

/// The id of a new key of an application.
pub async fn key_of(server: &TestServer, tenant: &Tenant) -> String {
    let made = server.app.keyring.new_api_key();
    let new =
        service::manage::keys::unsaved(&server.app.clock, &server.app.entropy, &made, "Robot".to_owned());
    let key = api_keys::ApiKey { tenant: tenant.clone(), scopes: vec!["usage.read".to_owned()], ..new };
    let id = key.id.clone();
    let stored: anyhow::Result<()> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { api_keys::insert(tx, &key, &made.hash).await }))
        .await;
    stored.expect("the key is stored");
    id
}

/// Fails where an element of a page is not closed, or closed by another one's end.
#[track_caller]
pub fn assert_whole(page: &Exchange) {
    let mut open: Vec<String> = Vec::new();
    for part in page.text.split('<').skip(1) {
        let tag = part.split('>').next().unwrap_or_default();
        let name: String =
            tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name.as_str()) {
            continue;
        }
        match tag.starts_with('/') {
            false => open.push(name),
            true => assert_eq!(open.pop().as_deref(), Some(name.as_str()), "</{name}> in {page}"),
        }
    }
    assert!(open.is_empty(), "not closed: {open:?} in {page}");
}

/// The text of a page's line for a terminal that begins with `curl`.
#[track_caller]
pub fn curl_line(page: &Exchange) -> String {
    let (_, rest) = page.text.split_once(">curl ").unwrap_or_else(|| panic!("no line in {page}"));
    let line = rest.split("</pre>").next().unwrap_or_default();
    format!("curl {}", line.replace("&#39;", "'").replace("&quot;", "\"").replace("&amp;", "&"))
}
