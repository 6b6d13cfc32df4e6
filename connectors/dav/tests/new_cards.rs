//! Cards that this connector writes read back as they were meant, with any content; malformed cards of others give an answer.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connector_dav::collection::changed::FieldSet;
use connector_dav::vcard::group::{change_member, group, is_group, new_group, set_members, set_name};
use connector_dav::vcard::lines::{Version, View, parse, print};
use connector_dav::vcard::photo::picture;
use connector_dav::vcard::read::{contact, items};
use connector_dav::vcard::write::{apply, check, new_card, writable};
use connector_sdk::code;
use model::Instant;
use model::contacts::*;
use proptest::prelude::*;

/// Every field that a card can say.
const FIELDS: [&str; 20] = [
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
    "photo",
];

/// Cards of other clients.
const FOREIGN: [&str; 7] = [
    include_str!("../fixtures/apple.vcf"),
    include_str!("../fixtures/bare.vcf"),
    include_str!("../fixtures/evolution.vcf"),
    include_str!("../fixtures/google.vcf"),
    include_str!("../fixtures/nextcloud.vcf"),
    include_str!("../fixtures/office.vcf"),
    include_str!("../fixtures/thunderbird.vcf"),
];

fn fields() -> Vec<String> {
    FIELDS.map(String::from).to_vec()
}

fn now() -> Instant {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn written(version: Version, wanted: &Contact) -> String {
    print(&new_card(version, "uid-1", now(), wanted, &FieldSet(&fields())).unwrap())
}

fn read(text: &str) -> Contact {
    contact(&View::from_card(&parse(text).unwrap()))
}

/// Text with everything that has a meaning in a card, and no space around it.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9äöüß日本 .'-]{1,12}",
        Just(";".to_owned()),
        Just(",".to_owned()),
        Just("\\".to_owned()),
        Just("\\n".to_owned()),
        Just("\"".to_owned()),
        Just(":".to_owned()),
        Just("^".to_owned()),
        Just("\nEND:VCARD\n".to_owned()),
        Just("=3D".to_owned()),
        Just("_$!<Home>!$_".to_owned()),
        Just("x".repeat(90)),
    ];
    proptest::collection::vec(piece, 1..5).prop_map(|pieces| format!("a{}z", pieces.concat()))
}

fn one_line() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.replace('\n', " "))
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn kind() -> impl Strategy<Value = (ContactKind, Option<String>)> {
    prop_oneof![
        Just((ContactKind::Home, None)),
        Just((ContactKind::Work, None)),
        Just((ContactKind::Other, None)),
        text().prop_map(|label| (ContactKind::Custom, Some(label))),
    ]
}

fn emails() -> impl Strategy<Value = Vec<ContactEmail>> {
    let one = (one_line(), kind());
    (proptest::collection::vec(one, 0..4), 0..5usize).prop_map(|(all, primary)| {
        let made = all.into_iter().enumerate();
        made.map(|(at, (value, (kind, label)))| ContactEmail { value, kind, label, primary: at == primary })
            .collect()
    })
}

fn phones() -> impl Strategy<Value = Vec<ContactPhone>> {
    let kind = prop_oneof![
        Just(PhoneKind::Mobile),
        Just(PhoneKind::Home),
        Just(PhoneKind::Work),
        Just(PhoneKind::HomeFax),
        Just(PhoneKind::WorkFax),
        Just(PhoneKind::Pager),
        Just(PhoneKind::Other),
        Just(PhoneKind::Custom),
    ];
    let one = ("\\+?[0-9][0-9 ()/;,.-]{0,20}[0-9]", kind, text());
    (proptest::collection::vec(one, 0..4), 0..5usize).prop_map(|(all, primary)| {
        let made = all.into_iter().enumerate();
        made.map(|(at, (value, kind, label))| ContactPhone {
            value,
            e164: None,
            kind,
            label: (kind == PhoneKind::Custom).then_some(label),
            primary: at == primary,
        })
        .collect()
    })
}

