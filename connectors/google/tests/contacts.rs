//! Contacts and groups as they are read, and the walks over them, in recorded answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_google::Google;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Answer, Contacts, Context, Outcome, code};
use model::Instant;
use model::contacts::{
    Contact, ContactBook, ContactGroup, ContactKind, ContactSource, GroupKind, PartialDate, PhoneKind,
};
use model::wire::{ChangesRequest, Connection, Source, SourceRef, Sources, SourcesGet};
use serde_json::{Value, json};

const ROOT: &str = "https://people.googleapis.com/v1";
const NOW: i64 = 1_772_352_000_000;
const DAY: i64 = 86_400_000;

fn ok(value: &Value) -> Response {
    response(200, &[], &value.to_string())
}

fn refused(status: u16, message: &str, reason: &str) -> Response {
    let details = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason }]);
    let error =
        json!({ "code": status, "message": message, "status": "INVALID_ARGUMENT", "details": details });
    response(status, &[], &json!({ "error": error }).to_string())
}

/// A person as the account's contact.
fn person(id: &str, etag: &str) -> Value {
    json!({
        "resourceName": format!("people/{id}"),
        "etag": "%EgUBAi43PRoEAQIFByIMK",
        "metadata": {
            "sources": [
                { "type": "PROFILE", "id": "1", "etag": "#profile" },
                { "type": "CONTACT", "id": format!("{id}f"), "etag": etag, "updateTime": "2026-03-01T07:00:00Z" },
            ],
            "objectType": "PERSON",
        },
        "names": [
            { "metadata": { "source": { "type": "PROFILE", "id": "1" } }, "displayName": "A. K." },
            {
                "metadata": { "primary": true, "source": { "type": "CONTACT", "id": "c1f" } },
                "displayName": "Ada King", "givenName": "Ada", "familyName": "King", "unstructuredName": "Ada King",
                "honorificPrefix": "Countess", "phoneticGivenName": "Eyda",
            },
        ],
    })
}

/// A provider that answers each list by a function of its query.
fn lists(
    groups: impl Fn(&str) -> Response + 'static,
    people: impl Fn(&str) -> Response + 'static,
) -> Recorded {
    let provider = Recorded::answering(move |request: &Request| {
        let (path, query) = request.url.split_once('?').unwrap();
        Ok(match path.strip_prefix(ROOT).unwrap() {
            "/contactGroups" => groups(query),
            "/people/me/connections" => people(query),
            "/people:batchGet" => {
                let names = query.split('&').filter_map(|pair| pair.strip_prefix("resourceNames=people%2F"));
                let found = |id: &str| match id {
                    "gone" => json!({ "requestedResourceName": "people/gone", "status": { "code": 5 } }),
                    "broken" => json!({ "requestedResourceName": "people/broken", "status": { "code": 13 } }),
                    "left" => {
                        let left = json!({ "resourceName": "people/left", "metadata": { "sources": [] } });
                        json!({ "requestedResourceName": "people/left", "person": left })
                    }
                    id => {
                        json!({ "requestedResourceName": format!("people/{id}"), "person": person(id, "#fresh") })
                    }
                };
                ok(&json!({ "responses": names.map(found).collect::<Vec<_>>() }))
            }
            path => panic!("{path}"),
        })
    });
    provider.surroundings.now_ms.set(NOW);
    provider
}

fn no_groups(_: &str) -> Response {
    ok(&json!({ "nextSyncToken": "g-2" }))
}

fn request(book: &str) -> ChangesRequest {
    ChangesRequest { collection: Some(book.to_owned()), ..ChangesRequest::default() }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let context = Context::new(provider, Connection::default()).at(cursor.map(str::to_owned));
    <Google as Contacts>::changes(&context, args)
}

fn contact(source: &Source) -> Contact {
    source.items[0].body.read().unwrap()
}

fn ids(page: &Answer<Sources>) -> Vec<(&str, bool)> {
    page.body.sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect()
}

