//! Writes of contacts and address books as Graph gets them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use std::cell::Cell;

use connector_microsoft::Microsoft;
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Contacts, Context, Outcome, code};
use model::contacts::{
    Anniversary, Contact, ContactBook, ContactEmail, ContactKind, ContactPhone, ImAddress, Organization,
    PartialDate, PhoneKind, Photo, PostalAddress, Relation,
};
use model::wire::contacts::ContactWrite;
use model::wire::{CollectionDelete, CollectionWrite, Connection, ItemDelete, ItemWrite, Mutated};
use serde_json::{Value, json};

use crate::calendar_support::{Call, Calls, graph};

const FOLDER: &str = "/me/contactFolders/f1/contacts";
const FOLDERS: &str = "/me/contactFolders";
/// 2026-03-01T08:00:00Z.
const NOW_MS: i64 = 1_772_352_000_000;

fn context(provider: &Recorded) -> Context<'_> {
    provider.surroundings.now_ms.set(NOW_MS);
    Context::new(provider, Connection::default()).keyed("key-1")
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no" } }))
}

/// The contact at Graph.
fn stored() -> Value {
    json!({
        "@odata.etag": "W/\"1\"", "id": "ada", "displayName": "Countess Ada", "createdDateTime": "2026-03-01T08:00:00Z",
        "emailAddresses": [{ "name": "Ada at home", "address": "ada@example.test" }],
    })
}

/// A folder with one contact, which keeps what is written of it.
fn folder(call: &Call) -> (u16, Value) {
    match (call.method.as_str(), call.path.as_str()) {
        ("GET", path) if path.ends_with("/photo") => error(404, "ErrorItemNotFound"),
        ("DELETE", _) => (204, Value::Null),
        _ => {
            let mut contact = stored();
            contact.as_object_mut().unwrap().extend(call.body.as_object().cloned().unwrap_or_default());
            (200, contact)
        }
    }
}

fn write(source: Option<&str>, changed: &[&str], body: Contact) -> ContactWrite {
    ContactWrite {
        write: ItemWrite {
            collection: "f1".to_owned(),
            source: source.map(str::to_owned),
            body,
            changed: changed.iter().map(ToString::to_string).collect(),
            ..ItemWrite::default()
        },
        ..ContactWrite::default()
    }
}

fn strict(mut args: ContactWrite) -> ContactWrite {
    args.write.strict = true;
    args
}

fn create(provider: &Recorded, args: ContactWrite) -> Outcome<Mutated> {
    <Microsoft as Contacts>::create_contact(&context(provider), args)
}

fn update(provider: &Recorded, args: ContactWrite) -> Outcome<Mutated> {
    <Microsoft as Contacts>::update_contact(&context(provider), args)
}

/// The first request that writes.
fn written(calls: &Calls) -> Call {
    calls.borrow().iter().find(|call| call.method != "GET").unwrap().clone()
}

/// The requests without reads, as `PATCH /ada`.
fn writes(calls: &Calls) -> Vec<String> {
    let calls = calls.borrow();
    let writes = calls.iter().filter(|call| call.method != "GET");
    writes.map(|call| format!("{} {}", call.method, call.path.strip_prefix(FOLDER).unwrap())).collect()
}

/// The field and the code of each warning.
fn warnings(mutated: &Mutated) -> Vec<(&str, &str)> {
    let warnings = mutated.warnings.iter();
    warnings.map(|warning| (warning.target.as_deref().unwrap(), warning.code.as_str())).collect()
}

fn email(value: &str) -> ContactEmail {
    ContactEmail { value: value.to_owned(), ..ContactEmail::default() }
}

fn phone(value: &str, kind: PhoneKind) -> ContactPhone {
    ContactPhone { value: value.to_owned(), kind, ..ContactPhone::default() }
}

fn relation(kind: &str, name: &str) -> Relation {
    Relation { kind: Some(kind.to_owned()), name: name.to_owned() }
}

