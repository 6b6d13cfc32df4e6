//! The provider's mail as sources, in recorded answers.

use connector_sandbox::Sandbox;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Answer, Context, Email, code};
use model::Instant;
use model::email::EmailMessage;
use model::email::folders::{Folder, Label, LabelVisibility};
use model::wire::email::{MessageFind, MessageRef, MessageUpdate, MessagesGet};
use model::wire::{ChangesRequest, Connection, Source, Sources};
use serde_json::{Value, json};

const CHANGES: &str = include_str!("../fixtures/mail_changes.json");

fn connection() -> Connection {
    let settings = json!({ "serverUrl": "http://h/sandbox/" });
    Connection {
        settings: settings.as_object().expect("settings are an object").clone(),
        ..Connection::default()
    }
}

fn page(provider: &Recorded, cursor: Option<&str>, names_only: bool) -> Answer<Sources> {
    let context = Context::new(provider, connection()).at(cursor.map(str::to_owned));
    let args = ChangesRequest { limit: 9, names_only, ..ChangesRequest::default() };
    <Sandbox as Email>::changes(&context, args).expect("the provider answers")
}

fn changes() -> Recorded {
    let url = "http://h/sandbox/v1/mail/changes?limit=9&syncToken=b2xk";
    Recorded::new().expect("GET", url, response(200, &[], CHANGES))
}

fn message(source: &Source) -> EmailMessage {
    source.items[0].body.read().expect("a message")
}

/// Known messages are reported in short form, new ones whole, unreadable ones each with an error.
#[test]
fn differences() {
    let page = page(&changes(), Some("sb2xk"), false);
    assert_eq!((page.cursor.as_deref(), page.more, page.body.enumeration), (Some("sbm93"), false, false));
    let [plans, hot, known, draft, odd, newer, gone] = &page.body.sources[..] else {
        panic!("{:?}", page.body)
    };
    let folder: Folder = plans.items[0].body.read().unwrap();
    assert_eq!(plans.items[0].kind.as_deref(), Some("email_folder"));
    assert_eq!(
        (folder.path.len(), folder.parent_id.as_deref(), folder.total_count),
        (2, Some("projects"), None)
    );
    let label: Label = hot.items[0].body.read().unwrap();
    assert_eq!((label.color, label.visibility), (None, LabelVisibility::Hide));

    let short = &known.items[0];
    let fields: Value = short.body.read().unwrap();
    assert!(short.partial && fields.as_object().unwrap().len() == 9);
    assert_eq!((&fields["unread"], &fields["importance"]), (&json!(true), &json!("high")));
    assert_eq!(
        (&fields["folderIds"], &fields["keywords"]),
        (&json!(["inbox", "plans"]), &json!(["$phishing"]))
    );

    assert_eq!((draft.previous_id.as_deref(), draft.items[0].partial), (Some("version-1"), false));
    assert_eq!(draft.items[0].fingerprint.as_deref(), Some("version-2"));
    assert_eq!(
        draft.items[0].provider_data,
        Some(json!({ "webLink": "https://mail.sandbox.test/version-2" }))
    );
    let whole = message(draft);
    assert!(whole.draft && whole.subject.is_none() && whole.from[0].email == "alice@sandbox.test");
    for unreadable in [odd, newer] {
        assert_eq!(unreadable.error.as_ref().unwrap().code, "unreadable");
        assert!(unreadable.items.is_empty() && unreadable.etag.is_some());
    }
    assert!(
        gone.deleted && gone.external_id == "gone",
        "the version before is not: it goes on as the next one"
    );
}

/// Names alone: the content of an entry is ignored.
#[test]
fn names_without_content() {
    let page = page(&changes(), Some("sb2xk"), true);
    assert_eq!(page.body.sources.len(), 8);
    assert!(page.body.sources.iter().all(|source| source.items.is_empty() && source.error.is_none()));
}

