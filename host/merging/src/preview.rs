//! The response for one suggestion: the result of a merge, and the fields in which the contacts conflict.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::contacts::Contact;
use model::contacts::ContactSource;
use model::contacts::MergeConflict;
use model::contacts::MergeReason;
use model::contacts::MergeReasonKind;
use model::contacts::MergeSuggestion;
use model::contacts::PartialDate;
use model::resource::Resource;
use text::folding;

use crate::engine::RankedSuggestion;
use crate::identifiers;
use crate::identifiers::Kind;
use crate::organizations;
use crate::scoring;
use crate::union;

/// Items of a list that count for completeness; more items do not make a contact more complete.
const MAX_COUNTED: usize = 5;

type Field = (&'static str, fn(&mut Contact) -> &mut Option<String>);

/// The text fields that a merge takes from one contact, and that can conflict.
const TEXTS: [Field; 10] = [
    ("displayName", |c| &mut c.display_name),
    ("givenName", |c| &mut c.given_name),
    ("middleName", |c| &mut c.middle_name),
    ("familyName", |c| &mut c.family_name),
    ("prefix", |c| &mut c.prefix),
    ("suffix", |c| &mut c.suffix),
    ("nickname", |c| &mut c.nickname),
    ("phoneticGivenName", |c| &mut c.phonetic_given_name),
    ("phoneticFamilyName", |c| &mut c.phonetic_family_name),
    ("notes", |c| &mut c.notes),
];

/// Returns the suggestion for the full contacts of `ranked.contact_ids`, in any order; `region` as passed to the engine. None if a contact
/// is deleted, or if changes have removed every shared identifier.
pub fn suggestion(
    ranked: &RankedSuggestion,
    contacts: &[Resource<Contact>],
    region: Option<&str>,
) -> Option<MergeSuggestion> {
    let wanted = |c: &&Resource<Contact>| ranked.contact_ids.binary_search(&c.id).is_ok();
    let mut members: Vec<&Resource<Contact>> = contacts.iter().filter(wanted).collect();
    members.sort_by_cached_key(|c| precedence(c));
    members.dedup_by(|a, b| a.id == b.id);
    let primary = *members.first()?;
    if members.len() != ranked.contact_ids.len() {
        return None;
    }
    let bodies: Vec<&Contact> = members.iter().map(|c| &c.body).collect();
    Some(MergeSuggestion {
        id: ranked.id.clone(),
        contact_ids: ranked.contact_ids.clone(),
        score: fraction(ranked.score),
        reasons: reasons(ranked, &bodies, region)?,
        proposed: propose(primary, &bodies),
        conflicts: conflicts(&bodies),
        suggested_primary_id: Some(primary.id.clone()),
    })
}

fn fraction(score: scoring::Score) -> f64 {
    f64::from(score) / 1000.0
}

/// Returns the sort key by which contacts contribute values; the first is the primary. The user's own data comes before a directory's or
/// the provider's guess, then the more complete contact, then the more recent, then the lower id.
fn precedence(contact: &Resource<Contact>) -> (bool, Reverse<usize>, Reverse<i64>, String) {
    let derived = contact.body.source != ContactSource::AddressBook;
    (
        derived,
        Reverse(completeness(&contact.body)),
        Reverse(contact.updated_at.as_millis()),
        contact.id.clone(),
    )
}

fn completeness(contact: &Contact) -> usize {
    let mut copy = Contact { notes: None, ..contact.clone() };
    let texts = TEXTS.iter().filter(|(_, field)| field(&mut copy).is_some()).count();
    let lists = [
        contact.emails.len(),
        contact.phones.len(),
        contact.addresses.len(),
        contact.organizations.len(),
        contact.urls.len(),
        contact.im_addresses.len(),
        contact.relations.len(),
        contact.anniversaries.len(),
    ];
    let single =
        [contact.birthday.is_some(), contact.photo.is_some(), contact.notes.is_some(), contact.starred];
    texts + lists.iter().map(|n| (*n).min(MAX_COUNTED)).sum::<usize>() + single.iter().filter(|s| **s).count()
}

fn propose(primary: &Resource<Contact>, members: &[&Contact]) -> Resource<Contact> {
    let mut merged = primary.clone();
    merged.warnings.clear();
    merged.provider_data = None;
    let others = &members[1..];
    let body = &mut merged.body;
    for other in others {
        let mut other = (*other).clone();
        for (_, field) in TEXTS {
            let value = field(body);
            if value.as_deref().is_none_or(|v| v.trim().is_empty()) {
                *value = field(&mut other).take();
            }
        }
        body.photo = body.photo.take().or(other.photo.take());
        body.starred |= other.starred;
        // The same day with a year is more precise.
        let completes =
            |a: PartialDate, b: PartialDate| a.year.is_none() && (a.month, a.day) == (b.month, b.day);
        body.birthday = match (body.birthday, other.birthday) {
            (Some(own), Some(theirs)) if completes(own, theirs) => Some(theirs),
            (own, theirs) => own.or(theirs),
        };
        // Groups belong to one book; those of another book cannot be kept.
        if other.book_id == body.book_id {
            let new = other.group_ids.into_iter().filter(|g| !body.group_ids.contains(g)).collect::<Vec<_>>();
            body.group_ids.extend(new);
        }
    }
    union::lists(body, others);
    merged
}

fn conflicts(members: &[&Contact]) -> Vec<MergeConflict> {
    let mut copies: Vec<Contact> = members.iter().map(|c| (*c).clone()).collect();
    let mut found = Vec::new();
    for (name, field) in TEXTS {
        let values = copies.iter_mut().filter_map(|c| field(c).clone());
        found.extend(conflict(name, values, |v| folding::fold(v.trim())));
    }
    let mut dates: Vec<PartialDate> = members.iter().filter_map(|c| c.birthday).collect();
    // A date without a year does not conflict with one that has a year.
    let with_year: Vec<PartialDate> = dates.iter().copied().filter(|d| d.year.is_some()).collect();
    dates.retain(|d| d.year.is_some() || !with_year.iter().any(|w| (w.month, w.day) == (d.month, d.day)));
    found.extend(conflict("birthday", dates.into_iter().map(format_date), str::to_owned));
    found
}

/// Returns the values in the contacts' order, each once; none if there is at most one.
fn conflict(
    field: &str,
    values: impl Iterator<Item = String>,
    comparable: impl Fn(&str) -> String,
) -> Option<MergeConflict> {
    let mut kept: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    kept.extend(values.filter(|v| !v.trim().is_empty()).filter(|v| seen.insert(comparable(v))));
    (kept.len() > 1).then(|| MergeConflict { field: field.to_owned(), values: kept })
}

/// Formats a date; without a year as in vCard (RFC 6350 §4.3.1), but with hyphens.
fn format_date(date: PartialDate) -> String {
    match date.year {
        Some(year) => format!("{year:04}-{:02}-{:02}", date.month, date.day),
        None => format!("--{:02}-{:02}", date.month, date.day),
    }
}

/// Returns the reasons, the heaviest first, with their values as compared (addresses, numbers, profiles) or as written (names,
/// organizations).
fn reasons(
    ranked: &RankedSuggestion,
    members: &[&Contact],
    region: Option<&str>,
) -> Option<Vec<MergeReason>> {
    let mut shared: BTreeMap<usize, BTreeMap<String, usize>> = BTreeMap::new();
    for identifier in members.iter().flat_map(|c| identifiers::read(c, region)) {
        if ranked.evidence.binary_search(&(identifier.kind, identifier.key())).is_ok() {
            *shared
                .entry(identifiers::reason(identifier.kind))
                .or_default()
                .entry(identifier.normalized)
                .or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (at, kind) in scoring::REASONS.into_iter().enumerate().filter(|(at, _)| ranked.weights[*at] > 0) {
        let values = match kind {
            MergeReasonKind::SimilarName => distinct(members.iter().filter_map(|c| name(c)), folding::fold),
            MergeReasonKind::SameOrgAndName => common_organizations(members),
            _ => {
                let holders = shared.remove(&at).unwrap_or_default();
                holders.into_iter().filter(|(_, n)| *n > 1).map(|(value, _)| value).collect()
            }
        };
        let is_identifier = at < identifiers::reason(Kind::Profile) + 1;
        if is_identifier && values.is_empty() {
            return None;
        }
        found.push(MergeReason { kind, values, weight: fraction(ranked.weights[at]) });
    }
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Some(found)
}

fn name(contact: &Contact) -> Option<String> {
    let parts = [&contact.given_name, &contact.middle_name, &contact.family_name];
    let joined =
        parts.into_iter().flatten().map(|p| p.trim()).filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ");
    contact.display_name.clone().filter(|d| !d.trim().is_empty()).or(Some(joined)).filter(|n| !n.is_empty())
}

fn distinct(values: impl Iterator<Item = String>, comparable: impl Fn(&str) -> String) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    values.filter(|v| seen.insert(comparable(v))).collect()
}

/// Returns the organizations that at least two of the contacts share.
fn common_organizations(members: &[&Contact]) -> Vec<String> {
    let mut holders: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for contact in members {
        let named = contact.organizations.iter().filter_map(|o| o.name.clone());
        for name in distinct(named, organizations::comparable).into_iter().filter(|n| !n.trim().is_empty()) {
            holders.entry(organizations::comparable(&name)).or_insert((name, 0)).1 += 1;
        }
    }
    holders.into_values().filter(|(_, n)| *n > 1).map(|(name, _)| name).collect()
}
