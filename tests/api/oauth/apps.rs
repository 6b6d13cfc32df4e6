//! `switchboard apps`, run as operators run it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The command with nothing of this process' settings.
fn switchboard(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard-under-test"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SWITCHBOARD_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    switchboard(arguments).output().expect("the command can be started")
}

/// A store with an application; its id.
fn store() -> (TempDir, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let made = command(dir.path(), &["apps", "create", "Shop", "--org", "Acme", "--init"]);
    let id = made["id"].as_str().expect("an id").to_owned();
    (dir, id)
}

/// Runs a command on that store, and returns its output as JSON.
pub fn command(dir: &Path, arguments: &[&str]) -> Value {
    let place = ["--json", "--data-dir", dir.to_str().expect("a plain path")];
    let output = run(&[arguments, &place[..]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

/// Exit code and stderr of a command on that store that fails.
fn failed(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let place = ["--data-dir", dir.to_str().expect("a plain path")];
    let output = run(&[arguments, &place[..]].concat());
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn applications_and_their_redirects() {
    let (dir, app) = store();
    let dir = dir.path();
    assert!(app.starts_with("app_"), "{app}");
    assert_eq!(command(dir, &["apps", "create", "Shop", "--org", "Acme"])["id"], json!(app));
    let good = "https://app.example.test/cb?x=1";
    let added =
        command(dir, &["apps", "redirects", &app, "--add", good, "--add", "http://127.0.0.1:4000/cb"]);
    assert_eq!(added, json!({ "id": app, "redirects": ["http://127.0.0.1:4000/cb", good] }));
    assert_eq!(
        command(dir, &["apps", "redirects", &app, "--add", good]),
        added,
        "adding again changes nothing"
    );
    // An address that could lead somewhere else, or run something, makes no sense on the command line.
    for bad in [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://app.example.test/cb",
        "https://app.example.test@evil.test/cb",
        "https://app.example.test/x/../cb",
        "https://app.example.test/cb#x",
        "https://app.example.test/c\\b",
    ] {
        let (code, said) = failed(dir, &["apps", "redirects", &app, "--add", bad]);
        assert_eq!(code, Some(2), "{bad}: {said}");
    }
    let (code, said) = failed(dir, &["apps", "redirects", &app, "--remove", "https://other.test"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--remove https://other.test"), "{said}");
    assert_eq!(command(dir, &["apps", "redirects", &app]), added, "what was refused left no trace");
    let removed = command(dir, &["apps", "redirects", &app, "--remove", good]);
    assert_eq!(removed["redirects"], json!(["http://127.0.0.1:4000/cb"]));
    let listed = command(dir, &["apps", "list"]);
    let shop =
        listed.as_array().expect("an array").iter().find(|a| a["id"] == *app).expect("the application");
    assert_eq!((&shop["name"], &shop["organization"]), (&json!("Shop"), &json!("Acme")));
    assert_eq!((&shop["redirects"], &shop["providers"]), (&removed["redirects"], &json!([])));
    let (code, said) = failed(dir, &["apps", "redirects", "app_unknown"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("apps list"), "{said}");
}

/// The handle of an application, part of the addresses of its booking pages, is shown, set, changed and removed; it is unique.
#[test]
fn a_handle_is_one_applications_own() {
    let (dir, app) = store();
    let dir = dir.path();
    let other = command(dir, &["apps", "create", "Till", "--org", "Acme"])["id"].clone();
    let other = other.as_str().expect("an id");
    assert_eq!(command(dir, &["apps", "handle", &app]), json!({ "id": app, "handle": null }));
    assert_eq!(command(dir, &["apps", "handle", &app, "acme"]), json!({ "id": app, "handle": "acme" }));
    assert_eq!(command(dir, &["apps", "handle", &app, "acme"])["handle"], "acme", "it may be said again");
    let (code, said) = failed(dir, &["apps", "handle", other, "acme"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("another application has the handle \"acme\""), "{said}");

    // What could be no part of an address, or is one of the service's own, or of an application's id, makes no sense on the command line.
    let id = app.trim_start_matches("app_").to_lowercase();
    for bad in ["ab", "Acme", "a_b", "a/b", "acme-", "assets", id.as_str()] {
        let (code, said) = failed(dir, &["apps", "handle", &app, bad]);
        assert_eq!(code, Some(2), "{bad}: {said}");
    }
    let (code, said) = failed(dir, &["apps", "handle", &app, "north", "--clear"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = failed(dir, &["apps", "handle", "app_unknown", "north"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("apps list"), "{said}");
    let listed = command(dir, &["apps", "list"]);
    let handles: Vec<&Value> = listed.as_array().expect("an array").iter().map(|a| &a["handle"]).collect();
    assert!(handles.contains(&&json!("acme")) && handles.contains(&&Value::Null), "{listed:#}");

    assert_eq!(command(dir, &["apps", "handle", &app, "north-1"])["handle"], "north-1");
    assert_eq!(command(dir, &["apps", "handle", other, "acme"])["handle"], "acme", "it is free again");
    assert_eq!(command(dir, &["apps", "handle", &app, "--clear"])["handle"], Value::Null);
}

/// A registration is made, changed by options, listed, and removed; the callback URL is printed.
#[test]
fn apps_commands() {
    let (dir, app) = store();
    let dir = dir.path();
    let set = |more: &[&str]| {
        let start = ["apps", "provider", "set", app.as_str(), "jmap"];
        command(dir, &[&start[..], more].concat())
    };
    let (code, said) = failed(dir, &["apps", "provider", "set", &app, "jmap", "--public"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("--client-id"), "{said}");
    let (code, said) = failed(dir, &["apps", "provider", "set", &app, "jmap", "--client-id", "mine"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("--secret-file") && said.contains("--public"), "{said}");
    let made = set(&["--client-id", "mine", "--public", "--public-url", "https://api.example.test/"]);
    assert!(made["id"].as_str().is_some_and(|id| id.starts_with("oac_")), "{made:#}");
    assert_eq!(made["callbackUrl"], "https://api.example.test/v1/auth/connectors/jmap/callback");
    let fields = |v: &Value| (v["version"].clone(), v["clientAuth"].clone(), v["hasSecret"].clone());
    assert_eq!(fields(&made), (json!(1), json!("none"), json!(false)));

    let changed = set(&[
        "--setting",
        "serverUrl=https://jmap.example.test/",
        "--setting",
        "tenant=contoso",
        "--issuer",
        "https://id.example.test",
        "--scope",
        "email.read=mail,offline",
        "--callback-url",
        "https://in.example.test/back",
        "--disable",
    ]);
    assert_eq!((&changed["id"], &changed["clientId"]), (&made["id"], &json!("mine")));
    assert_eq!((&changed["version"], &changed["disabled"]), (&json!(2), &json!(true)));
    assert_eq!(changed["callbackUrl"], "https://in.example.test/back");
    let settings = json!({ "serverUrl": "https://jmap.example.test/", "tenant": "contoso" });
    assert_eq!(changed["settings"], settings);
    assert_eq!(changed["scopes"], json!({ "email.read": ["mail", "offline"] }));
    let back = set(&["--setting", "tenant=", "--scope", "email.read=", "--issuer", "", "--enable"]);
    assert_eq!(back["settings"], json!({ "serverUrl": "https://jmap.example.test/" }));
    assert_eq!((&back["scopes"], &back["disabled"]), (&json!({}), &json!(false)));
    assert_eq!(back["endpoints"], json!({ "callbackUrl": "https://in.example.test/back" }));

    // What would leave its place in a URL makes no sense on the command line.
    for bad in ["tenant=x/../../evil", "tenant=a?b", "tenant=%2e%2e", "tenant"] {
        let (code, said) = failed(dir, &["apps", "provider", "set", &app, "jmap", "--setting", bad]);
        assert_eq!(code, Some(2), "{bad}: {said}");
    }
    let listed = command(dir, &["apps", "provider", "list", &app]);
    assert_eq!((&listed[0]["provider"], &listed[0]["connections"]), (&json!("jmap"), &json!(0)));
    assert_eq!(command(dir, &["apps", "list"])[0]["providers"], json!(["jmap"]));
    assert_eq!(command(dir, &["apps", "provider", "remove", &app, "jmap"])["removed"], true);
    let (code, said) = failed(dir, &["apps", "provider", "remove", &app, "jmap"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("not registered"), "{said}");
}

/// Values beside URLs that a registration can have depend on the connector: settings of the operator, and servers in the place of its
/// hosts.
#[test]
fn values_of_the_operator_fit_the_connector() {
    const MANIFEST: &str = r#"
        name = "cloud"
        version = "1.0.0"
        title = "Cloud"
        surfaces = ["email"]
        hosts = [{ host = "api.cloud.test", path_prefix = "/v1" }, { host = "www.cloud.test" }]
        auth = { kinds = ["oauth"], authorize_url = "https://id.cloud.test/a", token_url = "https://id.cloud.test/t" }
        [[settings]]
        name = "topic"
        operator = true
        description = "."
        [[settings]]
        name = "folder"
        description = "."
    "#;
    let (store, app) = store();
    let dir = store.path();
    let connectors = dir.join("bundle");
    std::fs::create_dir_all(connectors.join("cloud")).expect("a folder");
    std::fs::write(connectors.join("cloud/connector.toml"), MANIFEST).expect("written");
    let connectors = connectors.to_str().expect("a plain path");
    let all = |more: &[&'static str]| {
        let start = ["apps", "provider", "set", app.as_str(), "cloud", "--connectors", connectors];
        [&start[..], more].concat().iter().map(|word| (*word).to_owned()).collect::<Vec<String>>()
    };
    let set = |more: &[&'static str]| {
        let words = all(more);
        command(dir, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let made = set(&[
        "--client-id",
        "mine",
        "--public",
        "--setting",
        "topic=projects/example.com:mine/topics/mail",
        "--origin",
        "https://API.cloud.test:443=http://127.0.0.1:7100",
        "--origin",
        "https://www.cloud.test=https://www.cloud.example",
    ]);
    assert_eq!(made["settings"], json!({ "topic": "projects/example.com:mine/topics/mail" }));
    let (api, www) = ("https://api.cloud.test", "https://www.cloud.test");
    let origins = json!({ api: "http://127.0.0.1:7100", www: "https://www.cloud.example" });
    assert_eq!(made["endpoints"], json!({ "origins": origins }));
    assert_eq!(set(&["--token-url", ""])["endpoints"], made["endpoints"], "what is not named stays");

    for (bad, code, why) in [
        (["--origin", "https://mail.cloud.test=https://x.test"], 1, "https://mail.cloud.test is not"),
        (["--origin", "http://api.cloud.test=https://x.test"], 1, "--origin: http://api.cloud.test"),
        (["--origin", "https://api.cloud.test=https://x.test/v1"], 2, "--origin"),
        (["--origin", "https://api.cloud.test=https://user@x.test"], 2, "--origin"),
        (["--origin", "https://api.cloud.test"], 2, "ORIGIN=SERVER"),
        (["--setting", "folder=a/b"], 1, "--setting: the value of folder"),
        (["--setting", "folder=x@evil.test"], 1, "--setting: the value of folder"),
        (["--setting", "topic=projects/../mine"], 2, "the value of topic"),
        (["--connectors", "/nowhere"], 1, "--connectors"),
    ] {
        let mut words = all(&bad);
        if bad[0] == "--connectors" {
            words = all(&["--origin", "https://api.cloud.test=https://x.test"]);
            words[6] = bad[1].to_owned();
        }
        let (exit, said) = failed(dir, &words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(exit, Some(code), "{bad:?}: {said}");
        assert!(said.contains(why), "{bad:?}: {said}");
    }
    let listed = command(dir, &["apps", "provider", "list", &app]);
    assert_eq!(listed[0]["endpoints"], made["endpoints"], "what was refused left no trace");
    let back = set(&["--origin", "https://api.cloud.test=", "--origin", "https://www.cloud.test="]);
    assert_eq!(back["endpoints"], json!({}));
}

/// A client's secret comes from a file or a variable, and is in nothing that is printed, nor in the store as it is.
#[test]
fn secret_is_never_printed() {
    const SECRET: &str = "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w";
    let (store, app) = store();
    let dir = store.path();
    let file = dir.join("secret.txt");
    std::fs::write(&file, format!("{SECRET}\n")).expect("written");
    let file = file.to_str().expect("a plain path");
    let place = ["--data-dir", dir.to_str().expect("a plain path")];
    let set = ["apps", "provider", "set", app.as_str(), "google"];
    let runs: [&[&str]; 7] = [
        &[&set[..], &["--client-id", "c", "--secret-file", file]].concat(),
        &[&set[..], &["--secret-file", file, "--json"]].concat(),
        &[&set[..], &["--client-auth", "basic"]].concat(),
        &["apps", "provider", "list", app.as_str()],
        &["apps", "provider", "list", app.as_str(), "--json"],
        &["apps", "list", "--json"],
        &["apps", "provider", "set", app.as_str(), "google", "--secret-file", "/nowhere/at/all"],
    ];
    for arguments in runs {
        let output = run(&[arguments, &place[..]].concat());
        let said = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&said).contains(SECRET), "{arguments:?}");
    }
    let from_variable =
        switchboard(&[&set[..], &["--secret-env", "CLIENT_SECRET", "--json"], &place[..]].concat())
            .env("CLIENT_SECRET", SECRET)
            .output()
            .expect("the command can be started");
    assert!(from_variable.status.success(), "{}", String::from_utf8_lossy(&from_variable.stderr));
    assert!(!String::from_utf8_lossy(&from_variable.stdout).contains(SECRET));
    let listed = command(dir, &["apps", "provider", "list", &app]);
    assert_eq!((&listed[0]["hasSecret"], &listed[0]["clientAuth"]), (&json!(true), &json!("basic")));
    let (code, _) = failed(dir, &["apps", "provider", "set", &app, "google", "--secret", "x"]);
    assert_eq!(code, Some(2), "a secret is no argument");
    for entry in std::fs::read_dir(dir).expect("the folder").flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let is_ours = entry.file_name() == "secret.txt";
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert_eq!(found, is_ours, "{}", entry.path().display());
    }
}
