//! Writes of contacts and groups as Google gets them, in recorded answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::cell::RefCell;
use std::rc::Rc;

use connector_google::Google;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Contacts, Context, code};
use model::contacts::{
    Contact, ContactEmail, ContactGroup, ContactKind, ContactPhone, Organization, PartialDate, PhoneKind,
    Photo,
};
use model::wire::contacts::ContactWrite;
use model::wire::{Connection, ItemDelete, ItemWrite};
use serde_json::{Map, Value, json};

const ROOT: &str = "https://people.googleapis.com/v1";

fn ok(value: &Value) -> Response {
    response(200, &[], &value.to_string())
}

fn refused(status: u16, message: &str, name: &str) -> Response {
    let error = json!({ "code": status, "message": message, "status": name });
    response(status, &[], &json!({ "error": error }).to_string())
}

fn stale() -> Response {
    let message = "Request person.etag is different than the current person.etag. Clear local cache and get the latest person.";
    refused(400, message, "FAILED_PRECONDITION")
}

fn context(provider: &Recorded) -> Context<'_> {
    Context::new(provider, Connection::default()).keyed("key-1")
}

/// The JSON bodies of the requests that had one.
fn sent(provider: &Recorded) -> Vec<Value> {
    let requests = provider.requests.borrow();
    let bodies = requests.iter().map(body).filter(|body| !body.is_empty());
    bodies.map(|body| serde_json::from_slice(&body).unwrap()).collect()
}

/// The methods and last path segments of the requests.
fn steps(provider: &Recorded) -> Vec<String> {
    let requests = provider.requests.borrow();
    let step = |request: &Request| {
        let path = request.url.split('?').next().unwrap();
        format!("{} {}", request.method, path.strip_prefix(ROOT).unwrap())
    };
    requests.iter().map(step).collect()
}

fn ada() -> Value {
    json!({
        "resourceName": "people/c1",
        "metadata": { "sources": [{ "type": "CONTACT", "id": "f1", "etag": "#1", "updateTime": "2026-03-01T07:00:00Z" }] },
        "names": [{ "displayName": "Ada King", "givenName": "Ada", "familyName": "King", "unstructuredName": "Ada King", "phoneticMiddleName": "x" }],
        "nicknames": [{ "value": "Addie" }, { "value": "Byron", "type": "MAIDEN_NAME" }],
        "emailAddresses": [{ "value": "ada@example.test", "displayName": "Ada", "type": "work", "formattedType": "Work", "metadata": { "primary": true } }],
        "organizations": [{ "name": "Engines", "title": "Analyst", "jobDescription": "notes" }],
        "events": [{ "date": { "year": 1843 }, "type": "notes" }],
        "memberships": [{ "contactGroupMembership": { "contactGroupResourceName": "contactGroups/myContacts" } }],
        "clientData": [{ "key": "sap", "value": "7" }],
    })
}

/// A provider that keeps one contact and takes what is written of it. `more`: answers to other requests.
fn keeping(
    person: Value,
    more: impl Fn(&Request) -> Option<Response> + 'static,
) -> (Recorded, Rc<RefCell<Value>>) {
    let kept = Rc::new(RefCell::new(person));
    let shared = kept.clone();
    let provider = Recorded::answering(move |request: &Request| {
        if let Some(answer) = more(request) {
            return Ok(answer);
        }
        let mut person = shared.borrow_mut();
        if !request.body.is_empty() {
            let posted: Map<String, Value> = serde_json::from_slice(&body(request)).unwrap();
            let fields = posted.into_iter().filter(|(name, _)| name != "metadata");
            person.as_object_mut().unwrap().extend(fields);
            person["metadata"]["sources"][0]["etag"] = json!("#2");
        }
        Ok(ok(&person))
    });
    (provider, kept)
}

fn write(source: Option<&str>, changed: &[&str], body: Contact) -> ContactWrite {
    ContactWrite {
        write: ItemWrite {
            collection: "contacts".to_owned(),
            source: source.map(str::to_owned),
            body,
            changed: changed.iter().map(ToString::to_string).collect(),
            ..ItemWrite::default()
        },
        ..ContactWrite::default()
    }
}