#[test]
fn each_field_of_a_contact_has_a_member() {
    let (provider, calls) = graph(folder);
    let contact = Contact {
        display_name: Some("Countess Ada".to_owned()),
        given_name: Some("Ada".to_owned()),
        family_name: Some("King".to_owned()),
        prefix: Some("Lady".to_owned()),
        suffix: Some(String::new()),
        phonetic_given_name: Some("eida".to_owned()),
        emails: vec![email("ada@example.test")],
        phones: vec![phone("4", PhoneKind::Mobile), phone("1", PhoneKind::Work), phone("3", PhoneKind::Home)],
        organizations: vec![Organization { name: Some("Engines".to_owned()), ..Organization::default() }],
        im_addresses: vec![ImAddress {
            protocol: Some("xmpp".to_owned()),
            handle: "ada@example.test".to_owned(),
        }],
        relations: vec![relation("Spouse", "William"), relation("child", "Anne"), relation("child", "Byron")],
        birthday: Some(PartialDate { year: None, month: 12, day: 10 }),
        anniversaries: vec![Anniversary {
            kind: None,
            date: PartialDate { year: Some(1835), month: 7, day: 8 },
        }],
        notes: Some("notes".to_owned()),
        ..Contact::default()
    };
    let changed = [
        "displayName",
        "givenName",
        "familyName",
        "prefix",
        "suffix",
        "phoneticGivenName",
        "emails",
        "phones",
        "organizations",
        "imAddresses",
        "relations",
        "birthday",
        "anniversaries",
        "notes",
    ];
    let made = create(&provider, strict(write(None, &changed, contact))).unwrap();
    assert_eq!((made.item.as_deref(), made.warnings.len()), (Some("ada"), 0));
    let call = written(&calls);
    assert_eq!((call.method.as_str(), call.path.as_str(), call.if_match), ("POST", FOLDER, None));
    let expected = json!({
        "displayName": "Countess Ada", "givenName": "Ada", "surname": "King", "title": "Lady", "yomiGivenName": "eida",
        "emailAddresses": [{ "address": "ada@example.test" }], "businessPhones": ["1"], "homePhones": ["3"], "mobilePhone": "4",
        "companyName": "Engines", "imAddresses": ["xmpp:ada@example.test"], "spouseName": "William", "children": ["Anne", "Byron"],
        "birthday": "1604-12-10T11:59:00Z", "personalNotes": "notes",
        "singleValueExtendedProperties": [{ "id": "SystemTime 0x3A41", "value": "1835-07-08T11:59:00Z" }],
    });
    assert_eq!(call.body, expected);
}

/// The name goes with each change, or Graph composes another one; the addresses keep the names that they have at Graph.
#[test]
fn a_change_has_the_whole_name_with_it() {
    let (provider, calls) = graph(folder);
    let contact = Contact {
        display_name: Some("Countess Ada".to_owned()),
        given_name: Some("Augusta".to_owned()),
        emails: vec![email("new@example.test"), email("ADA@example.test")],
        ..Contact::default()
    };
    let mut args = write(Some("ada"), &["givenName", "emails", "nickname"], contact);
    args.write.if_match = Some("W/\"1\"".to_owned());
    let changed = update(&provider, args).unwrap();
    assert!(changed.warnings.is_empty());
    let call = written(&calls);
    assert_eq!((call.method.as_str(), call.if_match.as_deref()), ("PATCH", Some("W/\"1\"")));
    let expected = json!({
        "displayName": "Countess Ada", "givenName": "Augusta", "nickName": null,
        "emailAddresses": [{ "address": "new@example.test" }, { "address": "ADA@example.test", "name": "Ada at home" }],
    });
    assert_eq!(call.body, expected);
    // A read with its picture, the change, and a read.
    assert_eq!(provider.requests.borrow().len(), 3);
}

