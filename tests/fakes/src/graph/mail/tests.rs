//! Stories of a mailbox through the calls of Graph.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::door::{Ask, Reply};
use crate::graph::call::GraphCall;
use crate::graph::errors::GraphError;
use crate::graph::mail;
use crate::graph::prefer::Preferences;
use crate::graph::state::{AccountKind, GraphState};

const ANN: &str = "ann@work.test";
const BOB: &str = "bob@work.test";

fn state() -> GraphState {
    let mut state = GraphState::new(Clock::default());
    state.add_account(ANN, "Ann", "UTC", AccountKind::Work);
    state.add_account(BOB, "Bob", "UTC", AccountKind::Work);
    state
}

/// A call of Ann's; `path` with its query.
fn call(method: &str, path: &str, prefer: &'static str, body: &Value) -> GraphCall {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let ask = Ask::new(method, &format!("/{path}"), query, HeaderMap::new(), Bytes::new());
    let mut headers = HeaderMap::new();
    headers.insert("prefer", HeaderValue::from_static(prefer));
    let kind = if body.is_string() { "text/plain" } else { "application/json" };
    headers.insert("content-type", HeaderValue::from_static(kind));
    let content = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    GraphCall {
        user: ANN.to_owned(),
        account_id: "1".to_owned(),
        method: method.to_owned(),
        path: ask.segments,
        query: ask.query,
        prefer: Preferences::read(&headers),
        headers,
        content: Bytes::from(content),
        body: if body.is_string() { Value::Null } else { body.clone() },
        scopes: Vec::new(),
        link_root: "https://graph.test/v1.0".to_owned(),
    }
}

const IMMUTABLE: &str = "IdType=\"ImmutableId\"";

fn read(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).expect("JSON")
}

fn get(state: &mut GraphState, path: &str) -> Result<Value, GraphError> {
    mail::answer(state, &call("GET", path, IMMUTABLE, &Value::Null)).map(|reply| read(&reply))
}

fn post(state: &mut GraphState, path: &str, body: &Value) -> Result<Reply, GraphError> {
    mail::answer(state, &call("POST", path, IMMUTABLE, body))
}

fn raw(subject: &str) -> Vec<u8> {
    format!(
        "From: {BOB}\r\nTo: {ANN}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@x.test>\r\n\r\nHello\r\n"
    )
    .into_bytes()
}

/// MIME as requests have it.
fn mime(text: &str) -> Value {
    BASE64_STANDARD.encode(text).into()
}

#[test]
fn a_move_keeps_the_immutable_id_alone_and_a_second_deletion_is_refused() {
    let mut state = state();
    let id = state.deliver(ANN, &raw("one"));
    let list = |state: &mut GraphState, prefer: &'static str| {
        let reply = mail::answer(state, &call("GET", "messages?$select=subject", prefer, &Value::Null));
        read(&reply.expect("a list"))["value"][0]["id"].as_str().expect("an id").to_owned()
    };
    let mutable = list(&mut state, "outlook.allow-unsafe-html");
    assert_eq!(list(&mut state, IMMUTABLE), id);
    let moved = post(&mut state, &format!("messages/{id}/move"), &json!({ "DestinationId": "archive" }));
    let moved = read(&moved.expect("moved"));
    assert_eq!((moved["id"].as_str(), moved["subject"].as_str()), (Some(id.as_str()), Some("one")));
    assert_ne!(list(&mut state, "outlook.allow-unsafe-html"), mutable);
    assert_eq!(get(&mut state, &format!("messages/{mutable}")).expect_err("another place").status, 404);
    let delete = call("DELETE", &format!("messages/{id}"), IMMUTABLE, &Value::Null);
    assert_eq!(mail::answer(&mut state, &delete).expect("deleted").status, 204);
    assert_eq!(mail::answer(&mut state, &delete).expect_err("again").code, "ErrorCannotDeleteObject");
    assert_eq!(get(&mut state, &format!("messages/{id}")).expect_err("deleted").code, "ErrorItemNotFound");
}