fn new_contact() -> Contact {
    Contact {
        display_name: Some("Countess Ada".to_owned()),
        given_name: Some("Ada".to_owned()),
        emails: vec![
            ContactEmail { value: "a@example.test".to_owned(), ..ContactEmail::default() },
            ContactEmail {
                value: "b@example.test".to_owned(),
                kind: ContactKind::Custom,
                label: Some("Boat".to_owned()),
                primary: true,
            },
        ],
        phones: vec![ContactPhone {
            value: "1".to_owned(),
            kind: PhoneKind::WorkFax,
            label: Some("loud".to_owned()),
            ..ContactPhone::default()
        }],
        birthday: Some(PartialDate { year: None, month: 12, day: 10 }),
        notes: Some("notes".to_owned()),
        starred: true,
        ..Contact::default()
    }
}

const NEW: [&str; 7] = ["displayName", "givenName", "emails", "phones", "birthday", "notes", "starred"];

fn nobody() -> Value {
    json!({ "resourceName": "people/c1", "metadata": { "sources": [{ "type": "CONTACT", "id": "f1", "etag": "#1" }] } })
}

#[test]
fn a_new_contact_has_the_key_of_its_creation() {
    let (provider, _) = keeping(nobody(), |_| None);
    let mut args = write(None, &NEW, new_contact());
    args.joins = vec!["contactGroups/a1".to_owned()];
    let made = Google::create_contact(&context(&provider), args).unwrap();
    assert_eq!(steps(&provider), ["POST /people:createContact"]);
    let mut posted = sent(&provider).remove(0);
    let key = posted["clientData"][0].take();
    assert_eq!((key["key"].as_str(), key["value"].as_str().unwrap().len()), (Some("switchboard"), 32));
    assert_eq!(
        posted,
        json!({
            "names": [{ "unstructuredName": "Countess Ada", "givenName": "Ada" }],
            "emailAddresses": [
                { "value": "a@example.test", "type": "other" },
                { "value": "b@example.test", "type": "Boat", "metadata": { "sourcePrimary": true } },
            ],
            "phoneNumbers": [{ "value": "1", "type": "workFax" }],
            "birthdays": [{ "date": { "month": 12, "day": 10 } }],
            "biographies": [{ "value": "notes", "contentType": "TEXT_PLAIN" }],
            "memberships": [
                { "contactGroupMembership": { "contactGroupResourceName": "contactGroups/a1" } },
                { "contactGroupMembership": { "contactGroupResourceName": "contactGroups/starred" } },
                { "contactGroupMembership": { "contactGroupResourceName": "contactGroups/myContacts" } },
            ],
            "clientData": [null],
        })
    );
    assert_eq!(made.item.as_deref(), Some("people/c1"));
    // A label beside a type of Google's is what it cannot keep.
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(made.warnings[0].code, "field_not_supported");
    assert_eq!(made.warnings[0].target.as_deref(), Some("phones"));
    let mut strict = write(None, &NEW, new_contact());
    strict.write.strict = true;
    let failure = Google::create_contact(&context(&Recorded::new()), strict).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), &failure.detail.unwrap()["field"]),
        (code::UNSUPPORTED, &json!("phones"))
    );
}

/// The first attempt's answer was lost: its contact is among the newest ones.
#[test]
fn a_second_attempt_looks_for_the_first_ones_contact() {
    let (first, kept) = keeping(nobody(), |_| None);
    Google::create_contact(&context(&first), write(None, &NEW, new_contact())).unwrap();
    let made = kept.borrow().clone();
    let list = move |request: &Request| {
        let is_newest = request.url.ends_with("&pageSize=50&sortOrder=LAST_MODIFIED_DESCENDING");
        is_newest.then(|| ok(&json!({ "connections": [ada(), made] })))
    };
    let (second, _) = keeping(nobody(), list);
    let again = context(&second).with_extra("attempt", "2");
    let found = Google::create_contact(&again, write(None, &NEW, new_contact())).unwrap();
    assert_eq!(steps(&second), ["GET /people/me/connections"]);
    assert_eq!(found.item.as_deref(), Some("people/c1"));
    // Nothing was made: it is made now.
    let (third, _) = keeping(nobody(), |request| {
        (request.method == "GET").then(|| ok(&json!({ "connections": [ada()] })))
    });
    let again = context(&third).with_extra("attempt", "2");
    Google::create_contact(&again, write(None, &NEW, new_contact())).unwrap();
    assert_eq!(steps(&third), ["GET /people/me/connections", "POST /people:createContact"]);
}

