//! Mail: messages arrive, are found, changed, written, sent once, and deleted.

use serde_json::{Value, json};

use crate::email::mailbox::{letter, text, until, written};
use crate::scenario::accounts::ConnectedAccount;
use crate::scenario::support::{ChangeFeed, carried_out, is_able, list, listed, read};

/// How far ahead a message is scheduled, ms.
const HOUR_MS: i64 = 3_600_000;

/// Everything that the scenario does with mail.
pub async fn use_mail(account: &impl ConnectedAccount, capabilities: &Value) {
    let start = json!({ "connectionId": account.mail() });
    let path = format!("/v1/email/sync/changes?connection_id={}&limit=100", account.mail());
    let mut feed = ChangeFeed::follow(account, "/v1/email/sync/start", start, path).await;
    let report = written("Quarterly report", "report@elsewhere.test", "", "Greetings from Zanzibar.\r\n");
    account.deliver(&report).await;
    let message = feed.arrival(account, "Quarterly report").await;
    assert_eq!((&message["unread"], &message["starred"]), (&json!(true), &json!(false)), "{message:#}");

    find(account, &message, capabilities).await;
    change(account, &message, capabilities).await;
    label(account, &message, capabilities).await;
    file(account, &message, capabilities).await;
    send_once(account, capabilities).await;
    schedule(account, capabilities).await;
    draft(account, capabilities).await;
    delete(account, &message, capabilities).await;
    delete_for_good(account, &mut feed, capabilities).await;
}

fn path(message: &Value) -> String {
    format!("/v1/email/messages/{}", text(&message["id"]))
}

/// The messages of the account that a query takes.
async fn messages(account: &impl ConnectedAccount, query: &str) -> Vec<Value> {
    list(account, &format!("/v1/email/messages?connection_id={}&{query}", account.mail())).await
}

/// A list has the message, a search finds it by its text, and it is read whole.
async fn find(account: &impl ConnectedAccount, message: &Value, capabilities: &Value) {
    assert!(is_able(capabilities, "/operations/read") && is_able(capabilities, "/operations/search"));
    let found = messages(account, "subject=quarterly").await;
    assert_eq!(found.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [&message["id"]]);
    // Some servers take a moment to index a text.
    until("the text is found", async || {
        let found = messages(account, "q=zanzibar").await;
        (found.len() == 1 && found.first().is_some_and(|one| one["id"] == message["id"])).then_some(())
    })
    .await;
    let whole = read(account, &path(message)).await;
    assert_eq!(text(&whole["body"]["text"]).trim_end(), "Greetings from Zanzibar.");
}

async fn change(account: &impl ConnectedAccount, message: &Value, capabilities: &Value) {
    let marks = json!({ "unread": false, "starred": true });
    let changed = account.api().patch(path(message), marks).send().await;
    if let Some(changed) = carried_out(is_able(capabilities, "/operations/modifyFlags"), changed) {
        assert_eq!((&changed["unread"], &changed["starred"]), (&json!(false), &json!(true)));
        assert!(account.is_starred(message).await, "the provider has no star: {changed:#}");
    }
    let keywords = json!({ "addKeywords": ["project"] });
    let changed = account.api().patch(path(message), keywords).send().await.expect(200);
    // Keywords that the provider cannot keep are left out, with a warning.
    let is_kept = is_able(capabilities, "/features/keywords");
    assert_eq!(changed["keywords"] == json!(["project"]), is_kept, "{changed:#}");
    assert_eq!(changed["warnings"] == json!([]), is_kept, "{changed:#}");
}

/// Without labels there are none to choose from.
async fn label(account: &impl ConnectedAccount, message: &Value, capabilities: &Value) {
    let labels = format!("/v1/email/labels?connection_id={}", account.mail());
    if !is_able(capabilities, "/features/labels") {
        assert_eq!(list(account, &labels).await, Vec::<Value>::new());
        let unknown = json!({ "addLabelIds": ["lbl_00000000000000000000000000"] });
        let refused = account.api().patch(path(message), unknown).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "addLabelIds[0]");
        return;
    }
    account.add_label("Journeys").await;
    let label = listed(account, &labels, |label| label["name"] == "Journeys").await;
    let change = json!({ "addLabelIds": [label["id"]] });
    let changed = account.api().patch(path(message), change).send().await.expect(200);
    let ids = changed["labelIds"].as_array().expect("a list");
    assert!(ids.contains(&label["id"]), "{changed:#}");
}

