//! A message has one snippet, however it is read: a read must not change the stored one.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::Imap;
use connector_imap::ids::{MessageId, folder_key};
use connector_sdk::Email as _;
use model::email::EmailMessage;
use model::wire::email::{MessageRef, MessagesGet};
use script::{Script, Step, answer};
use serde_json::json;

fn examined() -> Step {
    answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n")
}

/// The message, and what it is read with: its snippet as the server tells it, or the beginning of its text.
fn fetched(header: &str, asked: &str, told: &str) -> Step {
    answer(
        &format!("UID FETCH 3 (UID FLAGS INTERNALDATE RFC822.SIZE BODYSTRUCTURE {header} {asked})"),
        &format!(
            "* 3 FETCH (UID 3 FLAGS () INTERNALDATE \"02-Jan-2026 10:00:00 +0000\" RFC822.SIZE 99 BODYSTRUCTURE \
             (\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 16 1) BODY[HEADER] \"Subject: x\" {told})\n@ OK\n"
        ),
    )
}

fn text() -> Step {
    answer(
        "UID FETCH 3 (UID BODY.PEEK[1]<0.1048576>)",
        "* 3 FETCH (UID 3 BODY[1]<0> \"the text as it is\")\n@ OK\n",
    )
}

/// The snippet of a message that is read with its text.
fn snippet(capabilities: &str, steps: Vec<Step>) -> String {
    let script = Script::new(1).line("imap", capabilities, steps);
    let source = MessageId { key: folder_key("F:INBOX"), uid_validity: 9, uid: 3 }.to_string();
    let hint = Some(json!({ "f": "INBOX", "t": [{ "s": "1" }], "k": true }));
    let request =
        MessagesGet { messages: vec![MessageRef { source, hint }], body: true, ..MessagesGet::default() };
    let got = Imap::get_messages(&script.cx(), request).unwrap();
    let message: EmailMessage = got.sources[0].items[0].body.read().unwrap();
    assert_eq!(message.body.unwrap().text.as_deref(), Some("the text as it is"));
    assert_eq!(script.log.borrow().len(), 0, "{:?}", script.log.borrow());
    message.snippet
}

#[test]
fn a_full_read_tells_the_snippet_of_lists() {
    let header = "BODY.PEEK[HEADER]<0.262144>";
    let told = fetched(header, "PREVIEW", "PREVIEW \"told by the server\"");
    assert_eq!(snippet("IMAP4rev1;PREVIEW", vec![examined(), text(), told]), "told by the server");

    let beginning = || fetched(header, "BODY.PEEK[TEXT]<0.2048>", "BODY[TEXT]<0> \"the beginning\"");
    assert_eq!(snippet("IMAP4rev1", vec![examined(), text(), beginning()]), "the beginning");

    // A server that offers previews and has none.
    let none = fetched(header, "PREVIEW", "PREVIEW NIL");
    let steps = vec![examined(), text(), none, text(), beginning(), Step::Close];
    assert_eq!(snippet("IMAP4rev1;PREVIEW", steps), "the beginning");
}