/// A contact without a name is shown by its company, which does not become its name.
#[test]
fn a_borrowed_name_is_no_name() {
    let company = Contact {
        display_name: Some("Engines".to_owned()),
        organizations: vec![Organization { name: Some("Engines".to_owned()), ..Organization::default() }],
        ..Contact::default()
    };
    let (provider, _) = keeping(nobody(), |_| None);
    Google::create_contact(&context(&provider), write(None, &["displayName", "organizations"], company))
        .unwrap();
    assert_eq!(sent(&provider)[0].get("names"), None);
    assert_eq!(sent(&provider)[0]["organizations"], json!([{ "name": "Engines", "current": true }]));
}

/// Only what changed is sent, under the version that was read; a list keeps what the model does not have.
#[test]
fn a_change_names_its_fields() {
    let (provider, _) = keeping(ada(), |_| None);
    let changed = Contact {
        given_name: Some("Augusta".to_owned()),
        nickname: None,
        emails: vec![
            ContactEmail {
                value: "ada@example.test".to_owned(),
                kind: ContactKind::Work,
                ..ContactEmail::default()
            },
            ContactEmail {
                value: "new@example.test".to_owned(),
                kind: ContactKind::Home,
                ..ContactEmail::default()
            },
        ],
        organizations: vec![Organization {
            name: Some("Engines".to_owned()),
            title: Some("Countess".to_owned()),
            ..Organization::default()
        }],
        ..Contact::default()
    };
    let fields = ["givenName", "nickname", "emails", "organizations", "anniversaries", "notes"];
    let mut args = write(Some("people/c1"), &fields, changed);
    args.write.if_match = Some("#1".to_owned());
    let done = Google::update_contact(&context(&provider), args).unwrap();
    assert_eq!(steps(&provider), ["GET /people/c1", "PATCH /people/c1:updateContact"]);
    let url = provider.requests.borrow()[1].url.clone();
    let mask =
        "updatePersonFields=names%2Cnicknames%2CemailAddresses%2Corganizations%2Cevents%2Cbiographies&";
    assert!(url.contains(mask), "{url}");
    assert_eq!(
        sent(&provider)[0],
        json!({
            "metadata": { "sources": [{ "type": "CONTACT", "id": "f1", "etag": "#1" }] },
            // Google makes the whole of the parts.
            "names": [{ "givenName": "Augusta", "familyName": "King", "phoneticMiddleName": "x" }],
            "nicknames": [{ "value": "Byron", "type": "MAIDEN_NAME" }],
            "emailAddresses": [
                { "value": "ada@example.test", "displayName": "Ada", "type": "work" },
                { "value": "new@example.test", "type": "home" },
            ],
            "organizations": [{ "name": "Engines", "title": "Countess", "jobDescription": "notes" }],
            "events": [{ "date": { "year": 1843 }, "type": "notes" }],
        })
    );
    assert_eq!(done.sources[0].etag.as_deref(), Some("#2"));
    // A name to show of the user's own stays beside the parts.
    let (provider, _) = keeping(ada(), |_| None);
    let renamed = Contact { display_name: Some("The Countess".to_owned()), ..Contact::default() };
    Google::update_contact(&context(&provider), write(Some("people/c1"), &["displayName"], renamed)).unwrap();
    let name = &sent(&provider)[0]["names"][0];
    assert_eq!(
        (name["unstructuredName"].as_str(), name["givenName"].as_str(), name.get("displayName")),
        (Some("The Countess"), Some("Ada"), None)
    );
}

#[test]
fn an_older_version_is_a_conflict() {
    let renamed = || Contact { display_name: Some("X".to_owned()), ..Contact::default() };
    let args = |version: Option<&str>| {
        let mut args = write(Some("people/c1"), &["displayName"], renamed());
        args.write.if_match = version.map(str::to_owned);
        args
    };
    let (provider, _) = keeping(ada(), |_| None);
    let failure = Google::update_contact(&context(&provider), args(Some("#0"))).unwrap_err();
    assert_eq!((failure.code.as_str(), steps(&provider).len()), (code::CONFLICT, 1));
    // Changed after it was read: the caller's version is the end, else it is read again.
    for (version, requests) in [(Some("#1"), 2), (None, 6)] {
        for answer in [stale(), Response { status: 403, ..stale() }] {
            let refuse = move |request: &Request| (request.method == "PATCH").then(|| answer.clone());
            let (provider, _) = keeping(ada(), refuse);
            let failure = Google::update_contact(&context(&provider), args(version)).unwrap_err();
            assert_eq!((failure.code.as_str(), steps(&provider).len()), (code::CONFLICT, requests));
        }
    }
    // Another write of the account is under way: later.
    let busy = |request: &Request| (request.method == "PATCH").then(|| refused(409, "aborted", "ABORTED"));
    let (provider, _) = keeping(ada(), busy);
    assert_eq!(Google::update_contact(&context(&provider), args(None)).unwrap_err().code, code::UNAVAILABLE);
}

