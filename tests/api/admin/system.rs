//! The installation on pages: its hosts, checks, database and jobs; connectors, what they may do, and the way back to an earlier version.

use std::path::Path;

use anyhow::Result;
use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer, bundle};
use http::Method;
use service::job_runner::lease::HostLease;
use service::manage::actor::Role;
use storage::{audit_log, hosts};

use crate::admin::client::{assert_whole, job_of, led_to, token};

const PAGE: &str = "/admin/system";
const CONNECTOR: &str = "/admin/system/connectors/sandbox";
/// A title that is no markup; it stands in single quotes in a manifest.
const HOSTILE: &str = "<script>alert(1)</script>\"onx=y";

async fn page(user: &PanelUser, path: &str) -> Exchange {
    let page = user.get(path).send().await;
    assert_eq!(page.status, 200, "{path}: {page}");
    assert_whole(&page);
    assert!(!page.text.contains("<script>alert"), "{path}: {page}");
    page
}

/// Stores a host with this name and a lease that ends so many milliseconds from now.
async fn add_host(server: &TestServer, name: &'static str, lease_ms: i64) {
    let now = server.app.now();
    let stored: Result<bool> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let host = hosts::Host {
                    id: format!("host_{name}"),
                    name: name.to_owned(),
                    version: "7.7.7".to_owned(),
                    started_at: now,
                    lease_until: now + lease_ms,
                };
                hosts::insert(tx, &host).await
            })
        })
        .await;
    assert!(stored.expect("the host is stored"));
}

/// Hosts, checks with their remedies, the database and the jobs stand on one page; the integrity of the database is checked on a button.
#[tokio::test]
async fn the_installation_is_seen_at_a_glance() {
    let server = TestServer::start().await;
    let (admin, owner) = (server.operator(None).await, server.operator(Some(Role::Owner)).await);
    job_of(&server, &server.test_application().await).await;
    let _lease = HostLease::begin(&server.app).await.expect("a lease");
    // On SQLite no lease is renewed: the host is there all the same.
    server.clock.advance_ms(60_000);
    add_host(&server, "mail-1 (process 77)", 3_600_000).await;
    add_host(&server, "mail-2 (process 78)", -1).await;
    let shown = page(&admin, PAGE).await;
    let sent = server.app.metrics.request_statements(PAGE, &Method::GET).statements;
    assert!((1..=12).contains(&sent), "{sent} statements");
    for text in [
        "mail-1 (process 77)",
        "mail-2 (process 78)",
        "7.7.7",
        ">Gone<",
        ">Running<",
        ">upkeep<",
        "Data directory",
        "can be written",
        "Up to date (version",
        "in service.",
        "Check integrity",
    ] {
        assert!(shown.text.contains(text), "{text}: {shown}");
    }
    if !server.app.db.is_shared() {
        assert!(shown.text.contains("this page comes from here"), "{shown}");
        assert!(shown.text.contains("SQLite has one host"), "{shown}");
        assert_eq!(shown.text.matches("</svg>Gone<").count(), 1, "{shown}");
        assert_eq!(shown.text.matches("</svg>Running<").count(), 2, "{shown}");
    }
    let engine = if server.app.db.is_shared() { "PostgreSQL" } else { "SQLite" };
    assert!(shown.text.contains(engine), "{shown}");
    let check = format!("{PAGE}/check-integrity");
    let checked = admin.post(&check, &token(&admin).await, &[]).send().await;
    assert_eq!(checked.status, 200, "{checked}");
    assert_whole(&checked);
    let sound = ["The database file is sound.", "PostgreSQL checks its files itself."];
    assert!(sound.iter().any(|text| checked.text.contains(text)), "{checked}");
    assert_eq!(owner.get(PAGE).send().await.status, 404);
    let keys = owner.get("/admin/").send().await;
    assert!(!keys.text.contains("/system\"") && !keys.text.contains("\"system\""), "{keys}");
}

/// A connector that cannot be loaded is named with its cause, both as text.
#[tokio::test]
async fn connectors_in_trouble_are_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let broken = dir.path().join("<b>alert(1)");
    std::fs::create_dir(&broken).expect("a folder");
    std::fs::write(broken.join("connector.toml"), format!("name = '{HOSTILE}'\n")).expect("a manifest");
    let folder = dir.path().to_owned();
    let server = TestServer::builder().config(|config| config.connectors_dir = Some(folder)).start().await;
    let admin = server.operator(None).await;
    let shown = page(&admin, PAGE).await;
    assert!(shown.text.contains("&lt;b&gt;alert(1)") && !shown.text.contains("<b>alert"), "{shown}");
    assert!(shown.text.contains("connector.toml") && shown.text.contains("1 can&#39;t be loaded"), "{shown}");
    assert!(shown.text.contains("Some checks failed."), "{shown}");
    assert!(page(&admin, "/admin/system/connectors").await.text.contains("No connectors"));
}

