//! `/v1/email/threads`

use serde_json::{Value, json};

use crate::email::listing::fresh;
use crate::email::mailbox::{Letter, Mailbox, Provider, letter, refused, subjects, text};

on_every_mailbox!(
    a_conversation,
    the_list_of_threads,
    threads_of_a_fresh_mailbox_are_listed_while_it_is_read,
    a_late_joiner,
);

fn answer_to(ids: &[&str]) -> String {
    let of: Vec<String> = ids.iter().map(|id| format!("<{id}>")).collect();
    format!("In-Reply-To: {}\r\nReferences: {}\r\n", of.last().map_or("", String::as_str), of.join(" "))
}

async fn thread(mailbox: &Mailbox, id: &Value) -> Value {
    mailbox.get(format!("/v1/email/threads/{}", text(id))).send().await.expect(200)
}

async fn a_conversation(mailbox: Mailbox) {
    let first = letter("Plans", "plan1@x.test", "").at("2026-01-01T10:00:00Z").flagged(&["seen"]);
    let second = letter("Re: Plans", "plan2@x.test", &answer_to(&["plan1@x.test"]))
        .with("From", "Ben <ben@elsewhere.test>")
        .at("2026-01-02T10:00:00Z")
        .flagged(&["starred"]);
    let third = letter("AW: Plans", "plan3@x.test", &answer_to(&["plan1@x.test", "plan2@x.test"]))
        .at("2026-01-03T10:00:00Z")
        .into_folder("archive");
    for one in [&first, &second, &third] {
        mailbox.there.deliver(one).await;
    }
    mailbox.there.deliver(&letter("Plans", "unrelated@x.test", "").at("2026-01-04T10:00:00Z")).await;
    let all = mailbox.list("").await;
    assert_eq!(subjects(&all), ["Plans", "AW: Plans", "Re: Plans", "Plans"]);
    let whole = thread(&mailbox, &all[3]["threadId"]).await;
    assert_eq!(whole["messageIds"], json!([all[3]["id"], all[2]["id"], all[1]["id"]]), "oldest first");
    assert_eq!(
        (&whole["messageCount"], &whole["unreadCount"], &whole["unread"]),
        (&json!(3), &json!(2), &json!(true))
    );
    assert_eq!(
        (&whole["starred"], &whole["hasDrafts"], &whole["mergedInto"]),
        (&json!(true), &json!(false), &Value::Null)
    );
    assert_eq!(whole["subject"], "Plans");
    assert_eq!(whole["earliestMessageAt"], "2026-01-01T10:00:00.000Z");
    assert_eq!(whole["latestReceivedAt"], "2026-01-03T10:00:00.000Z");
    assert_eq!(whole["latestMessage"]["id"], all[1]["id"]);
    let people: Vec<&Value> =
        whole["participants"].as_array().expect("a list").iter().map(|p| &p["email"]).collect();
    assert_eq!(people, ["ann@elsewhere.test", "somebody@elsewhere.test", "ben@elsewhere.test"]);
    assert_eq!(whole["folderIds"].as_array().map(Vec::len), Some(2));
    // The same subject is not enough for a conversation.
    assert_ne!(all[0]["threadId"], all[1]["threadId"]);
    let of_it = mailbox.list(&format!("thread_id={}", text(&whole["id"]))).await;
    assert_eq!(subjects(&of_it), ["AW: Plans", "Re: Plans", "Plans"]);

    mailbox.there.destroy("plan3@x.test").await;
    let less = thread(&mailbox, &whole["id"]).await;
    assert_eq!((&less["messageCount"], &less["latestMessage"]["id"]), (&json!(2), &all[2]["id"]));
    assert_ne!(less["etag"], whole["etag"]);
}

async fn the_list_of_threads(mailbox: Mailbox) {
    for (subject, id, more, at) in [
        ("Alpha", "a1@x.test", String::new(), "2026-01-01T10:00:00Z"),
        ("Beta", "b1@x.test", String::new(), "2026-01-02T10:00:00Z"),
        ("Gamma", "c1@x.test", String::new(), "2026-01-03T10:00:00Z"),
        ("Re: Alpha", "a2@x.test", answer_to(&["a1@x.test"]), "2026-01-04T10:00:00Z"),
    ] {
        mailbox.there.deliver(&letter(subject, id, &more).at(at)).await;
    }
    mailbox.there.flag("b1@x.test", "starred", true).await;
    let list = format!("/v1/email/threads?connection_id={}", mailbox.connection);
    let all = mailbox.all(&format!("{list}&limit=1")).await;
    assert_eq!(subjects(&all), ["Alpha", "Gamma", "Beta"], "by the newest message");
    let found = async |query: &str| -> Vec<String> {
        let found = mailbox.all(&format!("{list}&{query}")).await;
        found.iter().map(|t| text(&t["subject"])).collect()
    };
    assert_eq!(found("starred=true").await, ["Beta"]);
    assert_eq!(found("subject=alpha").await, ["Alpha"]);
    assert_eq!(found("received_after=2026-01-02&received_before=2026-01-04").await, ["Gamma", "Beta"]);
    assert_eq!(found("unread=false").await, [""; 0]);
    assert_eq!(found(&format!("folder_id={}", mailbox.folder("archive").await)).await, [""; 0]);
    refused(mailbox.get(format!("{list}&unread=perhaps")).send().await, 400, "invalid_parameter", "unread");
    mailbox.get(format!("{list}&cursor=x")).send().await.refused(400, "invalid_cursor");
}