fn address() -> impl Strategy<Value = PostalAddress> {
    let parts = (text(), maybe(), maybe(), maybe(), maybe(), maybe(), maybe());
    (kind(), maybe(), parts, proptest::option::of("[A-Z]{2}")).prop_map(
        |((kind, label), formatted, parts, country_code)| {
            let (street, extended, po_box, locality, region, postal_code, country) = parts;
            let street = Some(street);
            PostalAddress {
                kind,
                label,
                formatted,
                street,
                extended,
                po_box,
                locality,
                region,
                postal_code,
                country,
                country_code,
            }
        },
    )
}

fn date() -> impl Strategy<Value = PartialDate> {
    (proptest::option::of(1i64..=9999), 1i64..=12, 1i64..=28).prop_map(|(year, month, day)| PartialDate {
        // Apple's year for "none".
        year: year.filter(|year| *year != 1604),
        month,
        day,
    })
}

fn organization() -> impl Strategy<Value = Organization> {
    (text(), maybe(), maybe()).prop_map(|(name, title, department)| Organization {
        name: Some(name),
        title,
        department,
        current: true,
    })
}

fn anniversaries() -> impl Strategy<Value = Vec<Anniversary>> {
    let kind = prop_oneof![
        Just(None),
        Just(Some("wedding".to_owned())),
        Just(Some("other".to_owned())),
        one_line().prop_map(Some)
    ];
    proptest::collection::vec((kind, date()).prop_map(|(kind, date)| Anniversary { kind, date }), 0..4)
}

fn relations() -> impl Strategy<Value = Vec<Relation>> {
    let kind = prop_oneof![
        Just(None),
        Just(Some("spouse".to_owned())),
        Just(Some("mother".to_owned())),
        one_line().prop_map(Some)
    ];
    proptest::collection::vec((text(), kind).prop_map(|(name, kind)| Relation { name, kind }), 0..4)
}

fn ims() -> impl Strategy<Value = Vec<ImAddress>> {
    let protocol = prop_oneof![Just("xmpp"), Just("matrix"), Just("Odd Talk")];
    let one = (protocol, "[a-z@,;:. ]{0,10}[a-z]").prop_map(|(protocol, handle)| ImAddress {
        protocol: Some(protocol.into()),
        handle: format!("h{handle}"),
    });
    proptest::collection::vec(one, 0..3)
}

fn photo() -> impl Strategy<Value = Option<Photo>> {
    proptest::option::of("https://[a-z]{1,9}\\.example/[a-z;,=]{0,99}")
        .prop_map(|url| url.map(|url| Photo { url: Some(url), etag: None }))
}

fn names() -> impl Strategy<Value = Contact> {
    let names = (text(), maybe(), maybe(), maybe(), maybe(), maybe());
    (names, maybe(), maybe(), maybe(), maybe()).prop_map(|(names, nickname, given, family, notes)| {
        let (display, given_name, middle_name, family_name, prefix, suffix) = names;
        Contact {
            display_name: Some(display),
            given_name,
            middle_name,
            family_name,
            prefix,
            suffix,
            nickname,
            phonetic_given_name: given,
            phonetic_family_name: family,
            notes,
            ..Contact::default()
        }
    })
}