/// A value that Graph cannot keep gives a warning; a caller who wants all fields kept gets a refusal, and nothing is written.
#[test]
fn limits_are_warnings_or_refusals() {
    let address = |kind: ContactKind, street: &str| PostalAddress {
        kind,
        street: Some(street.to_owned()),
        ..PostalAddress::default()
    };
    let work = |number: &str| phone(number, PhoneKind::Work);
    let contact = || Contact {
        emails: ["a", "b", "c", "d"].map(email).to_vec(),
        phones: vec![
            work("1"),
            work("2"),
            work("3"),
            phone("4", PhoneKind::WorkFax),
            phone("5", PhoneKind::Other),
        ],
        addresses: ["a", "b", "c"].map(|street| address(ContactKind::Home, street)).to_vec(),
        organizations: vec![Organization::default(), Organization::default()],
        relations: vec![relation("friend", "Bea"), relation("spouse", "William"), relation("spouse", "Bob")],
        anniversaries: vec![Anniversary { kind: Some("first program".to_owned()), ..Anniversary::default() }],
        starred: true,
        ..Contact::default()
    };
    let fields = ["emails", "phones", "addresses", "organizations", "relations", "anniversaries", "starred"];
    let (provider, calls) = graph(folder);
    let made = create(&provider, write(None, &fields, contact())).unwrap();
    let mut warned: Vec<&str> = warnings(&made).into_iter().map(|(field, _)| field).collect();
    warned.dedup();
    assert_eq!(warned, fields);
    assert!(warnings(&made).iter().all(|(_, code)| *code == "field_not_supported"));
    let body = written(&calls).body;
    assert_eq!(body["emailAddresses"].as_array().unwrap().len(), 3);
    assert_eq!((&body["businessPhones"], &body["homePhones"]), (&json!(["1", "2"]), &json!(["5"])));
    assert_eq!((&body["homeAddress"]["street"], &body["spouseName"]), (&json!("a"), &json!("William")));
    for field in fields {
        let (provider, calls) = graph(folder);
        let failure = create(&provider, strict(write(None, &[field], contact()))).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), failure.detail.unwrap()["field"].as_str()),
            (code::UNSUPPORTED, Some(field))
        );
        assert_eq!(calls.borrow().len(), 0, "{field}");
    }
}

#[test]
fn types_and_parts_without_a_place_are_warnings() {
    let custom = ContactEmail { kind: ContactKind::Work, primary: true, ..email("b") };
    let contact = Contact {
        emails: vec![email("a"), custom],
        phones: vec![ContactPhone {
            primary: true,
            label: Some("Boat".to_owned()),
            ..phone("1", PhoneKind::Home)
        }],
        addresses: vec![PostalAddress {
            kind: ContactKind::Custom,
            street: Some("1 Row".to_owned()),
            extended: Some("Flat 2".to_owned()),
            country_code: Some("GB".to_owned()),
            ..PostalAddress::default()
        }],
        ..Contact::default()
    };
    let (provider, calls) = graph(folder);
    let made = create(&provider, write(None, &["emails", "phones", "addresses"], contact)).unwrap();
    let fields: Vec<&str> = warnings(&made).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["emails", "emails", "phones", "phones", "addresses", "addresses"]);
    let other = &written(&calls).body["otherAddress"];
    assert_eq!((&other["street"], &other["countryOrRegion"]), (&json!("1 Row\nFlat 2"), &json!("GB")));
}

/// Graph refuses a version now and then that the contact has all the same (microsoftgraph/microsoft-graph-docs#2256).
#[test]
fn another_version_is_a_conflict_and_the_same_one_is_tried_again() {
    for (etag, expected) in [("W/\"1\"", None), ("W/\"0\"", Some(code::CONFLICT))] {
        let refusals = Cell::new(0);
        let (provider, calls) = graph(move |call| match call.method.as_str() {
            "PATCH" if refusals.get() == 0 => {
                refusals.set(1);
                error(412, "ErrorIrresolvableConflict")
            }
            _ => folder(call),
        });
        let mut args =
            write(Some("ada"), &["notes"], Contact { notes: Some("n".to_owned()), ..Contact::default() });
        args.write.if_match = Some(etag.to_owned());
        let changed = update(&provider, args);
        assert_eq!(changed.err().map(|failure| failure.code).as_deref(), expected, "{etag}");
        assert_eq!(writes(&calls).len(), if expected.is_some() { 1 } else { 2 });
    }
    // Where the contact is read anyway, nothing is sent.
    let (provider, calls) = graph(folder);
    let mut args = write(Some("ada"), &["emails"], Contact::default());
    args.write.if_match = Some("W/\"0\"".to_owned());
    assert_eq!(update(&provider, args).unwrap_err().code, code::CONFLICT);
    assert_eq!(writes(&calls), [""; 0]);
}

