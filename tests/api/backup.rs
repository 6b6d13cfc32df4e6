//! `switchboard backup` and `restore`, and `doctor` with the master key: writes acknowledged before a backup began are in it, however
//! many more are made during it; a restore is complete or has no effect.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use harness::TestServer;
use reqwest::Client;
use serde_json::{Value, json};

use crate::cli::{printed, refused, run, switchboard};
use crate::crash::{Stubborn, key_with, serve_with};
use crate::kills::Process;

/// Another key than the one of these tests.
const OTHER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const KEYS: &str = "/v1/api-keys";
const WRITERS: usize = 4;

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn joined<'a>(command: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [command, rest].concat()
}

/// A data directory with a database in which a key was made.
fn installation() -> (tempfile::TempDir, Value) {
    let dir = tempfile::tempdir().expect("a data directory");
    let key =
        printed(&["keys", "create", "--scopes", "all", "--init", "--json", "--data-dir", text(dir.path())]);
    (dir, key)
}

/// Returns names, content and times of all files below a folder, without the index of a WAL, which is temporary.
fn tree(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = path.symlink_metadata().expect("metadata");
        if metadata.is_dir() {
            found.extend(tree(&path));
        }
        let content = if metadata.is_file() { std::fs::read(&path).expect("readable") } else { Vec::new() };
        if !text(&path).ends_with("-shm") {
            found.insert(text(&path).to_owned(), (content, metadata.modified().expect("a time")));
        }
    }
    found
}

/// The names of all API keys.
async fn names(api: &Stubborn) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let url = format!("{}{KEYS}?limit=100{cursor}", api.base);
        let answer = api.http.get(url).bearer_auth(&api.key).send().await.expect("an answer");
        let page: Value = serde_json::from_str(&answer.text().await.expect("text")).expect("JSON");
        let data = page["data"].as_array().unwrap_or_else(|| panic!("no list: {page}"));
        names.extend(data.iter().filter_map(|key| key["name"].as_str()).map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return names,
        }
    }
}

/// Makes one API key after the other; `acknowledged` has the names of those that were made.
async fn write(api: Stubborn, writer: usize, stop: Arc<AtomicBool>, acknowledged: Arc<Mutex<Vec<String>>>) {
    let mut n = 0;
    while !stop.load(Ordering::SeqCst) {
        let name = format!("{writer}-{n}");
        let body = json!({ "name": name, "scopes": ["usage.read"] });
        api.until_answered("POST", KEYS, &body, &name).await;
        acknowledged.lock().expect("no panic").push(name);
        n += 1;
    }
}

/// Waits until this many more writes were acknowledged.
async fn after(acknowledged: &Mutex<Vec<String>>, more: usize) -> Vec<String> {
    let count = || acknowledged.lock().expect("no panic").len();
    let wanted = count() + more;
    while count() < wanted {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    acknowledged.lock().expect("no panic").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_restored_with_everything_acknowledged_before_it() {
    let provider = TestServer::start().await;
    let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let (mut process, api) = Process::start(None, &http).await;
    let api = Stubborn { key: key_with(process.data.path(), &[]), ..api };
    let account = json!({
        "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
        "credentials": { "username": "carol@sandbox.test", "password": "sandbox" }, "scopes": ["calendar.read"],
    });
    let connection = api.until_answered("POST", "/v1/connections", &account, "connect").await;

    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Vec<String>>>::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(api.clone(), writer, stop.clone(), acknowledged.clone())))
        .collect();
    let before = after(&acknowledged, 40).await;
    let place = tempfile::tempdir().expect("a folder");
    let file = text(&place.path().join("backup.tar")).to_owned();
    let data = text(process.data.path()).to_owned();
    let (to, of) = (file.clone(), data.clone());
    let taken = tokio::task::spawn_blocking(move || printed(&["backup", &to, "--json", "--data-dir", &of]));
    let taken = taken.await.expect("no panic");
    after(&acknowledged, 1).await;
    assert_eq!((&taken["manifest"]["engine"], &taken["pgDump"]), (&json!("sqlite"), &Value::Null));
    let mode = std::fs::metadata(&file).expect("the backup").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (code, said) = refused(&mut switchboard(&["backup", &file, "--data-dir", &data]));
    assert!(code == Some(1) && said.contains("no backup is overwritten"), "{said}");
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.expect("a writer ends well");
    }
    process.kill();

    // Restored elsewhere, and served with the same master key.
    let restored = tempfile::tempdir().expect("a data directory");
    std::fs::copy(process.data.path().join("master.key"), restored.path().join("master.key")).expect("a key");
    printed(&["restore", &file, "--json", "--data-dir", text(restored.path())]);
    let left: Vec<_> = std::fs::read_dir(place.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "nothing but the backup is left beside it: {left:?}");
    harness::share_compiled_code(restored.path());
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
    let mut server = serve_with(restored.path(), free.port(), &[]);
    let api = Stubborn { base: format!("http://{free}"), ..api };
    api.ready().await;
    let there = names(&api).await;
    let missing: Vec<&String> = before.iter().filter(|name| !there.contains(name)).collect();
    assert!(missing.is_empty(), "acknowledged before the backup, and not in it: {missing:?}");
    let calendars =
        format!("{}/v1/calendars?connection_id={}", api.base, connection["id"].as_str().expect("an id"));
    let read = http.get(calendars).bearer_auth(&api.key).send().await.expect("an answer");
    assert!(read.status().is_success(), "its stored credentials open: {}", read.status());
    server.kill().expect("it is killed");
    server.wait().expect("it ended");
}

