//! Messages that are changed, deleted and stored, and drafts, as Gmail gets them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod mail_desk;

use connector_google::Google;
use connector_sdk::testing::{body, response};
use connector_sdk::{Email as _, Failure, code};
use model::email::Importance;
use model::wire::email::{MessageAppend, MessageDelete, MessageRef, MessageUpdate};
use model::wire::{Item, Mutated, Source};
use serde_json::{Value, json};

use mail_desk::{
    Answered, Desk, LETTER, OWN_ID, batch, draft, metadata, ok, only, refused, saved_draft, stored, taken,
    whole,
};

/// The JSON of the request of this place.
fn sent_json(desk: &Desk, place: usize) -> Value {
    serde_json::from_slice(&body(&desk.requests.borrow()[place])).unwrap()
}

fn list(ids: &[&str]) -> Answered {
    let messages: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    ok(&json!({ "messages": messages }))
}

/// Labels of a message as an answer to a change shows them.
fn labelled(labels: &[&str], history: Option<&str>) -> Value {
    let mut message = json!({ "id": "m1", "threadId": "t1", "labelIds": labels });
    if let Some(history) = history {
        message["historyId"] = json!(history);
    }
    message
}

fn named(source: &str) -> MessageRef {
    MessageRef { source: source.to_owned(), hint: None }
}

/// The fields that a source has of a known message.
fn known_fields(source: &Source) -> Value {
    let item: &Item = &source.items[0];
    assert!(item.partial);
    item.body.read().unwrap()
}

fn targets(changed: &Mutated) -> Vec<&str> {
    changed.warnings.iter().filter_map(|warning| warning.target.as_deref()).collect()
}

fn update(desk: &Desk, args: MessageUpdate) -> Result<Mutated, Failure> {
    Google::update_message(&desk.context(), MessageUpdate { message: named("m1"), ..args })
}

fn into(folders: &[&str]) -> MessageUpdate {
    let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
    MessageUpdate { folders: Some(folders), ..MessageUpdate::default() }
}

/// A move is labels to add and to remove, in one request: nothing is read before, and nothing after.
#[test]
fn a_move_is_one_request() {
    for (folder, add, remove) in [
        ("ARCHIVE", json!([]), json!(["INBOX", "SPAM", "TRASH"])),
        ("INBOX", json!(["INBOX"]), json!(["SPAM", "TRASH"])),
        ("SPAM", json!(["SPAM"]), json!(["INBOX", "TRASH"])),
    ] {
        let labels = if folder == "ARCHIVE" { vec!["Label_1"] } else { vec!["Label_1", folder] };
        let desk = Desk::new().then("POST messages/m1/modify", ok(&labelled(&labels, Some("8"))));
        let changed = update(&desk, into(&[folder])).unwrap();
        assert_eq!(sent_json(&desk, 0), json!({ "addLabelIds": add, "removeLabelIds": remove }));
        assert_eq!(desk.units(0).as_deref(), Some("5"));
        let source = only(&changed.sources);
        assert_eq!((source.etag.as_deref(), changed.item.as_deref()), (Some("8"), Some("m1")));
        assert_eq!((&known_fields(source)["folderIds"], targets(&changed)), (&json!([folder]), vec![]));
    }
}

#[test]
fn marks_and_labels_go_with_the_move() {
    let desk = Desk::new().then("POST messages/m1/modify", ok(&labelled(&["STARRED", "L2"], Some("8"))));
    let args = MessageUpdate {
        unread: Some(false),
        starred: Some(true),
        importance: Some(Importance::High),
        add_labels: vec!["L2".to_owned()],
        remove_labels: vec!["L3".to_owned()],
        ..into(&["ARCHIVE"])
    };
    update(&desk, args).unwrap();
    let expected = json!({
        "addLabelIds": ["STARRED", "IMPORTANT", "L2"],
        "removeLabelIds": ["UNREAD", "INBOX", "SPAM", "TRASH", "L3"],
    });
    assert_eq!(sent_json(&desk, 0), expected);
}

