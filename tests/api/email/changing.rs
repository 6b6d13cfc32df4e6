//! `PATCH` and `DELETE /v1/email/messages/{messageId}`

use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, letter, refused, text};

on_every_mailbox!(
    flags_and_keywords,
    a_message_that_moves_keeps_its_id,
    versions,
    into_the_trash_and_away,
    what_a_change_refuses,
    notes_of_the_caller,
);

async fn flags_and_keywords(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Flags", "flags@x.test", "")).await;
    let old = mailbox.titled("Flags").await;
    assert_eq!(
        (&old["unread"], &old["starred"], &old["keywords"]),
        (&json!(true), &json!(false), &json!([]))
    );
    let change =
        json!({ "unread": false, "starred": true, "answered": true, "addKeywords": ["$label1", "Work"] });
    let ask = mailbox.patch(&old["id"], change.clone()).if_match(&text(&old["etag"])).keyed("flags");
    let new = ask.send().await.expect(200);
    assert_eq!(
        (&new["unread"], &new["starred"], &new["answered"], &new["id"]),
        (&json!(false), &json!(true), &json!(true), &old["id"])
    );
    let mut keywords: Vec<String> = new["keywords"].as_array().expect("a list").iter().map(text).collect();
    keywords.sort();
    assert_eq!(keywords, ["$label1", "work"], "lower case, as IMAP compares them");
    assert_eq!(
        mailbox.there.contents().await["flags@x.test"],
        [("inbox".to_owned(), flags(&["answered", "seen", "starred"]))]
    );
    assert_ne!(new["etag"], old["etag"]);
    let again = mailbox.patch(&old["id"], change).if_match(&text(&old["etag"])).keyed("flags").send().await;
    assert_eq!(again.expect(200), new, "the same request is the same answer");

    let same = mailbox.patch(&new["id"], json!({ "unread": false })).send().await.expect(200);
    assert_eq!(same["etag"], new["etag"], "what changes nothing makes no version");
    let less = json!({ "removeKeywords": ["WORK", "never"], "starred": false });
    let less = mailbox.patch(&new["id"], less).send().await.expect(200);
    assert_eq!((&less["keywords"], &less["starred"]), (&json!(["$label1"]), &json!(false)));
    let read = mailbox.read(&new["id"]).await;
    assert_eq!(
        (&read["keywords"], &read["etag"], &read["unread"]),
        (&less["keywords"], &less["etag"], &json!(false))
    );

    // What another program sets is seen.
    mailbox.there.flag("flags@x.test", "starred", true).await;
    mailbox.there.flag("flags@x.test", "seen", false).await;
    let read = mailbox.read(&new["id"]).await;
    assert_eq!(
        (&read["starred"], &read["unread"], &read["answered"]),
        (&json!(true), &json!(true), &json!(true))
    );
}

