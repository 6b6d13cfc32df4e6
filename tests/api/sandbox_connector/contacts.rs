//! Address books, contacts and groups through the sandbox connector.

use connector_sandbox::Sandbox;
use connector_sdk::{Contacts as _, Outcome, code};
use model::contacts::{BookRights, Contact, ContactBook, ContactGroup, ContactSource, GroupKind, Photo};
use model::wire::contacts::{ContactWrite, Picture};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, Source, SourceRef,
};
use serde_json::json;

use crate::sandbox_connector::{Api, fields, refused};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn contact(source: &Source) -> Contact {
    assert_eq!(source.items[0].kind.as_deref(), Some("contact"));
    source.items[0].body.read().unwrap()
}

fn group(source: &Source) -> ContactGroup {
    assert_eq!(source.items[0].kind.as_deref(), Some("contact_group"));
    source.items[0].body.read().unwrap()
}

fn write(contact: &Contact, of: Option<&Source>, changed: &[&str]) -> ContactWrite {
    let write = ItemWrite {
        collection: "contacts".to_owned(),
        source: of.map(|source| source.external_id.clone()),
        body: contact.clone(),
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        if_match: of.and_then(|source| source.etag.clone()),
        ..ItemWrite::default()
    };
    ContactWrite { write, ..ContactWrite::default() }
}

fn delete(of: &Source) -> ItemDelete {
    ItemDelete {
        collection: "contacts".to_owned(),
        source: of.external_id.clone(),
        if_match: of.etag.clone(),
    }
}

fn circle(name: &str, members: &[&str]) -> ItemWrite<ContactGroup> {
    let contact_ids = Some(members.iter().map(|id| (*id).to_owned()).collect());
    let body = ContactGroup { name: name.to_owned(), contact_ids, ..ContactGroup::default() };
    ItemWrite { collection: "contacts".to_owned(), body, ..ItemWrite::default() }
}

impl Api {
    fn contacts(&self, collection: &str) -> Vec<Source> {
        let args = ChangesRequest { collection: text(collection), ..ChangesRequest::default() };
        Sandbox::changes(&self.context(), args).unwrap().body.sources
    }

    fn create_contact(&self, contact: &Contact, key: &str) -> Outcome<Mutated> {
        Sandbox::create_contact(&self.context().keyed(key), write(contact, None, &[]))
    }

    fn photo(&self, source: &Source) -> Outcome<Picture> {
        let source = source.external_id.clone();
        Sandbox::photo(
            &self.context(),
            SourceRef { collection: "contacts".to_owned(), source, time_zone: None },
        )
    }
}

fn ada() -> Contact {
    Contact { given_name: text("Ada"), family_name: text("Lovelace"), ..Contact::default() }
}

fn full_contact() -> Contact {
    let contact = json!({
        "displayName": "Countess Ada 🜁", "givenName": "Ada", "middleName": "Augusta", "familyName": "Lovelace", "prefix": "Countess",
        "suffix": "FRS", "nickname": "Enchantress", "phoneticGivenName": "AY-da", "phoneticFamilyName": "LUV-lace", "starred": true,
        "emails": [{ "value": "ada@engine.example", "type": "custom", "label": "engine room", "primary": true }],
        "phones": [{ "value": "030 / 90 18 20", "e164": "+4930901820", "type": "workFax", "label": "desk", "primary": true }],
        "addresses": [{
            "type": "work", "label": "workshop", "formatted": "12 St James's Square\nLondon", "street": "12 St James's Square",
            "extended": "2nd floor", "poBox": "PO 1", "locality": "London", "region": "Greater London", "postalCode": "SW1Y 4JH",
            "country": "United Kingdom", "countryCode": "GB",
        }],
        "organizations": [{ "name": "Engine", "title": "Analyst", "department": "Numbers", "current": false }],
        "urls": [{ "value": "https://ada.example", "type": "home" }],
        "imAddresses": [{ "protocol": "xmpp", "handle": "ada@jabber.example" }], "relations": [{ "name": "George", "type": "father" }],
        "birthday": { "year": 1815, "month": 12, "day": 10 }, "anniversaries": [{ "type": "wedding", "date": { "month": 7, "day": 8 } }],
        "notes": "first\nsecond", "photo": { "url": "https://ada.example/a.png" },
    });
    serde_json::from_value(contact).unwrap()
}