#[test]
fn groups_and_the_star_are_written_with_the_contact() {
    let groups = |provider: &Recorded| {
        let sent = sent(provider).remove(0);
        let names = sent["memberships"].as_array().unwrap().iter();
        let name = |one: &Value| {
            one["contactGroupMembership"]["contactGroupResourceName"].as_str().unwrap().to_owned()
        };
        names.map(name).collect::<Vec<_>>()
    };
    let (provider, _) = keeping(ada(), |_| None);
    let mut args = write(Some("people/c1"), &["starred"], Contact { starred: true, ..Contact::default() });
    args.joins = vec!["contactGroups/a1".to_owned()];
    Google::update_contact(&context(&provider), args).unwrap();
    assert_eq!(groups(&provider), ["contactGroups/myContacts", "contactGroups/a1", "contactGroups/starred"]);
    assert!(provider.requests.borrow()[1].url.contains("updatePersonFields=memberships&"));
    // A contact is in one group at least.
    let (provider, _) = keeping(ada(), |_| None);
    let mut args = write(Some("people/c1"), &[], Contact::default());
    args.leaves = vec!["contactGroups/myContacts".to_owned()];
    let left = Google::update_contact(&context(&provider), args).unwrap();
    assert_eq!(groups(&provider), ["contactGroups/myContacts"]);
    assert_eq!(left.warnings[0].target.as_deref(), Some("groupIds"));
    // Nothing changes: nothing is written.
    let (provider, _) = keeping(ada(), |_| None);
    let args = write(Some("people/c1"), &["starred"], Contact::default());
    Google::update_contact(&context(&provider), args).unwrap();
    assert_eq!(steps(&provider), ["GET /people/c1"]);
}

fn with_photo(url: &str) -> Contact {
    Contact { photo: Some(Photo { url: Some(url.to_owned()), etag: None }), ..Contact::default() }
}

#[test]
fn a_picture_is_a_write_of_its_own() {
    let photo = || {
        ok(
            &json!({ "person": { "resourceName": "people/c1", "photos": [{ "url": "https://lh3.test/a" }], "metadata": nobody()["metadata"] } }),
        )
    };
    let more = move |request: &Request| request.url.contains("ContactPhoto").then(photo);
    let (provider, _) = keeping(ada(), more);
    let args = write(Some("people/c1"), &["photo"], with_photo("data:image/png;base64,iVBORw0K"));
    let done = Google::update_contact(&context(&provider), args).unwrap();
    assert_eq!(steps(&provider), ["GET /people/c1", "PATCH /people/c1:updateContactPhoto"]);
    let posted = &sent(&provider)[0];
    assert_eq!(
        (&posted["photoBytes"], &posted["sources"]),
        (&json!("iVBORw0K"), &json!(["READ_SOURCE_TYPE_CONTACT"]))
    );
    let contact: Contact = done.sources[0].items[0].body.read().unwrap();
    assert_eq!(contact.photo.unwrap().url.as_deref(), Some("https://lh3.test/a"));

    // The one that is there is no change; null takes it away; an address of another one cannot be kept.
    let mut pictured = ada();
    pictured["photos"] = json!([{ "url": "https://lh3.test/a" }]);
    let try_with = |body: Contact| {
        let (provider, _) = keeping(pictured.clone(), more);
        let done =
            Google::update_contact(&context(&provider), write(Some("people/c1"), &["photo"], body)).unwrap();
        (steps(&provider).len(), steps(&provider).pop().unwrap(), done.warnings)
    };
    assert_eq!(try_with(with_photo("https://lh3.test/a")).0, 1);
    assert_eq!(try_with(Contact::default()).1, "DELETE /people/c1:deleteContactPhoto");
    for lost in ["https://elsewhere.test/b.png", "data:image/gif;base64,R0lGOD"] {
        let (requests, _, warnings) = try_with(with_photo(lost));
        assert_eq!((requests, warnings[0].target.as_deref()), (1, Some("photo")), "{lost}");
    }

    // The contact is written by then: its picture is a warning.
    let broken = |request: &Request| request.url.contains("ContactPhoto").then(|| response(503, &[], ""));
    let (provider, _) = keeping(nobody(), broken);
    let mut body = new_contact();
    body.photo = with_photo("data:image/jpeg;base64,/9j/").photo;
    let made =
        Google::create_contact(&context(&provider), write(None, &["givenName", "photo"], body)).unwrap();
    assert_eq!(
        (made.warnings[0].code.as_str(), made.warnings[0].target.as_deref()),
        ("field_not_changed", Some("photo"))
    );
}

