//! Changes of messages, and drafts.

use std::cell::Cell;

use connector_microsoft::Microsoft;
use connector_sdk::http::Response;
use connector_sdk::{Email as _, code};
use model::email::Importance;
use model::wire::email::{DraftSave, MessageAppend, MessageDelete, MessageRef, MessageUpdate};
use serde_json::{Value, json};

use crate::desk::{Desk, LOST, empty, gone, ok, only, page, read, refused, status, whole};

const AT: &str = "2026-03-02T09:00:00Z";
const LETTER: &str = "From: ada@x.test\r\nTo: bob@x.test\r\nSubject: Hello\r\nMessage-ID: <own@x.test>\r\n\
    Date: Sun, 01 Mar 2026 00:00:00 +0000\r\nIn-Reply-To: <q@x.test>\r\nX-Case: 17\r\n\r\nHello\r\n";

fn message(id: &str) -> MessageRef {
    MessageRef { source: id.to_owned(), hint: None }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// Marks are one request; a folder is another one.
#[test]
fn marks_and_a_move() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "PATCH messages/m1" => ok(&whole("m1", AT, "f1")),
        "POST messages/m1/move" => status(201, &whole("m1", AT, "f2")),
        _ => gone(),
    });
    let update = MessageUpdate {
        message: message("m1"),
        unread: Some(false),
        starred: Some(true),
        importance: Some(Importance::Low),
        answered: Some(true),
        folders: Some(names(&["f2"])),
        if_match: Some("W/\"1\"".to_owned()),
        ..MessageUpdate::default()
    };
    let done = Microsoft::update_message(&desk.context(), update.clone()).unwrap();
    assert_eq!(
        desk.asked_for("PATCH")[0].json(),
        json!({ "isRead": true, "flag": { "flagStatus": "flagged" }, "importance": "low" })
    );
    assert_eq!(desk.asked_for("PATCH")[0].header("if-match"), Some("W/\"1\""));
    assert_eq!(desk.asked_for("POST")[0].json(), json!({ "destinationId": "f2" }));
    assert_eq!(desk.take_steps(), ["PATCH messages/m1", "POST messages/m1/move"]);
    let body: Value = only(&done.sources).items[0].body.read().unwrap();
    assert_eq!((&body["folderIds"], only(&done.sources).items[0].partial), (&json!(["f2"]), true));
    assert_eq!(
        done.warnings.iter().filter_map(|warning| warning.target.as_deref()).collect::<Vec<_>>(),
        ["answered"]
    );
    // It is there already.
    Microsoft::update_message(
        &desk.context(),
        MessageUpdate { folders: Some(names(&["f1"])), ..update.clone() },
    )
    .unwrap();
    assert_eq!(desk.take_steps(), ["PATCH messages/m1"]);
    for (folders, expected) in [(&["f1", "f2"][..], code::UNSUPPORTED), (&[], code::INVALID)] {
        let wrong = MessageUpdate { folders: Some(names(folders)), ..update.clone() };
        assert_eq!(Microsoft::update_message(&desk.context(), wrong).unwrap_err().code, expected);
    }
    assert!(desk.take_steps().is_empty());
}