#[test]
fn two_books_are_told_and_one_can_be_written() {
    let provider = Recorded::new();
    let context = Context::new(&provider, Connection::default());
    let books = Google::list_books(&context, ChangesRequest::default()).unwrap();
    assert!(books.body.enumeration && !books.more);
    let read = |at: usize| books.body.sources[at].items[0].body.read::<ContactBook>().unwrap();
    assert!(read(0).is_default && !read(0).read_only && read(0).rights.write);
    assert!(!read(1).is_default && read(1).read_only && !read(1).rights.write);
    // The account has not let the other contacts be read.
    let settings = json!({ "otherContacts": false }).as_object().unwrap().clone();
    let context = Context::new(&provider, Connection { settings, ..Connection::default() });
    let books = Google::list_books(&context, ChangesRequest::default()).unwrap();
    assert_eq!(ids(&books), [("contacts", false)]);
}

#[test]
fn a_contact_has_what_google_has_of_it() {
    let mut whole = person("c1", "#5");
    let more = json!({
        "nicknames": [{ "value": "Adele", "type": "MAIDEN_NAME" }, { "value": "Addie" }],
        "emailAddresses": [
            { "value": "ada@example.test", "type": "work", "metadata": { "primary": true } },
            { "value": "boat@example.test", "type": "Boat", "metadata": { "sourcePrimary": true } },
            { "value": "ada@profile.test", "metadata": { "source": { "type": "PROFILE" } } },
        ],
        "phoneNumbers": [
            { "value": "030 901820", "canonicalForm": "+4930901820", "type": "mobile" },
            { "value": "1", "type": "otherFax" },
        ],
        "addresses": [{ "type": "home", "formattedValue": "Ring 1\nWien", "streetAddress": "Ring 1", "city": "Wien", "countryCode": "AT" }],
        "organizations": [{ "name": "Engines", "title": "Analyst", "department": "Notes", "jobDescription": "x" }, { "name": "Old", "current": false }],
        "urls": [{ "value": "https://ada.test", "type": "homePage" }],
        "imClients": [{ "username": "ada", "protocol": "jabber" }],
        "relations": [{ "person": "Byron", "type": "father" }],
        "birthdays": [{ "date": { "month": 12, "day": 10, "year": 0 }, "text": "12/10" }],
        "events": [{ "date": { "year": 1835, "month": 7, "day": 8 }, "type": "anniversary" }, { "date": { "year": 1843 }, "type": "notes" }],
        "biographies": [{ "value": "wrote notes", "contentType": "TEXT_PLAIN" }],
        "memberships": [
            { "contactGroupMembership": { "contactGroupId": "starred", "contactGroupResourceName": "contactGroups/starred" } },
            { "contactGroupMembership": { "contactGroupId": "a1", "contactGroupResourceName": "contactGroups/a1" } },
            { "domainMembership": { "inViewerDomain": true } },
        ],
        "photos": [{ "url": "https://lh3.test/a", "default": true }, { "url": "https://lh3.test/b" }],
        "userDefined": [{ "key": "shoe", "value": "38", "metadata": { "primary": true } }],
        "clientData": [{ "key": "switchboard", "value": "k" }, { "key": "sap", "value": "7" }],
        "newMember": [1],
    });
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let provider = lists(no_groups, move |_| ok(&json!({ "connections": [whole], "nextSyncToken": "p-2" })));
    let page = page(&provider, None, request("contacts")).unwrap();
    let [source] = &page.body.sources[..] else { panic!("{:?}", page.body.sources) };
    assert_eq!((source.external_id.as_str(), source.etag.as_deref()), ("people/c1", Some("#5")));
    assert_eq!(source.items[0].uid.as_deref(), Some("c1f"));
    assert_eq!(source.items[0].kind.as_deref(), Some("contact"));
    let ada = contact(source);
    assert_eq!(ada.display_name.as_deref(), Some("Ada King"));
    assert_eq!((ada.prefix.as_deref(), ada.nickname.as_deref()), (Some("Countess"), Some("Addie")));
    // What a profile says is not the contact's; the user's own choice is the first to use.
    let emails: Vec<_> = ada
        .emails
        .iter()
        .map(|one| (one.value.as_str(), one.kind, one.label.as_deref(), one.primary))
        .collect();
    assert_eq!(
        emails,
        [
            ("ada@example.test", ContactKind::Work, None, false),
            ("boat@example.test", ContactKind::Custom, Some("Boat"), true),
        ]
    );
    assert_eq!((ada.phones[0].kind, ada.phones[0].e164.as_deref()), (PhoneKind::Mobile, Some("+4930901820")));
    assert_eq!((ada.phones[1].kind, ada.phones[1].label.as_deref()), (PhoneKind::Custom, Some("otherFax")));
    assert_eq!(ada.addresses[0].locality.as_deref(), Some("Wien"));
    assert_eq!((ada.organizations[0].current, ada.organizations[1].current), (true, false));
    assert_eq!(
        (ada.urls[0].kind, ada.im_addresses[0].protocol.as_deref()),
        (ContactKind::Custom, Some("jabber"))
    );
    assert_eq!(ada.birthday, Some(PartialDate { year: None, month: 12, day: 10 }));
    assert_eq!((ada.anniversaries.len(), ada.notes.as_deref()), (1, Some("wrote notes")));
    assert_eq!(ada.group_ids, ["contactGroups/starred", "contactGroups/a1"]);
    assert_eq!((ada.starred, ada.source), (true, ContactSource::AddressBook));
    assert_eq!(ada.photo.unwrap().url.as_deref(), Some("https://lh3.test/b"));
    let data = source.items[0].provider_data.as_ref().unwrap();
    assert_eq!(data["userDefined"], json!([{ "key": "shoe", "value": "38" }]));
    assert_eq!(data["clientData"], json!([{ "key": "sap", "value": "7" }]));
    assert_eq!(
        (&data["events"][0]["type"], &data["nicknames"][0]["value"]),
        (&json!("notes"), &json!("Adele"))
    );
}

