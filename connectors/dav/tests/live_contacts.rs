//! Contacts against real servers, see `live.rs`. Each test makes an address book of its own and deletes it.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod servers;

use std::sync::atomic::{AtomicU32, Ordering};

use connector_dav::Dav;
use connector_sdk::{Contacts as _, Failure, code, http};
use model::contacts::*;
use model::wire::contacts::ContactWrite;
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, Source, SourceRef,
    Sources,
};
use servers::Session;

/// A picture of one pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl Session {
    fn book(&self, name: &str) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let key = format!("{name} {} {}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let body = ContactBook { name: name.into(), ..ContactBook::default() };
        let args = CollectionWrite { body, changed: names(&["name"]), ..CollectionWrite::default() };
        Dav::create_book(&self.cx().keyed(&key), args).unwrap().item.unwrap()
    }

    fn drop_book(&self, book: &str) {
        let args = CollectionDelete { source: book.into(), force: true, ..CollectionDelete::default() };
        Dav::delete_book(&self.cx(), args).unwrap();
    }

    fn create(&self, book: &str, key: &str, contact: &Contact, fields: &[&str]) -> Mutated {
        let write = ItemWrite {
            collection: book.into(),
            body: contact.clone(),
            changed: names(fields),
            ..ItemWrite::default()
        };
        Dav::create_contact(&self.cx().keyed(key), ContactWrite { write, ..ContactWrite::default() }).unwrap()
    }

    fn update(
        &self,
        book: &str,
        source: &Source,
        contact: &Contact,
        fields: &[&str],
    ) -> Result<Mutated, Failure> {
        Dav::update_contact(
            &self.cx(),
            ContactWrite { write: change(book, source, contact.clone(), fields), ..ContactWrite::default() },
        )
    }

    fn delete(&self, book: &str, source: &Source) -> Result<Mutated, Failure> {
        let if_match = source.etag.clone();
        let args = ItemDelete { collection: book.into(), source: source.external_id.clone(), if_match };
        Dav::delete_contact(&self.cx(), args)
    }

    /// All pages from a cursor on; their number, their sources, and the last cursor.
    fn drain(&self, book: &str, cursor: Option<String>, limit: u32) -> (usize, Vec<Source>, Option<String>) {
        let (mut pages, mut all, mut cursor) = (0, Vec::new(), cursor);
        loop {
            let args = ChangesRequest { collection: Some(book.into()), limit, ..ChangesRequest::default() };
            let answer = Dav::changes(&self.cx().at(cursor), args).unwrap();
            pages += 1;
            assert!(pages < 100, "{}: the pages never end", self.name);
            all.extend(answer.body.sources);
            cursor = answer.cursor;
            if !answer.more {
                return (pages, all, cursor);
            }
        }
    }

    fn get(&self, book: &str, id: &str) -> Source {
        let args = SourceRef { collection: book.into(), source: id.into(), time_zone: None };
        Dav::get_contact(&self.cx(), args).unwrap().sources.remove(0)
    }

    /// A resource as the server has it; `accept` names the version to ask for.
    fn raw(&self, id: &str, accept: &str) -> String {
        let get = http::Request::get(self.url(id)).header("accept", accept);
        self.cx().send_ok(get, "a fixture").unwrap().text().replace("\r\n", "\n")
    }

    fn put(&self, book: &str, name: &str, text: &str) -> String {
        let id = format!("{book}{name}");
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let put = http::Request::put(self.url(&id)).body("text/vcard; charset=utf-8", text);
        self.cx().send_ok(put, "a fixture").unwrap();
        id
    }
}

fn change<T: Default>(book: &str, source: &Source, body: T, fields: &[&str]) -> ItemWrite<T> {
    ItemWrite {
        collection: book.into(),
        source: Some(source.external_id.clone()),
        body,
        changed: names(fields),
        if_match: source.etag.clone(),
        ..ItemWrite::default()
    }
}

fn each(test: impl Fn(&Session)) {
    servers::each("t14", test);
}

fn body(source: &Source) -> Contact {
    assert_eq!(source.error, None);
    assert_eq!(source.items[0].kind.as_deref(), Some("contact"));
    source.items[0].body.read().unwrap()
}