fn contacts() -> impl Strategy<Value = Contact> {
    let lists = (
        emails(),
        phones(),
        proptest::collection::vec(address(), 0..3),
        proptest::collection::vec(organization(), 0..3),
        proptest::collection::vec(one_line(), 0..3),
        ims(),
        relations(),
    );
    (names(), lists, proptest::option::of(date()), anniversaries(), photo()).prop_map(
        |(names, lists, birthday, anniversaries, photo)| {
            let (emails, phones, addresses, organizations, urls, im_addresses, relations) = lists;
            let urls = urls.into_iter().map(|value| ContactUrl { value, kind: ContactKind::Work }).collect();
            Contact {
                emails,
                phones,
                addresses,
                organizations,
                urls,
                im_addresses,
                relations,
                birthday,
                anniversaries,
                photo,
                ..names
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A new card says what was given, and so does any card after it was made to say something else.
    #[test]
    fn what_is_written_is_read(first in contacts(), second in contacts(), is_old in any::<bool>()) {
        let version = if is_old { Version::V3 } else { Version::V4 };
        let text = written(version, &first);
        prop_assert_eq!(read(&text), first, "{}", text);
        let mut card = parse(&text).unwrap();
        apply(&mut card, version, &second, &FieldSet(&fields())).unwrap();
        let text = print(&card);
        prop_assert_eq!(read(&text), second, "{}", text);
        prop_assert!(text.lines().all(|line| line.len() <= 75));
    }

    /// A card of another client can be changed to any contact, too.
    #[test]
    fn what_others_wrote_can_be_changed(wanted in contacts(), which in 0..FOREIGN.len()) {
        let foreign = FOREIGN[which].replace("\r\n", "\n").replace('\n', "\r\n");
        let mut card = parse(&foreign).unwrap();
        let version = writable(&card).unwrap();
        apply(&mut card, version, &wanted, &FieldSet(&fields())).unwrap();
        let text = print(&card);
        prop_assert_eq!(read(&text), wanted, "{}", text);
    }

    /// Reading gives an answer for anything.
    #[test]
    fn anything_gives_an_answer(text in "(BEGIN:VCARD\r\n)?([A-Z]{1,6}[;:=,\\\\a-z\"0-9äß-]{0,30}\r?\n){0,9}(END:VCARD)?") {
        let _ = items("/x.vcf", &text);
    }
}

/// A name is made of what there is; a card never goes out without one.
#[test]
fn a_card_always_has_a_name() {
    let named = |contact: &Contact| read(&written(Version::V3, contact)).display_name;
    let email = ContactEmail { value: "a@example.com".into(), ..ContactEmail::default() };
    let given =
        Contact { given_name: Some("Ann".into()), family_name: Some("Lee".into()), ..Contact::default() };
    assert_eq!(named(&given).as_deref(), Some("Ann Lee"));
    assert_eq!(
        named(&Contact { emails: vec![email], ..Contact::default() }).as_deref(),
        Some("a@example.com")
    );
    assert_eq!(named(&Contact::default()).as_deref(), Some("-"));
    for version in [Version::V3, Version::V4] {
        insta::assert_snapshot!(format!("a_new_card_{version:?}"), written(version, &given));
    }
}

/// A picture is stored in the form of the card's version, comes back, and is not written again.
#[test]
fn a_picture_is_stored_and_read() {
    let png = STANDARD.decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==").unwrap();
    let url = format!("data:image/png;base64,{}", STANDARD.encode(&png));
    let wanted = Contact { photo: Some(Photo { url: Some(url.clone()), etag: None }), ..Contact::default() };
    let mut marks = Vec::new();
    for (version, form) in
        [(Version::V3, "PHOTO;ENCODING=b;TYPE=PNG:iVBOR"), (Version::V4, "PHOTO:data:image/png;base64,iVBOR")]
    {
        let text = written(version, &wanted);
        assert!(text.contains(form), "{text}");
        let card = parse(&text).unwrap();
        let found = picture(&View::from_card(&card)).unwrap();
        assert_eq!(
            (found.content_type.as_str(), STANDARD.decode(found.content_base64).unwrap()),
            ("image/png", png.clone())
        );
        let photo = read(&text).photo.unwrap();
        assert_eq!(photo.url, None);
        marks.push(photo.etag.unwrap());
        let item = serde_json::to_string(&items("/x.vcf", &text).unwrap()).unwrap();
        assert!(!item.contains("iVBOR"), "{item}");

        // The picture that is stored, however it is named, stays.
        let fields = ["photo".to_owned()];
        for kept in
            [Photo { url: None, etag: marks.last().cloned() }, Photo { url: Some(url.clone()), etag: None }]
        {
            let mut card = parse(&text).unwrap();
            apply(
                &mut card,
                version,
                &Contact { photo: Some(kept), ..Contact::default() },
                &FieldSet(&fields),
            )
            .unwrap();
            assert_eq!(print(&card), text);
        }
        let mut card = parse(&text).unwrap();
        apply(&mut card, version, &Contact::default(), &FieldSet(&fields)).unwrap();
        assert!(!print(&card).contains("PHOTO"));
    }
    assert_eq!(marks[0], marks[1]);
    assert_eq!(marks[0].len(), 32);
    for bad in ["data:text/html;base64,AAAA", "data:image/png;base64,!!", "javascript:alert(1)", "data:,x"] {
        let wanted =
            Contact { photo: Some(Photo { url: Some(bad.into()), etag: None }), ..Contact::default() };
        let failure = new_card(Version::V4, "u", now(), &wanted, &FieldSet(&fields())).unwrap_err();
        assert_eq!(failure.code, code::INVALID, "{bad}");
        assert_eq!(failure.detail.unwrap()["field"], "photo");
    }
}

/// A value that vCard cannot hold is a warning, and is refused where the caller is strict; days that do not exist are refused always.
#[test]
fn what_cannot_be_kept_is_told() {
    let wanted = Contact { starred: true, ..Contact::default() };
    let starred = ["starred".to_owned()];
    let warnings = check(&wanted, &FieldSet(&starred), false).unwrap();
    assert_eq!(
        (warnings[0].code.as_str(), warnings[0].target.as_deref()),
        ("field_not_supported", Some("starred"))
    );
    let failure = check(&wanted, &FieldSet(&starred), true).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), &failure.detail.unwrap()["field"]),
        (code::UNSUPPORTED, &"starred".into())
    );
    assert!(check(&wanted, &FieldSet(&[]), true).unwrap().is_empty());

    for date in [
        (Some(2023), 2, 29),
        (None, 13, 1),
        (None, 4, 31),
        (Some(0), 1, 1),
        (Some(10_000), 1, 1),
        (None, 0, 0),
    ] {
        let birthday = Some(PartialDate { year: date.0, month: date.1, day: date.2 });
        let wanted = Contact { birthday, ..Contact::default() };
        let failure = new_card(Version::V3, "u", now(), &wanted, &FieldSet(&fields())).unwrap_err();
        assert_eq!(failure.code, code::INVALID, "{date:?}");
    }
}