/// Google stores something else than was asked for: the caller learns of it.
#[test]
fn another_name_than_the_wanted_one_is_told() {
    let other = |request: &Request| {
        let mut person = ada();
        person["names"][0]["displayName"] = json!("King, Ada");
        (request.method == "POST").then(|| ok(&person))
    };
    let (provider, _) = keeping(ada(), other);
    let made = Google::create_contact(&context(&provider), write(None, &NEW, new_contact())).unwrap();
    let told: Vec<_> =
        made.warnings.iter().map(|one| (one.code.as_str(), one.target.as_deref().unwrap())).collect();
    assert_eq!(
        told,
        [("field_not_supported", "phones"), ("field_changed", "displayName"), ("field_changed", "emails")]
    );
}

fn deletion(id: &str, if_match: Option<&str>) -> ItemDelete {
    ItemDelete {
        collection: "contacts".to_owned(),
        source: id.to_owned(),
        if_match: if_match.map(str::to_owned),
    }
}

#[test]
fn a_contact_is_deleted_once_or_twice() {
    for answer in [ok(&json!({})), response(404, &[], "{}")] {
        let provider = Recorded::new().expect("DELETE", &format!("{ROOT}/people/c1:deleteContact"), answer);
        let deleted = Google::delete_contact(&context(&provider), deletion("people/c1", None)).unwrap();
        assert!(deleted.sources[0].deleted && deleted.item.is_none());
    }
    let (provider, _) = keeping(ada(), |_| None);
    let failure = Google::delete_contact(&context(&provider), deletion("people/c1", Some("#0"))).unwrap_err();
    assert_eq!((failure.code.as_str(), steps(&provider).len()), (code::CONFLICT, 1));
    let other = ItemDelete { collection: "other".to_owned(), ..deletion("otherContacts/c7", None) };
    let failure = Google::delete_contact(&context(&Recorded::new()), other).unwrap_err();
    assert_eq!(failure.code, code::UNSUPPORTED);
}

fn group(id: &str, kind: &str) -> Value {
    json!({ "resourceName": format!("contactGroups/{id}"), "etag": "e1", "name": "Club", "groupType": kind, "memberCount": 1 })
}

fn group_write(source: Option<&str>, changed: &[&str], members: &[&str]) -> ItemWrite<ContactGroup> {
    let contact_ids = Some(members.iter().map(ToString::to_string).collect());
    ItemWrite {
        collection: "contacts".to_owned(),
        source: source.map(str::to_owned),
        body: ContactGroup { name: "Club".to_owned(), contact_ids, ..ContactGroup::default() },
        changed: changed.iter().map(ToString::to_string).collect(),
        ..ItemWrite::default()
    }
}

/// A provider with contacts whose ids are known, and one group.
fn grouping(kind: &'static str, is_taken: bool) -> Recorded {
    let key: RefCell<Value> = RefCell::new(Value::Null);
    Recorded::answering(move |request: &Request| {
        let (path, query) = request.url.split_once('?').unwrap_or((request.url.as_str(), ""));
        let head = |name: &str, id: &str| json!({ "resourceName": name, "metadata": { "sources": [{ "type": "CONTACT", "id": id }] } });
        let mut club = group("a1", kind);
        club["memberResourceNames"] = json!(["people/c5", "people/c241"]);
        Ok(match (request.method.as_str(), path.strip_prefix(ROOT).unwrap()) {
            ("POST", "/contactGroups") => {
                let posted: Value = serde_json::from_slice(&body(request)).unwrap();
                key.replace(posted["contactGroup"]["clientData"].clone());
                if is_taken { refused(409, "name exists", "ALREADY_EXISTS") } else { ok(&club) }
            }
            ("GET", "/contactGroups") => {
                club["clientData"] = key.borrow().clone();
                ok(&json!({ "contactGroups": [group("b", kind), club] }))
            }
            ("GET" | "PUT", "/contactGroups/a1") => ok(&club),
            ("DELETE", "/contactGroups/a1") | ("POST", "/contactGroups/a1/members:modify") => ok(&json!({})),
            // 0xf1 is 241.
            ("GET", "/people:batchGet") => {
                let names = query.split('&').filter_map(|pair| pair.strip_prefix("resourceNames=people%2F"));
                let found = names.map(|id| match id {
                    "c241" => {
                        json!({ "requestedResourceName": "people/c241", "person": head("people/c241", "f1") })
                    }
                    id => json!({ "requestedResourceName": format!("people/{id}"), "status": { "code": 5 } }),
                });
                ok(&json!({ "responses": found.collect::<Vec<_>>() }))
            }
            ("GET", "/people/me/connections") => ok(&json!({ "connections": [head("people/1177", "ab")] })),
            (method, path) => panic!("{method} {path}"),
        })
    })
}