fn group(source: &Source) -> ContactGroup {
    assert_eq!(source.items[0].kind.as_deref(), Some("contact_group"));
    source.items[0].body.read().unwrap()
}

fn uid(source: &Source) -> String {
    source.items[0].uid.clone().unwrap()
}

/// A contact with a value in every field.
fn somebody() -> (Contact, Vec<&'static str>) {
    let contact = Contact {
        display_name: Some("Dr. Ada, \"Countess\" Lovelace; <x>".into()),
        given_name: Some("Ada".into()),
        middle_name: Some("King".into()),
        family_name: Some("Lovelace".into()),
        prefix: Some("Dr.".into()),
        suffix: Some("FRS".into()),
        nickname: Some("Addie".into()),
        phonetic_given_name: Some("Aida".into()),
        phonetic_family_name: Some("Luvleys".into()),
        emails: vec![
            ContactEmail {
                value: "ada@home.example".into(),
                kind: ContactKind::Home,
                label: None,
                primary: false,
            },
            ContactEmail {
                value: "ada@club.example".into(),
                kind: ContactKind::Custom,
                label: Some("Club; maths".into()),
                primary: true,
            },
        ],
        phones: vec![ContactPhone {
            value: "+44 20 7946 0001".into(),
            kind: PhoneKind::WorkFax,
            ..ContactPhone::default()
        }],
        addresses: vec![PostalAddress {
            kind: ContactKind::Home,
            formatted: Some("12 St James's Square\nLondon".into()),
            street: Some("12 St James's Square".into()),
            locality: Some("London".into()),
            postal_code: Some("SW1Y 4JH".into()),
            country: Some("United Kingdom".into()),
            country_code: Some("GB".into()),
            ..PostalAddress::default()
        }],
        organizations: vec![Organization {
            name: Some("Analytical; Engines".into()),
            title: Some("Programmer".into()),
            department: Some("Notes, G".into()),
            current: true,
        }],
        urls: vec![ContactUrl { value: "https://example.com/ada?a=1,2".into(), kind: ContactKind::Work }],
        im_addresses: vec![ImAddress { protocol: Some("xmpp".into()), handle: "ada@jabber.example".into() }],
        relations: vec![
            Relation { name: "William King".into(), kind: Some("spouse".into()) },
            Relation { name: "Charles".into(), kind: Some("Correspondent".into()) },
        ],
        birthday: Some(PartialDate { year: None, month: 12, day: 10 }),
        anniversaries: vec![Anniversary {
            kind: Some("wedding".into()),
            date: PartialDate { year: Some(1835), month: 7, day: 8 },
        }],
        notes: Some("First line\nsecond; \\ line, ünïcode ☃".into()),
        ..Contact::default()
    };
    let fields = vec![
        "displayName",
        "givenName",
        "middleName",
        "familyName",
        "prefix",
        "suffix",
        "nickname",
        "phoneticGivenName",
        "phoneticFamilyName",
        "emails",
        "phones",
        "addresses",
        "organizations",
        "urls",
        "imAddresses",
        "relations",
        "birthday",
        "anniversaries",
        "notes",
    ];
    (contact, fields)
}

