//! Changes of a Gmail mailbox by the API, and what Gmail makes of them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fakes::google::SentMail;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::fake_provider::mail::MINUTE_MS;
use crate::google::mail::{MailAccount, answer_to, letter};
use crate::google::{ALICE, BOB, World};

const SEND: &str = "/upload/gmail/v1/users/me/messages/send";

/// The messages that Gmail sent for Alice.
fn sent(account: &MailAccount) -> Vec<SentMail> {
    account.world.fake.with(|state| state.sent.clone())
}

/// The text of the message that Gmail sent last.
fn last_sent(account: &MailAccount) -> String {
    let last = sent(account).pop().expect("a message");
    String::from_utf8(last.raw).expect("a text")
}

/// A value of a header field in a text.
fn field(raw: &str, name: &str) -> Option<String> {
    let lines = raw.lines().take_while(|line| !line.is_empty());
    let mut values =
        lines.filter_map(|line| line.split_once(':')).filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim().to_owned())
}

/// Gmail replaces the Message-ID of each message. The message has the replaced one here, so that answers are matched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_message_id_is_found() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let message = account.send(json!({ "subject": "Offer", "metadata": { "case": "17" } })).await;
    assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
    let raw = last_sent(&account);
    let theirs = field(&raw, "message-id").expect("a Message-ID");
    assert!(theirs.contains("@mail.gmail.com"), "{raw}");
    assert_eq!(format!("<{}>", text(&message["internetMessageId"])), theirs);
    assert_eq!(account.folders_of(&message).await, ["sent"]);
    // The next pull finds the same message.
    account.pull_all().await;
    let stored = account.titled("Offer").await;
    assert_eq!((&stored["id"], &stored["metadata"]), (&message["id"], &json!({ "case": "17" })));
    // An answer joins the conversation.
    let answer = letter("Re: Offer", &format!("In-Reply-To: {theirs}\r\nReferences: {theirs}\r\n"));
    account.world.fake.with(|state| state.deliver(ALICE, answer.as_bytes()));
    assert_eq!(account.pull().await, ["created Re: Offer"]);
    assert_eq!(account.titled("Re: Offer").await["threadId"], message["threadId"]);
    account.assert_sound().await;
}

/// A message is not sent twice after a lost 200: the answer of Gmail is lost, also where Gmail keeps no trace of our Message-ID but in a
/// field of our own, and the message is found and goes out once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn send_is_never_repeated() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    for (number, what) in [What::Kill, What::Cut, What::Html].into_iter().enumerate() {
        account.world.fake.fault(Fault::new(SEND, what).after());
        let subject = format!("Once {number}");
        let mut message = account.send(json!({ "subject": subject })).await;
        for _ in 0..10 {
            if message["delivery"]["state"] == "sent" {
                break;
            }
            account.world.advance(10 * MINUTE_MS);
            account.world.server.hand_over().await;
            message = account.shown(&message["id"]).await;
        }
        assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
        let copies = sent(&account).into_iter().filter(|one| {
            let raw = String::from_utf8_lossy(&one.raw).into_owned();
            field(&raw, "subject").as_deref() == Some(subject.as_str())
        });
        assert_eq!(copies.count(), 1, "{subject}");
    }
    // An answer that refuses is none that was lost: it is sent later.
    account.world.fake.trap("sending_limit", 1);
    let message = account.send(json!({ "subject": "Later" })).await;
    assert_eq!(message["delivery"]["state"], "queued", "{message:#}");
    for _ in 0..10 {
        account.world.advance(10 * MINUTE_MS);
        account.world.server.hand_over().await;
    }
    let message = account.shown(&message["id"]).await;
    assert_eq!((&message["delivery"]["state"], sent(&account).len()), (&json!("sent"), 4), "{message:#}");
    account.assert_sound().await;
}

/// Gmail has no envelope: hidden recipients are in the message that it accepts, and in no copy of the recipients.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bcc_is_sent_and_not_shown() {
    let Some(account) = MailAccount::followed(|_| {}).await else { return };
    let hidden = "hidden@elsewhere.test";
    let message = account.send(json!({ "subject": "Quiet", "bcc": [{ "email": hidden }] })).await;
    assert_eq!(message["delivery"]["state"], "sent", "{message:#}");
    let [one]: [SentMail; 1] = sent(&account).try_into().expect("one message");
    assert_eq!(one.recipients, [BOB, hidden]);
    let at_bob = account.world.fake.with(|state| {
        let copy = state.mailbox(BOB).titled("Quiet").expect("Bob has it");
        String::from_utf8(copy.raw.clone()).expect("a text")
    });
    assert!(!at_bob.contains(hidden) && field(&at_bob, "bcc").is_none(), "{at_bob}");
    let recipients = message["delivery"]["recipients"].as_array().expect("a list");
    assert_eq!(recipients.len(), 2, "{message:#}");
    account.assert_sound().await;
}

