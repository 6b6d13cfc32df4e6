//! Address books and contacts as the model has them.

#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Contacts, Context, code};
use model::contacts::{Contact, ContactBook, ContactKind, PhoneKind, Photo};
use model::wire::{ChangesRequest, Connection, Source, SourceRef, SourcesGet};
use serde_json::{Value, json};

use crate::calendar_support::{Call, graph};

const CONTACTS: &str = "/me/contactFolders/contacts/contacts";
const EXPAND: &str = "?$expand=singleValueExtendedProperties($filter=id eq 'SystemTime 0x3A41')";

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no", "innerError": { "code": "ImageNotFound" } } }))
}

/// A contact with a value in each member, as Graph answers it.
fn ada() -> Value {
    let address = |city: &str| json!({ "street": "1 Row", "city": city, "state": "", "postalCode": "1", "countryOrRegion": "UK" });
    json!({
        "@odata.etag": "W/\"1\"", "id": "ada", "changeKey": "1", "parentFolderId": "f0", "createdDateTime": "2026-03-01T08:00:00Z",
        "lastModifiedDateTime": "2026-03-01T09:00:00Z", "categories": ["Red"], "birthday": "1815-12-10T11:59:00Z", "fileAs": "King, Ada",
        "displayName": "Countess Ada", "givenName": "Ada", "middleName": "Augusta", "surname": "King", "initials": "A.K.", "title": "Lady",
        "generation": "II", "nickName": "Addie", "yomiGivenName": "eida", "yomiSurname": "kin", "yomiCompanyName": null,
        "imAddresses": ["xmpp:ada@example.test", "ada"], "jobTitle": "Analyst", "companyName": "Engines", "department": "Notes",
        "officeLocation": "7", "profession": "", "businessHomePage": "https://example.test", "assistantName": "Bea", "manager": "Charles",
        "homePhones": ["3"], "mobilePhone": "4", "businessPhones": ["1", "2"], "spouseName": "William", "personalNotes": "notes",
        "children": ["Byron", "Anne"], "homeAddress": address("Home"), "businessAddress": address("Work"), "otherAddress": {},
        "emailAddresses": [{ "name": "Ada", "address": "ada@example.test" }, { "address": "two@example.test" }, { "name": "" }],
        "singleValueExtendedProperties": [{ "id": "SystemTime 0x3a41", "value": "1835-07-08T11:59:00Z" }],
        "unknown": { "of": "tomorrow" },
    })
}

fn one(call: &Call, contact: &Value) -> (u16, Value) {
    match call.path.as_str() {
        path if path == format!("{CONTACTS}/ada{EXPAND}") => (200, contact.clone()),
        path if path == format!("{CONTACTS}/ada/photo") => {
            (200, json!({ "@odata.mediaEtag": "W/\"p1\"", "id": "48X48", "width": 48, "height": 48 }))
        }
        _ => error(404, "ErrorItemNotFound"),
    }
}

fn read(provider: &Recorded, id: &str) -> Result<Source, connector_sdk::Failure> {
    let context = Context::new(provider, Connection::default());
    let args = SourceRef { collection: "contacts".to_owned(), source: id.to_owned(), time_zone: None };
    <Microsoft as Contacts>::get_contact(&context, args).map(|sources| sources.sources[0].clone())
}

fn contact(source: &Source) -> Contact {
    source.items[0].body.read().unwrap()
}