/// Every field that a client can set comes back as sent, on create and on update.
#[test]
fn every_field_of_a_contact() {
    let api = Api::start();
    let sent = full_contact();
    let made = api.create_contact(&sent, "c1").unwrap();
    let got = contact(&made.sources[0]);
    let etag = got.photo.clone().unwrap().etag;
    assert!(etag.is_some());
    let photo = Some(Photo { etag, ..sent.photo.clone().unwrap() });
    let expected = Contact { book_id: text("contacts"), photo, ..sent.clone() };
    assert_eq!(got, expected);
    assert_eq!(made.item.as_ref(), Some(&made.sources[0].external_id));
    assert_eq!(made.sources[0].items[0].uid, None);

    let names = fields(&json!(sent));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let other = api.create_contact(&ada(), "c2").unwrap().sources.remove(0);
    assert_eq!(contact(&other).display_name.as_deref(), Some("Ada Lovelace"), "the provider makes one");
    let changed = Sandbox::update_contact(&api.context(), write(&sent, Some(&other), &names)).unwrap();
    assert_eq!(contact(&changed.sources[0]), expected);
}

/// The life of a collection: calendars and task lists go the same way.
#[test]
fn books() {
    let api = Api::start();
    let mut book =
        ContactBook { name: "Side".to_owned(), description: text("aside"), ..ContactBook::default() };
    let args = CollectionWrite { body: book.clone(), ..CollectionWrite::default() };
    let made = Sandbox::create_book(&api.context().keyed("b1"), args.clone()).unwrap();
    let body = |source: &Source| source.items[0].body.read::<ContactBook>().unwrap();
    let all = BookRights { read: true, write: true, delete: true };
    book = ContactBook { contact_count: Some(0), rights: all, ..book };
    assert_eq!(body(&made.sources[0]), book);
    assert_eq!(Sandbox::create_book(&api.context().keyed("b1"), args).unwrap(), made);
    let id = made.item.clone().unwrap();
    let args = CollectionWrite {
        source: Some(id.clone()),
        body: ContactBook { name: "Aside".to_owned(), ..ContactBook::default() },
        changed: vec!["name".to_owned()],
        if_match: made.sources[0].etag.clone(),
    };
    let changed = Sandbox::update_book(&api.context(), args.clone()).unwrap();
    assert_eq!(body(&changed.sources[0]), ContactBook { name: "Aside".to_owned(), ..book });
    refused(Sandbox::update_book(&api.context(), args), code::CONFLICT);

    let listed = Sandbox::list_books(&api.context(), ChangesRequest::default()).unwrap().body;
    assert!(listed.enumeration && listed.sources.contains(&changed.sources[0]));
    let [main, team] = [0, 1].map(|at| body(&listed.sources[at]));
    assert_eq!((main.is_default, main.read_only, main.contact_count), (true, false, Some(40)));
    assert_eq!((team.read_only, team.rights.write, team.rights.read), (true, false, true));

    let mut person = write(&ada(), None, &[]);
    person.write.collection = id.clone();
    Sandbox::create_contact(&api.context(), person.clone()).unwrap();
    let mut gone = CollectionDelete { source: id, ..CollectionDelete::default() };
    let failure = refused(Sandbox::delete_book(&api.context(), gone.clone()), code::CONFLICT);
    assert_eq!(*failure.detail.unwrap(), json!({ "reason": "not_empty" }));
    gone.force = true;
    for _ in 0..2 {
        assert!(Sandbox::delete_book(&api.context(), gone.clone()).unwrap().sources[0].deleted);
    }
    gone.source = "contacts".to_owned();
    let failure = refused(Sandbox::delete_book(&api.context(), gone), code::CONFLICT);
    assert_eq!(*failure.detail.unwrap(), json!({ "reason": "invalid_state" }));
    person.write.collection = "directory".to_owned();
    refused(Sandbox::create_contact(&api.context(), person), code::FORBIDDEN);
}

