//! Properties that hold for any contacts.

use std::collections::HashSet;

use model::contacts::Contact;
use model::contacts::ContactEmail;
use model::contacts::ContactPhone;
use model::contacts::ContactUrl;
use model::contacts::ImAddress;
use model::contacts::Organization;
use model::contacts::PartialDate;
use model::resource::Resource;
use proptest::prelude::*;

use crate::RankedSuggestion;
use crate::blocking;
use crate::blocking::Frequencies;
use crate::clusters::MAX_CLUSTER;
use crate::records::Records;
use crate::suggestion;
use crate::tests::generator;
use crate::tests::generator::Labelled;
use crate::tests::generator::Random;
use crate::tests::ranked;
use crate::tests::ranking;

fn suggestions(set: &[Labelled], min_score: f64) -> Vec<RankedSuggestion> {
    ranked(set.iter().map(|l| (l.id.as_str(), &l.contact)), min_score)
}

#[test]
fn the_order_of_the_contacts_makes_no_difference() {
    for seed in 20..25 {
        let mut set = generator::labelled(seed, 800);
        let first = suggestions(&set, 0.0);
        assert_eq!(suggestions(&set, 0.0), first);
        let mut random = Random::new(seed);
        for at in (1..set.len()).rev() {
            set.swap(at, random.below(at + 1));
        }
        assert_eq!(suggestions(&set, 0.0), first);
        let twice = set.iter().chain(&set).map(|l| (l.id.as_str(), &l.contact));
        assert_eq!(ranked(twice, 0.0), first);
    }
}

#[test]
fn unrelated_contacts_make_no_difference() {
    let mut set = generator::labelled(31, 1_000);
    let before = suggestions(&set, 0.7);
    for i in 0..500 {
        let contact = Contact {
            given_name: Some(format!("Qx{}", "abcdefghij".repeat(1 + i % 3))),
            family_name: Some(format!("Zz{i}xyw{i}")),
            emails: vec![ContactEmail {
                value: format!("unrelated{i}@elsewhere.example"),
                ..ContactEmail::default()
            }],
            ..Contact::default()
        };
        set.push(Labelled { id: format!("other{i}"), person: usize::MAX - i, contact });
    }
    assert_eq!(suggestions(&set, 0.7), before);
    let sure: HashSet<String> = before.iter().map(|r| r.id.clone()).collect();
    assert!(!sure.is_empty() && sure.len() == before.len(), "ids are unique");
}

#[test]
fn pages_are_the_whole() {
    let set = generator::labelled(41, 1_500);
    let ranking = ranking(set.iter().map(|l| (l.id.as_str(), &l.contact)), 0.4, &[]);
    let whole = ranking.page(None, usize::MAX);
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = ranking.page(after.as_ref(), 7);
        let Some(last) = page.last() else { break };
        after = Some(last.position());
        paged.extend(page);
    }
    assert_eq!(paged, whole);
    assert!(whole.is_sorted_by_key(RankedSuggestion::position));
}