#[test]
fn lists_take_what_outlook_takes() {
    let mut state = state();
    for number in 0..12 {
        state.deliver(ANN, &raw(&format!("mail {number}")));
    }
    let page = get(&mut state, "mailFolders/inbox/messages?$select=id").expect("a page");
    assert_eq!(page["value"].as_array().map(Vec::len), Some(10));
    let link = page["@odata.nextLink"].as_str().expect("a link");
    assert!(link.contains("mailFolders('inbox')") && link.contains("%24skip=10"), "{link}");
    let filter = "receivedDateTime+gt+1970-01-01T00:00:00Z+and+isRead+eq+false";
    let sorted = format!("messages?$filter={filter}&$orderby=receivedDateTime+desc&$top=1000");
    assert_eq!(get(&mut state, &sorted).expect("sorted")["value"].as_array().map(Vec::len), Some(12));
    for (query, code) in [
        ("$filter=isRead+eq+false&$orderby=receivedDateTime+desc", "InefficientFilter"),
        ("$search=%22mail%22&$filter=isRead+eq+false", "SearchWithFilter"),
        ("$search=%22mail%22&$orderby=receivedDateTime", "SearchWithOrderBy"),
        ("$expand=attachments($select=contentId)", "RequestBroker--ParseUri"),
        ("$select=colour", "RequestBroker--ParseUri"),
    ] {
        assert_eq!(get(&mut state, &format!("messages?{query}")).expect_err(query).code, code, "{query}");
    }
    let found = get(&mut state, "messages?$search=%22subject:\\%22mail+7\\%22%22").expect("hits");
    assert_eq!(found["value"][0]["subject"], "mail 7");
    let expand =
        "$expand=singleValueExtendedProperties($filter=id+eq+'Integer+0x0E08'+or+id+eq+'Integer+0x1080')";
    let page = get(&mut state, &format!("messages?$top=1&$select=id&{expand}")).expect("a page");
    let properties = &page["value"][0]["singleValueExtendedProperties"];
    assert_eq!(
        (properties[0]["id"].as_str(), properties.as_array().map(Vec::len)),
        (Some("Integer 0xe08"), Some(1))
    );
    state.trap_on("fat_page_504");
    assert_eq!(get(&mut state, "messages?$top=500").expect_err("fat").status, 504);
    assert_eq!(
        get(&mut state, "messages?$top=500").expect("once")["value"].as_array().map(Vec::len),
        Some(12)
    );
}

impl GraphState {
    /// Switches a trap on for one time.
    fn trap_on(&mut self, name: &str) {
        self.traps.set(name, 1).expect("a known trap");
    }
}

#[test]
fn a_delta_has_pages_of_ten_and_reports_what_changed() {
    let mut state = state();
    let ids: Vec<String> =
        (0..12).map(|number| state.deliver(ANN, &raw(&format!("mail {number}")))).collect();
    let expand = "$expand=singleValueExtendedProperties($filter=id+eq+'Integer+0x0E08')";
    let root = "mailFolders/inbox/messages/delta";
    let token = |page: &Value, name: &str| {
        let link = page[name].as_str().unwrap_or_else(|| panic!("no {name} in {page}"));
        format!("{root}?{}", link.split_once('?').expect("a query").1)
    };
    let first = get(&mut state, &format!("{root}?$top=50&$select=subject,isRead&{expand}")).expect("a page");
    assert_eq!(first["value"].as_array().map(Vec::len), Some(10));
    assert!(first["value"][0]["singleValueExtendedProperties"].is_null(), "{first}");
    let second = get(&mut state, &token(&first, "@odata.nextLink")).expect("a page");
    assert_eq!(second["value"].as_array().map(Vec::len), Some(2));
    let next = token(&second, "@odata.deltaLink");
    state.mark_mail_read(ANN, &ids[0], true);
    state.delete_mail(ANN, &ids[1]);
    state.move_mail(ANN, &ids[2], "archive");
    state.move_mail(ANN, &ids[2], "inbox");
    state.trap_on("removed_a_b_a");
    let third = get(&mut state, &next).expect("a page");
    let mut read_one = third["value"][0].clone();
    let etag = read_one.as_object_mut().and_then(|members| members.remove("@odata.etag"));
    assert!(etag.is_some(), "{third}");
    assert_eq!(read_one, json!({ "@odata.type": "#microsoft.graph.message", "id": ids[0], "isRead": true }));
    for (at, id) in [(1, &ids[1]), (2, &ids[2])] {
        assert_eq!(
            (&third["value"][at]["id"], &third["value"][at]["@removed"]["reason"]),
            (&json!(id), &json!("deleted"))
        );
    }
    for (trap, status) in [("delta_404_sync_state_not_found", 404), ("delta_400_id_malformed", 400)] {
        state.trap_on(trap);
        assert_eq!(get(&mut state, &next).expect_err(trap).status, status);
    }
    state.mailbox(ANN).expire_folder_tokens("inbox");
    let error = get(&mut state, &next).expect_err("expired");
    assert_eq!((error.status, error.code.as_str()), (410, "SyncStateNotFound"));
}