/// Installs the sandbox's connector under another version and title.
async fn install(server: &TestServer, version: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let from = bundle().join("sandbox");
    let manifest = std::fs::read_to_string(from.join("connector.toml")).expect("a manifest");
    let lines = manifest.lines().map(|line| match line.split_once(" = ") {
        Some(("version", _)) => format!("version = \"{version}\""),
        Some(("title", _)) => format!("title = '{HOSTILE}'"),
        _ => line.to_owned(),
    });
    write(dir.path(), "connector.toml", lines.collect::<Vec<_>>().join("\n").as_bytes());
    write(dir.path(), "sandbox.wasm", &std::fs::read(from.join("sandbox.wasm")).expect("a component"));
    server.app.runtime.install(dir.path()).await.expect("it is fit to be installed");
}

fn write(dir: &Path, name: &str, content: &[u8]) {
    std::fs::write(dir.join(name), content).expect("the file is written");
}

fn version(server: &TestServer) -> String {
    server.app.runtime.find("sandbox").expect("it is in service").manifest.version.clone()
}

/// Acts on connectors in the audit log.
async fn acts(server: &TestServer) -> Vec<String> {
    let read = audit_log::list(server.app.db.reader(), audit_log::INSTALLATION, audit_log::NEWEST, 20).await;
    let entries = read.expect("the log").into_iter().filter(|entry| entry.act.starts_with("connector"));
    entries.map(|entry| format!("{} {}", entry.act, entry.target)).collect()
}

/// A connector's permissions stand in words. An installed one is rolled back once for each form, and removed for the one that comes with the
/// server; both ask for the password after 15 minutes. Where hosts share a database, neither is offered or done.
#[tokio::test]
async fn a_connector_is_rolled_back_and_removed() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    let bundled = version(&server);
    let shown = page(&admin, CONNECTOR).await;
    for text in ["Comes with the server", "May send requests to", "with the account&#39;s credentials"] {
        assert!(shown.text.contains(text), "{text}: {shown}");
    }
    assert!(!shown.text.contains("/roll-back\"") && !shown.text.contains("/remove\""), "{shown}");
    install(&server, "9.0.0").await;
    install(&server, "9.1.0").await;
    let list = page(&admin, "/admin/system/connectors").await;
    assert!(
        list.text.contains("&lt;script&gt;alert(1)") && list.text.contains("switchboard connector install")
    );
    let shown = page(&admin, CONNECTOR).await;
    assert!(shown.text.contains("9.1.0") && shown.text.contains("9.0.0"), "{shown}");
    let (roll_back, remove) = (format!("{CONNECTOR}/roll-back"), format!("{CONNECTOR}/remove"));
    let form = token(&admin).await;
    if server.app.db.is_shared() {
        assert!(shown.text.contains("Several hosts can use this database"), "{shown}");
        for path in [&roll_back, &remove] {
            assert_eq!(admin.post(path, &form, &[]).send().await.status, 409);
        }
        assert_eq!((version(&server).as_str(), acts(&server).await.len()), ("9.1.0", 0));
        return;
    }
    let question = page(&admin, &roll_back).await;
    assert!(question.text.contains("Version 9.0.0 goes into service"), "{question}");
    let (_, rest) = question.text.split_once("name=\"digest\" value=\"").expect("the version in service");
    let fields = [("digest", rest.split('"').next().unwrap_or_default())];
    for _ in 0..2 {
        assert_eq!(led_to(&roll_back, &admin.post(&roll_back, &form, &fields).send().await), CONNECTOR);
        assert_eq!(version(&server), "9.0.0", "a form that is sent twice rolls back once");
    }
    // The form of another browser, which was asked the same before: it would undo the first.
    let late = admin.post(&roll_back, &token(&admin).await, &fields).send().await;
    assert_eq!((late.status, version(&server).as_str()), (409, "9.0.0"), "{late}");
    server.clock.advance_ms(16 * 60_000);
    let asked = admin.post(&remove, &token(&admin).await, &[]).send().await;
    assert_eq!(led_to(&remove, &asked), "/admin/confirm?next=system/connectors/sandbox/remove");
    assert_eq!(version(&server), "9.0.0");
    let admin = server.operator(None).await;
    assert!(page(&admin, &remove).await.text.contains("goes out of service"));
    let removed = admin.post(&remove, &token(&admin).await, &[]).send().await;
    assert_eq!(led_to(&remove, &removed), "/admin/system/connectors");
    assert_eq!(version(&server), bundled);
    let again = admin.post(&remove, &token(&admin).await, &[]).send().await;
    assert_eq!(again.status, 409, "{again}");
    assert_eq!(acts(&server).await, ["connector_removed sandbox", "connector_rolled_back sandbox"]);
}
