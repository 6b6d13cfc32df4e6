//! Calls of the contacts surface as a client makes them, and the answers.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::graph::contacts::answer;
use crate::graph::errors::GraphError;
use crate::graph::state::{AccountKind, GraphState};
use crate::graph::test_call::{call, json_of, query_of, texts};

const ANN: &str = "ann@work.test";
const IMMUTABLE: (&str, &str) = ("prefer", "IdType=\"ImmutableId\"");

fn state() -> GraphState {
    let mut state = GraphState::new(Clock::default());
    state.add_account(ANN, "Ann", "W. Europe Standard Time", AccountKind::Work);
    state
}

/// The answer of Ann's call with immutable ids.
fn send(state: &mut GraphState, line: &str, body: Value) -> Result<Value, GraphError> {
    answer(state, &call(ANN, line, body, &[IMMUTABLE])).map(|reply| json_of(&reply))
}

fn get(state: &mut GraphState, line: &str) -> Value {
    send(state, &format!("GET {line}"), Value::Null).unwrap_or_else(|error| panic!("{line}: {}", error.code))
}

fn refusal(state: &mut GraphState, line: &str, body: Value) -> (u16, String) {
    let error = send(state, line, body).expect_err("a refusal");
    (error.status, error.code)
}

#[test]
fn default_folder_is_missing_from_the_list_and_can_be_reached() {
    let mut state = state();
    state.add_contact_folder(ANN, "", "Work");
    let inner = state.add_contact_folder(ANN, "Work", "Suppliers");
    assert_eq!(texts(&get(&mut state, "contactFolders"), "displayName"), ["Work"]);
    let default = get(&mut state, "contactFolders/contacts");
    assert_eq!(default["displayName"], "Contacts");
    let id = default["id"].as_str().expect("an id").to_owned();
    assert_eq!(get(&mut state, "contactFolders")["value"][0]["parentFolderId"], default["id"]);
    assert_eq!(get(&mut state, &format!("contactFolders/{id}"))["id"], default["id"]);
    let delta = get(&mut state, "contactFolders/delta");
    assert_eq!(texts(&delta, "displayName"), ["Work", "Suppliers"]);
    state.traps.set("contact_default_in_delta", 9).expect("a trap");
    assert_eq!(
        texts(&get(&mut state, "contactFolders/delta"), "displayName"),
        ["Contacts", "Work", "Suppliers"]
    );
    let line = format!("DELETE contactFolders/{id}");
    assert_eq!(refusal(&mut state, &line, Value::Null), (403, "ErrorDeleteDistinguishedFolder".to_owned()));
    assert_eq!(refusal(&mut state, "POST contactFolders", json!({ "displayName": "work" })).0, 409);
    state.delete_contact_folder(ANN, "Work");
    let rest = get(&mut state, &format!("contactFolders/delta?{}", query_of(&delta, "@odata.deltaLink")));
    assert_eq!(rest["value"].as_array().map(Vec::len), Some(2));
    assert!(rest["value"].as_array().into_iter().flatten().all(|folder| folder.get("@removed").is_some()));
    assert_eq!(refusal(&mut state, &format!("GET contactFolders/{inner}"), Value::Null).0, 404);
}

#[test]
fn contact_that_another_client_moves_leaves_one_delta_and_comes_into_another() {
    let mut state = state();
    let work = state.add_contact_folder(ANN, "", "Work");
    let id = state.put_contact(ANN, "", json!({ "givenName": "Ada", "surname": "King" }));
    let changeable = answer(&mut state, &call(ANN, "GET contacts", Value::Null, &[])).expect("a page");
    let changeable = texts(&json_of(&changeable), "id").pop().expect("a contact");
    let before = get(&mut state, "contactFolders/contacts/contacts/delta");
    let before_work = get(&mut state, &format!("contactFolders/{work}/contacts/delta"));
    assert_eq!((texts(&before, "id"), texts(&before_work, "id")), (vec![id.clone()], Vec::new()));
    state.move_contact(ANN, &id, "Work");
    let link = query_of(&before, "@odata.deltaLink");
    let after = get(&mut state, &format!("contactFolders/contacts/contacts/delta?{link}"));
    assert_eq!((&after["value"][0]["id"], after["value"][0].get("@removed").is_some()), (&json!(id), true));
    let link = query_of(&before_work, "@odata.deltaLink");
    let line = format!("contactFolders/{work}/contacts/delta?{link}");
    assert_eq!(texts(&get(&mut state, &line), "displayName"), ["Ada King"]);
    assert_eq!(get(&mut state, &format!("contacts/{id}"))["parentFolderId"], work.as_str());
    for gone in [format!("contacts/{changeable}"), format!("contactFolders/contacts/contacts/{id}")] {
        assert_eq!(refusal(&mut state, &format!("GET {gone}"), Value::Null).0, 404, "{gone}");
    }
    state.traps.set("contact_found_elsewhere", 9).expect("a trap");
    assert_eq!(get(&mut state, &format!("contactFolders/contacts/contacts/{id}"))["id"], id.as_str());
    let other = format!("GET contacts/delta?{link}");
    assert_eq!(refusal(&mut state, &other, Value::Null), (400, "SyncStateInvalid".to_owned()));
}

