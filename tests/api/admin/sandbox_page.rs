//! The page of the sandbox: it is there where this process plays the provider, and what it does reaches the provider's accounts once.

use harness::panel_user::PanelUser;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::manage::actor::Role;
use storage::audit_log;
use switchboard::admin::routes::TABLE;

use crate::admin::client::{assert_whole, led_to, token};

const PAGE: &str = "/admin/sandbox";

/// Sends a form of the page.
async fn send(user: &PanelUser, form: &str, fields: &[(&str, &str)]) -> harness::Exchange {
    user.post(format!("{PAGE}/{form}"), &token(user).await, fields).send().await
}

/// Messages of an account that have this word.
async fn messages(account: &Actor, word: &str) -> Vec<Value> {
    let found = account.get(format!("/sandbox/v1/mail/messages?text={word}")).send().await.expect(200);
    found["messages"].as_array().cloned().expect("a list")
}

/// Acts on the sandbox in the audit log, with their accounts, in the order of their names.
async fn acts(server: &TestServer) -> Vec<String> {
    let entries = audit_log::list_all(server.app.db.reader(), i64::MAX, "", 100).await.expect("the log");
    let of_sandbox = entries.into_iter().filter(|entry| entry.act.starts_with("sandbox"));
    let mut acts: Vec<String> = of_sandbox.map(|entry| format!("{} {}", entry.act, entry.target)).collect();
    acts.sort();
    acts
}

/// The page of a process that does not play the provider is not there, whoever asks; of one that does, it is there for administrators.
#[tokio::test]
async fn the_sandbox_is_ours() {
    let server = TestServer::builder().config(|config| config.sandbox = false).start().await;
    let admin = server.operator(None).await;
    let form = token(&admin).await;
    for route in TABLE.iter().filter(|route| route.path.starts_with(PAGE)) {
        let fields = [("account", "alice"), ("to", "alice@sandbox.test"), ("subject", "Hello")];
        let asked = match route.is_form() {
            true => admin.post(route.path, &form, &fields).send().await,
            false => admin.get(route.path).send().await,
        };
        assert_eq!(asked.status, 404, "{}: {asked}", route.path);
    }
    let menu = admin.get("/admin/system/operators").send().await;
    assert!(!menu.text.contains("href=\"../sandbox\""), "{menu}");

    let server = TestServer::start().await;
    let (admin, owner) = (server.operator(None).await, server.operator(Some(Role::Owner)).await);
    let page = admin.get(PAGE).send().await;
    assert_eq!(page.status, 200, "{page}");
    assert_whole(&page);
    for text in ["alice@sandbox.test", "bounce@sandbox.test", "[sandbox:lost-answer]", "No fault is waiting."]
    {
        assert!(page.text.contains(text), "{text}: {page}");
    }
    let menu = admin.get("/admin/system/operators").send().await;
    assert!(menu.text.contains("href=\"../sandbox\""), "{menu}");
    assert_eq!(owner.get(PAGE).send().await.status, 404);
}

/// A message and an invitation arrive once for each form, however often it is sent, and are in the audit log.
#[tokio::test]
async fn a_message_and_an_invitation_arrive() {
    let server = TestServer::start().await;
    let (admin, alice) = (server.operator(None).await, server.provider("alice"));
    let form = token(&admin).await;
    let fields = [
        ("to", "Alice@sandbox.test"),
        ("subject", "Überraschung <b>zebra</b>"),
        ("message_text", "Two lines\r\nof gnomon"),
    ];
    for _ in 0..2 {
        let sent = admin.post(format!("{PAGE}/mail"), &form, &fields).send().await;
        assert_eq!(led_to(&format!("{PAGE}/mail"), &sent), PAGE);
    }
    let found = messages(&alice, "gnomon").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_string().contains("Überraschung <b>zebra</b>"), "{found:?}");
    assert!(found[0].to_string().contains("panel@sandbox.test"), "{found:?}");

    let invited =
        send(&admin, "events", &[("guest", "bob"), ("event_subject", "Gnomon"), ("start", "10")]).await;
    assert_eq!(led_to(&format!("{PAGE}/events"), &invited), PAGE);
    let bob = server.provider("bob");
    let events = bob.get("/sandbox/v1/calendars/work/events?q=Gnomon").send().await.expect(200);
    let starts: Vec<&str> = events["events"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|event| event["start"].as_str())
        .collect();
    assert_eq!(starts.len(), 1, "{events}");
    let expected = ["sandbox_event_sent bob@sandbox.test", "sandbox_mail_sent alice@sandbox.test"];
    assert_eq!(acts(&server).await, expected);
}

