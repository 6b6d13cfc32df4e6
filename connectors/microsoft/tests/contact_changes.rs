//! Changes of address books: a delta for each folder, and reads of what it names.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Answer, Contacts, Context, Outcome, code};
use model::contacts::Contact;
use model::wire::{ChangesRequest, Connection, Source, Sources};
use serde_json::{Value, json};

use crate::calendar_support::{Call, Calls, graph};

const FRIENDS: &str = "/me/contactFolders/f1/contacts";

fn request() -> ChangesRequest {
    ChangesRequest { collection: Some("f1".to_owned()), names_first: true, ..ChangesRequest::default() }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let context = Context::new(provider, Connection::default()).at(cursor.map(str::to_owned));
    <Microsoft as Contacts>::changes(&context, args)
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no" } }))
}

fn link(name: &str, token: &str) -> String {
    format!("https://graph.microsoft.com/v1.0/me/contactFolders('f1')/contacts/delta?%24{name}={token}")
}

fn contact(id: &str, folder: &str) -> Value {
    json!({ "@odata.etag": format!("W/\"{id}-1\""), "id": id, "parentFolderId": folder, "displayName": id })
}

/// A folder with two contacts on two pages; later eve is new, ada is changed, and others are said to be removed: bob is there all the same,
/// cora is in another folder by now, and dan is gone.
fn friends(call: &Call) -> (u16, Value) {
    let removed = |id: &str| json!({ "id": id, "@removed": { "reason": "deleted" } });
    let path = call.path.as_str();
    if path == "/me/contactFolders/f1?$select=id" {
        return (200, json!({ "id": "f1" }));
    }
    if path.ends_with("/photo") {
        return error(404, "ErrorItemNotFound");
    }
    match path.strip_prefix(FRIENDS).unwrap() {
        "/delta" => {
            (200, json!({ "value": [contact("ada", "f1")], "@odata.nextLink": link("skiptoken", "p2") }))
        }
        "/delta?$skiptoken=p2" => {
            (200, json!({ "value": [contact("bob", "f1")], "@odata.deltaLink": link("deltatoken", "d1") }))
        }
        "/delta?$deltatoken=d1" => {
            // An entry may have the changed members alone.
            let value =
                json!([{ "id": "ada" }, removed("bob"), removed("cora"), removed("dan"), { "id": "eve" }]);
            (200, json!({ "value": value, "@odata.deltaLink": link("deltatoken", "d2") }))
        }
        "/delta?$deltatoken=old" => error(410, "SyncStateNotFound"),
        "/delta?$skiptoken=old" => error(400, "ErrorInvalidUrlQueryFilter"),
        other => match other.trim_start_matches('/').split('?').next().unwrap() {
            "dan" => error(404, "ErrorItemNotFound"),
            "cora" => (200, contact("cora", "f2")),
            id => (200, contact(id, "f1")),
        },
    }
}

fn ids(sources: &[Source]) -> Vec<(&str, bool)> {
    sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect()
}

/// The sizes of pages that were asked for.
fn sizes(calls: &Calls) -> Vec<String> {
    let calls = calls.borrow();
    let prefers =
        calls.iter().filter_map(|call| call.prefer.split_once("maxpagesize=").map(|(_, size)| size));
    prefers.map(str::to_owned).collect()
}

#[test]
fn a_folder_is_read_page_by_page_and_goes_on() {
    let (provider, calls) = graph(friends);
    let first = page(&provider, None, ChangesRequest { limit: 1, ..request() }).unwrap();
    assert!(first.more && first.body.enumeration);
    assert_eq!(ids(&first.body.sources), [("ada", false)]);
    let second = page(&provider, first.cursor.as_deref(), request()).unwrap();
    assert!(!second.more && second.body.enumeration);
    assert_eq!(second.cursor.as_deref(), Some(r#"m1;{"k":{"d":"d1"}}"#));
    assert_eq!(sizes(&calls), ["1", "50"], "without a size a page has ten");
    // The delta, then the contact and its picture in a batch.
    assert_eq!(provider.requests.borrow().len(), 4);
}

/// A contact that is said to be removed may be there, or have been moved to another folder.
#[test]
fn a_removal_is_verified() {
    let (provider, _) = graph(friends);
    let later = page(&provider, Some(r#"m1;{"k":{"d":"d1"}}"#), request()).unwrap();
    assert!(!later.more && !later.body.enumeration);
    let expected = [("ada", false), ("eve", false), ("bob", false), ("cora", true), ("dan", true)];
    assert_eq!(ids(&later.body.sources), expected);
    let ada: Contact = later.body.sources[0].items[0].body.read().unwrap();
    assert_eq!(ada.display_name.as_deref(), Some("ada"), "the content is read, whatever the entry has");
}

/// The cursor is of one folder: the others go on from theirs.
#[test]
fn an_expired_token_starts_the_folder_over() {
    let (provider, _) = graph(friends);
    let cursors =
        [r#"m1;{"k":{"d":"old"}}"#, r#"m1;{"e":true,"k":{"s":"old"}}"#, "g1;{}", "m1;{\"other\":1}"];
    for cursor in cursors {
        let failure = page(&provider, Some(cursor), request()).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{cursor}");
    }
    let refused = page(&provider, None, ChangesRequest { collection: Some("..".to_owned()), ..request() });
    assert_eq!(refused.unwrap_err().code, code::NOT_FOUND);
}

/// Names alone read no content: the host reads each contact by itself.
#[test]
fn names_alone_are_one_request() {
    let (provider, calls) = graph(friends);
    let named =
        page(&provider, Some(r#"m1;{"k":{"d":"d1"}}"#), ChangesRequest { names_only: true, ..request() })
            .unwrap();
    assert_eq!(named.body.sources.len(), 5);
    assert!(named.body.sources.iter().all(|source| !source.deleted && source.items.is_empty()));
    assert_eq!(calls.borrow().len(), 1);
}

/// A limit within a batch holds its contacts back: they are named for later, and of the last page they fail.
#[test]
fn contacts_that_have_to_wait_are_named() {
    let limited = |call: &Call| match call.path.starts_with(&format!("{FRIENDS}/delta")) {
        false if call.path.contains("bob") => error(429, "ApplicationThrottled"),
        true if call.path.ends_with("/delta") => {
            let value = json!([{ "id": "ada" }, { "id": "bob" }]);
            (200, json!({ "value": value, "@odata.nextLink": link("skiptoken", "p2") }))
        }
        _ => friends(call),
    };
    let (provider, _) = graph(limited);
    let first = page(&provider, None, request()).unwrap();
    assert_eq!((ids(&first.body.sources), first.more), (vec![("ada", false)], true));
    assert_eq!(first.body.named[0].external_id, "bob");
    let last = page(&provider, first.cursor.as_deref(), request()).unwrap_err();
    assert_eq!(last.code, code::RATE_LIMITED);
}