/// Graph has no keys of creations: a second attempt looks for a contact like the wanted one among those that are new.
#[test]
fn a_lost_create_is_found() {
    let find = |found: Value| {
        let (provider, calls) = graph(move |call| {
            let page = "?$filter=createdDateTime ge 2026-03-01T07:59:50Z&$top=100";
            match (call.method.as_str(), call.path.strip_prefix(FOLDER).unwrap()) {
                ("GET", path) if path == page => (200, json!({ "value": [found] })),
                ("POST", "") => folder(call),
                other => panic!("{other:?}"),
            }
        });
        let at = NOW_MS.to_string();
        let context = context(&provider).with_extra("attempt", "2").with_extra("first-attempt-ms", &at);
        let contact = Contact {
            display_name: Some("Countess Ada".to_owned()),
            emails: vec![email("ada@example.test")],
            ..Contact::default()
        };
        let args = write(None, &["displayName", "emails"], contact);
        let made = <Microsoft as Contacts>::create_contact(&context, args).unwrap();
        assert_eq!(made.item.as_deref(), Some("ada"));
        writes(&calls).len()
    };
    let with = |member: &str, value: &str| {
        let mut contact = stored();
        contact[member] = json!(value);
        contact
    };
    assert_eq!(find(stored()), 0);
    assert_eq!(find(with("createdDateTime", "2026-02-01T08:00:00Z")), 1, "it is older");
    assert_eq!(find(with("displayName", "Bob")), 1, "it is another");
}

#[test]
fn a_deletion_of_what_is_gone_is_done() {
    for (status, name) in [(204, ""), (404, "ErrorItemNotFound"), (403, "ErrorCannotDeleteObject")] {
        let (provider, calls) =
            graph(move |_| if status == 204 { (204, Value::Null) } else { error(status, name) });
        let args = ItemDelete {
            collection: "f1".to_owned(),
            source: "ada".to_owned(),
            if_match: Some("W/\"1\"".to_owned()),
        };
        let deleted = <Microsoft as Contacts>::delete_contact(&context(&provider), args).unwrap();
        assert!(deleted.sources[0].deleted && deleted.item.is_none());
        assert_eq!(written(&calls).if_match.as_deref(), Some("W/\"1\""));
    }
}

fn picture(url: &str) -> Contact {
    Contact { photo: Some(Photo { url: Some(url.to_owned()), etag: None }), ..Contact::default() }
}

#[test]
fn a_picture_is_stored_in_jpeg() {
    let provider = Recorded::answering(|request| {
        let text = match request.url.ends_with("/$batch") {
            true => {
                let part =
                    |id: &str, body: Value| json!({ "id": id, "status": 200, "headers": {}, "body": body });
                json!({ "responses": [part("0", stored()), part("1", json!({ "id": "48X48" }))] }).to_string()
            }
            false => String::new(),
        };
        Ok(response(200, &[], &text))
    });
    let changed =
        update(&provider, write(Some("ada"), &["photo"], picture("data:image/jpeg;base64,anBlZw==")))
            .unwrap();
    let contact: Contact = changed.sources[0].items[0].body.read().unwrap();
    assert_eq!(contact.photo, Some(Photo { url: None, etag: Some("48X48".to_owned()) }));
    let requests = provider.requests.borrow();
    let put = &requests[1];
    assert_eq!((put.method.as_str(), put.url.ends_with("/f1/contacts/ada/photo/%24value")), ("PUT", true));
    assert_eq!(body(put), b"jpeg");
    assert!(put.headers.contains(&("content-type".to_owned(), "image/jpeg".to_owned())));
    drop(requests);
    // There is no way to be without it again.
    let removed = update(&provider, write(Some("ada"), &["photo"], Contact::default())).unwrap();
    assert_eq!(warnings(&removed), [("photo", "field_not_supported")]);
    let refused = update(&provider, strict(write(Some("ada"), &["photo"], Contact::default())));
    assert_eq!(refused.unwrap_err().code, code::UNSUPPORTED);
}