/// Groups in both forms: made, renamed, members come and go; other members and lines stay.
#[test]
fn groups_have_members_in_both_forms() {
    for (version, line) in
        [(Version::V3, "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:a\r\n"), (Version::V4, "MEMBER:urn:uuid:a\r\n")]
    {
        let mut card = new_group(version, "g", "Club; one", &["a".into(), "urn:uuid:b".into(), "a".into()]);
        let text = print(&card);
        assert!(text.contains(line), "{text}");
        let read = group(&View::from_card(&card));
        assert!(is_group(&View::from_card(&card)));
        assert_eq!(
            (read.name.as_str(), read.contact_ids.unwrap()),
            ("Club; one", vec!["a".into(), "b".into()])
        );
        assert!(change_member(&mut card, "c", true) && !change_member(&mut card, "urn:uuid:c", true));
        assert!(change_member(&mut card, "a", false) && !change_member(&mut card, "a", false));
        set_name(&mut card, "New");
        let read = group(&View::from_card(&card));
        assert_eq!(
            (read.name.as_str(), read.member_count, read.contact_ids.unwrap()),
            ("New", 2, vec!["b".into(), "c".into()])
        );
    }
    let foreign = include_str!("../fixtures/group_standard.vcf").replace("\r\n", "\n").replace('\n', "\r\n");
    let mut card = parse(&foreign).unwrap();
    let members = ["9ce60b8e-0001-4d2f-9b0c-000000000001".to_owned(), "new".to_owned()];
    set_members(&mut card, &members);
    let expected = foreign.replace("MEMBER:urn:uuid:3f6e2a52-1111-4222-8333-444455556666\r\n", "").replace(
        "MEMBER:mailto:outsider@example.com\r\n",
        "MEMBER:mailto:outsider@example.com\r\nMEMBER:urn:uuid:new\r\n",
    );
    assert_eq!(print(&card), expected);
}