/// An address book is made once, found among the others, changed and deleted, not while there is something in it.
#[test]
fn books_are_made_changed_and_deleted() {
    each(|session| {
        assert!(session.account.surfaces.contains(&"contacts".to_owned()));
        let key = format!("books {}", std::process::id());
        let made = ContactBook {
            name: "Club & <friends>".into(),
            description: Some("Chess".into()),
            ..ContactBook::default()
        };
        let args = CollectionWrite {
            body: made,
            changed: names(&["name", "description"]),
            ..CollectionWrite::default()
        };
        let id = Dav::create_book(&session.cx().keyed(&key), args.clone()).unwrap().item.unwrap();
        assert_eq!(Dav::create_book(&session.cx().keyed(&key), args).unwrap().item.as_ref(), Some(&id));

        let list = || Dav::list_books(&session.cx(), ChangesRequest::default()).unwrap().body;
        let find = |listed: &Sources| -> Option<ContactBook> {
            let source = listed.sources.iter().find(|source| source.external_id == id)?;
            Some(source.items[0].body.read().unwrap())
        };
        let listed = list();
        assert!(listed.enumeration);
        let found = find(&listed).unwrap();
        assert_eq!((found.name.as_str(), found.description.as_deref()), ("Club & <friends>", Some("Chess")));
        assert!(!found.read_only && found.rights.read && found.rights.write && found.rights.delete);
        let all: Vec<ContactBook> =
            listed.sources.iter().map(|source| source.items[0].body.read().unwrap()).collect();
        assert_eq!(all.iter().filter(|book| book.is_default).count(), 1, "{all:?}");

        let body = ContactBook { name: "Friends".into(), ..ContactBook::default() };
        let changed = names(&["name", "description"]);
        let args = CollectionWrite { source: Some(id.clone()), body, changed, if_match: None };
        let renamed: ContactBook =
            Dav::update_book(&session.cx(), args).unwrap().sources[0].items[0].body.read().unwrap();
        assert_eq!((renamed.name.as_str(), renamed.description), ("Friends", None));

        let source = session.create(&id, "k", &somebody().0, &["displayName"]).sources.remove(0);
        let delete = || {
            Dav::delete_book(
                &session.cx(),
                CollectionDelete { source: id.clone(), ..CollectionDelete::default() },
            )
        };
        let failure = delete().unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["reason"]),
            (code::CONFLICT, &"not_empty".into())
        );
        session.delete(&id, &source).unwrap();
        delete().unwrap();
        delete().unwrap();
        assert!(find(&list()).is_none());
    });
}

/// A contact comes back as it was sent, is found by a repeated create, changed, not under a stale etag, and deleted.
#[test]
fn a_contact_lives_through_its_cycle() {
    each(|session| {
        let book = session.book("cycle");
        let (wanted, fields) = somebody();
        let made = session.create(&book, "k1", &wanted, &fields);
        let source = &made.sources[0];
        assert_eq!(body(source), wanted, "{}", session.name);
        assert!(source.etag.is_some());
        let read = session.get(&book, &source.external_id);
        assert_eq!((body(&read), &read.etag), (wanted.clone(), &source.etag), "{}", session.name);
        assert_eq!(uid(&read), uid(source));
        let again = session.create(&book, "k1", &wanted, &fields);
        assert_eq!((again.item, again.sources[0].etag.as_ref()), (made.item.clone(), source.etag.as_ref()));
        assert_eq!(session.drain(&book, None, 0).1.len(), 1);

        let mut changed = wanted.clone();
        changed.emails.remove(0);
        changed.notes = None;
        changed.birthday = Some(PartialDate { year: Some(1815), month: 12, day: 10 });
        changed
            .addresses
            .push(PostalAddress { street: Some("Elsewhere".into()), ..PostalAddress::default() });
        let fields = ["emails", "notes", "birthday", "addresses"];
        let updated = session.update(&book, source, &changed, &fields).unwrap();
        assert_eq!(body(&updated.sources[0]), changed, "{}", session.name);
        let read = session.get(&book, &source.external_id);
        assert_eq!(
            (body(&read), &read.etag),
            (changed.clone(), &updated.sources[0].etag),
            "{}",
            session.name
        );

        for stale in [
            session.update(&book, source, &wanted, &["notes"]).unwrap_err(),
            session.delete(&book, source).unwrap_err(),
        ] {
            assert_eq!(stale.code, code::CONFLICT, "{}: {stale:?}", session.name);
        }
        assert!(session.delete(&book, &read).unwrap().sources[0].deleted);
        let gone = Source { etag: None, ..read };
        assert!(session.delete(&book, &gone).unwrap().sources[0].deleted);
        assert_eq!(session.update(&book, &gone, &wanted, &["notes"]).unwrap_err().code, code::NOT_FOUND);
        session.drop_book(&book);
    });
}