#[test]
fn other_pictures_are_left_out() {
    for url in ["data:image/png;base64,cG5n", "https://example.test/ada.jpg"] {
        let (provider, calls) = graph(folder);
        let changed = update(&provider, write(Some("ada"), &["photo"], picture(url))).unwrap();
        assert_eq!(
            (warnings(&changed), writes(&calls).len()),
            (vec![("photo", "field_not_supported")], 0),
            "{url}"
        );
    }
    let (provider, _) = graph(folder);
    for url in ["data:image/jpeg,x", "data:image/jpeg;base64,?"] {
        let failure = update(&provider, write(Some("ada"), &["photo"], picture(url))).unwrap_err();
        assert_eq!(failure.code, code::INVALID, "{url}");
    }
}

fn book(source: Option<&str>, name: &str) -> CollectionWrite<ContactBook> {
    CollectionWrite {
        source: source.map(str::to_owned),
        body: ContactBook {
            name: name.to_owned(),
            description: Some("more".to_owned()),
            ..ContactBook::default()
        },
        changed: vec!["name".to_owned(), "description".to_owned()],
        if_match: None,
    }
}

#[test]
fn books_are_made_renamed_and_deleted() {
    let (provider, calls) = graph(|call| match call.method.as_str() {
        "DELETE" => (204, Value::Null),
        _ => (200, json!({ "id": "f1", "displayName": call.body["displayName"] })),
    });
    let context = context(&provider);
    let made = <Microsoft as Contacts>::create_book(&context, book(None, "Friends")).unwrap();
    assert_eq!(
        (made.item.as_deref(), warnings(&made)),
        (Some("f1"), vec![("description", "field_not_supported")])
    );
    <Microsoft as Contacts>::update_book(&context, book(Some("f1"), "Foes")).unwrap();
    let args = CollectionDelete { source: "f1".to_owned(), ..CollectionDelete::default() };
    assert!(<Microsoft as Contacts>::delete_book(&context, args).unwrap().sources[0].deleted);
    let calls = calls.borrow();
    let shown: Vec<(&str, &str, &Value)> = calls
        .iter()
        .filter(|call| call.method != "GET")
        .map(|call| (call.method.as_str(), call.path.as_str(), &call.body))
        .collect();
    let (friends, foes, none) =
        (json!({ "displayName": "Friends" }), json!({ "displayName": "Foes" }), Value::Null);
    let one = format!("{FOLDERS}/f1");
    assert_eq!(
        shown,
        [("POST", FOLDERS, &friends), ("PATCH", one.as_str(), &foes), ("DELETE", one.as_str(), &none)]
    );
}

#[test]
fn the_default_book_stays() {
    let (provider, calls) = graph(folder);
    let context = context(&provider);
    let renamed = <Microsoft as Contacts>::update_book(&context, book(Some("contacts"), "Mine"));
    assert_eq!(renamed.unwrap_err().code, code::UNSUPPORTED);
    let args = CollectionDelete { source: "contacts".to_owned(), ..CollectionDelete::default() };
    assert_eq!(<Microsoft as Contacts>::delete_book(&context, args).unwrap_err().code, code::UNSUPPORTED);
    assert_eq!(calls.borrow().len(), 0);
}

/// A book that is there is that of an earlier attempt, where there was one.
#[test]
fn a_lost_book_is_found() {
    for (attempt, expected) in [("1", Some(code::ALREADY_EXISTS)), ("2", None)] {
        let (provider, _) = graph(|call| match call.method.as_str() {
            "POST" => error(409, "ErrorFolderExists"),
            _ => (200, json!({ "value": [{ "id": "f1", "displayName": "Friends" }] })),
        });
        let context = context(&provider).with_extra("attempt", attempt);
        let made = <Microsoft as Contacts>::create_book(&context, book(None, "Friends"));
        assert_eq!(made.err().map(|failure| failure.code).as_deref(), expected);
    }
}
