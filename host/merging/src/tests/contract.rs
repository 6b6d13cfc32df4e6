//! The rules of the contract, case by case.

use model::contacts::Contact;
use model::contacts::ContactEmail;
use model::contacts::ContactPhone;
use model::contacts::ContactUrl;
use model::contacts::ImAddress;
use model::contacts::MergeReasonKind;
use model::contacts::MergeSuggestion;
use model::contacts::Organization;
use model::contacts::PartialDate;

use crate::tests::suggested;

fn named(name: &str) -> Contact {
    Contact { display_name: Some(name.to_owned()), ..Contact::default() }
}

fn with(name: &str, emails: &[&str], phones: &[&str]) -> Contact {
    let email = |value: &&str| ContactEmail { value: (*value).into(), ..ContactEmail::default() };
    let phone = |value: &&str| ContactPhone { value: (*value).into(), ..ContactPhone::default() };
    Contact {
        emails: emails.iter().map(email).collect(),
        phones: phones.iter().map(phone).collect(),
        ..named(name)
    }
}

fn at(name: &str, organization: &str) -> Contact {
    let organizations = vec![Organization { name: Some(organization.into()), ..Organization::default() }];
    Contact { organizations, ..named(name) }
}

fn one(contacts: &[Contact]) -> MergeSuggestion {
    let mut found = suggested(contacts, 0.0);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn none(contacts: &[Contact], min_score: f64) {
    assert_eq!(suggested(contacts, min_score), []);
}

#[test]
fn an_equal_address() {
    let found = one(&[with("Ann Lee", &["A.Lee+x@gmail.com"], &[]), with("", &["alee@googlemail.com"], &[])]);
    assert!(found.score >= 0.9 && found.contact_ids == ["c0", "c1"]);
    assert_eq!(found.reasons[0].kind, MergeReasonKind::SameEmail);
    assert_eq!(found.reasons[0].values, ["alee@gmail.com"]);
    // Under any name: a pseudonym, another script, a name before marriage.
    for other in ["Annie Fox", "Анна Ли", "ann", "Ann Fox", "Acme GmbH"] {
        assert!(
            one(&[with("Ann Lee", &["a@x.example"], &[]), with(other, &["A@X.EXAMPLE"], &[])]).score >= 0.9,
            "{other}"
        );
    }
    none(&[with("Ann Lee", &["a.b@x.example"], &[]), with("Bo Fox", &["ab@x.example"], &[])], 0.0);
}

#[test]
fn a_role_address_is_nobodys() {
    for role in ["info", "sales", "support", "noreply", "no-reply", "office"] {
        let address = format!("{role}@x.example");
        none(&[with("Ann Lee", &[&address], &[]), with("Bo Fox", &[&address], &[])], 0.0);
        none(&[with("", &[&address], &[]), with("", &[&address], &[])], 0.0);
    }
}

#[test]
fn an_address_of_too_many() {
    let many: Vec<Contact> = (0..6)
        .map(|i| {
            with(&format!("{} Fox{i}", ["Ann", "Bo", "Cy", "Di", "Ed", "Flo"][i]), &["a@x.example"], &[])
        })
        .collect();
    none(&many, 0.6);
    let imported = vec![with("Ann Lee", &["a@x.example"], &[]); 8];
    let found = one(&imported);
    assert_eq!((found.contact_ids.len(), found.score >= 0.9), (8, true));
}

#[test]
fn an_equal_number() {
    let found =
        one(&[with("Ann Lee", &[], &["+49 (151) 2345-6789"]), with("A. Lee", &[], &["0049 151 23456789"])]);
    assert!(found.score >= 0.9);
    assert_eq!(found.reasons[0].kind, MergeReasonKind::SamePhone);
    assert_eq!(found.reasons[0].values, ["+4915123456789"]);
    assert!(
        one(&[with("Ann Lee", &[], &["+4915123456789"]), with("", &[], &["+4915123456789"])]).score >= 0.9
    );
    none(&[with("", &[], &["+49 30 901820 ext. 1"]), with("", &[], &["+49 30 901820 ext. 2"])], 0.0);
    none(&[with("", &[], &["+49 30 901820 ext. 1"]), with("", &[], &["+49 30 901820"])], 0.0);
}

#[test]
fn a_number_of_an_office_or_a_household() {
    let line = &["+4930901820"][..];
    let four: Vec<Contact> = (0..4).map(|_| with("", &[], line)).collect();
    none(&four, 0.0);
    assert_eq!(one(&four[..3]).contact_ids.len(), 3);
    none(&[with("Anna Schmidt", &[], line), with("Peter Schmidt", &[], line)], 0.0);
    none(&[with("Anna Schmidt", &[], line), with("Bo Fox", &[], line), with("", &[], line)], 0.0);
    none(&[with("Anna Schmidt", &[], line), with("Familie Schmidt", &[], line)], 0.0);
    // Of three contacts, the two with agreeing names.
    let found = one(&[
        with("Anna Schmidt", &[], line),
        with("Peter Schmidt", &[], line),
        with("Schmidt, Anna", &[], line),
    ]);
    assert_eq!(found.contact_ids, ["c0", "c2"]);
    none(
        &[with("John Smith Sr.", &["j@x.example"], line), with("John Smith, Jr.", &["j@x.example"], line)],
        0.0,
    );
    none(&[with("Anna Schmidt", &["s@x.example"], &[]), with("Peter Schmidt", &["s@x.example"], &[])], 0.0);
}

#[test]
fn a_third_does_not_chain_two_people() {
    let contacts = [
        with("Anna Schmidt", &["a@x.example"], &[]),
        with("", &["a@x.example"], &["+4915123456789"]),
        with("Bo Fox", &[], &["+4915123456789"]),
    ];
    assert_eq!(one(&contacts).contact_ids, ["c0", "c1"]);
    let chain = [
        with("Anna Schmidt", &["a@x.example"], &[]),
        with("A. Schmidt", &["a@x.example"], &["+4915123456789"]),
        with("Anna Schmidt", &[], &["+4915123456789"]),
    ];
    assert_eq!(suggested(&chain, 0.9)[0].contact_ids, ["c0", "c1", "c2"]);
}

#[test]
fn an_equal_profile() {
    let url = |value: &str| Contact {
        urls: vec![ContactUrl { value: value.into(), ..ContactUrl::default() }],
        ..named("")
    };
    let found = one(&[url("https://www.linkedin.com/in/Ann/"), url("de.linkedin.com/in/ann")]);
    assert_eq!((found.reasons[0].kind, found.score), (MergeReasonKind::SameExternalProfile, 0.9));
    let im = |protocol: &str, handle: &str| Contact {
        im_addresses: vec![ImAddress { protocol: Some(protocol.into()), handle: handle.into() }],
        ..named("")
    };
    assert_eq!(
        one(&[im("xmpp", "Ann@x.example"), im("XMPP", "ann@x.example")]).reasons[0].values,
        ["xmpp:ann@x.example"]
    );
    none(&[im("xmpp", "ann"), im("matrix", "ann")], 0.0);
    none(&[url("https://acme.example/"), url("https://acme.example/")], 0.0);
}

#[test]
fn a_name_alone() {
    let found = one(&[named("José García"), named("GARCIA, Jose")]);
    assert_eq!((found.score, found.reasons.len()), (0.6, 1));
    assert_eq!(found.reasons[0].kind, MergeReasonKind::SimilarName);
    assert_eq!(found.reasons[0].values, ["José García", "GARCIA, Jose"]);
    assert_eq!(
        one(&[with("Ann Lee", &["a@x.example"], &[]), with("Ann Lee", &["b@x.example"], &[])]).score,
        0.6
    );
    for similar in ["Josef García", "J. García", "José Garcia Jr.", "José B. Garcai"] {
        let found = suggested(&[named("José García"), named(similar)], 0.0);
        assert!(found.iter().all(|f| f.score < 0.6), "{similar} {found:?}");
    }
    none(&[named("Ann"), named("Ann")], 0.5);
    none(&vec![named("John Smith"); 9], 0.1);
    let born =
        |day| Contact { birthday: Some(PartialDate { year: Some(1980), month: 5, day }), ..named("Ann Lee") };
    none(&[born(1), born(2)], 0.0);
    assert_eq!(one(&[born(1), born(1)]).score, 0.6);
}

#[test]
fn an_organization_and_a_name() {
    let found = one(&[at("Ann Lee", "Acme GmbH"), at("Lee, Ann", "ACME")]);
    assert_eq!((found.score, found.reasons[0].kind), (0.85, MergeReasonKind::SameOrgAndName));
    assert_eq!(found.reasons[0].values, ["Acme GmbH"]);
    let similar = one(&[at("Bob Whitfield", "Acme"), at("Robert Whitfield", "Acme Inc.")]);
    assert!((0.7..0.85).contains(&similar.score));
    none(&[at("Ann Lee", "Acme"), at("Bo Fox", "Acme")], 0.0);
    none(&[at("ann@acme.example", "Acme"), at("bo@acme.example", "Acme")], 0.0);
    let firm = || Contact { display_name: None, ..at("", "Acme GmbH") };
    assert!(one(&[firm(), at("ACME", "Acme")]).score <= 0.6);
}

#[test]
fn the_proposed_contact() {
    let mut full = with("Ann Lee", &["ann@x.example"], &["+49 151 23456789"]);
    full.given_name = Some("Ann".into());
    full.family_name = Some("Lee".into());
    full.book_id = Some("b1".into());
    full.birthday = Some(PartialDate { year: None, month: 5, day: 1 });
    full.group_ids = vec!["g1".into()];
    full.emails[0].primary = true;
    full.organizations = at("", "Acme GmbH").organizations;
    let mut other =
        with("Annie Lee", &["ANN@x.example", "ann@home.example"], &["004915123456789", "030 1234567"]);
    other.nickname = Some("Annie".into());
    other.notes = Some("met in Rome".into());
    other.birthday = Some(PartialDate { year: Some(1980), month: 5, day: 1 });
    other.group_ids = vec!["g9".into()];
    other.emails[1].primary = true;
    other.organizations = vec![Organization {
        name: Some("acme".into()),
        title: Some("CTO".into()),
        ..Organization::default()
    }];
    other.starred = true;
    let found = one(&[other, full]);
    let merged = &found.proposed.body;
    assert_eq!((found.suggested_primary_id.as_deref(), found.proposed.id.as_str()), (Some("c0"), "c0"));
    let values: Vec<&str> = merged.emails.iter().map(|e| e.value.as_str()).collect();
    assert_eq!(values, ["ANN@x.example", "ann@home.example"]);
    assert_eq!(merged.emails.iter().filter(|e| e.primary).count(), 1);
    assert_eq!(merged.phones.len(), 2);
    assert_eq!(merged.organizations.len(), 1);
    assert_eq!(merged.organizations[0].title.as_deref(), Some("CTO"));
    assert_eq!(merged.given_name.as_deref(), Some("Ann"));
    assert_eq!(merged.birthday.and_then(|b| b.year), Some(1980));
    assert!(merged.starred && merged.group_ids == ["g9"]);
    assert_eq!(found.conflicts.len(), 1, "{:?}", found.conflicts);
    assert_eq!(
        (found.conflicts[0].field.as_str(), found.conflicts[0].values.clone()),
        ("displayName", vec!["Annie Lee".to_owned(), "Ann Lee".to_owned()])
    );
}
