//! Messages of Microsoft 365 as the API shows them: folders, categories, search, texts and files.

use serde_json::{Value, json};

use crate::email::mailbox::{escaped, subjects, text};
use crate::microsoft::ALICE;
use crate::microsoft::mail::{MailAccount, letter, written};

/// Folders have roles in whatever language, categories are labels, and marks are as Outlook has them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folders_have_roles_and_categories_are_labels() {
    let account = MailAccount::start(|state| {
        state.mailbox(ALICE).make_folder("inbox", "Projects/2026");
        state.add_category(ALICE, "Red", "preset0");
        let fresh = state.deliver(ALICE, letter("Fresh", "").as_bytes());
        state.categorize_mail(ALICE, &fresh, &["Red", "Unlisted"]);
        state.flag_mail(ALICE, &fresh, "flagged");
        let put = [("Filed", "Projects/2026"), ("Gone", "deleteditems"), ("Bad", "junkemail")];
        for (subject, folder) in put {
            state.put_mail(ALICE, letter(subject, "").as_bytes(), folder, true);
        }
    });
    let Some(mut account) = account.await else { return };
    assert_eq!(account.follow().await, ["created Bad", "created Filed", "created Fresh", "created Gone"]);
    let (fresh, filed) = (account.titled("Fresh").await, account.titled("Filed").await);
    assert_eq!((&fresh["unread"], &fresh["starred"]), (&json!(true), &json!(true)), "{fresh:#}");
    assert_eq!((&filed["unread"], &filed["starred"]), (&json!(false), &json!(false)), "{filed:#}");
    let places = [("Fresh", "inbox"), ("Filed", "Projects/2026"), ("Gone", "trash"), ("Bad", "junk")];
    for (subject, role) in places {
        let message = account.titled(subject).await;
        assert_eq!(account.folders_of(&message).await, [role], "{subject}");
    }
    let mut labels: Vec<String> = fresh["labelIds"].as_array().expect("a list").iter().map(text).collect();
    labels.sort();
    let mut expected = vec![account.place("labels", "Red").await, account.place("labels", "Unlisted").await];
    expected.sort();
    assert_eq!(labels, expected, "a name that is not in the mailbox's list is a label too");

    // Another program moves and marks. The message keeps its identity.
    let id = text(&fresh["externalId"]);
    account.world.fake.with(|state| {
        state.move_mail(ALICE, &id, "Projects/2026");
        state.mark_mail_read(ALICE, &id, true);
    });
    assert_eq!(account.pull().await, ["updated Fresh"]);
    let moved = account.titled("Fresh").await;
    assert_eq!((&moved["id"], &moved["unread"]), (&fresh["id"], &json!(false)));
    assert_eq!(account.folders_of(&moved).await, ["Projects/2026"]);
    account.assert_sound().await;
}

/// A search of fifty messages at Graph is one request, by words as by conditions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_of_50_is_one_round_trip() {
    let account = MailAccount::followed(|state| {
        for number in 0..60 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
        state.deliver(ALICE, letter("Elsewhere", "").replace("Ann <ann@", "Zoe <zoe@").as_bytes());
    });
    let Some(account) = account.await else { return };
    account.world.fake.clear_requests();
    let list = format!("/v1/email/messages?connection_id={}&limit=50", account.connection);
    let asked = format!("{list}&native_query={}", escaped("from:ann@elsewhere.test"));
    let page = account.world.api.get(asked).send().await.expect(200);
    let found = page["data"].as_array().expect("a list");
    assert_eq!(found.len(), 50);
    assert!(found.iter().all(|message| message["from"][0]["email"] == "ann@elsewhere.test"), "{page:#}");
    assert_eq!(account.world.round_trips(), 1, "{:#?}", account.requests());
    let asked = format!("{list}&native_query={}", escaped("subject:\"number 7\""));
    let page = account.world.api.get(asked).send().await.expect(200);
    assert_eq!(subjects(page["data"].as_array().expect("a list")), ["Number 7"]);
    account.assert_sound().await;
}

/// A text is there in both forms, a file by its bytes, a message in a message as such, and a link has no content.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_and_files_are_read() {
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n";
    let body = "--m\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Gr\u{fc}\u{df}e</p>\r\n\
                --m\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\
                Content-Transfer-Encoding: base64\r\n\r\nMDEyMzQ1Njc4OQ==\r\n--m--\r\n";
    let account = MailAccount::followed(|state| {
        let id = state.deliver(ALICE, written("Files", head, body).as_bytes());
        let now = state.clock.now_ms();
        state.mailbox(ALICE).attach_reference(&id, "Shared.docx", now);
    });
    let Some(account) = account.await else { return };
    let listed = account.titled("Files").await;
    assert_eq!(listed["hasAttachments"], json!(true), "{listed:#}");
    let message = account.read(&listed["id"]).await;
    assert!(
        message["body"]["html"].as_str().is_some_and(|html| html.contains("Gr\u{fc}\u{df}e")),
        "{message:#}"
    );
    assert!(
        message["body"]["text"].as_str().is_some_and(|text| text.contains("Gr\u{fc}\u{df}e")),
        "{message:#}"
    );
    assert!(message["headers"].as_array().is_some_and(|headers| !headers.is_empty()), "{message:#}");
    let files = message["attachments"].as_array().expect("a list");
    let named =
        |name: &str| files.iter().find(|file| file["filename"] == name).cloned().unwrap_or(Value::Null);
    let way = text(&named("a.csv")["downloadUrl"]);
    let file = account.world.api.get(format!("{way}?format=raw")).send().await;
    assert_eq!((file.status, file.text.as_str()), (200, "0123456789"));
    let way = text(&named("Shared.docx")["downloadUrl"]);
    let link = account.world.api.get(format!("{way}?format=raw")).send().await;
    assert!(link.status >= 400, "{}", link.text);
    account.assert_sound().await;
}