#[test]
fn tokens_expire_in_each_spelling() {
    let mut state = state();
    let first = get(&mut state, "contacts/delta");
    let line = format!("GET contacts/delta?{}", query_of(&first, "@odata.deltaLink"));
    for (trap, expected) in [
        ("delta_410_sync_state_not_found", (410, "SyncStateNotFound")),
        ("delta_404_sync_state_not_found", (404, "SyncStateNotFound")),
        ("delta_400_sync_state_invalid", (400, "SyncStateInvalid")),
        ("delta_410_resync_required", (410, "resyncRequired")),
        ("delta_400_invalid_sync_state_data", (400, "InvalidSyncStateData")),
        ("delta_400_id_malformed", (400, "ErrorInvalidIdMalformed")),
    ] {
        state.traps.set(trap, 1).expect("a trap");
        let (status, code) = refusal(&mut state, &line, Value::Null);
        assert_eq!((status, code.as_str()), expected);
    }
    state.expire_contact_tokens(ANN);
    assert_eq!(refusal(&mut state, &line, Value::Null).0, 410);
}

#[test]
fn delta_has_pages_by_the_preference() {
    let mut state = state();
    for name in ["A", "B", "C"] {
        state.put_contact(ANN, "", json!({ "givenName": name, "personalNotes": "long" }));
    }
    let paged = [("prefer", "IdType=\"ImmutableId\", odata.maxpagesize=2")];
    let line = "GET contacts/delta?$select=displayName";
    let page = json_of(&answer(&mut state, &call(ANN, line, Value::Null, &paged)).expect("a page"));
    assert_eq!(texts(&page, "displayName"), ["A", "B"]);
    let rest = get(&mut state, &format!("contacts/delta?{}", query_of(&page, "@odata.nextLink")));
    assert_eq!(texts(&rest, "displayName"), ["C"]);
    assert!(rest["value"][0].get("personalNotes").is_none(), "{rest}");
}

#[test]
fn change_of_another_version_is_refused() {
    let mut state = state();
    let id = state.put_contact(ANN, "", json!({ "displayName": "Old" }));
    let etag = get(&mut state, &format!("contacts/{id}"))["@odata.etag"].as_str().expect("one").to_owned();
    let line = format!("PATCH contacts/{id}");
    let headers = [IMMUTABLE, ("if-match", etag.as_str())];
    let change = call(ANN, &line, json!({ "displayName": "New" }), &headers);
    let written = json_of(&answer(&mut state, &change).expect("changed"));
    assert_ne!(written["changeKey"], Value::Null);
    assert_eq!(answer(&mut state, &change).expect_err("another version").status, 412);
    let moved = json!({ "parentFolderId": "elsewhere" });
    assert_eq!(refusal(&mut state, &line, moved).0, 400);
    send(&mut state, &format!("DELETE contacts/{id}"), Value::Null).expect("deleted");
    assert_eq!(refusal(&mut state, &line, json!({})).0, 404);
}

#[test]
fn photo_is_put_and_read_and_in_no_delta() {
    let mut state = state();
    let id = state.put_contact(ANN, "", json!({ "displayName": "Ada" }));
    let first = get(&mut state, "contacts/delta");
    assert_eq!(refusal(&mut state, &format!("GET contacts/{id}/photo/$value"), Value::Null).0, 404);
    let line = format!("PUT contacts/{id}/photo/$value");
    let mut put = call(ANN, &line, Value::Null, &[IMMUTABLE, ("content-type", "image/jpeg")]);
    put.content = Bytes::from_static(&[0xff, 0xd8, 0xff, 0xe0]);
    answer(&mut state, &put).expect("stored");
    let read = call(ANN, &format!("GET contacts/{id}/photo/$value"), Value::Null, &[IMMUTABLE]);
    assert_eq!(answer(&mut state, &read).expect("a photo").body, put.content);
    let about = get(&mut state, &format!("contacts/{id}/photo"));
    assert_eq!(about["@odata.mediaContentType"], "image/jpeg");
    answer(&mut state, &put).expect("stored");
    assert_ne!(
        get(&mut state, &format!("contacts/{id}/photo"))["@odata.mediaEtag"],
        about["@odata.mediaEtag"]
    );
    let delta = format!("contacts/delta?{}", query_of(&first, "@odata.deltaLink"));
    assert_eq!(get(&mut state, &delta)["value"], json!([]));
    state.traps.set("contact_photo_touches", 9).expect("a trap");
    answer(&mut state, &put).expect("stored");
    assert_eq!(texts(&get(&mut state, &delta), "id"), [id.as_str()]);
    assert_eq!(refusal(&mut state, &format!("DELETE contacts/{id}/photo/$value"), Value::Null).0, 405);
}

#[test]
fn anniversary_is_an_extended_property_that_has_to_be_expanded() {
    let mut state = state();
    let property = json!({ "id": "SystemTime 0x3A41", "value": "2010-06-01T00:00:00Z" });
    let body = json!({ "displayName": "Ada", "singleValueExtendedProperties": [property] });
    let created = send(&mut state, "POST contacts", body).expect("created");
    assert!(created.get("singleValueExtendedProperties").is_none(), "{created}");
    let expand = "$expand=singleValueExtendedProperties($filter=id%20eq%20'SystemTime%200x3A41')";
    let page = get(&mut state, &format!("contacts?$select=displayName&{expand}"));
    let found = &page["value"][0]["singleValueExtendedProperties"][0];
    assert_eq!(found, &json!({ "id": "SystemTime 0x3a41", "value": "2010-06-01T00:00:00Z" }));
    let id = created["id"].as_str().expect("an id");
    let stored = state.stored_contact(ANN, id).expect("a contact");
    assert_eq!(stored["singleValueExtendedProperties"][0]["id"], "SystemTime 0x3a41");
}