#[test]
fn into_the_trash_and_out_of_it() {
    let desk = Desk::new()
        .then("POST messages/m1/modify", ok(&labelled(&["INBOX", "STARRED"], Some("8"))))
        .then("POST messages/m1/trash", ok(&labelled(&["TRASH", "STARRED"], None)))
        .then("GET messages/m1?format=minimal", ok(&labelled(&["TRASH", "STARRED"], Some("9"))));
    let args = MessageUpdate { starred: Some(true), ..into(&["TRASH"]) };
    let changed = update(&desk, args).unwrap();
    assert_eq!(sent_json(&desk, 0), json!({ "addLabelIds": ["STARRED"], "removeLabelIds": [] }));
    assert_eq!(known_fields(only(&changed.sources))["folderIds"], json!(["TRASH"]));
    assert_eq!(only(&changed.sources).etag.as_deref(), Some("9"));
    // Nothing but the move.
    let desk = Desk::new()
        .then("POST messages/m1/trash", ok(&labelled(&["TRASH"], None)))
        .then("GET messages/m1?format=minimal", ok(&labelled(&["TRASH"], Some("9"))));
    update(&desk, into(&["TRASH"])).unwrap();

    // A change of labels may leave it in the trash: then it is taken out, and is in the inbox already.
    let desk = Desk::new()
        .then("POST messages/m1/modify", ok(&labelled(&["TRASH", "INBOX"], Some("10"))))
        .then("POST messages/m1/untrash", ok(&labelled(&["INBOX"], Some("11"))))
        .then("GET messages/m1?format=minimal", ok(&labelled(&["INBOX"], Some("11"))));
    let changed = update(&desk, into(&["INBOX"])).unwrap();
    assert_eq!(known_fields(only(&changed.sources))["folderIds"], json!(["INBOX"]));
}

/// Gmail alone says what is sent or a draft.
#[test]
fn sent_messages_stay_where_they_are() {
    let desk = Desk::new().then("POST messages/m1/modify", ok(&labelled(&["SENT", "INBOX"], Some("8"))));
    assert_eq!(targets(&update(&desk, into(&["INBOX"])).unwrap()), ["folderIds"]);
    let desk = Desk::new().then("GET messages/m1?format=minimal", ok(&labelled(&["INBOX"], Some("7"))));
    assert_eq!(update(&desk, into(&["SENT"])).unwrap_err().code, code::UNSUPPORTED);
    // It is there: nothing is to be done but the other folder.
    let desk = Desk::new()
        .then("GET messages/m1?format=minimal", ok(&labelled(&["SENT"], Some("7"))))
        .then("POST messages/m1/modify", ok(&labelled(&["SENT", "INBOX"], Some("8"))));
    let changed = update(&desk, into(&["SENT", "INBOX"])).unwrap();
    assert_eq!(sent_json(&desk, 1), json!({ "addLabelIds": ["INBOX"], "removeLabelIds": [] }));
    assert_eq!(targets(&changed), [""; 0]);
}

#[test]
fn what_gmail_cannot_keep_is_a_warning() {
    let desk = Desk::new().then("GET messages/m1?format=minimal", ok(&labelled(&["INBOX"], Some("7"))));
    let args = MessageUpdate {
        answered: Some(true),
        forwarded: Some(true),
        add_keywords: vec!["later".to_owned()],
        ..MessageUpdate::default()
    };
    let changed = update(&desk, args).unwrap();
    assert_eq!(targets(&changed), ["answered", "forwarded", "keywords"]);
    assert_eq!(only(&changed.sources).etag.as_deref(), Some("7"));
}

/// There is no If-Match: the version is read and compared.
#[test]
fn a_change_of_another_version_is_a_conflict() {
    let starred = |version: &str| MessageUpdate {
        starred: Some(true),
        if_match: Some(version.to_owned()),
        ..MessageUpdate::default()
    };
    let state = || ok(&labelled(&["INBOX"], Some("7")));
    let desk = Desk::new().then("GET messages/m1?format=minimal", state());
    assert_eq!(update(&desk, starred("6")).unwrap_err().code, code::CONFLICT);
    let desk = Desk::new()
        .then("GET messages/m1?format=minimal", state())
        .then("POST messages/m1/modify", ok(&labelled(&["INBOX", "STARRED"], Some("8"))));
    assert_eq!(only(&update(&desk, starred("7")).unwrap().sources).etag.as_deref(), Some("8"));
    let desk = Desk::new().then("GET messages/m1?format=minimal", refused(404, "notFound"));
    assert_eq!(update(&desk, starred("7")).unwrap_err().code, code::NOT_FOUND);
}

fn delete(desk: &Desk, message: MessageRef, permanent: bool) -> Result<Mutated, Failure> {
    Google::delete_message(&desk.context(), MessageDelete { message, permanent, if_match: None })
}

#[test]
fn a_deletion_is_one_request_also_the_second_time() {
    let desk = Desk::new().then("POST messages/m1/trash", ok(&labelled(&["TRASH", "UNREAD"], None)));
    let deleted = delete(&desk, named("m1"), false).unwrap();
    assert_eq!(known_fields(only(&deleted.sources))["folderIds"], json!(["TRASH"]));
    let desk = Desk::new().then("POST messages/m1/trash", refused(404, "notFound"));
    assert!(only(&delete(&desk, named("m1"), false).unwrap().sources).deleted);
    let desk = Desk::new().then("GET messages/m1?format=minimal", ok(&labelled(&["INBOX"], Some("7"))));
    let args = MessageDelete { message: named("m1"), permanent: false, if_match: Some("6".to_owned()) };
    let failure = Google::delete_message(&desk.context(), args).unwrap_err();
    assert_eq!(failure.code, code::CONFLICT);
}