/// Huge and broken cards are read in bounds and soon, and edits of them end.
#[test]
fn hostile_cards_are_bounded() {
    let card = |inside: &str| format!("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:x\r\n{inside}END:VCARD\r\n");
    let emails: String = (0..10_000)
        .map(|n| format!("item{n}.EMAIL;TYPE=pref:a{n}@example.com\r\nitem{n}.X-ABLabel:l{n}\r\n"))
        .collect();
    let many = card(&emails);
    let read_many = read(&many);
    assert_eq!(read_many.emails.len(), 500);
    let mut edited = parse(&many).unwrap();
    let mut wanted = read_many.clone();
    wanted.emails.reverse();
    wanted.emails.truncate(400);
    apply(&mut edited, Version::V3, &wanted, &FieldSet(&["emails".to_owned()])).unwrap();
    assert!(print(&edited).contains("a9999@example.com"), "what is not read is not touched");

    let note = card(&format!("NOTE:{}\r\n", "\\n\\,long ".repeat(120_000)));
    assert!(read(&note).notes.unwrap().len() > 500_000);
    let odd: String = (0..5_000).map(|n| format!("X-ODD-{n}:{}\r\n", "y".repeat(3_000))).collect();
    let item = items("/x.vcf", &card(&odd)).unwrap().remove(0);
    assert!(serde_json::to_string(&item.provider_data).unwrap().len() < 200_000);

    let broken = [
        "PHOTO;ENCODING=b:iVBORw0KGgo\r\n",
        "PHOTO;ENCODING=b:%%%%\r\n",
        "PHOTO:data:image/png;base64,\r\n",
        "PHOTO;ENCODING=b;TYPE=:\r\n",
        "NOTE;ENCODING=QUOTED-PRINTABLE:=\r\n",
        "NOTE;ENCODING=QUOTED-PRINTABLE:=ZZ=C3=\r\n=A4\r\n",
        "BDAY:9999-99-99\r\nBDAY:\u{661}985\r\nX-ABDATE:--\r\n",
        "TEL;TYPE=\"a:b\r\n",
        "TEL;;;=;TYPE:1\r\n",
        ".EMAIL:a\r\n..EMAIL:b\r\n",
        "N:\\\r\nADR:\\\r\n",
        "ITEM1.X-ABLabel:_$!<>!$_\r\nitem1.TEL:_$!<\r\n",
        " folded first\r\n",
        "BEGIN:VCARD\r\n",
    ];
    for inside in broken {
        let text = card(inside);
        let _ = items("/x.vcf", &text);
        if let Ok(mut card) = parse(&text)
            && let Ok(version) = writable(&card)
        {
            let wanted = contact(&View::from_card(&card));
            let _ = apply(&mut card, version, &wanted, &FieldSet(&fields()));
            let _ = apply(&mut card, version, &Contact::default(), &FieldSet(&fields()));
        }
    }
    assert!(items("/x.vcf", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n").is_err());
    assert!(items("/x.vcf", "").is_err());
    let old = parse("BEGIN:VCARD\r\nVERSION:2.1\r\nN:a\r\nEND:VCARD\r\n").unwrap();
    assert_eq!(writable(&old).unwrap_err().code, code::UNSUPPORTED);
}