#[test]
fn mail_is_sent_with_202_alone() {
    let mut state = state();
    let head =
        format!("To: {BOB}\r\nBcc: nobody@elsewhere.test\r\nSubject: Hi\r\nMessage-ID: <own@x.test>\r\n\r\n");
    let fat = format!("{head}{}", "x".repeat(2_300_000));
    assert_eq!(post(&mut state, "sendMail", &mime(&fat)).expect("answered").status, 200);
    assert!(
        state.mailbox(ANN).sent.is_empty() && state.mailbox(BOB).titled("Hi").is_none(),
        "it is not sent"
    );
    state.trap_on("ndr");
    assert_eq!(post(&mut state, "sendMail", &mime(&head)).expect("sent").status, 202);
    let received = state.mailbox(BOB).titled("Hi").expect("received").clone();
    assert!(received.content.bcc.is_empty() && !received.is_read);
    assert_eq!(
        (received.content.message_id.as_str(), received.content.from[0].address.as_str()),
        ("<own@x.test>", ANN)
    );
    let copy = state.mailbox(ANN).titled("Hi").expect("a copy").clone();
    assert_eq!((state.mailbox(ANN).folder_of(copy.number), copy.content.bcc.len()), (Some("sentitems"), 1));
    assert!(state.mailbox(ANN).titled("Undeliverable: Hi").is_some());
    for (from, status) in [("somebody@else.test", 403), (ANN, 202)] {
        let sender = json!({ "emailAddress": { "address": from } });
        let to = json!([{ "emailAddress": { "address": BOB } }]);
        let message = json!({ "message": { "subject": "JSON", "from": sender, "toRecipients": to }, "saveToSentItems": false });
        let answer = post(&mut state, "sendMail", &message);
        assert_eq!(answer.map_or_else(|error| error.status, |reply| reply.status), status);
    }
    assert!(state.mailbox(ANN).titled("JSON").is_none(), "no copy was wanted");
}

#[test]
fn a_draft_takes_a_large_attachment_in_slices_and_becomes_the_sent_copy() {
    let mut state = state();
    let draft = mime(&format!("To: {BOB}\r\nSubject: Draft\r\nReferences: <0@x.test>\r\n\r\nText"));
    let into_folder =
        post(&mut state, "mailFolders/archive/messages", &draft).expect_err("MIME into a folder");
    assert_eq!(into_folder.code, "UnableToDeserializePostBody");
    let made = read(&post(&mut state, "messages", &draft).expect("a draft"));
    let id = made["id"].as_str().expect("an id").to_owned();
    assert_eq!((&made["isDraft"], made["internetMessageId"].is_string()), (&json!(true), true));
    let size = 3_932_160;
    let session = |size: usize| json!({ "AttachmentItem": { "attachmentType": "file", "name": "a.bin", "size": size } });
    let path = format!("messages/{id}/attachments/createUploadSession");
    let small = post(&mut state, &path, &session(1_000)).expect_err("small");
    assert_eq!(small.code, "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize");
    let session = read(&post(&mut state, &path, &session(size)).expect("a session"));
    let url = session["uploadUrl"].as_str().expect("an address").to_owned();
    let (path, query) = url.split_once('?').expect("a token");
    let path = path.strip_prefix("https://outlook.office.com").expect("the upload host");
    let mut put = |first: usize, length: usize| {
        let mut headers = HeaderMap::new();
        let range = format!("bytes {first}-{}/{size}", first + length - 1);
        headers.insert("content-range", HeaderValue::from_str(&range).expect("a range"));
        let ask = Ask::new("PUT", path, query, headers, Bytes::from(vec![7_u8; length]));
        mail::upload::answer(&mut state, &ask)
    };
    let half = size / 2;
    assert_eq!(read(&put(0, half))["nextExpectedRanges"], json!([half.to_string()]));
    assert_eq!(put(0, half).status, 416);
    let last = put(half, half);
    assert_eq!((last.status, last.headers.iter().any(|(name, _)| name == "location")), (201, true));
    assert_eq!(post(&mut state, &format!("messages/{id}/send"), &Value::Null).expect("sent").status, 202);
    state.trap_on("irresolvable_conflict");
    let received = state.mailbox(BOB).titled("Draft").expect("received").clone();
    assert_eq!((received.content.attachments[0].bytes.len(), received.content.references.len()), (size, 1));
    assert_eq!(
        get(&mut state, &format!("messages/{id}?$select=isDraft")).expect("the copy")["isDraft"],
        false
    );
    let patch = |body: Value| call("PATCH", &format!("messages/{id}"), IMMUTABLE, &body);
    let change = patch(json!({ "categories": ["Red"], "flag": { "flagStatus": "flagged" } }));
    assert_eq!(mail::answer(&mut state, &change).expect_err("spontaneous").status, 412);
    let changed = read(&mail::answer(&mut state, &change).expect("changed"));
    assert_eq!(
        (&changed["categories"], &changed["flag"]["flagStatus"]),
        (&json!(["Red"]), &json!("flagged"))
    );
    let refused = mail::answer(&mut state, &patch(json!({ "subject": "Other" }))).expect_err("no draft");
    assert_eq!((refused.status, refused.code.as_str()), (403, "ErrorAccessDenied"));
}