/// The right to destroy messages is not asked for; drafts need none.
#[test]
fn drafts_alone_go_for_good() {
    let desk = Desk::new().then("GET messages/m1?format=minimal", ok(&labelled(&["INBOX"], Some("7"))));
    assert_eq!(delete(&desk, named("m1"), true).unwrap_err().code, code::UNSUPPORTED);
    let desk = Desk::new().then("GET messages/m1?format=minimal", refused(404, "notFound"));
    assert!(only(&delete(&desk, named("m1"), true).unwrap().sources).deleted);
    // Without a hint the draft is looked up.
    let desk = Desk::new()
        .then("GET messages/m1?format=minimal", ok(&labelled(&["DRAFT"], Some("7"))))
        .then("GET drafts?", ok(&json!({ "drafts": [{ "id": "d1", "message": { "id": "m1" } }] })))
        .then("DELETE drafts/d1", Ok(response(204, &[], "")));
    assert!(only(&delete(&desk, named("m1"), true).unwrap().sources).deleted);
    // With one it is one request.
    let desk = Desk::new().then("DELETE drafts/d1", Ok(response(204, &[], "")));
    assert!(only(&delete(&desk, saved_draft(), true).unwrap().sources).deleted);
}

/// The message of a draft has another id in each version. The draft's own id stays, and is in the hint.
#[test]
fn a_draft_keeps_its_id() {
    let desk = Desk::new()
        .then("PUT upload/drafts/d1?uploadType=multipart", stored("d1", "m2"))
        .then("GET messages/m2?format=full", ok(&whole("m2", &["DRAFT"])));
    let saved = Google::save_draft(&desk.context(), draft(&desk, Some(saved_draft()), None)).unwrap();
    assert_eq!(desk.upload(0).0, json!({ "id": "d1", "message": { "threadId": "t1" } }));
    assert_eq!(desk.units(0).as_deref(), Some("15"));
    let source = only(&saved.sources);
    assert_eq!((source.external_id.as_str(), source.previous_id.as_deref()), ("m2", Some("m1")));
    let (fingerprint, hint) = (source.items[0].fingerprint.clone(), source.items[0].hint.clone());
    assert!(fingerprint.is_some());
    // The next version finds the draft by this hint too.
    let desk = Desk::new()
        .then("PUT upload/drafts/d1?", stored("d1", "m3"))
        .then("GET messages/m3?", ok(&whole("m3", &["DRAFT"])));
    let replaced = MessageRef { source: "m2".to_owned(), hint };
    let saved = Google::save_draft(&desk.context(), draft(&desk, Some(replaced), None)).unwrap();
    assert_eq!(only(&saved.sources).items[0].fingerprint, fingerprint);
}

#[test]
fn a_draft_that_changed_is_a_conflict() {
    let version = |message: &str, history: &str| {
        ok(&json!({ "id": "d1", "message": { "id": message, "threadId": "t1", "historyId": history } }))
    };
    for (message, history) in [("m9", "12"), ("m1", "12")] {
        let desk = Desk::new().then("GET drafts/d1?format=minimal", version(message, history));
        let args = draft(&desk, Some(saved_draft()), Some("9"));
        assert_eq!(Google::save_draft(&desk.context(), args).unwrap_err().code, code::CONFLICT);
    }
    let desk = Desk::new()
        .then("GET drafts/d1?format=minimal", version("m1", "9"))
        .then("PUT upload/drafts/d1?", stored("d1", "m2"))
        .then("GET messages/m2?", ok(&whole("m2", &["DRAFT"])));
    let args = draft(&desk, Some(saved_draft()), Some("9"));
    Google::save_draft(&desk.context(), args).unwrap();
    // The other version is the one that the attempt before this made.
    let desk = Desk::new()
        .then("GET drafts/d1?format=minimal", version("m2", "12"))
        .then("POST batch", batch(&[Some(metadata("m2", &["DRAFT"], "Message-ID", "<own@x.test>"))]))
        .then("GET messages/m2?", ok(&whole("m2", &["DRAFT"])));
    let args = draft(&desk, Some(saved_draft()), Some("9"));
    let saved = Google::save_draft(&desk.again(), args).unwrap();
    assert_eq!(only(&saved.sources).previous_id.as_deref(), Some("m1"));
}

