//! Recorded answers become what their snapshots say. Drop another server's into `fixtures/` to add a case: `SERVER_messages.json` is an
//! answer to `Email/get`, `SERVER_mailboxes.json` one to `Mailbox/get`.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_jmap::client::messages;
use connector_jmap::folders::Tree;
use connector_jmap::message::{partial, whole};
use connector_jmap::protocol::answers::GetResponse;
use connector_sdk::testing::told;
use serde_json::{Value, json};

fn fixtures(kind: &str) -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names = paths.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)));
    let mut all: Vec<(String, String)> = names
        .filter(|(name, _)| name.ends_with(&format!("_{kind}")))
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "there are recorded {kind}");
    all
}

fn got(text: &str) -> GetResponse {
    serde_json::from_str(text).unwrap()
}

#[test]
fn messages_become_items() {
    for (name, text) in fixtures("messages") {
        let shown: Vec<Value> =
            messages(got(&text)).into_iter().map(|message| told(whole(message))).collect();
        insta::assert_json_snapshot!(name, shown);
    }
}

#[test]
fn mailboxes_become_folders() {
    for (name, text) in fixtures("mailboxes") {
        let shown: Vec<Value> = Tree::read(got(&text)).sources().iter().map(told).collect();
        insta::assert_json_snapshot!(name, shown);
    }
}

/// Reading gives an answer for anything that a server puts in the place of a value.
#[test]
fn mangled_messages_give_an_answer() {
    let odd =
        [json!(null), json!(-1), json!([[]]), json!({ "": {} }), json!("\u{0}=?x?q?\u{202e}"), json!([null])];
    for (_, text) in fixtures("messages") {
        let answer: Value = serde_json::from_str(&text).unwrap();
        for email in answer["list"].as_array().unwrap() {
            for (name, value) in
                email.as_object().unwrap().keys().flat_map(|name| odd.iter().map(move |odd| (name, odd)))
            {
                let mut mangled = email.clone();
                mangled[name] = value.clone();
                let text = json!({ "state": "1", "list": [mangled] }).to_string();
                for source in messages(got(&text))
                    .into_iter()
                    .map(whole)
                    .chain(messages(got(&text)).into_iter().map(partial))
                {
                    assert_eq!(source.error.is_some(), source.items.is_empty(), "{name}: {value}");
                }
            }
        }
    }
}
