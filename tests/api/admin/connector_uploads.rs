//! Connectors that are uploaded on a page: checked, read by whoever installs them, and in service only then.

use std::path::PathBuf;

use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer, bundle};
use service::manage::connector_uploads;
use storage::audit_log;

use crate::admin::client::{assert_whole, led_to, token};

const UPLOADS: &str = "/admin/system/connector-uploads";
/// A component (WebAssembly Component Model, binary format) that imports sockets and does nothing.
const SOCKETS: &[u8] = b"\0asm\x0d\0\x01\0\x07\x03\x01\x42\0\x0a\x1b\x01\0\x16wasi:sockets/tcp@0.2.0\x05\0";

/// The manifest of the sandbox's connector with another version, and with this in place of that.
fn manifest(version: &str, from: &str, to: &str) -> Vec<u8> {
    let text = std::fs::read_to_string(bundle().join("sandbox/connector.toml")).expect("a manifest");
    assert!(text.contains(from), "{from}: {text}");
    let lines = text.replacen(from, to, 1);
    let lines = lines.lines().map(|line| match line.starts_with("version = ") {
        true => format!("version = \"{version}\""),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

fn component() -> Vec<u8> {
    std::fs::read(bundle().join("sandbox/sandbox.wasm")).expect("a component")
}

async fn upload(user: &PanelUser, manifest: &[u8], component: &[u8]) -> Exchange {
    let files = [("manifest", manifest), ("component", component)];
    user.upload(UPLOADS, &token(user).await, &files).send().await
}

/// The page of a good upload, and its path.
async fn review(user: &PanelUser, sent: &Exchange) -> (String, Exchange) {
    let path = led_to(UPLOADS, sent);
    let page = user.get(&path).send().await;
    assert_eq!(page.status, 200, "{page}");
    assert_whole(&page);
    (path, page)
}

/// The hidden fields that say which versions a page showed.
fn shown(page: &Exchange) -> [(&'static str, &str); 2] {
    ["digest", "replaced"].map(|name| {
        let (_, rest) = page.text.split_once(&format!("name=\"{name}\" value=\"")).expect("the field");
        (name, rest.split('"').next().unwrap_or_default())
    })
}

fn version(server: &TestServer) -> String {
    server.app.runtime.find("sandbox").expect("it is in service").manifest.version.clone()
}

/// Installations in the audit log, with their versions.
async fn installations(server: &TestServer) -> Vec<String> {
    let read = audit_log::list(server.app.db.reader(), audit_log::INSTALLATION, audit_log::NEWEST, 20).await;
    let entries = read.expect("the log").into_iter().filter(|entry| entry.act == "connector_installed");
    entries
        .map(|entry| format!("{} {}", entry.target, entry.details["version"].as_str().unwrap_or("-")))
        .collect()
}

/// Names in the folder of uploads.
fn kept(server: &TestServer) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(server.app.config.data_dir.join("uploads")) else {
        return Vec::new();
    };
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Asserts that hosts that share a database offer no form and accept no files.
async fn assert_refused_for_several_hosts(admin: &PanelUser) {
    let form = admin.get(UPLOADS).send().await;
    assert!(form.text.contains("Several hosts can use this database"), "{form}");
    assert!(!form.text.contains("type=\"file\""), "{form}");
    let sent = upload(admin, b"name = 1", b"component").await;
    assert_eq!(sent.status, 409, "{sent}");
}

/// An upload serves when somebody has read what it may do and what differs, and once. A page that was opened before another version came is
/// refused. After an hour it waits no more.
#[tokio::test]
async fn an_upload_is_read_before_it_serves() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    if server.app.db.is_shared() {
        return assert_refused_for_several_hosts(&admin).await;
    }
    let bundled = version(&server);
    let form = admin.get(UPLOADS).send().await;
    assert_whole(&form);
    assert!(form.text.contains("enctype=\"multipart/form-data\""), "{form}");
    let more = "surfaces = [";
    let hosts = format!("hosts = [{{ host = \"evil.example\", inject = \"default\" }}]\n{more}");
    let (first, second) = (manifest("9.0.0", "title", "title"), manifest("9.1.0", more, &hosts));
    let component = component();
    // Two at once, each with a page of its own.
    let (one, two) = tokio::join!(upload(&admin, &first, &component), upload(&admin, &second, &component));
    let ((one, _), (two, page)) = (review(&admin, &one).await, review(&admin, &two).await);
    assert!(page.text.contains("9.1.0?") && page.text.contains("which comes with the server"), "{page}");
    assert!(page.text.contains("evil.example, with the account&#39;s credentials"), "{page}");
    assert!(page.text.contains(">hosts</span>") && page.text.contains("Changes to the manifest"), "{page}");
    assert_eq!((version(&server), installations(&server).await.len()), (bundled, 0));

    let first_page = admin.get(&one).send().await;
    let form = token(&admin).await;
    for _ in 0..2 {
        let sent = admin.post(&one, &form, &shown(&first_page)).send().await;
        assert_eq!(led_to(&one, &sent), "/admin/system/connectors/sandbox");
    }
    assert_eq!(version(&server), "9.0.0");
    let late = admin.post(&two, &token(&admin).await, &shown(&page)).send().await;
    assert_eq!((late.status, version(&server).as_str()), (409, "9.0.0"), "{late}");
    assert!(late.text.contains("installed version 9.0.0"), "it shows what it would replace now: {late}");
    // Entries of the audit log are in the order of their time.
    server.clock.advance_ms(1);
    let sent = admin.post(&two, &token(&admin).await, &shown(&late)).send().await;
    assert_eq!(led_to(&two, &sent), "/admin/system/connectors/sandbox");
    assert_eq!(installations(&server).await, ["sandbox 9.1.0", "sandbox 9.0.0"]);
    assert!(kept(&server).is_empty(), "what is installed waits no more");

    let (path, page) = review(&admin, &upload(&admin, &first, &component).await).await;
    let form = token(&admin).await;
    server.clock.advance_ms(14 * 60_000);
    let asked = server.operator(Some(service::manage::actor::Role::Owner)).await.get(&path).send().await;
    assert_eq!(asked.status, 404, "{asked}");
    server.clock.advance_ms(46 * 60_000);
    let asked = admin.post(&path, &form, &shown(&page)).send().await;
    assert!(led_to(&path, &asked).starts_with("/admin/confirm?next=system/connector-uploads/"), "{asked}");
    let admin = server.operator(None).await;
    let over = admin.post(&path, &token(&admin).await, &shown(&page)).send().await;
    assert_eq!((over.status, version(&server).as_str()), (409, "9.1.0"), "{over}");
    assert!(over.text.contains("no longer waiting"), "{over}");
}

/// A connector whose name is new is shown whole: there is nothing to compare it with. What a crash leaves of others is removed at the next start.
#[tokio::test]
async fn a_new_connector_is_shown_whole() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    if server.app.db.is_shared() {
        return assert_refused_for_several_hosts(&admin).await;
    }
    let another = manifest("9.0.0", "name = \"sandbox\"", "name = \"another\"");
    let (path, page) = review(&admin, &upload(&admin, &another, &component()).await).await;
    assert!(page.text.contains("No connector of this name"), "{page}");
    assert!(page.text.contains("<h2>The manifest</h2>"), "{page}");
    for key in ["name", "surfaces", "auth.kinds"] {
        assert!(page.text.contains(&format!(">{key}</span>")), "{key}: {page}");
    }

    let [waiting]: [PathBuf; 1] = kept(&server).try_into().expect("one upload waits");
    let arriving = waiting.with_file_name(format!("{}-a.part", server.app.now()));
    std::fs::create_dir(&arriving).expect("a folder");
    connector_uploads::remove_leftovers(&server.app).await;
    assert_eq!(kept(&server), std::slice::from_ref(&waiting));
    std::fs::remove_file(waiting.join("connector.toml")).expect("the file");
    let gone = admin.get(&path).send().await;
    assert!(gone.status == 409 && gone.text.contains("no longer waiting"), "{gone}");
}

/// Files that are no connector, or one that no host would accept, are refused with the reason, and nothing of them is kept.
#[tokio::test]
async fn uploads_are_checked() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    if server.app.db.is_shared() {
        return assert_refused_for_several_hosts(&admin).await;
    }
    let (good, component) = (manifest("9.0.0", "title", "title"), component());
    let escaping = manifest("9.0.0", "name = \"sandbox\"", "name = \"../sandbox\"");
    let fewer_surfaces = manifest("9.0.0", ", \"watch@1.0.0\"", "");
    let cases: [(&[u8], &[u8], &str); 8] = [
        (b"name = ", &component, "connector.toml"),
        (&[0xff; 9], &component, "UTF-8"),
        (&escaping, &component, "name"),
        (&fewer_surfaces, &component, "watch"),
        (&good, b"PK\x03\x04 an archive", "not a WebAssembly component"),
        (&good, b"\0asm\x01\0\0\0", "a core module, not a component"),
        (&good, b"\0asm\x0d\0\x01\0 no section", ""),
        (&good, SOCKETS, "does not offer: wasi:sockets/tcp@0.2.0"),
    ];
    for (manifest, component, reason) in cases {
        let sent = upload(&admin, manifest, component).await;
        assert_eq!(sent.status, 400, "{reason}: {sent}");
        assert_whole(&sent);
        assert!(sent.text.contains(reason), "{reason}: {sent}");
        assert!(!sent.text.contains("uploads/"), "no path of the server: {sent}");
        assert!(kept(&server).is_empty(), "{reason}");
    }
    let (large, larger) = (vec![b'#'; 300 << 10], vec![0; 41 << 20]);
    let (good, component) = (("manifest", good.as_slice()), ("component", component.as_slice()));
    for (files, status) in [
        (vec![good], 400),
        (vec![component, ("manifest", b"".as_slice())], 400),
        (vec![good, good], 415),
        (vec![("other", b"x".as_slice())], 415),
        (vec![("manifest", large.as_slice())], 413),
        (vec![("component", larger.as_slice())], 413),
    ] {
        let sent = admin.upload(UPLOADS, &token(&admin).await, &files).send().await;
        assert_eq!(sent.status, status, "{}: {sent}", files.len());
        assert!(kept(&server).is_empty(), "{status}");
    }
}

/// Another site, another session's token and a stale sign-in bring nothing onto the disk.
#[tokio::test]
async fn only_the_own_form_uploads() {
    let server = TestServer::start().await;
    let (admin, other) = (server.operator(None).await, server.operator(None).await);
    let (good, component) = (manifest("9.0.0", "title", "title"), component());
    let files = [("manifest", good.as_slice()), ("component", component.as_slice())];
    let own = token(&admin).await;
    let foreign = admin.upload(UPLOADS, &own, &files).header("sec-fetch-site", "cross-site").send().await;
    assert_eq!(foreign.status, 403, "{foreign}");
    if !server.app.db.is_shared() {
        for wrong in ["", "nonsense", &token(&other).await] {
            let sent = admin.upload(UPLOADS, wrong, &files).send().await;
            assert_eq!(sent.status, 403, "{wrong}: {sent}");
        }
    }
    let plain = admin.post(UPLOADS, &own, &[("manifest", "name = 1")]).send().await;
    assert_eq!(plain.status, 415, "{plain}");
    let visitor = server.visitor().upload(UPLOADS, &own, &files).send().await;
    assert!(led_to(UPLOADS, &visitor).starts_with("/admin/sign-in?next="), "{visitor}");
    server.clock.advance_ms(16 * 60_000);
    let stale = admin.upload(UPLOADS, &own, &files).send().await;
    assert_eq!(led_to(UPLOADS, &stale), "/admin/confirm?next=system/connector-uploads");
    assert!(kept(&server).is_empty());
}
