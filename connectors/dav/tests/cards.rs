//! Every card among the fixtures becomes the item that its snapshot says, and an edit of one field changes its lines alone.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::collection::changed::FieldSet;
use connector_dav::vcard::lines::{View, parse, print};
use connector_dav::vcard::read::{contact, items};
use connector_dav::vcard::write::{apply, touch, writable};
use model::Instant;
use model::contacts::*;

fn fixtures() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "vcf"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n").replace('\n', "\r\n"))
        })
        .collect();
    all.sort();
    all
}

fn now() -> Instant {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn changed(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn read(text: &str) -> Contact {
    contact(&View::from_card(&parse(text).unwrap()))
}

/// The card after a write of these fields.
fn edit(text: &str, wanted: &Contact, fields: &[&str]) -> String {
    let mut card = parse(text).unwrap();
    let version = writable(&card).unwrap();
    apply(&mut card, version, wanted, &FieldSet(&changed(fields))).unwrap();
    touch(&mut card, version, now());
    print(&card)
}

/// A card's item in the normalized model.
#[test]
fn a_card_becomes_an_item() {
    for (name, text) in fixtures() {
        match items(&format!("/contacts/me/{name}.vcf"), &text) {
            Ok(items) => insta::assert_json_snapshot!(name, serde_json::to_value(items).unwrap()),
            Err(error) => insta::assert_json_snapshot!(name, error),
        }
    }
}

/// The lines as they are on the wire, folds included, without those of these properties.
fn lines_without(text: &str, names: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text.split_inclusive("\r\n") {
        match all.last_mut() {
            Some(last) if line.starts_with([' ', '\t']) => last.push_str(line),
            _ => all.push(line.to_owned()),
        }
    }
    all.retain(|line| {
        let head = line.split([':', ';']).next().unwrap();
        let name = head.rsplit('.').next().unwrap();
        name != "REV" && !names.iter().any(|other| other.eq_ignore_ascii_case(name))
    });
    all
}

type Edit = (&'static [&'static str], &'static [&'static str], fn(&mut Contact));

fn email(value: &str, kind: ContactKind, label: Option<&str>) -> ContactEmail {
    ContactEmail { value: value.into(), kind, label: label.map(str::to_owned), primary: false }
}

fn place() -> PostalAddress {
    PostalAddress {
        kind: ContactKind::Custom,
        label: Some("Boat".into()),
        formatted: Some("Boat 1\nHarbour, 12345".into()),
        street: Some("Pier; 3, left".into()),
        po_box: Some("77".into()),
        locality: Some("Kiel".into()),
        country_code: Some("DE".into()),
        ..PostalAddress::default()
    }
}

fn job(name: &str, title: Option<&str>) -> Organization {
    Organization { name: Some(name.into()), title: title.map(str::to_owned), department: None, current: true }
}

fn day(kind: Option<&str>, year: Option<i64>) -> Anniversary {
    Anniversary { kind: kind.map(str::to_owned), date: PartialDate { year, month: 2, day: 29 } }
}