/// A reply is in no new thread: it is in the conversation that it answers, at Gmail too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_is_in_no_new_thread() {
    let account = MailAccount::followed(|state| {
        state.deliver(ALICE, letter("Question", "").as_bytes());
    });
    let Some(account) = account.await else { return };
    let question = account.titled("Question").await;
    let answer = json!({ "subject": null, "replyToMessageId": question["id"], "to": question["from"], "body": { "text": "Yes" } });
    let answer = account.send(answer).await;
    assert_eq!(
        (&answer["subject"], &answer["threadId"]),
        (&json!("Re: Question"), &question["threadId"]),
        "{answer:#}"
    );
    let threads = account.mailbox(|mailbox| {
        let thread = |subject: &str| mailbox.titled(subject).map(|message| message.thread_id.clone());
        (thread("Question"), thread("Re: Question"))
    });
    assert!(threads.0.is_some() && threads.0 == threads.1, "{threads:?}");
    let raw = last_sent(&account);
    assert!(raw.contains(answer_to("Question").lines().next().expect("a line")), "{raw}");
    account.assert_sound().await;
}

/// Each version of a draft is another message at Gmail. Here it is one draft with one id, also where Gmail's own page saves it, and sending
/// it leaves no draft behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draft_keeps_its_id() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let new = json!({
        "connectionId": account.connection, "to": [{ "email": BOB }], "subject": "Draft", "body": { "text": "one" },
    });
    let draft = account.world.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let theirs = |account: &MailAccount| {
        account.mailbox(|mailbox| {
            let drafts: Vec<(String, String)> =
                mailbox.drafts.iter().map(|(draft, message)| (draft.clone(), message.clone())).collect();
            drafts
        })
    };
    let [(first_id, first_message)]: [(String, String); 1] = theirs(&account).try_into().expect("one draft");
    let change = json!({ "subject": "Draft 2", "etag": draft["etag"] });
    let changed = account.world.api.patch(&path, change).send().await.expect(200);
    assert_eq!((&changed["id"], &changed["subject"]), (&draft["id"], &json!("Draft 2")));
    let [(id, message)]: [(String, String); 1] = theirs(&account).try_into().expect("one draft");
    assert_eq!(id, first_id);
    assert_ne!(message, first_message, "Gmail gives each version an id");
    account.pull_all().await;

    // Gmail's page saves while it is written.
    let by_hand = format!(
        "From: {ALICE}\r\nTo: {BOB}\r\nSubject: Draft 3\r\nMessage-ID: <draft-3@x.test>\r\n\r\nthree\r\n"
    );
    account.world.fake.with(|state| state.change_draft(ALICE, &id, by_hand.as_bytes()));
    account.pull_all().await;
    let listed =
        account.world.api.all(&format!("/v1/email/drafts?connection_id={}", account.connection)).await;
    let shown: Vec<(&Value, &Value)> = listed.iter().map(|one| (&one["id"], &one["subject"])).collect();
    assert_eq!(shown, [(&draft["id"], &json!("Draft 3"))]);

    let sending = account.world.api.post(format!("{path}/send"), json!({})).send().await.expect(202);
    account.world.server.hand_over().await;
    assert!(theirs(&account).is_empty(), "{sending:#}");
    assert_eq!(sent(&account).len(), 1);
    account.pull_all().await;
    let listed =
        account.world.api.all(&format!("/v1/email/drafts?connection_id={}", account.connection)).await;
    assert_eq!(listed, Vec::<Value>::new());
    assert_eq!(account.labels("Draft 3"), ["SENT"]);
    account.assert_sound().await;
}