#[test]
fn each_member_of_a_contact_has_a_field() {
    let (provider, calls) = graph(|call| one(call, &ada()));
    let source = read(&provider, "ada").unwrap();
    assert_eq!((source.external_id.as_str(), source.etag.as_deref()), ("ada", Some("W/\"1\"")));
    let ours = contact(&source);
    let names = [&ours.prefix, &ours.given_name, &ours.middle_name, &ours.family_name, &ours.suffix];
    assert_eq!(names.map(|name| name.as_deref().unwrap()), ["Lady", "Ada", "Augusta", "King", "II"]);
    assert_eq!(
        (ours.display_name.as_deref(), ours.nickname.as_deref()),
        (Some("Countess Ada"), Some("Addie"))
    );
    assert_eq!(
        (ours.phonetic_given_name.as_deref(), ours.phonetic_family_name.as_deref()),
        (Some("eida"), Some("kin"))
    );
    let emails: Vec<(&str, bool)> = ours.emails.iter().map(|one| (one.value.as_str(), one.primary)).collect();
    assert_eq!(emails, [("ada@example.test", true), ("two@example.test", false)]);
    let phones: Vec<(&str, PhoneKind)> =
        ours.phones.iter().map(|one| (one.value.as_str(), one.kind)).collect();
    let expected =
        [("1", PhoneKind::Work), ("2", PhoneKind::Work), ("3", PhoneKind::Home), ("4", PhoneKind::Mobile)];
    assert_eq!(phones, expected);
    let addresses: Vec<(ContactKind, Option<&str>)> =
        ours.addresses.iter().map(|one| (one.kind, one.locality.as_deref())).collect();
    assert_eq!(addresses, [(ContactKind::Home, Some("Home")), (ContactKind::Work, Some("Work"))]);
    assert_eq!(ours.addresses[0].region, None, "an empty text is none");
    assert_eq!(ours.organizations[0].title.as_deref(), Some("Analyst"));
    let ims: Vec<(Option<&str>, &str)> =
        ours.im_addresses.iter().map(|one| (one.protocol.as_deref(), one.handle.as_str())).collect();
    assert_eq!(ims, [(Some("xmpp"), "ada@example.test"), (None, "ada")]);
    let relations: Vec<(&str, &str)> =
        ours.relations.iter().map(|one| (one.kind.as_deref().unwrap(), one.name.as_str())).collect();
    let expected = [
        ("spouse", "William"),
        ("manager", "Charles"),
        ("assistant", "Bea"),
        ("child", "Byron"),
        ("child", "Anne"),
    ];
    assert_eq!(relations, expected);
    assert_eq!(ours.birthday.map(|day| (day.year, day.month, day.day)), Some((Some(1815), 12, 10)));
    assert_eq!(
        (ours.anniversaries[0].kind.as_deref(), ours.anniversaries[0].date.year),
        (Some("wedding"), Some(1835))
    );
    assert_eq!(ours.photo, Some(Photo { url: None, etag: Some("W/\"p1\"".to_owned()) }));
    let data = source.items[0].provider_data.clone().unwrap();
    assert_eq!(
        (&data["categories"], &data["officeLocation"], data.get("profession")),
        (&json!(["Red"]), &json!("7"), None)
    );
    // The contact and its picture are one batch, for immutable ids.
    assert!(calls.borrow().iter().all(|call| call.prefer.contains("ImmutableId")));
    assert_eq!(provider.requests.borrow().len(), 1);
}

/// A contact without anything is one all the same, and a picture that the account may not see is none.
#[test]
fn members_without_a_value_are_no_values() {
    let bare = json!({ "id": "ada", "birthday": "1604-02-29T11:59:00Z", "homeAddress": null, "emailAddresses": null, "children": [""] });
    let (provider, _) = graph(move |call| match call.path.ends_with("/photo") {
        true => error(403, "ErrorAccessDenied"),
        false => one(call, &bare),
    });
    let ours = contact(&read(&provider, "ada").unwrap());
    let expected = model::contacts::PartialDate { year: None, month: 2, day: 29 };
    assert_eq!(ours, Contact { birthday: Some(expected), ..Contact::default() });
    assert_eq!(read(&provider, "gone").unwrap_err().code, code::NOT_FOUND);
    assert_eq!(read(&provider, "..").unwrap_err().code, code::NOT_FOUND);
}

#[test]
fn many_contacts_are_read_at_once() {
    let (provider, _) = graph(|call| match call.path.as_str() {
        path if path.starts_with(&format!("{CONTACTS}/odd")) => {
            (200, json!({ "id": "odd", "children": "all" }))
        }
        _ => one(call, &ada()),
    });
    let context = Context::new(&provider, Connection::default());
    let ids = (0..12).map(|number| format!("gone{number}")).chain(["ada".to_owned(), "odd".to_owned()]);
    let args = SourcesGet { collection: "contacts".to_owned(), sources: ids.collect(), time_zone: None };
    let sources = <Microsoft as Contacts>::get_contacts(&context, args).unwrap().sources;
    assert_eq!(sources.iter().filter(|source| source.deleted).count(), 12);
    assert_eq!(contact(&sources[12]).given_name.as_deref(), Some("Ada"));
    let error = sources[13].error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), sources[13].external_id.as_str()), ("unreadable", "odd"));
    assert!(!error.message.contains("all"), "the value may be personal");
    assert_eq!(provider.requests.borrow().len(), 2);
}