/// Groups and people are read side by side; a record that cannot be read stops no other one.
#[test]
fn a_page_has_groups_and_people() {
    let groups = |query: &str| {
        assert_eq!(query, "groupFields=clientData%2CgroupType%2CmemberCount%2Cmetadata%2Cname&pageSize=500");
        ok(&json!({ "contactGroups": [
            { "resourceName": "contactGroups/a1", "etag": "e", "name": "Club", "formattedName": "Club", "groupType": "USER_CONTACT_GROUP", "memberCount": 3 },
            { "resourceName": "contactGroups/myContacts", "name": "myContacts", "formattedName": "Meine Kontakte", "groupType": "SYSTEM_CONTACT_GROUP" },
        ], "nextSyncToken": "g-2" }))
    };
    let people = |query: &str| {
        assert!(
            query.contains("&sources=READ_SOURCE_TYPE_CONTACT&requestSyncToken=true&pageSize=500"),
            "{query}"
        );
        let odd = json!({ "resourceName": "people/c2", "names": 7, "metadata": { "sources": [{ "type": "CONTACT", "etag": "#1" }] } });
        ok(&json!({ "connections": [odd, person("c1", "#5")], "nextSyncToken": "p-2", "totalItems": 2 }))
    };
    let page = page(&lists(groups, people), None, request("contacts")).unwrap();
    assert!(page.body.enumeration && !page.more);
    let [club, own, odd, ada] = &page.body.sources[..] else { panic!("{:?}", page.body.sources) };
    let group = |source: &Source| source.items[0].body.read::<ContactGroup>().unwrap();
    assert_eq!(club.items[0].kind.as_deref(), Some("contact_group"));
    assert_eq!(
        (group(club).name.as_str(), group(club).kind, group(club).member_count),
        ("Club", GroupKind::User, 3)
    );
    assert_eq!((group(own).name.as_str(), group(own).read_only), ("Meine Kontakte", true));
    assert_eq!(odd.error.as_ref().unwrap().code, "unreadable");
    assert_eq!((odd.external_id.as_str(), odd.etag.as_deref()), ("people/c2", Some("#1")));
    assert!(ada.error.is_none());
}

