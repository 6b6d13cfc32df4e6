//! Messages that go out through Microsoft 365: once, to everybody, and whatever their size.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fakes::graph::SentMessage;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::microsoft::mail::{MailAccount, letter};
use crate::microsoft::{ALICE, BOB};

/// The messages that Alice sent, as the recipients have them.
fn sent(account: &MailAccount) -> Vec<SentMessage> {
    account.mailbox(|mailbox| mailbox.sent.clone())
}

/// A value of a header field in a text.
fn field(raw: &[u8], name: &str) -> Option<String> {
    let raw = String::from_utf8_lossy(raw);
    let lines = raw.lines().take_while(|line| !line.is_empty());
    let mut values =
        lines.filter_map(|line| line.split_once(':')).filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim().to_owned())
}

/// A message is not sent twice after a lost 202, nor after an error of a gateway that had passed it on; it is found and goes out once. One
/// that Graph refuses for a while is sent later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn send_is_never_repeated() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let gateway = What::Status { status: 504, headers: [].into(), body: Value::Null };
    for (number, what) in [What::Kill, What::Html, gateway].into_iter().enumerate() {
        account.world.fake.fault(Fault::new("/send", what).method("POST").after());
        let subject = format!("Once {number}");
        let message = account.send(json!({ "subject": subject })).await;
        let message = account.delivered(message).await;
        assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
        let copies =
            sent(&account).into_iter().filter(|one| field(&one.raw, "subject").as_ref() == Some(&subject));
        assert_eq!(copies.count(), 1, "{subject}");
    }
    let busy = json!({ "error": { "code": "ApplicationThrottled", "message": "MailboxConcurrency" } });
    account.world.fake.fault(Fault::status("/send", 429, busy).method("POST"));
    let message = account.send(json!({ "subject": "Later" })).await;
    assert_eq!(message["delivery"]["state"], "queued", "{message:#}");
    let message = account.delivered(message).await;
    assert_eq!((&message["delivery"]["state"], sent(&account).len()), (&json!("sent"), 4), "{message:#}");
    assert_eq!(account.subjects_in("drafts"), [""; 0]);
    account.assert_sound().await;
}

/// Graph has no envelope: hidden recipients are in the message that it takes, and in no copy of the recipients. A reply is in the
/// conversation that it answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bcc_is_sent_and_not_shown() {
    let account = MailAccount::followed(|state| {
        state.deliver(ALICE, letter("Question", "").as_bytes());
    });
    let Some(mut account) = account.await else { return };
    let hidden = "hidden@elsewhere.test";
    let question = account.titled("Question").await;
    let answer = json!({
        "subject": null, "replyToMessageId": question["id"], "bcc": [{ "email": hidden }], "body": { "text": "Gr\u{fc}\u{df}e" },
    });
    let answer = account.send(answer).await;
    assert_eq!(answer["delivery"]["state"], "sent", "{answer:#}");
    let [one]: [SentMessage; 1] = sent(&account).try_into().expect("one message");
    assert_eq!(one.recipients, [BOB, hidden]);
    let at_bob = account.world.fake.with(|state| {
        let copy = state.mailbox(BOB).titled("Re: Question").expect("Bob has it");
        String::from_utf8_lossy(&copy.raw).into_owned()
    });
    assert!(!at_bob.contains(hidden), "{at_bob}");
    assert_eq!(field(&one.raw, "in-reply-to").as_deref(), Some("<question@elsewhere.test>"));
    account.pull_all().await;
    let stored = account.titled("Re: Question").await;
    assert_eq!((&stored["id"], &stored["threadId"]), (&answer["id"], &question["threadId"]), "{stored:#}");
    assert_eq!(account.folders_of(&stored).await, ["sent"]);
    account.assert_sound().await;
}

/// A message of 8 MB goes as a draft without its files, which follow: a small one in one request, a large one in slices. All of it arrives
/// as it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fat_mime_goes_by_uploads() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let large: Vec<u8> = (0..5_u32 << 20).map(|number| number.to_le_bytes()[number as usize % 3]).collect();
    let small = vec![7_u8; 400_000];
    let file = |name: &str, content: &[u8]| {
        let content = BASE64_STANDARD.encode(content);
        json!({ "filename": name, "contentType": "application/x-data", "contentBase64": content })
    };
    account.world.fake.clear_requests();
    let files = json!([file("large.bin", &large), file("small.bin", &small)]);
    let message = account.send(json!({ "subject": "Fat", "attachments": files })).await;
    assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
    let uploads: Vec<usize> = account
        .world
        .fake
        .requests()
        .iter()
        .filter(|request| request.is_upload)
        .map(|request| request.content.len())
        .collect();
    assert_eq!((uploads.len(), uploads.iter().sum::<usize>()), (2, large.len()));
    assert!(uploads.iter().rev().skip(1).all(|size| *size == 3_932_160), "{uploads:?}");
    account.world.fake.with(|state| {
        let copy = state.mailbox(BOB).titled("Fat").expect("Bob has it");
        let mut files: Vec<(&str, &Vec<u8>)> =
            copy.content.attachments.iter().map(|one| (one.name.as_str(), &one.bytes)).collect();
        files.sort_unstable();
        assert!(files == [("large.bin", &large), ("small.bin", &small)], "the files are as they were");
    });
    account.assert_sound().await;
}

/// An upload that breaks off sends nothing and leaves no draft; the next attempt sends the message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_upload_leaves_no_draft() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let refusal = json!({ "error": { "code": "ErrorInternalServerError", "message": "" } });
    account.world.fake.fault(Fault::status("AttachmentSessions", 503, refusal).method("PUT"));
    let content = BASE64_STANDARD.encode(vec![1_u8; 5 << 20]);
    let files =
        json!([{ "filename": "large.bin", "contentType": "application/x-data", "contentBase64": content }]);
    let message = account.send(json!({ "subject": "Cut", "attachments": files })).await;
    assert_eq!(message["delivery"]["state"], "queued", "{message:#}");
    assert_eq!((account.subjects_in("drafts"), sent(&account).len()), (vec![], 0));
    let message = account.delivered(message).await;
    assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
    assert_eq!((account.subjects_in("drafts"), sent(&account).len()), (vec![], 1));
    assert_eq!(text(&message["subject"]), "Cut");
    account.assert_sound().await;
}