/// Edits: the fields, the properties that may differ then, and the change.
const EDITS: &[Edit] = &[
    (&["displayName"], &["FN"], |c| c.display_name = Some("New, name; \\ of\nall".into())),
    (&["givenName"], &["N"], |c| c.given_name = Some("A; B, C".into())),
    (&["familyName", "suffix"], &["N"], |c| (c.family_name, c.suffix) = (None, Some("III".into()))),
    (&["nickname"], &["NICKNAME"], |c| c.nickname = Some("Nick".into())),
    (&["nickname"], &["NICKNAME"], |c| c.nickname = None),
    (&["phoneticGivenName", "phoneticFamilyName"], &["X-PHONETIC-FIRST-NAME", "X-PHONETIC-LAST-NAME"], |c| {
        (c.phonetic_given_name, c.phonetic_family_name) = (Some("ää".into()), None);
    }),
    (&["emails"], &["EMAIL"], |c| {
        if let Some(first) = c.emails.first_mut() {
            first.value = "changed@example.com".into();
        }
    }),
    (&["emails"], &["EMAIL", "X-ABLABEL"], |c| {
        c.emails.insert(0, email("new@example.com", ContactKind::Custom, Some("Club, chess")));
        c.emails.push(email("last@example.com", ContactKind::Work, None));
    }),
    (&["emails"], &["EMAIL", "X-ABLABEL"], |c| {
        c.emails.reverse();
        c.emails.truncate(2);
    }),
    (&["emails"], &["EMAIL", "X-ABLABEL"], |c| {
        for email in &mut c.emails {
            (email.kind, email.label) = (ContactKind::Custom, Some("Tent".into()));
        }
    }),
    (&["emails"], &["EMAIL"], |c| {
        let last = c.emails.len().saturating_sub(1);
        c.emails.iter_mut().enumerate().for_each(|(at, email)| email.primary = at == last);
    }),
    (&["emails"], &["EMAIL"], |c| c.emails.iter_mut().for_each(|email| email.primary = false)),
    (&["emails"], &["EMAIL", "X-ABLABEL"], |c| c.emails.clear()),
    (&["phones"], &["TEL", "X-ABLABEL"], |c| {
        if let Some(first) = c.phones.first_mut() {
            (first.value, first.kind, first.label) = ("+49 30 123; ext 4".into(), PhoneKind::WorkFax, None);
        }
        c.phones.push(ContactPhone {
            value: "112".into(),
            kind: PhoneKind::Pager,
            primary: false,
            ..ContactPhone::default()
        });
    }),
    (&["phones"], &["TEL", "X-ABLABEL"], |c| drop(c.phones.pop())),
    (&["addresses"], &["ADR"], |c| {
        if let Some(first) = c.addresses.first_mut() {
            first.street = Some("Changed 1\nback".into());
        }
    }),
    (&["addresses"], &["ADR", "LABEL", "X-ABADR", "X-ABLABEL"], |c| c.addresses.insert(0, place())),
    (&["addresses"], &["ADR", "LABEL", "X-ABADR", "X-ABLABEL"], |c| {
        if let Some(last) = c.addresses.last_mut() {
            *last = place();
        }
    }),
    (&["addresses"], &["ADR", "LABEL", "X-ABADR", "X-ABLABEL"], |c| {
        if let Some(last) = c.addresses.last_mut() {
            (last.formatted, last.country_code) = (Some("Only\nthis".into()), Some("FR".into()));
        }
    }),
    (&["addresses"], &["ADR", "LABEL", "X-ABADR", "X-ABLABEL"], |c| {
        if !c.addresses.is_empty() {
            c.addresses.remove(0);
        }
    }),
    (&["organizations"], &["ORG", "TITLE"], |c| {
        if let Some(first) = c.organizations.first_mut() {
            first.title = Some("Gardener, \"head\"".into());
        }
    }),
    (&["organizations"], &["ORG", "TITLE"], |c| c.organizations.push(job("Other; Ltd.", Some("Boss")))),
    (&["organizations"], &["ORG", "TITLE"], |c| c.organizations.insert(0, job("None", None))),
    (&["organizations"], &["ORG", "TITLE"], |c| c.organizations = vec![job("Only", None)]),
    (&["organizations"], &["ORG", "TITLE"], |c| {
        let title = Some("Alone".into());
        c.organizations = vec![Organization { title, current: true, ..Organization::default() }];
    }),
    (&["organizations"], &["ORG", "TITLE"], |c| c.organizations.clear()),
    (&["urls"], &["URL", "X-ABLABEL"], |c| {
        c.urls.push(ContactUrl { value: "https://x.example/?a=1,2;b=3".into(), kind: ContactKind::Custom });
        c.urls.insert(0, ContactUrl { value: "https://y.example/".into(), kind: ContactKind::Home });
    }),
    (&["imAddresses"], &["IMPP", "X-JABBER", "X-AIM"], |c| {
        c.im_addresses.push(ImAddress { protocol: Some("matrix".into()), handle: "@me:example.org".into() });
        c.im_addresses[0].handle = "changed@example.com".into();
    }),
    (&["imAddresses"], &["IMPP", "X-JABBER", "X-AIM"], |c| {
        c.im_addresses = vec![ImAddress { protocol: Some("Odd Talk".into()), handle: "me, myself".into() }];
    }),
    (&["relations"], &["RELATED", "X-ABRELATEDNAMES", "X-ABLABEL"], |c| {
        let kinds = ["spouse", "mother", "Cat sitter"];
        let new = kinds.map(|kind| Relation { name: format!("A {kind}, new"), kind: Some(kind.into()) });
        c.relations.splice(0..0, new);
        c.relations.push(Relation { name: "Somebody".into(), kind: None });
    }),
    (
        &["relations"],
        &[
            "RELATED",
            "X-ABRELATEDNAMES",
            "X-ABLABEL",
            "X-ASSISTANT",
            "X-MANAGER",
            "X-SPOUSE",
            "X-EVOLUTION-SPOUSE",
            "X-EVOLUTION-MANAGER",
        ],
        |c| c.relations.clear(),
    ),
    (&["birthday"], &["BDAY"], |c| c.birthday = Some(PartialDate { year: None, month: 2, day: 29 })),
    (&["birthday"], &["BDAY"], |c| c.birthday = Some(PartialDate { year: Some(1604), month: 12, day: 1 })),
    (&["birthday"], &["BDAY"], |c| c.birthday = None),
    (
        &["anniversaries"],
        &["ANNIVERSARY", "X-ANNIVERSARY", "X-EVOLUTION-ANNIVERSARY", "X-ABDATE", "DEATHDATE", "X-ABLABEL"],
        |c| {
            c.anniversaries = vec![
                day(Some("wedding"), Some(2012)),
                day(Some("First meeting"), None),
                day(None, None),
                day(Some("wedding"), None),
            ];
        },
    ),
    (&["notes"], &["NOTE"], |c| c.notes = Some("line one\n\nline, three; \\ end".into())),
    (&["notes"], &["NOTE"], |c| c.notes = None),
    (&["photo"], &["PHOTO"], |c| c.photo = None),
    (&["photo"], &["PHOTO"], |c| {
        c.photo = Some(Photo { url: Some("https://example.com/p,1;2.png".into()), etag: None });
    }),
];