#[test]
fn groups() {
    let api = Api::start();
    let args = circle("Circle", &["li-na", "dana-petrov"]);
    let made = Sandbox::create_group(&api.context().keyed("g1"), args.clone()).unwrap();
    let expected = ContactGroup {
        book_id: text("contacts"),
        kind: GroupKind::User,
        member_count: 2,
        read_only: false,
        ..args.body.clone()
    };
    assert_eq!(group(&made.sources[0]), expected);
    assert_eq!(Sandbox::create_group(&api.context().keyed("g1"), args.clone()).unwrap(), made);

    let of = |made: &Mutated, changed: &str, body: ContactGroup| ItemWrite {
        source: made.item.clone(),
        if_match: made.sources[0].etag.clone(),
        changed: vec![changed.to_owned()],
        body,
        ..args.clone()
    };
    let renamed = ContactGroup { name: "Ring".to_owned(), contact_ids: Some(Vec::new()), ..expected.clone() };
    let changed = Sandbox::update_group(&api.context(), of(&made, "name", renamed.clone())).unwrap();
    assert_eq!(group(&changed.sources[0]), ContactGroup { name: "Ring".to_owned(), ..expected });
    refused(Sandbox::update_group(&api.context(), of(&made, "name", renamed.clone())), code::CONFLICT);
    let unknown = ContactGroup { contact_ids: Some(vec!["nobody".to_owned()]), ..renamed.clone() };
    refused(Sandbox::update_group(&api.context(), of(&changed, "contactIds", unknown)), code::INVALID);
    let many = ContactGroup { contact_ids: None, ..renamed.clone() };
    let same = Sandbox::update_group(&api.context(), of(&changed, "contactIds", many)).unwrap();
    assert_eq!(same.sources, changed.sources, "members that are not told stay");
    let emptied = Sandbox::update_group(&api.context(), of(&changed, "contactIds", renamed)).unwrap();
    assert_eq!(group(&emptied.sources[0]).member_count, 0);
    let gone = Sandbox::delete_group(&api.context(), delete(&emptied.sources[0])).unwrap();
    assert_eq!((gone.sources.len(), gone.sources[0].deleted, gone.item), (1, true, None));

    let team = api.contacts("directory");
    let everyone = group(team.last().unwrap());
    assert_eq!((everyone.kind, everyone.read_only, everyone.member_count), (GroupKind::System, true, 10));
    assert_eq!(contact(&team[0]).source, ContactSource::Directory);
}

/// A contact joins and leaves groups: the circles change, and are reported.
#[test]
fn joining_and_leaving() {
    let api = Api::start();
    let mut args = write(&ada(), None, &[]);
    args.joins = vec!["friends".to_owned(), "customers".to_owned()];
    let made = Sandbox::create_contact(&api.context().keyed("j"), args.clone()).unwrap();
    let id = made.item.clone().unwrap();
    let names: Vec<&str> = made.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(names, [id.as_str(), "friends", "customers"]);
    let is_member = |source: &Source| group(source).contact_ids.is_some_and(|members| members.contains(&id));
    assert!(made.sources[1..].iter().all(is_member));
    assert_eq!(contact(&made.sources[0]).group_ids, Vec::<String>::new(), "the group's side tells it");
    assert_eq!(Sandbox::create_contact(&api.context().keyed("j"), args).unwrap(), made);

    // Only the groups: the contact itself stays as it is.
    let mut args = write(&ada(), Some(&made.sources[0]), &["groupIds"]);
    args.leaves = vec!["friends".to_owned(), "long-gone".to_owned()];
    let left = Sandbox::update_contact(&api.context().keyed("l"), args.clone()).unwrap();
    assert_eq!(left.sources[0], made.sources[0]);
    assert!(left.sources.len() == 2 && !is_member(&left.sources[1]));
    assert_eq!(Sandbox::update_contact(&api.context().keyed("l"), args.clone()).unwrap(), left);
    args.joins = vec!["nowhere".to_owned()];
    refused(Sandbox::update_contact(&api.context(), args.clone()), code::NOT_FOUND);
    args.joins = vec!["li-na".to_owned()];
    refused(Sandbox::update_contact(&api.context(), args), code::INVALID);
    let mut args = write(&ada(), None, &[]);
    args.joins = vec!["nowhere".to_owned()];
    let before = api.contacts("contacts");
    refused(Sandbox::create_contact(&api.context().keyed("n"), args), code::NOT_FOUND);
    assert_eq!(api.contacts("contacts"), before, "nothing is written where a group is missing");

    // With the contact its membership goes.
    let gone = Sandbox::delete_contact(&api.context(), delete(&left.sources[0])).unwrap();
    assert!(gone.sources[0].deleted && gone.item.is_none());
    assert_eq!(gone.sources[1].external_id, "customers");
    assert!(!is_member(&gone.sources[1]));
    let again = Sandbox::delete_contact(&api.context(), delete(&left.sources[0])).unwrap();
    assert_eq!((again.sources.len(), again.sources[0].deleted), (1, true), "gone is gone");
}