/// Categories are replaced as a list: merged with those that are there, on the version that was read. Another version is read once more.
#[test]
fn categories_are_merged_with_those_that_are_there() {
    let conflicts = Cell::new(1);
    let desk = Desk::new(move |asked| {
        if asked.method == "GET" {
            let mut now = whole("m1", AT, "f1");
            now["categories"] = json!(["Red", "Blue"]);
            return ok(&now);
        }
        assert_eq!(asked.header("if-match"), Some("W/\"m1-1\""));
        if conflicts.replace(0) > 0 {
            return refused(412, "ErrorIrresolvableConflict");
        }
        ok(&whole("m1", AT, "f1"))
    });
    let update = MessageUpdate {
        message: message("m1"),
        add_labels: names(&["category:Work"]),
        remove_labels: names(&["category:Blue"]),
        ..MessageUpdate::default()
    };
    Microsoft::update_message(&desk.context(), update).unwrap();
    let written: Vec<Value> = desk.asked_for("PATCH").iter().map(crate::desk::Asked::json).collect();
    assert_eq!(written, [json!({ "categories": ["Red", "Work"] }), json!({ "categories": ["Red", "Work"] })]);
    let foreign =
        MessageUpdate { message: message("m1"), add_labels: names(&["Work"]), ..MessageUpdate::default() };
    assert_eq!(Microsoft::update_message(&desk.context(), foreign).unwrap_err().code, code::NOT_FOUND);
    // A version that is another one is a conflict.
    let stale = MessageUpdate {
        message: message("m1"),
        unread: Some(true),
        if_match: Some("W/\"old\"".to_owned()),
        ..MessageUpdate::default()
    };
    let desk = Desk::new(|asked| match asked.method.as_str() {
        "GET" => ok(&whole("m1", AT, "f1")),
        _ => refused(412, "ErrorIrresolvableConflict"),
    });
    assert_eq!(Microsoft::update_message(&desk.context(), stale).unwrap_err().code, code::CONFLICT);
    assert_eq!(desk.take_steps(), ["PATCH messages/m1", "GET messages/m1"]);
}

#[test]
fn a_deletion_is_the_trash_or_for_good() {
    let delete = |permanent: bool| MessageDelete { message: message("m1"), permanent, if_match: None };
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "POST messages/m1/move" => status(201, &whole("m1", AT, "trash")),
        "POST messages/m1/permanentDelete" => refused(400, "UnknownError"),
        "DELETE messages/m1" => refused(403, "ErrorCannotDeleteObject"),
        _ => gone(),
    });
    let trashed = Microsoft::delete_message(&desk.context(), delete(false)).unwrap();
    assert_eq!(desk.asked_for("POST")[0].json(), json!({ "destinationId": "deleteditems" }));
    assert!(!only(&trashed.sources).deleted);
    desk.take_steps();
    // A cloud without it, and a message that is gone already.
    let destroyed = Microsoft::delete_message(&desk.context(), delete(true)).unwrap();
    assert!(only(&destroyed.sources).deleted);
    assert_eq!(desk.take_steps(), ["POST messages/m1/permanentDelete", "DELETE messages/m1"]);
    let nothing = Desk::new(|_| gone());
    assert!(only(&Microsoft::delete_message(&nothing.context(), delete(false)).unwrap().sources).deleted);
}

fn draft(desk: &Desk, replaces: Option<&str>) -> DraftSave {
    DraftSave {
        blob: desk.blob(LETTER.as_bytes()),
        internet_message_id: "own@x.test".to_owned(),
        replaces: replaces.map(message),
        if_match: replaces.map(|_| "W/\"old\"".to_owned()),
        thread: None,
    }
}

fn stored(id: &str) -> Value {
    let mut draft = whole(id, AT, "drafts");
    draft["isDraft"] = json!(true);
    draft
}

/// A new version is a new message; the old one is deleted on its version, and both are one draft.
#[test]
fn a_draft_is_replaced() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "POST messages" => status(201, &stored("d2")),
        "DELETE messages/d1" => empty(204),
        "GET messages/d2" => ok(&stored("d2")),
        _ => gone(),
    });
    let saved = Microsoft::save_draft(&desk.context(), draft(&desk, Some("d1"))).unwrap();
    assert_eq!(desk.asked_for("POST")[0].mime(), LETTER);
    assert_eq!(desk.asked_for("POST")[0].header("content-type"), Some("text/plain"));
    assert_eq!(desk.asked_for("DELETE")[0].header("if-match"), Some("W/\"old\""));
    assert_eq!(desk.take_steps(), ["POST messages", "batch of DELETE messages/d1, GET messages/d2"]);
    let source = only(&saved.sources);
    assert_eq!((source.external_id.as_str(), source.previous_id.as_deref()), ("d2", Some("d1")));
    assert!(read(source).draft);
    let new = Microsoft::save_draft(&desk.context(), draft(&desk, None)).unwrap();
    assert_eq!((desk.take_steps().len(), only(&new.sources).previous_id.as_deref()), (2, None));
}