/// One field is changed: every other content line keeps its bytes, folded as it was, and reading gives exactly what was wanted.
#[test]
fn an_edit_changes_its_own_lines() {
    for (name, text) in fixtures() {
        if ["outlook", "unreadable", "group_apple", "group_standard"].contains(&name.as_str()) {
            continue;
        }
        for (index, (fields, names, change)) in EDITS.iter().enumerate() {
            let mut wanted = read(&text);
            if fields == &["imAddresses"] && wanted.im_addresses.is_empty() {
                continue;
            }
            change(&mut wanted);
            let new = edit(&text, &wanted, fields);
            // What a card must have and this one has not comes with the first edit.
            let mut names = names.to_vec();
            if name == "bare" {
                names.extend(["FN", "N"]);
                wanted.display_name = wanted.display_name.or_else(|| read(&new).display_name);
                assert!(new.contains("\r\nFN:") && new.contains("\r\nN:"), "{new}");
            }
            assert_eq!(read(&new), wanted, "{name}, edit {index} of {fields:?}:\n{new}");
            assert_eq!(
                lines_without(&new, &names),
                lines_without(&text, &names),
                "{name}, edit {index} of {fields:?}"
            );
            assert!(new.contains("\r\nREV:2026"), "{new}");
            assert!(!new.replace("\r\n", "").contains(['\r', '\n']), "{new:?}");
            // Doing it again changes nothing more.
            assert_eq!(edit(&new, &wanted, fields), new, "{name}, edit {index} of {fields:?}");
        }
        // All fields, none of them changed.
        let all: Vec<&str> = EDITS.iter().flat_map(|(fields, ..)| fields.iter().copied()).collect();
        let same = edit(&text, &read(&text), &all);
        let names: &[&str] = if read(&text).display_name.is_none() { &["FN", "N"] } else { &[] };
        assert_eq!(lines_without(&same, names), lines_without(&text, names), "{name}");
    }
}

/// Reading gives an answer for any bytes, and soon.
#[test]
fn cut_and_mangled_cards_give_an_answer() {
    for (_, text) in fixtures() {
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let _ = items("/x.vcf", &text[..cut]);
        }
        for (at, _) in text.char_indices().step_by(3) {
            let mangled = format!("{}{}{}", &text[..at], "\u{FFFD}:;\"", &text[at..]);
            let _ = items("/x.vcf", &mangled);
        }
    }
}