/// A list of threads ends where the mailbox does, and not where the copy does.
async fn threads_of_a_fresh_mailbox_are_listed_while_it_is_read(mailbox: Mailbox) {
    let provider = mailbox.provider;
    drop(mailbox);
    // Nothing is read in the background: the list has to wait for its content.
    let mailbox = fresh(provider, provider.server().without_pulls()).await;
    let list = format!("/v1/email/threads?connection_id={}&limit=3", mailbox.connection);
    let wanted: Vec<String> = (10..50).rev().map(|n| format!("Number {n}")).collect();
    assert_eq!(subjects(&mailbox.api.all(&list).await), wanted);
}

/// Two messages without a visible connection become one conversation when the message between them arrives; the younger one's former
/// thread id still works.
async fn a_late_joiner(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Launch", "l1@x.test", "").at("2026-01-01T10:00:00Z")).await;
    mailbox.list("").await;
    let end = letter("Re: Launch", "l3@x.test", "In-Reply-To: <l2@x.test>\r\nReferences: <l2@x.test>\r\n");
    mailbox.there.deliver(&end.at("2026-01-03T10:00:00Z")).await;
    let apart = mailbox.list("").await;
    assert_ne!(apart[0]["threadId"], apart[1]["threadId"]);
    let between = letter("Re: Launch", "l2@x.test", &answer_to(&["l1@x.test"]));
    mailbox.there.deliver(&between.at("2026-01-02T10:00:00Z")).await;
    let together = mailbox.list("").await;
    if mailbox.provider == Provider::Sandbox || mailbox.provider == Provider::Jmap {
        // The server decides there.
        assert_eq!(together.len(), 3);
        return;
    }
    assert!(together.iter().all(|m| m["threadId"] == apart[1]["threadId"]), "{together:#?}");
    let old = thread(&mailbox, &apart[0]["threadId"]).await;
    assert_eq!((&old["id"], &old["mergedInto"]), (&apart[1]["threadId"], &apart[1]["threadId"]));
    assert_eq!(old["messageCount"], 3);
    let by_old_name = mailbox.list(&format!("thread_id={}", text(&apart[0]["threadId"]))).await;
    assert_eq!(by_old_name.len(), 3);
}

/// A message without a Message-ID cannot be named by its answers: only the provider's name of its thread brings them there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_joins_the_thread_by_its_name_at_the_provider() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let nameless = letter("Plans", "none", "");
    let raw = nameless.raw.replace("Message-ID: <none>\r\n", "");
    mailbox.there.deliver(&Letter { raw, ..nameless }).await;
    let question = mailbox.titled("Plans").await;
    assert_eq!(question["internetMessageId"], Value::Null);

    let sent = mailbox.send(json!({ "subject": null, "replyToMessageId": question["id"] })).await;
    assert_eq!((&sent["delivery"]["state"], &sent["inReplyTo"]), (&json!("sent"), &json!([])));
    assert_eq!(sent["threadId"], question["threadId"]);
    let forward = json!({ "subject": null, "replyToMessageId": question["id"], "replyMode": "forward" });
    assert_ne!(mailbox.send(forward).await["threadId"], question["threadId"], "a forward begins its own");
    assert_ne!(mailbox.send(json!({ "subject": "Re: Plans" })).await["threadId"], question["threadId"]);
}

/// Each version of a draft stays in the thread of the message that it answers; a version that answers nothing leaves it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draft_stays_in_the_thread_of_what_it_answers() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let nameless = letter("Plans", "none", "");
    let raw = nameless.raw.replace("Message-ID: <none>\r\n", "");
    mailbox.there.deliver(&Letter { raw, ..nameless }).await;
    let question = mailbox.titled("Plans").await;
    let create = async || {
        let new = json!({ "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }],
            "replyToMessageId": question["id"], "body": { "text": "one" } });
        mailbox.api.post("/v1/email/drafts", new).send().await.expect(201)
    };
    let path = |draft: &Value| format!("/v1/email/drafts/{}", text(&draft["id"]));
    let draft = create().await;
    assert_eq!(draft["threadId"], question["threadId"]);
    let change = json!({ "body": { "text": "two" }, "etag": draft["etag"] });
    let changed = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_eq!(changed["threadId"], question["threadId"]);
    let sent = mailbox.api.post(format!("{}/send", path(&draft)), json!({})).send().await.expect(202);
    mailbox.server.hand_over().await;
    assert_eq!(mailbox.read(&sent["id"]).await["threadId"], question["threadId"]);

    let draft = create().await;
    let change = json!({ "replyToMessageId": null, "etag": draft["etag"] });
    let alone = mailbox.api.patch(path(&draft), change).send().await.expect(200);
    assert_ne!(alone["threadId"], question["threadId"]);
}