#[test]
fn a_group_is_made_with_its_members() {
    let provider = grouping("USER_CONTACT_GROUP", false);
    let made =
        Google::create_group(&context(&provider), group_write(None, &["name", "contactIds"], &["f1", "ab"]))
            .unwrap();
    assert_eq!(
        steps(&provider),
        [
            "GET /people:batchGet",
            "GET /people/me/connections",
            "POST /contactGroups",
            "POST /contactGroups/a1/members:modify",
            "GET /contactGroups/a1",
            "GET /people:batchGet",
        ]
    );
    assert_eq!(sent(&provider)[1], json!({ "resourceNamesToAdd": ["people/c241", "people/1177"] }));
    assert_eq!(made.item.as_deref(), Some("contactGroups/a1"));
    assert_eq!(made.sources[0].items[0].kind.as_deref(), Some("contact_group"));
    // The name is taken: by an earlier attempt of this creation, or by another client.
    let provider = grouping("USER_CONTACT_GROUP", true);
    let again = Google::create_group(&context(&provider), group_write(None, &["name"], &[])).unwrap();
    assert_eq!(again.item.as_deref(), Some("contactGroups/a1"));
    let provider = grouping("USER_CONTACT_GROUP", true);
    let without_key = Context::new(&provider, Connection::default());
    let failure = Google::create_group(&without_key, group_write(None, &["name"], &[])).unwrap_err();
    assert_eq!(failure.code, code::ALREADY_EXISTS);
}

#[test]
fn members_join_and_leave() {
    let provider = grouping("USER_CONTACT_GROUP", false);
    let args = group_write(Some("contactGroups/a1"), &["contactIds"], &["f1", "ab"]);
    let changed = Google::update_group(&context(&provider), args).unwrap();
    assert_eq!(
        sent(&provider),
        [json!({ "resourceNamesToAdd": ["people/1177"] }), json!({ "resourceNamesToRemove": ["people/c5"] })]
    );
    assert_eq!(changed.sources[0].external_id, "contactGroups/a1");
    let provider = grouping("USER_CONTACT_GROUP", false);
    Google::update_group(&context(&provider), group_write(Some("contactGroups/a1"), &["name"], &[])).unwrap();
    assert_eq!(steps(&provider), ["GET /contactGroups/a1", "PUT /contactGroups/a1"]);
    assert_eq!(sent(&provider)[0]["contactGroup"], json!({ "etag": "e1", "name": "Club" }));
    let mut late = group_write(Some("contactGroups/a1"), &["name"], &[]);
    late.if_match = Some("e0".to_owned());
    let provider = grouping("USER_CONTACT_GROUP", false);
    assert_eq!(Google::update_group(&context(&provider), late).unwrap_err().code, code::CONFLICT);
}

#[test]
fn groups_that_google_has_made_stay() {
    let provider = grouping("SYSTEM_CONTACT_GROUP", false);
    let args = group_write(Some("contactGroups/a1"), &["name"], &[]);
    assert_eq!(Google::update_group(&context(&provider), args).unwrap_err().code, code::UNSUPPORTED);
    let failure = Google::delete_group(&context(&provider), deletion("contactGroups/a1", None)).unwrap_err();
    assert_eq!(failure.code, code::UNSUPPORTED);
    let provider = grouping("USER_CONTACT_GROUP", false);
    let deleted = Google::delete_group(&context(&provider), deletion("contactGroups/a1", None)).unwrap();
    assert!(deleted.sources[0].deleted);
    assert_eq!(steps(&provider), ["GET /contactGroups/a1", "DELETE /contactGroups/a1"]);
}