/// A change on another version stores nothing.
#[test]
fn a_draft_on_another_version_is_refused() {
    for (answer, expected) in [(412, code::CONFLICT), (404, code::NOT_FOUND)] {
        let desk = Desk::new(move |asked| match asked.line().as_str() {
            "POST messages" => status(201, &stored("d2")),
            "DELETE messages/d1" if answer == 412 => refused(412, "ErrorIrresolvableConflict"),
            "GET messages/d1" if answer == 412 => ok(&stored("d1")),
            "DELETE messages/d2" => empty(204),
            _ => gone(),
        });
        let failure = Microsoft::save_draft(&desk.context(), draft(&desk, Some("d1"))).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), desk.take_steps().last().unwrap().as_str()),
            (expected, "DELETE messages/d2")
        );
    }
}

/// The draft of a first attempt, whose answer was lost, is taken; it may have deleted the version before it.
#[test]
fn a_second_attempt_takes_the_draft_that_is_there() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "GET mailFolders/drafts/messages" => {
            let name = |id: &str| json!({ "id": id, "isDraft": true, "internetMessageId": "<own@x.test>" });
            ok(&page(&[name("d1"), name("d2")]))
        }
        "GET messages/d2" => ok(&stored("d2")),
        _ => gone(),
    });
    let saved = Microsoft::save_draft(&desk.again(), draft(&desk, Some("d1"))).unwrap();
    assert_eq!(only(&saved.sources).external_id, "d2");
    assert!(desk.asked_for("POST").is_empty());
}

/// The new version stays while it is not known whether the one before it is gone: without it there might be none.
#[test]
fn a_draft_is_not_lost_with_an_answer() {
    for answer in [LOST, 504] {
        let desk = Desk::new(move |asked| match asked.line().as_str() {
            "POST messages" => status(201, &stored("d2")),
            "DELETE messages/d1" => empty(answer),
            _ => gone(),
        });
        let failure = Microsoft::save_draft(&desk.context(), draft(&desk, Some("d1"))).unwrap_err();
        assert!([code::UNAVAILABLE, code::TIMEOUT].contains(&failure.code.as_str()), "{failure:?}");
        assert!(desk.asked_for("DELETE messages/d2").is_empty());
    }
}

/// A conflict with a version that is still there is none.
#[test]
fn a_draft_is_replaced_in_spite_of_a_conflict_without_a_change() {
    let conflicts = Cell::new(1);
    let desk = Desk::new(move |asked| match asked.line().as_str() {
        "POST messages" => status(201, &stored("d2")),
        "DELETE messages/d1" if conflicts.replace(0) > 0 => refused(412, "ErrorIrresolvableConflict"),
        "DELETE messages/d1" => empty(204),
        "GET messages/d1" => ok(&stored("d1")),
        "GET messages/d2" => ok(&stored("d2")),
        _ => gone(),
    });
    let save = DraftSave { if_match: Some("W/\"d1-1\"".to_owned()), ..draft(&desk, Some("d1")) };
    let saved = Microsoft::save_draft(&desk.context(), save).unwrap();
    assert_eq!(only(&saved.sources).external_id, "d2");
    assert_eq!(desk.asked_for("DELETE messages/d1").len(), 2);
}

/// The files of a large draft follow one by one: what an attempt has left may lack some.
#[test]
fn a_large_draft_of_an_earlier_attempt_is_stored_again() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "GET mailFolders/drafts/messages" => {
            ok(&page(&[json!({ "id": "left", "isDraft": true, "internetMessageId": "<own@x.test>" })]))
        }
        "POST messages" => status(201, &stored("d2")),
        "POST messages/d2/attachments" => status(201, &json!({ "id": "a1" })),
        "DELETE messages/left" => empty(204),
        "GET messages/d2" => ok(&stored("d2")),
        _ => gone(),
    });
    let file = "A".repeat(2_400_000);
    let letter = format!(
        "From: ada@x.test\r\nMessage-ID: <own@x.test>\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n\
         --m\r\nContent-Type: text/plain\r\n\r\nHello\r\n--m\r\nContent-Type: application/x-data; name=f.bin\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{file}\r\n--m--\r\n"
    );
    let save = DraftSave { blob: desk.blob(letter.as_bytes()), ..draft(&desk, None) };
    let saved = Microsoft::save_draft(&desk.again(), save).unwrap();
    assert_eq!(only(&saved.sources).external_id, "d2");
    let expected = [
        "GET mailFolders/drafts/messages",
        "POST messages",
        "POST messages/d2/attachments",
        "DELETE messages/left",
        "GET messages/d2",
    ];
    assert_eq!(desk.take_steps(), expected);
}