fn flags(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

async fn a_message_that_moves_keeps_its_id(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Moving", "moving@x.test", "")).await;
    let old = mailbox.titled("Moving").await;
    let (folder, name) = mailbox.new_folder().await;
    let moved = mailbox.patch(&old["id"], json!({ "folderIds": [folder] })).send().await.expect(200);
    assert_eq!((&moved["id"], &moved["folderIds"]), (&old["id"], &json!([folder])));
    assert_eq!((&moved["threadId"], &moved["unread"]), (&old["threadId"], &old["unread"]));
    assert_eq!(mailbox.there.folders_of("moving@x.test").await, [name.as_str()]);
    let read = mailbox.read(&old["id"]).await;
    assert!(text(&read["body"]["text"]).starts_with("Hello!"));
    assert_eq!(read["folderIds"], json!([folder]));
    // A message that was read and comes back as it is changes nothing.
    let back = mailbox.patch(&old["id"], read.clone()).send().await.expect(200);
    assert_eq!(back["etag"], read["etag"]);

    // A move by another program has the same result.
    mailbox.there.r#move("moving@x.test", "archive").await;
    let archive = mailbox.folder("archive").await;
    let found = mailbox.titled("Moving").await;
    assert_eq!((&found["id"], &found["folderIds"]), (&old["id"], &json!([archive])));
    let inbox = mailbox.folder("inbox").await;
    let both = mailbox.patch(&old["id"], json!({ "folderIds": [inbox, archive] })).send().await;
    let capabilities = format!("/v1/email/capabilities/{}", mailbox.connection);
    let capabilities = mailbox.get(capabilities).send().await.expect(200);
    match capabilities["features"]["multiFolder"] == true {
        true => assert_eq!(both.expect(200)["folderIds"].as_array().map(Vec::len), Some(2)),
        false => {
            assert_eq!(both.status, 400, "{both}");
        }
    }
}

/// An etag is a version: after any change of a message, a change based on an older one is refused with the current etag.
async fn versions(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Versions", "versions@x.test", "")).await;
    let first = mailbox.titled("Versions").await;
    let second = mailbox.patch(&first["id"], json!({ "starred": true })).send().await.expect(200);
    let stale = mailbox.patch(&first["id"], json!({ "unread": false })).if_match(&text(&first["etag"]));
    let error = stale.send().await.refused(409, "stale_etag");
    assert_eq!(error["current_etag"], second["etag"], "{error:#}");
    let in_body = json!({ "unread": false, "etag": first["etag"] });
    mailbox.patch(&first["id"], in_body).send().await.refused(409, "stale_etag");
    // A change at the provider that was not read yet.
    mailbox.there.flag("versions@x.test", "answered", true).await;
    let stale = mailbox.patch(&first["id"], json!({ "unread": false })).if_match(&text(&second["etag"]));
    let error = stale.send().await.refused(409, "stale_etag");
    let now = mailbox.read(&first["id"]).await;
    assert_eq!(now["answered"], true);
    assert_eq!(now["etag"], error["current_etag"], "{error:#}");
    assert_eq!(mailbox.there.contents().await["versions@x.test"][0].1, flags(&["answered", "starred"]));
    let last = mailbox.patch(&first["id"], json!({ "unread": false })).if_match(&text(&now["etag"]));
    assert_eq!(last.send().await.expect(200)["unread"], false);
    // Without an etag the last one wins.
    mailbox.there.flag("versions@x.test", "starred", false).await;
    let any =
        mailbox.patch(&first["id"], json!({ "answered": false })).if_match("*").send().await.expect(200);
    assert_eq!((&any["answered"], &any["starred"]), (&json!(false), &json!(false)));
}

async fn into_the_trash_and_away(mailbox: Mailbox) {
    for name in ["one", "two", "three", "four"] {
        mailbox.there.deliver(&letter(name, &format!("{name}@x.test"), "")).await;
    }
    let one = mailbox.titled("one").await;
    let path = format!("/v1/email/messages/{}", text(&one["id"]));
    let stale = mailbox.api.delete(&path).if_match("\"nonsense\"").send().await;
    stale.refused(409, "stale_etag");
    mailbox.api.delete(&path).if_match(&text(&one["etag"])).keyed("trash").send().await.expect(204);
    assert_eq!(mailbox.there.folders_of("one@x.test").await, ["trash"]);
    mailbox.api.delete(&path).if_match(&text(&one["etag"])).keyed("trash").send().await.expect(204);
    let trashed = mailbox.read(&one["id"]).await;
    assert_eq!(trashed["folderIds"], json!([mailbox.folder("trash").await]));
    assert_eq!(
        mailbox.there.folders_of("one@x.test").await,
        ["trash"],
        "a repeated request did not destroy it"
    );
    mailbox.api.delete(&path).send().await.expect(204);
    mailbox.get(&path).send().await.refused(404, "not_found");
    mailbox.api.delete(&path).send().await.refused(404, "not_found");

    let two = mailbox.titled("two").await;
    let path = format!("/v1/email/messages/{}?permanent=true", text(&two["id"]));
    mailbox.api.delete(&path).send().await.expect(204);
    // Another client was faster.
    let three = mailbox.titled("three").await;
    mailbox.there.destroy("three@x.test").await;
    let gone = mailbox.api.delete(format!("/v1/email/messages/{}", text(&three["id"]))).send().await;
    assert!(gone.status == 204 || gone.status == 404, "{gone}");
    let change = mailbox.patch(&three["id"], json!({ "starred": true })).send().await;
    change.refused(404, "not_found");
    let left = mailbox.there.contents().await;
    assert_eq!(left.keys().collect::<Vec<_>>(), ["four@x.test"]);
}

async fn what_a_change_refuses(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Refused", "refused@x.test", "")).await;
    let message = mailbox.titled("Refused").await;
    let before = mailbox.there.contents().await;
    for (body, param) in [
        (json!({ "unread": "yes" }), "unread"),
        (json!({ "folderIds": [] }), "folderIds"),
        (json!({ "folderIds": ["fld_00000000000000000000000000"] }), "folderIds[0]"),
        (json!({ "folderIds": [1] }), "folderIds[0]"),
        (json!({ "addLabelIds": ["lbl_00000000000000000000000000"] }), "addLabelIds[0]"),
        (json!({ "addKeywords": ["two words"] }), "addKeywords[0]"),
        (json!({ "addKeywords": ["ok", "a)\r\nb"] }), "addKeywords[1]"),
        (json!({ "addKeywords": ["$seen"] }), "addKeywords[0]"),
        (json!({ "removeKeywords": "x" }), "removeKeywords"),
        (json!({ "importance": "urgent" }), "importance"),
        (json!({ "subject": "another" }), "subject"),
        (json!({ "size": 1 }), "size"),
        (json!({ "metadata": { "a": 1 } }), "metadata.a"),
    ] {
        let asked = mailbox.patch(&message["id"], body).send().await;
        refused(asked, 400, "invalid_parameter", param);
    }
    let unknown = mailbox.patch(&message["id"], json!({ "colour": "red" })).send().await.expect(200);
    assert_eq!(unknown["warnings"][0]["code"], "unknown_field", "{unknown:#}");
    assert_eq!(mailbox.there.contents().await, before, "nothing was changed");
    if mailbox.provider != Provider::Sandbox {
        let path = format!("/v1/email/labels?connection_id={}", mailbox.connection);
        assert_eq!(mailbox.all(&path).await, Vec::<Value>::new());
    }
}

/// The caller's `metadata` is kept here, whatever happens to the message.
async fn notes_of_the_caller(mailbox: Mailbox) {
    mailbox.there.deliver(&letter("Noted", "noted@x.test", "")).await;
    let message = mailbox.titled("Noted").await;
    let noted =
        mailbox.patch(&message["id"], json!({ "metadata": { "case": "17" } })).send().await.expect(200);
    assert_eq!((&noted["metadata"], &noted["unread"]), (&json!({ "case": "17" }), &json!(true)));
    mailbox.there.r#move("noted@x.test", "archive").await;
    mailbox.there.flag("noted@x.test", "seen", true).await;
    assert_eq!(mailbox.there.contents().await["noted@x.test"], [("archive".to_owned(), flags(&["seen"]))]);
    let found = mailbox.titled("Noted").await;
    assert_eq!(
        (&found["id"], &found["metadata"], &found["unread"]),
        (&message["id"], &json!({ "case": "17" }), &json!(false))
    );
    let cleared = mailbox.patch(&message["id"], json!({ "metadata": {} })).send().await.expect(200);
    assert_eq!(cleared["metadata"], json!({}));
}

/// Labels, where the provider has them.
#[tokio::test]
async fn labels() {
    let Some(mailbox) = Mailbox::open(Provider::Sandbox).await else { return };
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    for (id, title) in [("label-a", "A"), ("label-b", "B")] {
        let label = json!({ "id": id, "name": title, "color": { "background": "#ff0000" } });
        sandbox.post("/sandbox/v1/mail/labels", label).send().await.expect(201);
    }
    mailbox.there.deliver(&letter("Labelled", "labelled@x.test", "")).await;
    let message = mailbox.titled("Labelled").await;
    let labels = mailbox.all(&format!("/v1/email/labels?connection_id={}", mailbox.connection)).await;
    let id = |name: &str| text(&labels.iter().find(|l| l["name"] == name).expect("a label")["id"]);
    let (a, b) = (id("A"), id("B"));
    let both = mailbox.patch(&message["id"], json!({ "labelIds": [a, b] })).send().await.expect(200);
    assert_eq!(both["labelIds"].as_array().map(Vec::len), Some(2));
    let change = json!({ "addLabelIds": [a], "removeLabelIds": [b] });
    let one = mailbox.patch(&message["id"], change).send().await.expect(200);
    assert_eq!(one["labelIds"], json!([a]));
    assert_eq!(mailbox.list(&format!("label_id={a}")).await.len(), 1);
    assert_eq!(mailbox.list(&format!("label_id={b}")).await.len(), 0);
    sandbox.delete("/sandbox/v1/mail/labels/label-a").send().await.expect(200);
    assert_eq!(mailbox.read(&message["id"]).await["labelIds"], json!([]));
}