/// A picture is stored, reported by its etag, handed out, kept by other changes and removed.
#[test]
fn a_picture_is_stored_in_the_record() {
    each(|session| {
        let book = session.book("photo");
        let photo = Some(Photo { url: Some(PIXEL.into()), etag: None });
        let contact = Contact { display_name: Some("P".into()), photo, ..Contact::default() };
        let made = session.create(&book, "k", &contact, &["displayName", "photo"]).sources.remove(0);
        let photo = body(&made).photo.unwrap();
        assert_eq!((photo.url.as_deref(), photo.etag.as_deref().map(str::len)), (None, Some(32)));
        let args = SourceRef { collection: book.clone(), source: made.external_id.clone(), time_zone: None };
        let picture = Dav::photo(&session.cx(), args.clone()).unwrap();
        assert_eq!(
            format!("data:{};base64,{}", picture.content_type, picture.content_base64),
            PIXEL,
            "{}",
            session.name
        );
        let read = session.get(&book, &made.external_id);
        assert_eq!(body(&read).photo.as_ref(), Some(&photo));
        let named =
            Contact { display_name: Some("Q".into()), photo: Some(photo.clone()), ..Contact::default() };
        let named =
            session.update(&book, &made, &named, &["displayName", "photo"]).unwrap().sources.remove(0);
        assert_eq!(body(&named).photo, Some(photo));
        let bare = session.update(&book, &named, &Contact::default(), &["photo"]).unwrap();
        assert_eq!(body(&bare.sources[0]).photo, None);
        assert_eq!(Dav::photo(&session.cx(), args).unwrap_err().code, code::NOT_FOUND);
        session.drop_book(&book);
    });
}

/// Groups name their members; a contact joins and leaves with its own write.
#[test]
fn groups_have_members() {
    each(|session| {
        let book = session.book("groups");
        let named = |name: &str| Contact { display_name: Some(name.into()), ..Contact::default() };
        let [a, b] = ["A", "B"]
            .map(|name| session.create(&book, name, &named(name), &["displayName"]).sources.remove(0));
        let club =
            ContactGroup { name: "Club".into(), contact_ids: Some(vec![uid(&a)]), ..ContactGroup::default() };
        let write = ItemWrite {
            collection: book.clone(),
            body: club.clone(),
            changed: names(&["name", "contactIds"]),
            ..ItemWrite::default()
        };
        let made = Dav::create_group(&session.cx().keyed("club"), write.clone()).unwrap();
        assert_eq!(Dav::create_group(&session.cx().keyed("club"), write).unwrap().item, made.item);
        let first = &made.sources[0];
        assert_eq!((group(first).name.as_str(), group(first).contact_ids), ("Club", Some(vec![uid(&a)])));
        let read = session.get(&book, &first.external_id);
        assert_eq!((group(&read), uid(&read)), (group(first), uid(first)), "{}", session.name);

        let join = ContactWrite {
            write: change(
                &book,
                &b,
                Contact { notes: Some("joined".into()), ..Contact::default() },
                &["notes"],
            ),
            joins: vec![first.external_id.clone()],
            leaves: vec![format!("{book}never-there.vcf")],
        };
        let joined = Dav::update_contact(&session.cx(), join).unwrap();
        assert_eq!((joined.sources.len(), joined.item.as_ref()), (2, Some(&b.external_id)), "{joined:?}");
        assert_eq!(joined.warnings, []);
        assert_eq!(group(&joined.sources[1]).contact_ids, Some(vec![uid(&a), uid(&b)]));
        let leave = ContactWrite {
            write: change(&book, &a, named("A again"), &["displayName"]),
            leaves: vec![first.external_id.clone()],
            ..ContactWrite::default()
        };
        let left = Dav::update_contact(&session.cx(), leave).unwrap().sources.remove(1);
        assert_eq!(group(&left).contact_ids, Some(vec![uid(&b)]));

        let renamed =
            ContactGroup { name: "Guild".into(), contact_ids: Some(Vec::new()), ..ContactGroup::default() };
        let write = change(&book, &left, renamed.clone(), &["name", "contactIds"]);
        let emptied = Dav::update_group(&session.cx(), write).unwrap().sources.remove(0);
        assert_eq!((group(&emptied).name.as_str(), group(&emptied).member_count), ("Guild", 0));
        let stale = Dav::update_group(&session.cx(), change(&book, first, renamed, &["name"])).unwrap_err();
        assert_eq!(stale.code, code::CONFLICT);
        let listed = session.drain(&book, None, 0).1;
        let kinds =
            listed.iter().filter(|source| source.items[0].kind.as_deref() == Some("contact_group")).count();
        assert_eq!((listed.len(), kinds), (3, 1));
        let args = ItemDelete {
            collection: book.clone(),
            source: emptied.external_id.clone(),
            if_match: emptied.etag,
        };
        assert!(Dav::delete_group(&session.cx(), args).unwrap().sources[0].deleted);
        session.drop_book(&book);
    });
}