#[test]
fn contacts_that_are_asked_for() {
    let set = generator::labelled(42, 1_500);
    let all = suggestions(&set, 0.5);
    let asked = vec![all[3].contact_ids[0].clone(), "nobody".to_owned()];
    let found = ranking(set.iter().map(|l| (l.id.as_str(), &l.contact)), 0.5, &asked).page(None, usize::MAX);
    let expected: Vec<RankedSuggestion> =
        all.into_iter().filter(|r| r.contact_ids.contains(&asked[0])).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_suggestion_has_an_answer() {
    let set = generator::labelled(43, 3_000);
    let resources: Vec<Resource<Contact>> = set
        .iter()
        .map(|l| Resource { id: l.id.clone(), body: l.contact.clone(), ..Resource::default() })
        .collect();
    for found in suggestions(&set, 0.0) {
        let answer = suggestion(&found, &resources, None).unwrap();
        sound(&found);
        assert!(
            !answer.reasons.is_empty() && answer.reasons.iter().all(|r| !r.values.is_empty()),
            "{answer:?}"
        );
        assert!(answer.reasons.iter().all(|r| (0.0..=1.0).contains(&r.weight)));
        assert_eq!(answer.suggested_primary_id, Some(answer.proposed.id.clone()));
        assert!(answer.contact_ids.contains(&answer.proposed.id));
    }
}

fn sound(found: &RankedSuggestion) {
    assert!(found.score <= 1000 && (2..=MAX_CLUSTER).contains(&found.contact_ids.len()), "{found:?}");
    assert!(found.contact_ids.is_sorted() && found.id.len() <= 64 && found.id.starts_with("mrg_"));
    assert!(found.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let has_identifier = found.weights[..3].iter().any(|w| *w > 0);
    assert!(has_identifier == (found.score >= 900) || found.score < 900, "{found:?}");
}

#[test]
fn work_grows_with_the_contacts_and_not_with_their_pairs() {
    type Make = fn(usize) -> Contact;
    let kinds: [Make; 5] = [
        |_| Contact {
            given_name: Some("John".into()),
            family_name: Some("Smith".into()),
            ..Contact::default()
        },
        |i| Contact {
            phones: vec![ContactPhone { value: "+49 30 901820".into(), ..ContactPhone::default() }],
            display_name: Some(format!("John Smith{i}")),
            ..Contact::default()
        },
        |i| Contact {
            emails: vec![ContactEmail { value: format!("u{i}@one.example"), ..ContactEmail::default() }],
            ..Contact::default()
        },
        |_| Contact {
            display_name: Some("John Smith".into()),
            emails: vec![ContactEmail { value: "one@one.example".into(), ..ContactEmail::default() }],
            ..Contact::default()
        },
        |i| Contact {
            given_name: Some(format!("John{}", i % 7)),
            family_name: Some(format!("Smith{}", i % 13)),
            organizations: vec![Organization { name: Some("Acme".into()), ..Organization::default() }],
            ..Contact::default()
        },
    ];
    for make in kinds {
        let size = 4_000;
        let mut records = Records::default();
        (0..size).for_each(|i| records.add(&format!("c{i:05}"), &make(i), None));
        records.sort();
        let links = blocking::links(&records, &Frequencies::from_records(&records));
        let pairs = blocking::similar_names(&records);
        assert!(links.len() <= size * blocking::WINDOW, "{}", links.len());
        // Three blocks of names and two of an organization.
        assert!(pairs.len() <= size * 5 * blocking::WINDOW, "{}", pairs.len());
    }
}

#[test]
fn hostile_contacts() {
    let long = "Ä".repeat(5_000_000);
    let emails = |n: usize| {
        (0..n).map(|i| ContactEmail { value: format!("a{i}@b.example"), ..ContactEmail::default() }).collect()
    };
    let hostile = Contact {
        given_name: Some(long.clone()),
        family_name: Some(format!("\0\u{202e}{long}")),
        display_name: Some("\u{200f}\u{202e}(((((".into()),
        notes: Some(long.clone()),
        emails: emails(10_000),
        phones: (0..10_000)
            .map(|i| ContactPhone { value: format!("+4930{i:07}"), ..ContactPhone::default() })
            .collect(),
        organizations: (0..10_000)
            .map(|i| Organization { name: Some(format!("{i}")), ..Organization::default() })
            .collect(),
        urls: vec![ContactUrl { value: long.clone(), ..ContactUrl::default() }; 3],
        im_addresses: vec![ImAddress { protocol: Some(long.clone()), handle: long }],
        birthday: Some(PartialDate { year: Some(i64::MAX), month: i64::MIN, day: i64::MAX }),
        ..Contact::default()
    };
    let start = std::time::Instant::now();
    let found = ranked([("a", &hostile), ("b", &hostile)], 0.0);
    assert_eq!(found.len(), 1);
    let resources =
        ["a", "b"].map(|id| Resource { id: id.into(), body: hostile.clone(), ..Resource::default() });
    let answer = suggestion(&found[0], &resources, None).unwrap();
    assert_eq!(answer.proposed.body.emails.len(), 10_000);
    // It takes seconds on an idle machine; the limit only excludes minutes.
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

prop_compose! {
    fn text()(choice in 0..6, any in any::<String>(), name in "[A-Da-dßøÄ\u{301}\u{202e}\0김山 ,.()'-]{0,12}") -> Option<String> {
        match choice {
            0 => None,
            1 => Some(any),
            _ => Some(name),
        }
    }
}

prop_compose! {
    fn contact()(
        names in prop::array::uniform7(text()),
        emails in prop::collection::vec("[ab.+]{1,3}@(gmail.com|x.y|\u{e4}.b|)|.*", 0..3),
        phones in prop::collection::vec("[+0-9() x٠]{0,14}|.*", 0..3),
        urls in prop::collection::vec("(https?://)?(x.com|linkedin.com/in|@a)/[ab@]{0,2}|.*", 0..2),
        organizations in prop::collection::vec(text(), 0..2),
        birthday in prop::option::of((prop::option::of(any::<i64>()), any::<i64>(), any::<i64>())),
    ) -> Contact {
        let [display_name, given_name, middle_name, family_name, suffix, nickname, handle] = names;
        Contact {
            display_name, given_name, middle_name, family_name, suffix, nickname,
            emails: emails.into_iter().map(|value| ContactEmail { value, ..ContactEmail::default() }).collect(),
            phones: phones.into_iter().map(|value| ContactPhone { e164: Some(value.clone()), value, ..ContactPhone::default() }).collect(),
            urls: urls.into_iter().map(|value| ContactUrl { value, ..ContactUrl::default() }).collect(),
            organizations: organizations.into_iter().map(|name| Organization { name, ..Organization::default() }).collect(),
            im_addresses: vec![ImAddress { protocol: handle.clone(), handle: handle.unwrap_or_default() }],
            birthday: birthday.map(|(year, month, day)| PartialDate { year, month, day }),
            ..Contact::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_contacts(contacts in prop::collection::vec(contact(), 2..12)) {
        let resources: Vec<Resource<Contact>> = contacts
            .iter()
            .enumerate()
            .map(|(i, body)| Resource { id: format!("c{i:02}"), body: body.clone(), ..Resource::default() })
            .collect();
        let found = ranked(resources.iter().map(|r| (r.id.as_str(), &r.body)), 0.0);
        prop_assert_eq!(&ranked(resources.iter().rev().map(|r| (r.id.as_str(), &r.body)), 0.0), &found);
        for one in &found {
            sound(one);
            prop_assert!(suggestion(one, &resources, None).is_some());
        }
    }

    #[test]
    fn any_text(text in prop_oneof![any::<String>(), r"[\p{M}\p{Arabic}\p{Hebrew}\p{Latin}\p{Greek}\p{Cyrillic}\p{Common}]{0,6}"]) {
        let folded = text::folding::fold(&text);
        prop_assert_eq!(&text::folding::fold(&folded), &folded);
        let key = text::folding::search_key(&text);
        prop_assert_eq!(&text::folding::search_key(&key), &key);
        prop_assert_eq!(&text::folding::search_key(&folded), &key);
        for region in [None, Some("US"), Some(text.as_str())] {
            if let Some(number) = text::phones::e164(&text, region) {
                let again = text::phones::e164(&number, None);
                prop_assert_eq!(again.as_ref(), Some(&number));
            }
        }
    }
}