/// Marks, labels, moves and the trash are labels at Gmail, and none of those that it refuses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_labels_moves_and_the_trash() {
    let account = MailAccount::followed(|state| {
        state.mailbox(ALICE).add_label("Work");
        state.deliver(ALICE, letter("Lunch", "").as_bytes());
    });
    let Some(mut account) = account.await else { return };
    let id = account.titled("Lunch").await["id"].clone();
    let work = account.place("labels", "Work").await;
    let work_there = account.mailbox(|mailbox| {
        let found = mailbox.labels.iter().find(|(_, label)| label.name == "Work");
        found.map(|(id, _)| id.clone()).expect("the label")
    });
    let change = json!({ "unread": false, "starred": true, "addLabelIds": [work] });
    let changed = account.patch(&id, change).await;
    assert_eq!(
        (&changed["unread"], &changed["starred"], &changed["labelIds"]),
        (&json!(false), &json!(true), &json!([work]))
    );
    assert_eq!(account.labels("Lunch"), ["INBOX", work_there.as_str(), "STARRED"]);
    let archive = account.place("folders", "archive").await;
    let archived = account.patch(&id, json!({ "folderIds": [archive], "starred": false })).await;
    assert_eq!((&archived["folderIds"], &archived["starred"]), (&json!([archive]), &json!(false)));
    assert_eq!(account.labels("Lunch"), [work_there.as_str()]);
    let path = format!("/v1/email/messages/{}", text(&id));
    account.world.api.delete(&path).send().await.expect(204);
    assert!(account.labels("Lunch").contains(&"TRASH".to_owned()), "{:?}", account.labels("Lunch"));
    assert_eq!(account.folders_of(&account.read(&id).await).await, ["trash"]);
    let inbox = account.place("folders", "inbox").await;
    account.patch(&id, json!({ "folderIds": [inbox] })).await;
    let mut back = account.labels("Lunch");
    back.retain(|label| *label != work_there);
    assert_eq!(back, ["INBOX"]);
    // Pulls find the written data, and report nothing new.
    account.changes().await;
    assert_eq!(account.pull_all().await, Vec::<String>::new());

    // A change that is based on an older version is refused.
    let stale = account.shown(&id).await["etag"].clone();
    let there = account.mailbox(|mailbox| mailbox.titled("Lunch").map(|message| message.id.clone()));
    account.mailbox(|mailbox| mailbox.relabel(&there.expect("the message"), &["STARRED"], &[]));
    let change = json!({ "unread": true, "etag": stale });
    account.world.api.patch(&path, change).send().await.refused(409, "stale_etag");
    account.assert_sound().await;
}

/// A message that is stored without sending it is at Gmail as it was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_stored_without_sending_it() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let folder = account.place("folders", "inbox").await;
    let raw = letter("Imported", "X-Case: 17\r\n");
    let new = json!({
        "connectionId": account.connection, "folderIds": [folder], "unread": true, "rawBase64": BASE64_STANDARD.encode(&raw),
    });
    let stored = account.world.api.post("/v1/email/messages", new).send().await.expect(201);
    assert_eq!(text(&stored["internetMessageId"]), "imported@elsewhere.test");
    let there = account.mailbox(|mailbox| mailbox.titled("Imported").map(|message| message.raw.clone()));
    assert_eq!(there.map(|raw| String::from_utf8(raw).expect("a text")), Some(raw));
    assert_eq!(account.labels("Imported"), ["INBOX", "UNREAD"]);
    assert_eq!(sent(&account).len(), 0);
    account.pull_all().await;
    assert_eq!(account.titled("Imported").await["id"], stored["id"]);
    account.assert_sound().await;
}

/// An account that lets this server send mail and read none sends, and its capabilities say that it is not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_only_sends_sends() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    let connection = world.connect_for(&["calendar.read", "email.send"]).await;
    let path = format!("/v1/connections/{}/capabilities", text(&connection["id"]));
    let capabilities = world.api.get(path).send().await.expect(200);
    let operations = &capabilities["operations"];
    assert_eq!((&operations["send"], &operations["read"]), (&json!(true), &json!(false)), "{capabilities:#}");
    let missing = capabilities["missing"].as_array().expect("a list");
    let read = missing.iter().find(|one| one["operation"] == "read").expect("it is told");
    assert_eq!(read["reason"], "scope_not_granted");
    let message = json!({
        "connectionId": connection["id"], "to": [{ "email": BOB }], "subject": "Hello", "body": { "text": "Hello" },
    });
    world.api.post("/v1/email/send", message).send().await.expect(202);
    world.server.hand_over().await;
    assert_eq!(world.fake.with(|state| state.sent.len()), 1);
    world.assert_allowed();
}