/// Each list goes on by itself, and its parameters stay as they were with the first page.
#[test]
fn a_walk_goes_on_until_both_lists_are_read() {
    let people = |query: &str| match query.rsplit('&').next().unwrap() {
        "pageToken=p2" => ok(&json!({ "connections": [person("c2", "#1")], "nextSyncToken": "p-2" })),
        _ => ok(&json!({ "nextPageToken": "p2" })),
    };
    let provider = lists(no_groups, people);
    let args = || ChangesRequest { limit: 2, ..request("contacts") };
    let first = page(&provider, None, args()).unwrap();
    assert!(first.more && first.body.enumeration && first.body.sources.is_empty());
    let other = ChangesRequest { limit: 9, ..args() };
    let second = page(&provider, first.cursor.as_deref(), other).unwrap();
    assert!(!second.more && second.body.enumeration);
    assert_eq!(ids(&second), [("people/c2", false)]);
    let requests = provider.requests.borrow();
    // The groups were read with the first page.
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.url.contains("pageSize=2")));
}

/// Changes are differences on each page. The feed is minutes late: each record has its time, by which the host keeps a newer one.
#[test]
fn changes_since_the_tokens() {
    let first = lists(no_groups, |_| ok(&json!({ "nextSyncToken": "p-2" })));
    let start = page(&first, None, request("contacts")).unwrap().cursor;
    let groups = |query: &str| {
        assert!(query.ends_with("&syncToken=g-2"), "{query}");
        ok(
            &json!({ "contactGroups": [{ "resourceName": "contactGroups/a1", "metadata": { "deleted": true } }], "nextSyncToken": "g-3" }),
        )
    };
    let people = |query: &str| {
        assert!(query.ends_with("&syncToken=p-2"), "{query}");
        let mut renamed = person("c9", "#late");
        renamed["metadata"]["previousResourceNames"] = json!(["people/c8", "people/c9"]);
        let deleted = json!({ "resourceName": "people/c3", "metadata": { "deleted": true } });
        let mut timeless = person("c4", "#1");
        timeless["metadata"]["sources"][1]["updateTime"] = json!("yesterday");
        ok(&json!({ "connections": [renamed, deleted, timeless], "nextSyncToken": "p-3" }))
    };
    let provider = lists(groups, people);
    let page = page(&provider, start.as_deref(), request("contacts")).unwrap();
    assert_eq!(provider.requests.borrow().len(), 2, "the two lists alone are read");
    assert!(!page.body.enumeration && !page.more);
    assert_eq!(
        ids(&page),
        [
            ("contactGroups/a1", true),
            ("people/c8", true),
            ("people/c9", false),
            ("people/c3", true),
            ("people/c4", false),
        ]
    );
    let renamed = &page.body.sources[2];
    assert_eq!((renamed.etag.as_deref(), renamed.previous_id.as_deref()), (Some("#late"), Some("people/c8")));
    let changed_at = "2026-03-01T07:00:00Z".parse::<Instant>().unwrap();
    let times: Vec<Option<Instant>> = page.body.sources.iter().map(|source| source.updated_at).collect();
    assert_eq!(times, [None, None, Some(changed_at), None, None]);
}