#[test]
fn folders_are_a_tree_whose_delta_reports_renames_and_removals() {
    let mut state = state();
    let first = get(&mut state, "mailFolders/delta").expect("a page");
    let names: Vec<&Value> =
        first["value"].as_array().into_iter().flatten().map(|one| &one["displayName"]).collect();
    assert!(names.contains(&&json!("Inbox")) && !names.contains(&&json!("Sync Issues")), "{names:?}");
    let link = first["@odata.deltaLink"]
        .as_str()
        .and_then(|link| link.split_once('?'))
        .expect("a link")
        .1
        .to_owned();
    let made = read(
        &post(&mut state, "mailFolders/inbox/childFolders", &json!({ "displayName": "A/B" })).expect("made"),
    );
    let again = post(&mut state, "mailFolders/inbox/childFolders", &json!({ "displayName": "a/b" }))
        .expect_err("taken");
    assert_eq!((again.status, again.code.as_str()), (409, "ErrorFolderExists"));
    let id = made["id"].as_str().expect("an id").to_owned();
    state.put_mail(ANN, &raw("inside"), &id, false);
    let page = get(&mut state, &format!("mailFolders/delta?{link}")).expect("a page");
    assert_eq!(
        (page["value"][0]["displayName"].as_str(), page["value"][0]["unreadItemCount"].as_i64()),
        (Some("A/B"), Some(1))
    );
    let delete = call("DELETE", &format!("mailFolders/{id}"), IMMUTABLE, &Value::Null);
    assert_eq!(mail::answer(&mut state, &delete).expect("deleted").status, 204);
    let page = get(&mut state, &format!("mailFolders/delta?{link}")).expect("a page");
    assert_eq!(
        (&page["value"][0]["id"], &page["value"][0]["@removed"]["reason"]),
        (&json!(id), &json!("deleted"))
    );
    assert!(state.mailbox(ANN).titled("inside").is_some(), "it is among the recoverable ones");
    let inbox = call("DELETE", "mailFolders/inbox", IMMUTABLE, &Value::Null);
    assert_eq!(mail::answer(&mut state, &inbox).expect_err("its own").status, 403);
}

#[test]
fn a_message_from_elsewhere_is_no_draft_and_keeps_its_time() {
    let mut state = state();
    let properties = json!([
        { "id": "Integer 0x0E07", "value": "1" },
        { "id": "SystemTime 0x0E06", "value": "2020-01-02T03:04:05Z" },
    ]);
    let body = json!({ "subject": "Old", "from": { "emailAddress": { "address": BOB } }, "singleValueExtendedProperties": properties });
    let made = read(&post(&mut state, "mailFolders/archive/messages", &body).expect("made"));
    assert_eq!((&made["isDraft"], &made["isRead"]), (&json!(false), &json!(true)));
    assert_eq!(made["receivedDateTime"], "2020-01-02T03:04:05Z");
    let refused = json!({ "internetMessageHeaders": [{ "name": "References", "value": "<1@x.test>" }] });
    let error = post(&mut state, "messages", &refused).expect_err("another header");
    assert_eq!(error.code, "InvalidInternetMessageHeader");
}
