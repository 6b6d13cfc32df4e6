//! Mail, on Dovecot by APPEND.

use std::collections::BTreeMap;

use harness::TestServer;
use harness::imap::{Imap, Stored};
use serde_json::{Value, json};

use crate::compare::{compare, unchanged};
use crate::oracle::{Kind, Object, Oracle};
use crate::report::Report;

/// The user on Dovecot. No other test uses it.
const USER: &str = "t19@example.test";
/// The date of the first message, ms; each further one is a second later, which identifies it.
const FIRST: i64 = 1_760_000_000_000;

/// The fields that a change of the flags may change; its response has neither body nor headers, as in lists.
const UNSAID: [&str; 6] = ["starred", "etag", "updatedAt", "warnings", "body", "headers"];

pub async fn mirror(oracle: &Oracle, imap: u16, smtp: u16, objects: &[Object], report: &mut Report) {
    let objects: Vec<&Object> = objects.iter().filter(|object| object.kind == Kind::Message).collect();
    if objects.is_empty() {
        return;
    }
    let mut line = Imap::login(imap, USER, "secret");
    line.empty(&["INBOX", "Archive", "Drafts", "Junk", "Sent", "Trash"]);
    for (at, object) in (0..).zip(&objects) {
        line.append_bytes("INBOX", "", Some(FIRST + at * 1000), &object.bytes);
    }
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let server = TestServer::builder().from_now().config(|c| c.egress_allow = loopback).start().await;
    let api = server.client().await;
    let at = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
    let connection = api
        .connect(json!({ "provider": "imap",
            "credentials": { "username": USER, "password": "secret", "imap": at(imap), "smtp": at(smtp) },
            "scopes": ["email.read", "email.write", "email.send"] }))
        .await;
    let list = format!("/v1/email/messages?connection_id={}", connection["id"].as_str().expect("an id"));
    let ids: BTreeMap<String, String> = api
        .all(&list)
        .await
        .iter()
        .filter_map(|m| Some((m["receivedAt"].as_str()?.to_owned(), m["id"].as_str()?.to_owned())))
        .collect();
    let bytes: Vec<&[u8]> = objects.iter().map(|object| object.bytes.as_slice()).collect();
    let expected = oracle.read(Kind::Message, &bytes);
    for ((at, object), expected) in (0..).zip(&objects).zip(&expected) {
        let Some(id) = ids.get(&model::Instant::from_millis(FIRST + at * 1000).to_string()) else {
            report.add("message.not listed", &object.name, "");
            continue;
        };
        let Some(items) = expected["items"].as_array() else {
            report.add("message.unreadable by the oracle", &object.name, &expected["unreadable"]);
            continue;
        };
        report.compared += 1;
        let path = format!("/v1/email/messages/{id}");
        let found = api.get(format!("{path}?fields=full")).send().await.expect(200);
        compare("message", &object.name, &items[0], &found, report);
        let was = stored(&mut line, at);
        let before = api.get(&path).send().await.expect(200);
        let patched = api.patch(&path, json!({ "starred": true })).send().await;
        if patched.status != 200 {
            report.add(
                format!("message.patch refused: {}", patched.status),
                &object.name,
                &patched.answer["error"]["message"],
            );
            continue;
        }
        unchanged("message.patched", &object.name, &before, &patched.answer, &UNSAID, report);
        flagged(&object.name, &was, &stored(&mut line, at), &patched.answer, report);
    }
}

/// Returns the message at a position in the folder, with its bytes.
fn stored(line: &mut Imap, at: i64) -> Option<(Stored, String)> {
    let stored = line.messages("INBOX").into_iter().nth(usize::try_from(at).ok()?)?;
    let raw = line.raw(&stored);
    Some((stored, raw))
}

/// Checks that the bytes are unchanged, and that only the requested flags are new.
fn flagged(
    object: &str,
    was: &Option<(Stored, String)>,
    is: &Option<(Stored, String)>,
    answer: &Value,
    report: &mut Report,
) {
    let (Some((was, raw)), Some((is, now))) = (was, is) else {
        return report.add("message.stored.gone", object, "");
    };
    if raw != now || was.uid != is.uid {
        report.add("message.stored.bytes", object, "");
    }
    let mut wanted = was.flags.clone();
    wanted.push("\\flagged".to_owned());
    wanted.sort();
    if wanted != is.flags || answer["starred"] != true {
        report.add("message.stored.flags", object, format!("expected {wanted:?}, found {:?}", is.flags));
    }
}