/// Google forgets a token a week after everything was read: it is read again before that.
#[test]
fn everything_is_read_again_in_time() {
    let whole =
        || lists(no_groups, |_| ok(&json!({ "connections": [person("c1", "#5")], "nextSyncToken": "p-2" })));
    let start = page(&whole(), None, request("contacts")).unwrap().cursor;
    let later = whole();
    later.surroundings.now_ms.set(NOW + 13 * DAY / 2);
    let again = page(&later, start.as_deref(), request("contacts")).unwrap();
    assert!(again.body.enumeration);
    assert!(later.requests.borrow().iter().all(|request| !request.url.contains("syncToken=p-2")));
    let sooner = whole();
    sooner.surroundings.now_ms.set(NOW + 5 * DAY);
    assert!(!page(&sooner, start.as_deref(), request("contacts")).unwrap().body.enumeration);
}

#[test]
fn a_cursor_that_cannot_be_continued_is_expired() {
    let quiet = || lists(no_groups, |_| ok(&json!({ "nextSyncToken": "p-2" })));
    let start = page(&quiet(), None, request("contacts")).unwrap().cursor;
    let refusals = [
        refused(
            400,
            "Sync token is expired. Clear local cache and retry call without the sync token.",
            "EXPIRED_SYNC_TOKEN",
        ),
        refused(400, "Sync token is expired. Clear local cache and retry call without the sync token.", ""),
        refused(400, "Request parameters do not match those of the first call.", "INVALID"),
        response(410, &[], "{}"),
    ];
    for refusal in refusals {
        let provider = lists(no_groups, move |_| refusal.clone());
        let failure = page(&provider, start.as_deref(), request("contacts")).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED);
    }
    for cursor in ["", "v0;page;1", "g1;{}", start.as_deref().unwrap().trim_end_matches('}')] {
        let failure = page(&Recorded::new(), Some(cursor), request("contacts")).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{cursor}");
    }
    // That of another book.
    let failure = page(&Recorded::new(), start.as_deref(), request("other")).unwrap_err();
    assert_eq!(failure.code, code::CURSOR_EXPIRED);
    let failure = page(&Recorded::new(), None, request("unknown")).unwrap_err();
    assert_eq!(failure.code, code::NOT_FOUND);
    // A first request has no token that could be at fault.
    let provider = lists(no_groups, |_| refused(400, "no", "INVALID"));
    assert_eq!(page(&provider, None, request("contacts")).unwrap_err().code, code::INVALID);
    let endless = lists(no_groups, |_| ok(&json!({ "connections": [] })));
    assert_eq!(page(&endless, None, request("contacts")).unwrap_err().code, code::UNAVAILABLE);
}