fn books(provider: &Recorded) -> Vec<(String, ContactBook)> {
    let context = Context::new(provider, Connection::default());
    let answer = <Microsoft as Contacts>::list_books(&context, ChangesRequest::default()).unwrap();
    assert!(answer.body.enumeration && !answer.more);
    let book = |source: &Source| (source.external_id.clone(), source.items[0].body.read().unwrap());
    answer.body.sources.iter().map(book).collect()
}

fn folder(id: &str, name: &str) -> Value {
    json!({ "id": id, "parentFolderId": "f0", "displayName": name })
}

/// Graph lists the folders within the default one, level by level and page by page, and that one not.
#[test]
fn the_default_folder_is_a_book_and_so_are_folders_within_folders() {
    let (provider, _) = graph(|call| {
        let next = |path: &str| {
            format!("https://graph.microsoft.com/v1.0/me/contactFolders{path}?%24top=1&%24skip=1")
        };
        match call.path.strip_prefix("/me/contactFolders").unwrap() {
            "?$top=100" => (
                200,
                json!({ "value": [folder("f1", "Friends"), folder("f0", "Contacts")], "@odata.nextLink": next("") }),
            ),
            "?$top=100&$skip=1" => (200, json!({ "value": [folder("f2", "Work")] })),
            "/contacts" => (200, folder("f0", "Kontakte")),
            "/f1/childFolders?$top=100" => {
                (200, json!({ "value": [folder("f3", "Old friends"), folder("f1", "A loop")] }))
            }
            "/f2/childFolders?$top=100" => error(404, "ErrorItemNotFound"),
            "/f3/childFolders?$top=100" => (200, json!({ "value": [] })),
            other => panic!("{other}"),
        }
    });
    let books = books(&provider);
    let names: Vec<(&str, &str, bool)> =
        books.iter().map(|(id, book)| (id.as_str(), book.name.as_str(), book.is_default)).collect();
    let expected = [
        ("contacts", "Kontakte", true),
        ("f1", "Friends", false),
        ("f2", "Work", false),
        ("f3", "Old friends", false),
    ];
    assert_eq!(names, expected);
    assert!(books.iter().all(|(_, book)| book.rights.write && !book.read_only));
}

/// An account that does not know the name has a default book all the same.
#[test]
fn a_default_folder_that_is_not_shown_is_there() {
    let (provider, _) = graph(|call| match call.path.as_str() {
        "/me/contactFolders?$top=100" => (200, json!({ "value": [] })),
        _ => error(404, "ErrorItemNotFound"),
    });
    let books = books(&provider);
    assert_eq!((books.len(), books[0].0.as_str(), books[0].1.name.as_str()), (1, "contacts", "Contacts"));
}

#[test]
fn a_picture_is_its_bytes_in_base64() {
    let url = format!("https://graph.microsoft.com/v1.0{CONTACTS}/ada/photo/%24value");
    let provider =
        Recorded::new().expect("GET", &url, response(200, &[("content-type", "image/png")], "png"));
    let args = SourceRef { collection: "contacts".to_owned(), source: "ada".to_owned(), time_zone: None };
    let picture =
        <Microsoft as Contacts>::photo(&Context::new(&provider, Connection::default()), args).unwrap();
    assert_eq!((picture.content_type.as_str(), picture.content_base64.as_str()), ("image/png", "cG5n"));
}

#[test]
fn capabilities_say_what_graph_can() {
    let provider = Recorded::new();
    let features = |settings: &Value| {
        let settings = settings.as_object().unwrap().clone();
        let connection = Connection { settings, ..Connection::default() };
        <Microsoft as Contacts>::features(&Context::new(&provider, connection)).unwrap()
    };
    let work = features(&json!({}));
    assert!(work.create_book && work.update_book && work.delete_book && work.create_contact && work.photos);
    assert!(!work.groups && !work.starred);
    assert!(!features(&json!({ "personal": true })).photos);
}