/// A circle that changes between its read and its write is read again.
#[test]
fn joining_a_circle_that_changes() {
    let api = Api::start();
    let made = api.create_contact(&ada(), "a").unwrap();
    api.fault(json!({ "status": 412, "method": "PATCH", "pathPrefix": "/sandbox/v1/books/contacts/cards/friends", "times": 2 }));
    let mut args = write(&ada(), Some(&made.sources[0]), &[]);
    args.joins = vec!["friends".to_owned()];
    let joined = Sandbox::update_contact(&api.context(), args.clone()).unwrap();
    assert_eq!(group(&joined.sources[1]).member_count, 5);
    args.joins = vec!["customers".to_owned()];
    api.fault(json!({ "status": 412, "method": "PATCH", "pathPrefix": "/sandbox/v1/books/contacts/cards/customers", "times": 100 }));
    refused(Sandbox::update_contact(&api.context(), args), code::CONFLICT);
}

/// A `data:` URL becomes a stored picture: its bytes are fetched separately, its etag is reported.
#[test]
fn pictures() {
    let api = Api::start();
    let with = |url: &str| Contact { photo: Some(Photo { url: text(url), etag: None }), ..ada() };
    let made = api.create_contact(&with("data:image/png;base64,iVBORw0="), "p").unwrap();
    let photo = contact(&made.sources[0]).photo.unwrap();
    assert_eq!(photo.url, None);
    assert!(photo.etag.is_some());
    let expected = Picture { content_type: "image/png".to_owned(), content_base64: "iVBORw0=".to_owned() };
    assert_eq!(api.photo(&made.sources[0]).unwrap(), expected);

    // A photo that was read and sent back is unchanged.
    let same = Contact { photo: Some(photo.clone()), starred: true, ..ada() };
    let changed =
        Sandbox::update_contact(&api.context(), write(&same, Some(&made.sources[0]), &["photo", "starred"]));
    let changed = changed.unwrap().sources.remove(0);
    assert_eq!(contact(&changed).photo, Some(photo));
    // Another contact cannot have it without its bytes: that is said, or refused where the caller insists.
    let mut args = write(&same, None, &[]);
    let copy = Sandbox::create_contact(&api.context(), args.clone()).unwrap();
    assert_eq!(
        (copy.warnings[0].code.as_str(), copy.warnings[0].target.as_deref()),
        ("field_not_supported", Some("photo"))
    );
    assert_eq!((contact(&copy.sources[0]).photo, contact(&copy.sources[0]).starred), (None, true));
    args.write.strict = true;
    let failure = refused(Sandbox::create_contact(&api.context(), args), code::UNSUPPORTED);
    assert_eq!(*failure.detail.unwrap(), json!({ "field": "photo" }));
    let none = Sandbox::update_contact(&api.context(), write(&ada(), Some(&changed), &["photo"])).unwrap();
    assert_eq!(contact(&none.sources[0]).photo, None);
    refused(api.photo(&none.sources[0]), code::NOT_FOUND);
    for bad in ["data:text/plain,hello", "data:image/png;base64,?", "data:image/png"] {
        refused(api.create_contact(&with(bad), bad), code::INVALID);
    }
}