/// The message moves into the archive and keeps its identity.
async fn file(account: &impl ConnectedAccount, message: &Value, capabilities: &Value) {
    let folders = format!("/v1/email/folders?connection_id={}", account.mail());
    let archive = listed(account, &folders, |folder| folder["role"] == "archive").await;
    let change = json!({ "folderIds": [archive["id"]] });
    let moved = account.api().patch(path(message), change).send().await;
    if let Some(moved) = carried_out(is_able(capabilities, "/operations/move"), moved) {
        assert_eq!((&moved["id"], &moved["folderIds"]), (&message["id"], &json!([archive["id"]])));
    }
}

fn addressed(account: &impl ConnectedAccount, subject: &str) -> Value {
    json!({
        "connectionId": account.mail(), "to": [{ "email": account.colleague() }], "subject": subject,
        "body": { "text": "See the file." },
        "attachments": [{ "filename": "offer.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" }],
    })
}

/// A request that comes twice is one message, which arrives with its file.
async fn send_once(account: &impl ConnectedAccount, capabilities: &Value) {
    let send = async || {
        account.api().post("/v1/email/send", addressed(account, "Offer")).keyed("offer").send().await
    };
    let Some(queued) = carried_out(is_able(capabilities, "/operations/send"), send().await) else { return };
    assert_eq!(send().await.expect(202)["id"], queued["id"]);
    account.server().hand_over().await;
    assert_sent(account, &queued).await;
    assert_eq!(messages(account, "subject=offer").await.len(), 1);
}

async fn assert_sent(account: &impl ConnectedAccount, queued: &Value) {
    let sent = read(account, &path(queued)).await;
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    assert_eq!(sent["attachments"][0]["filename"], "offer.txt", "{sent:#}");
    if let Some(raw) = account.received(&sent).await {
        assert!(raw.contains("offer.txt"), "{raw}");
    }
}

/// A message for later is taken back, and is not sent.
async fn schedule(account: &impl ConnectedAccount, capabilities: &Value) {
    let mut later = addressed(account, "Second thoughts");
    let at = account.server().clock.now_ms() + HOUR_MS;
    later["sendAt"] = json!(model::Instant::from_millis(at).to_string());
    let queued = account.api().post("/v1/email/send", later).send().await;
    let Some(queued) = carried_out(is_able(capabilities, "/operations/scheduleSend"), queued) else { return };
    assert_eq!(queued["delivery"]["state"], "queued", "{queued:#}");
    let deleted = account.api().delete(path(&queued)).send().await;
    carried_out(is_able(capabilities, "/operations/cancelScheduled"), deleted);
    account.advance(2 * HOUR_MS);
    account.server().hand_over().await;
    assert_eq!(messages(account, "subject=thoughts").await, Vec::<Value>::new());
}

async fn draft(account: &impl ConnectedAccount, capabilities: &Value) {
    let new = account.api().post("/v1/email/drafts", addressed(account, "Notes")).send().await;
    let Some(draft) = carried_out(is_able(capabilities, "/operations/createDraft"), new) else { return };
    let draft_path = format!("/v1/email/drafts/{}", text(&draft["id"]));
    let change = account.api().patch(&draft_path, json!({ "subject": "Minutes" }));
    let changed = change.if_match(&text(&draft["etag"])).send().await.expect(200);
    assert_eq!((&changed["id"], &changed["subject"]), (&draft["id"], &json!("Minutes")));
    let sent = account.api().post(format!("{draft_path}/send"), json!({})).send().await;
    let Some(queued) = carried_out(is_able(capabilities, "/operations/sendDraft"), sent) else { return };
    account.server().hand_over().await;
    assert_sent(account, &queued).await;
}

async fn delete(account: &impl ConnectedAccount, message: &Value, capabilities: &Value) {
    let deleted = account.api().delete(path(message)).send().await;
    if carried_out(is_able(capabilities, "/operations/delete"), deleted).is_some() {
        let folders = format!("/v1/email/folders?connection_id={}", account.mail());
        let trash = listed(account, &folders, |folder| folder["role"] == "trash").await;
        assert_eq!(read(account, &path(message)).await["folderIds"], json!([trash["id"]]));
    }
}

async fn delete_for_good(account: &impl ConnectedAccount, feed: &mut ChangeFeed, capabilities: &Value) {
    account.deliver(&letter("Unwanted", "unwanted@elsewhere.test", "")).await;
    let message = feed.arrival(account, "Unwanted").await;
    let deleted = account.api().delete(format!("{}?permanent=true", path(&message))).send().await;
    let is_gone = carried_out(is_able(capabilities, "/operations/permanentDelete"), deleted).is_some();
    let left = account.api().get(path(&message)).header("cache-control", "no-cache").send().await;
    match is_gone {
        true => drop(left.refused(404, "not_found")),
        false => drop(left.expect(200)),
    }
}