/// The answer to a change is the message with its text. One that is longer than an answer is read without it.
#[test]
fn a_change_of_a_long_message_is_no_failure() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "PATCH messages/m1" => {
            ok(&whole("m1", AT, "f1")).map(|answer| Response { truncated: true, ..answer })
        }
        "GET messages/m1" => ok(&whole("m1", AT, "f1")),
        _ => gone(),
    });
    let update = MessageUpdate { message: message("m1"), unread: Some(true), ..MessageUpdate::default() };
    let done = Microsoft::update_message(&desk.context(), update).unwrap();
    assert_eq!(only(&done.sources).external_id, "m1");
    assert_eq!(desk.take_steps(), ["PATCH messages/m1", "GET messages/m1"]);
}

/// A message that is stored is written member by member; a draft is MIME, and moved.
#[test]
fn a_message_is_stored_without_sending_it() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "POST mailFolders/f1/messages" => status(201, &whole("m1", AT, "f1")),
        "GET messages/m1" => ok(&whole("m1", AT, "f1")),
        "POST messages" => status(201, &stored("d1")),
        "POST messages/d1/move" => status(201, &stored("d1")),
        "PATCH messages/d1" => ok(&stored("d1")),
        "GET messages/d1" => ok(&stored("d1")),
        _ => gone(),
    });
    let append = || MessageAppend {
        blob: desk.blob(LETTER.as_bytes()),
        internet_message_id: "own@x.test".to_owned(),
        folders: names(&["f1"]),
        labels: names(&["category:Red"]),
        starred: true,
        received_at: Some("2026-02-01T10:00:00Z".parse().unwrap()),
        ..MessageAppend::default()
    };
    let stored = Microsoft::append(&desk.context(), append()).unwrap();
    let written = desk.asked_for("POST")[0].json();
    assert_eq!(
        (&written["subject"], &written["isRead"], &written["categories"]),
        (&json!("Hello"), &json!(true), &json!(["Red"]))
    );
    assert_eq!(written["internetMessageId"], "<own@x.test>");
    assert_eq!(written["toRecipients"][0]["emailAddress"]["address"], "bob@x.test");
    assert_eq!(written["internetMessageHeaders"], json!([{ "name": "X-Case", "value": "17" }]));
    let property = |id: &str| {
        let all = written["singleValueExtendedProperties"].as_array().unwrap();
        all.iter().find(|one| one["id"] == id).map(|one| one["value"].as_str().unwrap().to_owned())
    };
    assert_eq!(property("Integer 0x0E07").as_deref(), Some("1"));
    assert_eq!(property("SystemTime 0x0E06").as_deref(), Some("2026-02-01T10:00:00.000Z"));
    assert_eq!(property("String 0x1042").as_deref(), Some("<q@x.test>"));
    assert_eq!(stored.warnings[0].target.as_deref(), Some("headers"));
    desk.take_steps();
    let draft = MessageAppend { draft: true, ..append() };
    Microsoft::append(&desk.context(), draft).unwrap();
    assert_eq!(
        desk.asked_for("PATCH")[0].json(),
        json!({ "flag": { "flagStatus": "flagged" }, "categories": ["Red"] })
    );
    let expected = ["POST messages", "POST messages/d1/move", "PATCH messages/d1", "GET messages/d1"];
    assert_eq!(desk.take_steps(), expected);
}