/// The token of now comes first, then folders and labels, then the newest messages; from there both go on.
#[test]
fn first_reading() {
    let at = "2026-03-10T07:00:00.000Z";
    let messages = |token: Value| {
        let one = json!({ "type": "email_message", "id": "m1", "etag": "\"1\"", "receivedAt": at, "folderIds": ["inbox"] });
        response(200, &[], &json!({ "messages": [one], "nextPageToken": token }).to_string())
    };
    let none = |token: &str| {
        let changes = json!({ "entries": [], "nextPageToken": null, "nextSyncToken": token });
        response(200, &[], &changes.to_string())
    };
    let v1 = "http://h/sandbox/v1/mail";
    let provider = Recorded::new()
        .expect("GET", &format!("{v1}/changes"), none("dDE"))
        .expect(
            "GET",
            &format!("{v1}/folders"),
            response(
                200,
                &[],
                r#"{"folders":[{"type":"email_folder","id":"inbox","name":"Inbox","role":"inbox"}]}"#,
            ),
        )
        .expect("GET", &format!("{v1}/labels"), response(200, &[], r#"{"labels":[]}"#))
        .expect("GET", &format!("{v1}/messages?limit=9"), messages(json!("cDI")))
        .expect("GET", &format!("{v1}/changes?limit=9&syncToken=dDE"), none("dDI"))
        .expect("GET", &format!("{v1}/messages?limit=9&pageToken=cDI"), messages(Value::Null));
    let first = page(&provider, None, false);
    assert_eq!((first.cursor.as_deref(), first.more, first.body.sources.len()), (Some("fsdDE.cDI"), true, 2));
    let covered = first.body.covered_since.unwrap().as_millis();
    assert_eq!(covered, at.parse::<Instant>().unwrap().as_millis() + 1);
    let last = page(&provider, first.cursor.as_deref(), false);
    assert_eq!((last.cursor.as_deref(), last.more, last.body.enumeration), (Some("sdDI"), false, true));
    assert_eq!(last.body.covered_since, Some(Instant::default()));
}

/// An id cannot lead to another place of the provider, nor a Message-ID into another question.
#[test]
fn ids_are_escaped() {
    let refusal = r#"{"error":{"code":"notFound","message":"there is no message"}}"#;
    let none = || response(200, &[], r#"{"messages":[],"nextPageToken":null}"#);
    let v1 = "http://h/sandbox/v1/mail/messages";
    let provider = Recorded::new()
        .expect("PATCH", &format!("{v1}/a%2F..%3Fx"), response(404, &[], refusal))
        .expect("GET", &format!("{v1}?folder=sent&messageId=a%26b%3Dc@d"), none())
        .expect("GET", &format!("{v1}?folder=drafts&messageId=a%26b%3Dc@d"), none());
    let context = Context::new(&provider, connection());
    let message = MessageRef { source: "a/..?x".to_owned(), hint: None };
    let failure =
        Sandbox::update_message(&context, MessageUpdate { message, ..MessageUpdate::default() }).unwrap_err();
    assert_eq!(failure.code, code::NOT_FOUND);
    let find = MessageFind { internet_message_id: "a&b=c@d".to_owned() };
    assert_eq!(Sandbox::find_message(&context, find).unwrap(), Sources::default());
}

/// Long texts come in small answers.
#[test]
fn batches() {
    let provider = Recorded::answering(|request| {
        let asked: Value = serde_json::from_slice(&connector_sdk::testing::body(request)).unwrap();
        assert!(
            asked["ids"].as_array().unwrap().len() <= 2
                && asked["headers"] == true
                && asked["maxBodyBytes"] == 1 << 20
        );
        Ok(response(200, &[], r#"{"messages":[]}"#))
    });
    let message = |source: &str| MessageRef { source: source.to_owned(), hint: None };
    let args = MessagesGet {
        messages: ["a", "b", "c"].map(message).to_vec(),
        body: true,
        max_body_bytes: 1 << 20,
        ..MessagesGet::default()
    };
    let found = Sandbox::get_messages(&Context::new(&provider, connection()), args).unwrap();
    assert!(found.sources.len() == 3 && found.sources.iter().all(|source| source.deleted));
    assert!(provider.requests.borrow().len() >= 2);
}