/// A form that lacks something, or that the provider refuses, says so at its field; nothing arrives.
#[tokio::test]
async fn what_is_refused_stands_at_its_field() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    let long = "x".repeat(201);
    for (form, fields, text) in [
        ("mail", [("to", "alice@example.com"), ("subject", "Quoin")], "Enter an address such as"),
        ("mail", [("to", "alice@sandbox.test"), ("subject", "")], "Enter a subject"),
        ("mail", [("to", "alice@sandbox.test"), ("subject", long.as_str())], "Enter a subject"),
        ("mail", [("to", "reject@sandbox.test"), ("subject", "Quoin")], "The provider refused this: 5"),
        (
            "mail",
            [("to", "alice@sandbox.test"), ("subject", "Quoin [sandbox:forbidden]")],
            "The provider refused",
        ),
        ("events", [("guest", "mallory"), ("event_subject", "Quoin")], "Choose one of the accounts"),
        ("events", [("guest", "bob"), ("event_subject", "Quoin [sandbox:invalid]")], "The provider refused"),
        ("faults", [("fault_account", "mallory"), ("fault_status", "500")], "Choose one of the accounts"),
        ("faults", [("fault_account", "alice"), ("fault_status", "many")], "Enter a whole number."),
        ("faults", [("fault_account", "alice"), ("fault_status", "200")], "status must be 400 to 599"),
        ("faults", [("fault_account", "alice"), ("fault_omit", "password")], "The provider refused"),
        ("faults/clear", [("account", "mallory"), ("x", "")], "Choose one of the accounts"),
        ("reset", [("account", "mallory"), ("x", "")], "Choose one of the accounts"),
    ] {
        let sent = send(&admin, form, &fields).await;
        assert_eq!(sent.status, 400, "{form} {fields:?}: {sent}");
        assert!(sent.text.contains("Please check the marked fields") && sent.text.contains(text), "{sent}");
        assert_whole(&sent);
    }
    assert_eq!(messages(&server.provider("alice"), "Quoin").await, [] as [Value; 0]);
    let faults = server.provider("alice").get("/sandbox/faults").send().await.expect(200);
    assert_eq!(faults["faults"], json!([]));
    assert_eq!(acts(&server).await, [] as [String; 0], "nothing was done");
}

/// Every field of a fault has one in the form; faults are shown while they wait, and go with a button or a reset, which is not met by them.
#[tokio::test]
async fn faults_wait_and_go() {
    let server = TestServer::start().await;
    let (admin, alice) = (server.operator(None).await, server.provider("alice"));
    let fields = [
        ("fault_account", "alice"),
        ("fault_status", "503"),
        ("fault_retryAfterS", "7"),
        ("fault_syncTokenOnly", "1"),
        ("fault_pathPrefix", "/sandbox/v1/<i>"),
        ("fault_times", "3"),
    ];
    let planned = send(&admin, "faults", &fields).await;
    assert_eq!(led_to(&format!("{PAGE}/faults"), &planned), PAGE);
    let known = alice.get("/sandbox/faults").send().await.expect(200);
    let fault = known["faults"][0].as_object().expect("a fault");
    assert_eq!(
        (&fault["status"], &fault["retryAfterS"], &fault["times"]),
        (&json!(503), &json!(7), &json!(3))
    );
    let page = admin.get(PAGE).send().await;
    for name in fault.keys() {
        assert!(page.text.contains(&format!("name=\"fault_{name}\"")), "{name}: {page}");
    }
    for text in ["status 503", "syncTokenOnly", "/sandbox/v1/&lt;i&gt;", "Remove the faults of alice"] {
        assert!(page.text.contains(text), "{text}: {page}");
    }
    assert_whole(&page);
    assert_eq!(send(&admin, "faults/clear", &[("account", "alice")]).await.status, 303);
    assert_eq!(alice.get("/sandbox/faults").send().await.expect(200)["faults"], json!([]));

    let made = json!({ "name": "Of mine" });
    alice.post("/sandbox/v1/calendars", made).send().await.expect(201);
    let all = [("fault_account", "alice"), ("fault_status", "500"), ("fault_times", "1000")];
    assert_eq!(send(&admin, "faults", &all).await.status, 303);
    alice.get("/sandbox/v1/calendars").send().await.expect(500);
    assert_eq!(send(&admin, "reset", &[("account", "alice")]).await.status, 303);
    let calendars = alice.get("/sandbox/v1/calendars").send().await.expect(200);
    assert!(!calendars.to_string().contains("Of mine"), "{calendars}");
    let expected = ["account_reset", "fault_added", "fault_added", "faults_removed"];
    let expected = expected.map(|act| format!("sandbox_{act} alice@sandbox.test"));
    assert_eq!(acts(&server).await, expected);
}