#[test]
fn a_draft_is_not_made_twice() {
    let list = json!({ "drafts": [
        { "id": "d8", "message": { "id": "m8" } }, { "id": "d1", "message": { "id": "m1" } },
    ] });
    let desk = Desk::new()
        .then("GET drafts?maxResults=25", ok(&list))
        .then(
            "POST batch",
            batch(&[
                Some(metadata("m8", &["DRAFT"], "Message-ID", "<other@x.test>")),
                Some(metadata("m1", &["DRAFT"], "Message-Id", "<own@x.test>")),
            ]),
        )
        .then("GET messages/m1?format=full", ok(&whole("m1", &["DRAFT"])));
    let saved = Google::save_draft(&desk.again(), draft(&desk, None, None)).unwrap();
    assert_eq!(saved.item.as_deref(), Some("m1"));
}

/// A deleted thread or draft is no reason to lose the message.
#[test]
fn a_draft_outlives_its_thread_and_itself() {
    let desk = Desk::new()
        .then("POST upload/drafts?", refused(404, "notFound"))
        .then("POST upload/drafts?", stored("d1", "m1"))
        .then("GET messages/m1?", ok(&whole("m1", &["DRAFT"])));
    Google::save_draft(&desk.context(), draft(&desk, None, None)).unwrap();
    assert_eq!(desk.upload(1).0, json!({ "message": {} }));
    let desk = Desk::new()
        .then("PUT upload/drafts/d1?", refused(404, "notFound"))
        .then("PUT upload/drafts/d1?", refused(404, "notFound"))
        .then("POST upload/drafts?", stored("d2", "m2"))
        .then("GET messages/m2?", ok(&whole("m2", &["DRAFT"])));
    let saved = Google::save_draft(&desk.context(), draft(&desk, Some(saved_draft()), None)).unwrap();
    assert_eq!(only(&saved.sources).previous_id.as_deref(), Some("m1"));
}

fn append(desk: &Desk) -> MessageAppend {
    MessageAppend {
        blob: desk.blob(LETTER),
        internet_message_id: OWN_ID.to_owned(),
        folders: vec!["ARCHIVE".to_owned()],
        labels: vec!["L1".to_owned()],
        unread: true,
        starred: true,
        received_at: Some("2026-03-01T00:00:00Z".parse().unwrap()),
        ..MessageAppend::default()
    }
}

#[test]
fn a_message_is_stored_with_its_labels() {
    let desk = Desk::new()
        .then("POST upload/messages?uploadType=multipart&internalDateSource=dateHeader", taken())
        .then("GET messages/s1?format=full", ok(&whole("s1", &["UNREAD", "STARRED", "L1"])));
    let stored = Google::append(&desk.context(), append(&desk)).unwrap();
    let labels = json!({ "labelIds": ["UNREAD", "STARRED", "L1"] });
    assert_eq!(desk.upload(0), (labels, LETTER.to_owned()));
    assert_eq!((targets(&stored), stored.item.as_deref()), (vec![], Some("s1")));

    // Its time is that of its Date field, if any is named.
    let desk = Desk::new()
        .then("POST upload/messages?uploadType=multipart&internalDateSource=dateHeader", taken())
        .then("GET messages/s1?", ok(&whole("s1", &["INBOX"])));
    let received_at = Some("2020-01-01T00:00:00Z".parse().unwrap());
    let keywords = vec!["later".to_owned()];
    let args = MessageAppend { received_at, keywords, folders: Vec::new(), ..append(&desk) };
    let stored = Google::append(&desk.context(), args).unwrap();
    assert_eq!(targets(&stored), ["keywords", "receivedAt"]);
    assert_eq!(desk.upload(0).0["labelIds"], json!(["UNREAD", "STARRED", "INBOX", "L1"]));
    let desk = Desk::new()
        .then("POST upload/messages?uploadType=multipart&internalDateSource=receivedTime", taken())
        .then("GET messages/s1?", ok(&whole("s1", &["UNREAD"])));
    Google::append(&desk.context(), MessageAppend { received_at: None, ..append(&desk) }).unwrap();
}

#[test]
fn a_message_is_not_stored_where_gmail_takes_none() {
    for folder in ["SENT", "DRAFT"] {
        let desk = Desk::new();
        let args = MessageAppend { folders: vec![folder.to_owned()], ..append(&desk) };
        assert_eq!(Google::append(&desk.context(), args).unwrap_err().code, code::UNSUPPORTED);
    }
}

#[test]
fn a_message_is_not_stored_twice() {
    let desk = Desk::new()
        .then("GET messages?q=rfc822msgid:own@x.test", list(&["m7"]))
        .then("GET messages?maxResults=25", list(&["m8", "m7"]))
        .then(
            "POST batch",
            batch(&[
                // The same message, in another folder.
                Some(metadata("m7", &["INBOX"], "Message-ID", "<own@x.test>")),
                Some(metadata("m8", &["L1"], "Message-ID", "<own@x.test>")),
            ]),
        )
        .then("GET messages/m8?format=full", ok(&whole("m8", &["L1"])));
    let stored = Google::append(&desk.again(), append(&desk)).unwrap();
    assert_eq!(stored.item.as_deref(), Some("m8"));
}
