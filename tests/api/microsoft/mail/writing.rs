//! Changes of a mailbox of Microsoft 365 by the API, and what Graph makes of them.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::microsoft::mail::{MailAccount, letter};
use crate::microsoft::{ALICE, BOB};

/// Marks and categories are written, and only the categories that were named change; a move keeps the message, and so does the trash.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_categories_moves_and_the_trash() {
    let account = MailAccount::followed(|state| {
        state.add_category(ALICE, "Red", "preset0");
        state.add_category(ALICE, "Work", "preset7");
        let id = state.deliver(ALICE, letter("Lunch", "").as_bytes());
        state.categorize_mail(ALICE, &id, &["Red"]);
    });
    let Some(mut account) = account.await else { return };
    let id = account.titled("Lunch").await["id"].clone();
    let work = account.place("labels", "Work").await;
    let change = json!({ "unread": false, "starred": true, "importance": "high", "addLabelIds": [work] });
    let changed = account.patch(&id, change).await;
    assert_eq!(
        (&changed["unread"], &changed["starred"], &changed["importance"]),
        (&json!(false), &json!(true), &json!("high"))
    );
    assert_eq!(changed["labelIds"].as_array().map(Vec::len), Some(2), "{changed:#}");
    account.mailbox(|mailbox| {
        let there = mailbox.titled("Lunch").expect("the message");
        assert_eq!(
            (there.categories.as_slice(), there.is_read),
            (&["Red".to_owned(), "Work".to_owned()][..], true)
        );
        assert_eq!((there.flag.as_str(), there.importance.as_str()), ("flagged", "high"));
    });
    let junk = account.place("folders", "junk").await;
    let moved = account.patch(&id, json!({ "folderIds": [junk], "starred": false })).await;
    assert_eq!((&moved["folderIds"], &moved["starred"]), (&json!([junk]), &json!(false)));
    assert_eq!(account.subjects_in("junkemail"), ["Lunch"]);
    let path = format!("/v1/email/messages/{}", text(&id));
    account.world.api.delete(&path).send().await.expect(204);
    assert_eq!(account.subjects_in("deleteditems"), ["Lunch"]);
    assert_eq!(account.folders_of(&account.read(&id).await).await, ["trash"]);
    // Pulls find what was written, and report nothing new.
    account.changes().await;
    assert_eq!(account.pull_all().await, Vec::<String>::new());

    // A change that is based on an older version is refused.
    let stale = account.shown(&id).await;
    account.world.fake.with(|state| state.flag_mail(ALICE, &text(&stale["externalId"]), "flagged"));
    let change = json!({ "unread": true, "etag": stale["etag"] });
    account.world.api.patch(&path, change).send().await.refused(409, "stale_etag");
    account.assert_sound().await;
}

/// Each version of a draft is another message at Graph. Here it is one draft with one id, and sending it leaves no draft behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draft_keeps_its_id() {
    let Some(mut account) = MailAccount::followed(|_| {}).await else { return };
    let new = json!({
        "connectionId": account.connection, "to": [{ "email": BOB }], "subject": "Draft", "body": { "text": "one" },
    });
    let draft = account.world.api.post("/v1/email/drafts", new).send().await.expect(201);
    let path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    assert_eq!(account.subjects_in("drafts"), ["Draft"]);
    let change = json!({ "subject": "Draft 2", "etag": draft["etag"] });
    let changed = account.world.api.patch(&path, change).send().await.expect(200);
    assert_eq!((&changed["id"], &changed["subject"]), (&draft["id"], &json!("Draft 2")));
    assert_eq!(account.subjects_in("drafts"), ["Draft 2"]);
    account.pull_all().await;
    let drafts = format!("/v1/email/drafts?connection_id={}", account.connection);
    let listed = account.world.api.all(&drafts).await;
    let shown: Vec<(&Value, &Value)> = listed.iter().map(|one| (&one["id"], &one["subject"])).collect();
    assert_eq!(shown, [(&draft["id"], &json!("Draft 2"))]);

    account.world.api.post(format!("{path}/send"), json!({})).send().await.expect(202);
    account.world.server.hand_over().await;
    assert_eq!(
        (account.subjects_in("drafts"), account.subjects_in("sentitems")),
        (vec![], vec!["Draft 2".to_owned()])
    );
    assert_eq!(account.mailbox(|mailbox| mailbox.sent.len()), 1);
    account.pull_all().await;
    assert_eq!(account.world.api.all(&drafts).await, Vec::<Value>::new());
    account.assert_sound().await;
}
