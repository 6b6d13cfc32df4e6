//! Messages of Gmail as the API shows them: folders, labels, conversations, search, files, and messages as few expect them.

use serde_json::{Value, json};

use crate::email::mailbox::{escaped, subjects, text};
use crate::google::ALICE;
use crate::google::mail::{MailAccount, answer_to, letter, written};

/// Gmail has only labels. Five of them are folders, a message without any is archived, and others are flags.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_are_folders_flags_and_labels() {
    let account = MailAccount::start(|state| {
        let label = state.mailbox(ALICE).add_label("Work/Reports");
        let put = [
            ("Fresh", vec!["INBOX", "UNREAD", "STARRED", "CATEGORY_UPDATES"]),
            ("Filed", vec!["IMPORTANT", label.as_str()]),
            ("Gone", vec!["TRASH"]),
            ("Bad", vec!["SPAM", "UNREAD"]),
            ("Chat", vec!["CHAT"]),
        ];
        for (subject, labels) in put {
            state.put_mail(ALICE, letter(subject, "").as_bytes(), &labels);
        }
    });
    let Some(mut account) = account.await else { return };
    let told = account.follow().await;
    assert_eq!(told, ["created Bad", "created Filed", "created Fresh", "created Gone"], "chats are no mail");
    let (fresh, filed) = (account.titled("Fresh").await, account.titled("Filed").await);
    assert_eq!(
        (&fresh["unread"], &fresh["starred"], &fresh["importance"]),
        (&json!(true), &json!(true), &json!("normal"))
    );
    assert_eq!((&filed["unread"], &filed["importance"]), (&json!(false), &json!("high")));
    let places = [("Fresh", "inbox"), ("Filed", "archive"), ("Gone", "trash"), ("Bad", "junk")];
    for (subject, role) in places {
        let message = account.titled(subject).await;
        assert_eq!(account.folders_of(&message).await, [role], "{subject}");
    }
    let work = account.place("labels", "Work/Reports").await;
    assert_eq!(filed["labelIds"], json!([work]));
    let updates = account.place("labels", "CATEGORY_UPDATES").await;
    assert_eq!(fresh["labelIds"], json!([updates]));

    // Another program moves, marks and files. The message keeps its identity.
    let id = text(&fresh["externalId"]);
    account.mailbox(|mailbox| mailbox.relabel(&id, &["TRASH"], &["INBOX", "UNREAD"]));
    assert_eq!(account.pull().await, ["updated Fresh"]);
    let moved = account.titled("Fresh").await;
    assert_eq!((&moved["id"], &moved["unread"]), (&fresh["id"], &json!(false)));
    assert_eq!(account.folders_of(&moved).await, ["trash"]);
    // Labels themselves change without a record.
    account.mailbox(|mailbox| mailbox.add_label("Travel"));
    account.pull().await;
    account.place("labels", "Travel").await;
    account.assert_sound().await;
}

/// A conversation is the one that Gmail has: an answer belongs to it, a message with the same subject does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_are_gmails() {
    let account = MailAccount::followed(|state| {
        for (subject, more) in
            [("Plans", String::new()), ("Re: Plans", answer_to("Plans")), ("Other", String::new())]
        {
            state.deliver(ALICE, letter(subject, &more).as_bytes());
        }
        let alone = letter("Plans", "").replace("plans@", "unrelated@");
        state.deliver(ALICE, alone.as_bytes());
    });
    let Some(account) = account.await else { return };
    let answer = account.titled("Re: Plans").await;
    let thread = format!("/v1/email/threads/{}", text(&answer["threadId"]));
    let thread = account.world.api.get(thread).send().await.expect(200);
    assert_eq!(thread["messageCount"], 2, "{thread:#}");
    let of_it = account.list(&format!("thread_id={}", text(&thread["id"]))).await;
    let mut of_it = subjects(&of_it);
    of_it.sort_unstable();
    assert_eq!(of_it, ["Plans", "Re: Plans"]);
    account.assert_sound().await;
}

/// A search of fifty messages at Gmail is a list and one batch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_of_50_is_two_round_trips() {
    let account = MailAccount::followed(|state| {
        for number in 0..60 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
        state.deliver(ALICE, letter("Elsewhere", "").replace("Ann <ann@", "Zoe <zoe@").as_bytes());
    });
    let Some(account) = account.await else { return };
    account.world.fake.clear_requests();
    let list = format!("/v1/email/messages?connection_id={}&limit=50", account.connection);
    let asked = format!("{list}&native_query={}", escaped("from:ann@elsewhere.test in:inbox"));
    let page = account.world.api.get(asked).send().await.expect(200);
    let found = page["data"].as_array().expect("a list");
    assert_eq!(found.len(), 50);
    assert!(found.iter().all(|message| message["from"][0]["email"] == "ann@elsewhere.test"), "{page:#}");
    assert_eq!(account.trips(), ["GET messages", "batch of 50"]);
    let asked = format!("{list}&native_query={}", escaped("subject:\"number 7\""));
    let page = account.world.api.get(asked).send().await.expect(200);
    assert_eq!(subjects(page["data"].as_array().expect("a list")), ["Number 7"]);
    account.assert_sound().await;
}

/// Ids of attachments are valid for one read: files can still be read at any time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_read_though_their_ids_change() {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n";
    let body = "--m\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
                Gr=FC=DFe\r\n--m\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\
                Content-Transfer-Encoding: base64\r\n\r\nMDEyMzQ1Njc4OQ==\r\n--m--\r\n";
    let account = MailAccount::followed(|state| {
        state.deliver(ALICE, written("Files", head, body).as_bytes());
    });
    let Some(account) = account.await else { return };
    let listed = account.titled("Files").await;
    assert_eq!(
        (&listed["hasAttachments"], &listed["attachments"][0]["filename"]),
        (&json!(true), &json!("a.csv"))
    );
    let message = account.read(&listed["id"]).await;
    assert_eq!(message["body"]["text"].as_str().map(str::trim_end), Some("Gr\u{fc}\u{df}e"));
    let way = text(&message["attachments"][0]["downloadUrl"]);
    for _ in 0..2 {
        account.mailbox(fakes::google::Mailbox::expire_attachment_ids);
        let file = account.world.api.get(format!("{way}?format=raw")).send().await;
        assert_eq!(
            (file.status, file.text.as_str(), file.header("content-type")),
            (200, "0123456789", Some("text/csv"))
        );
    }
    account.assert_sound().await;
}

/// A message of a hundred parts, one in an unknown charset and one without its payload do not affect their neighbours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_messages_keep_nobody_back() {
    let account = MailAccount::start(|state| {
        state.deliver(ALICE, letter("Before", "").as_bytes());
        state.add_odd_mail(ALICE);
        state.deliver(ALICE, letter("After", "").as_bytes());
    });
    let Some(mut account) = account.await else { return };
    let told = account.follow().await;
    for subject in ["After", "Before", "A hundred parts", "Unknown charset"] {
        assert!(told.contains(&format!("created {subject}")), "{subject}: {told:?}");
    }
    let many = account.titled("A hundred parts").await;
    assert_eq!(many["attachments"].as_array().map(Vec::len), Some(100));
    let unknown = account.titled("Unknown charset").await;
    let unknown = account.read(&unknown["id"]).await;
    assert!(unknown["body"]["text"].as_str().is_some_and(|body| body.starts_with("nuqneH")), "{unknown:#}");
    account.deliver("Later");
    assert_eq!(account.pull().await, ["created Later"]);
    let all: Vec<Value> = account.list("").await;
    assert!(all.len() >= 5, "{all:#?}");
    account.assert_sound().await;
}