#[test]
fn a_restore_takes_the_right_key_and_an_empty_place() {
    let (dir, key) = installation();
    let place = tempfile::tempdir().expect("a folder");
    let file = text(&place.path().join("backup.tar")).to_owned();
    let taken = printed(&["backup", &file, "--json", "--data-dir", text(dir.path())]);
    let fingerprint = taken["manifest"]["keyFingerprint"].as_str().expect("a fingerprint");
    let target = tempfile::tempdir().expect("a data directory");
    let restore = ["restore", &file, "--data-dir", text(target.path())];

    let (code, said) = refused(&mut switchboard(&restore));
    let wanted = format!("needs the master key {fingerprint}");
    assert!(code == Some(1) && said.contains(&wanted), "{said}");
    std::fs::write(target.path().join("master.key"), OTHER_KEY).expect("written");
    let (code, said) = refused(&mut switchboard(&restore));
    assert!(code == Some(1) && said.contains(&format!("belongs to the master key {fingerprint}")), "{said}");
    let (code, said) =
        refused(switchboard(&restore).env("SWITCHBOARD_MASTER_KEY_FILE", target.path().join("no key")));
    assert!(code == Some(1) && said.contains("no key"), "{said}");
    let left = tree(target.path());
    let names: Vec<&str> = left.keys().filter_map(|path| path.rsplit('/').next()).collect();
    assert_eq!(names, ["master.key", "switchboard.db.lock"], "nothing of the backup is left");

    std::fs::copy(dir.path().join("master.key"), target.path().join("master.key")).expect("a key");
    let restored = printed(&joined(&restore, &["--json"]));
    assert_eq!(restored["manifest"], taken["manifest"]);
    let list = printed(&["keys", "list", "--json", "--data-dir", text(target.path())]);
    assert_eq!(list[0]["id"], key["id"]);
    let mode = std::fs::metadata(target.path().join("switchboard.db")).expect("it").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (code, said) = refused(&mut switchboard(&restore));
    assert!(code == Some(1) && said.contains("is not empty"), "{said}");
}

#[test]
fn a_backup_that_cannot_be_used_leaves_the_place_empty() {
    let (dir, _) = installation();
    let place = tempfile::tempdir().expect("a folder");
    let whole = place.path().join("whole.tar");
    printed(&["backup", text(&whole), "--json", "--data-dir", text(dir.path())]);
    let content = std::fs::read(&whole).expect("the backup");
    std::fs::write(place.path().join("cut.tar"), &content[..content.len() - 100_000]).expect("written");
    std::fs::write(place.path().join("none.tar"), "a text").expect("written");
    let target = tempfile::tempdir().expect("a data directory");
    std::fs::copy(dir.path().join("master.key"), target.path().join("master.key")).expect("a key");
    let data = ["--data-dir", text(target.path())];
    for name in ["cut.tar", "none.tar", "absent.tar"] {
        let file = place.path().join(name);
        let (code, said) = refused(&mut switchboard(&joined(&["restore", text(&file)], &data)));
        assert!(code == Some(1) && said.contains(&format!("cannot restore {}", file.display())), "{said}");
        assert!(!target.path().join("switchboard.db").exists(), "{name}");
    }
    // An interrupted restore: no command uses its files as data.
    std::fs::create_dir(target.path().join("restore.tmp")).expect("a folder");
    let create = joined(&["keys", "create", "--scopes", "all"], &data);
    let (code, said) = refused(&mut switchboard(&create));
    assert!(code == Some(1) && said.contains("run `switchboard restore` again"), "{said}");
    printed(&joined(&["restore", text(&whole), "--json"], &data));
    assert!(run(&create).status.success());
}