/// Pages that are too large for an answer are read with fewer people, and the walk stays with that.
#[test]
fn a_page_that_is_cut_off_is_asked_for_with_fewer_people() {
    let people = |query: &str| match query.contains("pageSize=125") {
        true => ok(&json!({ "connections": [person("c1", "#5")], "nextSyncToken": "p-2" })),
        false => Response { truncated: true, ..ok(&json!({ "connections": [] })) },
    };
    let page = page(&lists(no_groups, people), None, request("contacts")).unwrap();
    assert_eq!(page.body.sources.len(), 1);
    assert!(page.cursor.unwrap().contains(r#""size":125"#));
}

#[test]
fn names_without_content() {
    let args = ChangesRequest { names_only: true, ..request("contacts") };
    let people = |query: &str| {
        assert!(
            query.ends_with(
                "&fields=nextPageToken%2CnextSyncToken%2Cconnections%28resourceName%2Cmetadata%29"
            ),
            "{query}"
        );
        ok(&json!({ "connections": [person("c1", "#5")], "nextSyncToken": "p-2" }))
    };
    let page = page(&lists(no_groups, people), None, args).unwrap();
    assert_eq!((page.body.sources[0].items.len(), page.body.sources[0].etag.as_deref()), (0, Some("#5")));
}

#[test]
fn other_contacts_are_a_book_of_their_own() {
    let provider = Recorded::answering(|request: &Request| {
        let known = "otherContacts?readMask=emailAddresses%2Cmetadata%2Cnames%2CphoneNumbers%2Cphotos";
        assert!(request.url.starts_with(&format!("{ROOT}/{known}")), "{}", request.url);
        let other = json!({
            "resourceName": "otherContacts/c7", "emailAddresses": [{ "value": "bob@example.test" }],
            "metadata": { "sources": [
                { "type": "OTHER_CONTACT", "id": "c7", "etag": "#2", "updateTime": "2026-03-01T07:00:00Z" },
            ] },
        });
        Ok(ok(&json!({ "otherContacts": [other], "nextSyncToken": "o-2", "totalSize": 1 })))
    });
    let page = page(&provider, None, request("other")).unwrap();
    let bob = contact(&page.body.sources[0]);
    assert_eq!((bob.source, bob.emails[0].value.as_str()), (ContactSource::Suggested, "bob@example.test"));
    assert_eq!(page.body.sources[0].updated_at, None);
    // One of them is found in the list: Google cannot be asked for it.
    let context = Context::new(&provider, Connection::default());
    let of = |id: &str| SourceRef {
        collection: "other".to_owned(),
        source: id.to_owned(),
        ..SourceRef::default()
    };
    assert_eq!(Google::get_contact(&context, of("otherContacts/c7")).unwrap().sources.len(), 1);
    assert_eq!(Google::get_contact(&context, of("otherContacts/c8")).unwrap_err().code, code::NOT_FOUND);
}

#[test]
fn contacts_are_read_by_their_names() {
    let of = |id: &str| SourceRef {
        collection: "contacts".to_owned(),
        source: id.to_owned(),
        ..SourceRef::default()
    };
    let read = |id: &str, answer: Response| {
        let provider = Recorded::answering(move |_| Ok(answer.clone()));
        let context = Context::new(&provider, Connection::default());
        let sources = Google::get_contact(&context, of(id)).map(|read| read.sources);
        let url = provider.requests.borrow()[0].url.clone();
        (sources, url)
    };
    let (found, url) = read("people/c1", ok(&person("c1", "#5")));
    assert_eq!(contact(&found.unwrap()[0]).given_name.as_deref(), Some("Ada"));
    assert!(url.starts_with(&format!("{ROOT}/people/c1?personFields=addresses%2C")), "{url}");
    // A person who was linked with a profile has another name now.
    let found = read("people/c1", ok(&person("117", "#5"))).0.unwrap();
    assert_eq!((found[0].external_id.as_str(), found[0].deleted), ("people/c1", true));
    assert_eq!(
        (found[1].external_id.as_str(), found[1].previous_id.as_deref()),
        ("people/117", Some("people/c1"))
    );
    let mut profile = person("117", "#5");
    profile["metadata"]["sources"] = json!([{ "type": "PROFILE", "id": "117" }]);
    for answer in [ok(&profile), response(404, &[], "{}"), refused(400, "Invalid resource name", "INVALID")] {
        assert_eq!(read("people/117", answer).0.unwrap_err().code, code::NOT_FOUND);
    }
    // An answer without a person does not mean that a person is gone.
    assert_eq!(read("people/c1", ok(&json!({}))).0.unwrap_err().code, code::UNAVAILABLE);
    // An id leads nowhere else.
    let (failure, url) = read("people/../me?x=1", response(404, &[], "{}"));
    assert_eq!(failure.unwrap_err().code, code::NOT_FOUND);
    assert!(url.starts_with(&format!("{ROOT}/people/..%2Fme%3Fx%3D1?")), "{url}");

    let provider = lists(no_groups, no_groups);
    let context = Context::new(&provider, Connection::default());
    let many = SourcesGet {
        collection: "contacts".to_owned(),
        sources: vec!["people/c1".to_owned(), "people/gone".to_owned()],
        ..SourcesGet::default()
    };
    let read = Google::get_contacts(&context, many).unwrap();
    let told: Vec<_> =
        read.sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect();
    assert_eq!(told, [("people/c1", false), ("people/gone", true)]);
    assert_eq!(provider.requests.borrow().len(), 1);
}