/// Changes are reported once, deletions too, in pages.
#[test]
fn changes_are_told_in_pages() {
    each(|session| {
        let book = session.book("sync");
        let named = |name: String| Contact { display_name: Some(name), ..Contact::default() };
        let made: Vec<Source> = (0..7)
            .map(|n| {
                session
                    .create(&book, &format!("k{n}"), &named(format!("C{n}")), &["displayName"])
                    .sources
                    .remove(0)
            })
            .collect();
        let (pages, all, cursor) = session.drain(&book, None, 3);
        assert!(pages >= 3, "{}: {pages} pages", session.name);
        let mut told: Vec<_> = all.iter().map(|source| body(source).display_name.unwrap()).collect();
        told.sort();
        assert_eq!(told, ["C0", "C1", "C2", "C3", "C4", "C5", "C6"]);
        for source in &made {
            let listed = all.iter().find(|other| other.external_id == source.external_id).unwrap();
            assert_eq!(listed.etag, source.etag, "{}: the etag of a write is the listed one", session.name);
        }
        let (_, none, cursor) = session.drain(&book, cursor, 3);
        assert!(none.is_empty());
        session.delete(&book, &made[0]).unwrap();
        session.update(&book, &made[1], &named("C1 again".into()), &["displayName"]).unwrap();
        let (pages, all, _) = session.drain(&book, cursor, 1);
        assert!(pages >= 2, "{}: {pages} pages", session.name);
        let gone: Vec<_> =
            all.iter().filter(|source| source.deleted).map(|source| &source.external_id).collect();
        assert_eq!(gone, [&made[0].external_id]);
        let there: Vec<_> = all
            .iter()
            .filter(|source| !source.deleted)
            .map(|source| body(source).display_name.unwrap())
            .collect();
        assert_eq!(there, ["C1 again"]);
        session.drop_book(&book);
    });
}

/// The bytes of another client survive the change of a note, in the version that it was written in.
#[test]
fn a_change_keeps_what_other_clients_wrote() {
    each(|session| {
        let book = session.book("faithful");
        let cards = [
            ("apple", include_str!("../fixtures/apple.vcf"), "text/vcard"),
            ("office", include_str!("../fixtures/office.vcf"), "text/vcard"),
            ("nextcloud", include_str!("../fixtures/nextcloud.vcf"), "text/vcard; version=4.0"),
        ];
        for (name, text, accept) in cards {
            let id = session.put(&book, &format!("{name}.vcf"), text);
            let before = session.raw(&id, accept);
            let source = session.get(&book, &id);
            let mut wanted = body(&source);
            wanted.notes = Some("A new note".into());
            let mutated = session.update(&book, &source, &wanted, &["notes"]).unwrap();
            assert_eq!(body(&mutated.sources[0]).notes, wanted.notes);
            let after = session.raw(&id, accept);
            // One server writes the lines in an order of its own.
            let lines = |text: &str| {
                let unfolded = text.replace("\n ", "");
                let mut lines: Vec<String> = unfolded.lines().map(str::to_owned).collect();
                lines.retain(|line| !line.starts_with("NOTE") && !line.starts_with("REV"));
                lines.sort();
                lines
            };
            assert_eq!(lines(&after), lines(&before), "{}: {name}", session.name);
            assert!(after.contains("A new note"), "{after}");
        }
        session.drop_book(&book);
    });
}