#[test]
fn doctor_refuses_the_master_key_that_serve_refuses_and_writes_nothing() {
    let (dir, _) = installation();
    let data_dir = text(dir.path());
    let doctor = ["doctor", "--json", "--data-dir", data_dir, "--connectors", data_dir];
    let before = tree(dir.path());
    let sound = printed(&doctor);
    assert_eq!(sound["ok"], true, "{sound}");
    assert_eq!(tree(dir.path()), before);

    std::fs::write(dir.path().join("master.key"), OTHER_KEY).expect("written");
    let before = tree(dir.path());
    let output = run(&doctor);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = found["checks"].as_array().expect("an array");
    let check = checks.iter().find(|check| check["name"] == "stored secrets").expect("they were looked at");
    assert_eq!(check["status"], "fail", "{found}");
    assert!(check["message"].as_str().is_some_and(|m| m.contains("SWITCHBOARD_MASTER_KEY")), "{check}");
    assert_eq!(checks[0], *check, "it is the first line");
    assert_eq!(tree(dir.path()), before);
    // The same by the variable, with a key that is another one, and with one that is none.
    for key in [OTHER_KEY, "too short"] {
        let mut doctor = switchboard(&["doctor", "--data-dir", data_dir, "--connectors", data_dir]);
        let output = doctor.env("SWITCHBOARD_MASTER_KEY", key).output().expect("it can be started");
        assert_eq!(output.status.code(), Some(1), "{key}");
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let first = said.lines().next().expect("a line");
        assert!(first.starts_with("fail") && first.contains("SWITCHBOARD_MASTER_KEY"), "{said}");
        let connectors = said.lines().find(|line| line.contains("  connectors  ")).expect("a line");
        assert!(connectors.starts_with("warn") && connectors.contains("not checked"), "{said}");
        assert_eq!(tree(dir.path()), before);
    }
    let (code, said) =
        refused(&mut switchboard(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir]));
    assert!(code == Some(1) && said.contains("SWITCHBOARD_MASTER_KEY"), "{said}");
}

/// Compiled connectors stay as they are, those that this program cannot use too.
#[test]
fn doctor_leaves_compiled_connectors_as_they_are() {
    // The key of these tests, and links to the code that they have compiled, so that it need not be compiled here.
    let (shared, dir) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a data directory"));
    harness::share_compiled_code(shared.path());
    let key = dir.path().join("master.key");
    std::fs::copy(shared.path().join("master.key"), &key).expect("a key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    printed(&["keys", "create", "--scopes", "all", "--init", "--json", "--data-dir", text(dir.path())]);
    let cache = dir.path().join("cache");
    std::fs::create_dir(&cache).expect("a folder");
    let compiled = std::fs::canonicalize(shared.path().join("cache")).expect("the shared cache");
    for entry in std::fs::read_dir(compiled).expect("a folder") {
        let entry = entry.expect("an entry");
        std::os::unix::fs::symlink(entry.path(), cache.join(entry.file_name())).expect("a link");
    }
    std::fs::write(cache.join("a.cwasm"), "of another version").expect("written");
    let before = tree(dir.path());
    let connectors = harness::bundle().join("sandbox");
    let bundle = tempfile::tempdir().expect("a folder");
    let link = std::path::absolute(&connectors).expect("a path");
    std::os::unix::fs::symlink(link, bundle.path().join("sandbox")).expect("a link");
    let doctor = ["doctor", "--json", "--data-dir", text(dir.path()), "--connectors", text(bundle.path())];
    let found = printed(&doctor);
    let checks = found["checks"].as_array().expect("an array");
    let check = checks.iter().find(|check| check["name"] == "connectors").expect("they were loaded");
    assert_eq!(check["status"], "ok", "{found}");
    assert_eq!(tree(dir.path()), before);
}

/// The line that a backup prints for PostgreSQL copies the database; the file of the backup has the rest.
#[test]
fn the_line_for_postgresql_dumps_the_database() {
    let Some(url) = crate::dav::peer("POSTGRES_URL") else { return };
    let threads = tokio::runtime::Runtime::new().expect("threads");
    let url = threads.block_on(harness::own_schema(&url)).expect("a schema of its own");
    let dir = tempfile::tempdir().expect("a data directory");
    let of_database = ["--data-dir", text(dir.path()), "--database-url", &url];
    let made = run(&joined(&["keys", "create", "--scopes", "all", "--init"], &of_database));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let file = text(&dir.path().join("backup.tar")).to_owned();
    let taken = printed(&joined(&["backup", &file, "--json"], &of_database));
    assert_eq!(taken["manifest"]["engine"], "postgres");
    let line = taken["pgDump"].as_str().expect("a line");
    // The server's own programs, which need not be on the path.
    let path = format!("/usr/lib/postgresql/15/bin:{}", std::env::var("PATH").unwrap_or_default());
    let dumped = Command::new("sh").args(["-c", line]).env("PATH", &path).output().expect("a shell");
    assert!(dumped.status.success(), "{line}: {}", String::from_utf8_lossy(&dumped.stderr));
    let dump = format!("{file}.dump");
    let mode = std::fs::metadata(&dump).expect("the dump").permissions().mode();
    assert_eq!(mode & 0o077, 0, "it is for this user alone");
    let listing = Command::new("pg_restore").args(["--list", &dump]).env("PATH", &path).output();
    let listing = String::from_utf8(listing.expect("pg_restore").stdout).expect("UTF-8");
    for table in ["schema_migrations", "api_keys", "installation"] {
        let is_data = |line: &str| line.contains("TABLE DATA") && line.contains(table);
        assert!(listing.lines().any(is_data), "{table}: {listing}");
    }
}
