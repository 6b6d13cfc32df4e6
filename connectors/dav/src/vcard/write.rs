//! `Contact` → card: only the lines of the fields that were changed.

use connector_sdk::{Failure, Outcome};
use model::Instant;
use model::contacts::{Contact, PartialDate};
use model::wire::Warning;
use serde_json::json;
use vcard::tree::cst::VcardCst;

use crate::collection::changed::FieldSet;
use crate::text::plain;
use crate::vcard::addresses::{raw_components, set_addresses};
use crate::vcard::dates::{day, day_line, is_day};
use crate::vcard::entries::set_preferring;
use crate::vcard::lines::{
    Version, View, drop_lines, empty, escape, line, places, set_line, set_text, version, with_param, with_raw,
};
use crate::vcard::lists::set_list;
use crate::vcard::organizations::set_organizations;
use crate::vcard::photo::set_photo;
use crate::vcard::read::{name_line, name_parts, nickname, notes, phonetic_line};

/// Fields that are components of N, in its order.
const NAMES: [&str; 5] = ["familyName", "givenName", "middleName", "prefix", "suffix"];

/// A new contact's card.
pub fn new_card(
    version: Version,
    uid: &str,
    now: Instant,
    wanted: &Contact,
    changed: &FieldSet,
) -> Outcome<VcardCst<'static>> {
    let mut card = empty(version);
    card.props.push(line("UID", &[], uid));
    set_text(&mut card, "FN", Some(&shown_name(wanted)));
    apply(&mut card, version, wanted, changed)?;
    touch(&mut card, version, now);
    Ok(card)
}

/// Makes the card say the changed fields, and have what each version insists on (FN; in 3.0 N, too). Fails before anything is changed that would have to be taken back.
pub fn apply(card: &mut VcardCst, version: Version, wanted: &Contact, changed: &FieldSet) -> Outcome<()> {
    if changed.has("displayName") {
        set_text(card, "FN", Some(&shown_name(wanted)));
    }
    set_names(card, wanted, changed);
    let text = |text: &Option<String>| text.as_deref().map(|text| plain(text).trim().to_owned());
    if changed.has("nickname") {
        set_one_text(card, "NICKNAME", text(&wanted.nickname), nickname(&View::from_card(card)));
    }
    if changed.has("notes") {
        set_one_text(card, "NOTE", text(&wanted.notes), notes(&View::from_card(card)));
    }
    set_lists(card, version, wanted, changed)?;
    if changed.has("birthday") {
        set_birthday(card, version, wanted.birthday.as_ref())?;
    }
    if changed.has("photo") {
        set_photo(card, version, wanted.photo.as_ref())?;
    }
    // A card may have been stored without them; it is not taken again like that. A card with an empty FN was accepted, and keeps it.
    if places(card, "FN").is_empty() {
        set_text(card, "FN", Some(&shown_name(wanted)));
    }
    if version == Version::V3 && places(card, "N").is_empty() {
        card.props.push(line("N", &[], ";;;;"));
    }
    Ok(())
}

/// The card was changed now (RFC 6350 section 6.7.4), in the spelling that it had.
pub fn touch(card: &mut VcardCst, version: Version, now: Instant) {
    let extended = now.to_string();
    let extended = extended.split_once('.').map_or(extended.clone(), |(whole, _)| format!("{whole}Z"));
    let old = View::from_card(card).text("REV");
    let is_extended = old.map_or(version == Version::V3, |old| old.get(4..5) == Some("-"));
    let basic: String = extended.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    set_line(card, line("REV", &[], if is_extended { &extended } else { &basic }));
}

/// Fields that vCard has no property for and that ask for one.
fn unsupported_fields(wanted: &Contact, changed: &FieldSet) -> Vec<&'static str> {
    let ended = wanted.organizations.iter().any(|organization| !organization.current);
    let asked = [
        ("starred", changed.has("starred") && wanted.starred),
        ("organizations", changed.has("organizations") && ended),
    ];
    asked.into_iter().filter(|(_, asked)| *asked).map(|(field, _)| field).collect()
}

/// Checks for fields that vCard cannot keep: a failure where the caller is strict, else warnings.
pub fn check(wanted: &Contact, changed: &FieldSet, strict: bool) -> Outcome<Vec<Warning>> {
    let fields = unsupported_fields(wanted, changed);
    if let Some(field) = fields.first().filter(|_| strict) {
        return Err(Failure::unsupported(&format!("{field} as it is given; vCard has no such property"))
            .with_detail(json!({ "field": field })));
    }
    let warning = |field: &&str| Warning {
        code: "field_not_supported".into(),
        message: "vCard has no property for all of it".into(),
        target: Some((*field).to_owned()),
    };
    Ok(fields.iter().map(warning).collect())
}

/// FN must say something (RFC 6350 section 6.2.1).
fn shown_name(contact: &Contact) -> String {
    let text = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let names =
        [&contact.prefix, &contact.given_name, &contact.middle_name, &contact.family_name, &contact.suffix];
    let name = names.into_iter().filter_map(text).collect::<Vec<_>>().join(" ");
    let organization = || contact.organizations.iter().find_map(|organization| text(&organization.name));
    let address =
        || contact.emails.iter().map(|email| email.value.trim().to_owned()).find(|email| !email.is_empty());
    let number =
        || contact.phones.iter().map(|phone| phone.value.trim().to_owned()).find(|phone| !phone.is_empty());
    text(&contact.display_name)
        .or_else(|| Some(name).filter(|name| !name.is_empty()))
        .or_else(|| text(&contact.nickname))
        .or_else(organization)
        .or_else(address)
        .or_else(number)
        .unwrap_or_else(|| "-".into())
}

fn set_names(card: &mut VcardCst, wanted: &Contact, changed: &FieldSet) {
    let parts =
        [&wanted.family_name, &wanted.given_name, &wanted.middle_name, &wanted.prefix, &wanted.suffix];
    let given: Vec<(usize, Option<&str>)> =
        (0..NAMES.len()).filter(|at| changed.has(NAMES[*at])).map(|at| (at, parts[at].as_deref())).collect();
    if !given.is_empty() {
        let at = place_of(card, false);
        // How the old name was sorted says nothing of the new one.
        let changed = set_components(card, at, "N", &given);
        if let Some(at) = changed {
            card.props[at] = with_param(&card.props[at], "SORT-AS", None);
        }
    }
    let phonetic = [
        ("phoneticFamilyName", "X-PHONETIC-LAST-NAME", &wanted.phonetic_family_name),
        ("phoneticGivenName", "X-PHONETIC-FIRST-NAME", &wanted.phonetic_given_name),
    ];
    for (index, (field, name, value)) in phonetic.into_iter().enumerate() {
        if !changed.has(field) {
            continue;
        }
        match place_of(card, true).filter(|_| places(card, name).is_empty()) {
            Some(at) => {
                set_components(card, Some(at), "N", &[(index, value.as_deref())]);
            }
            None => set_text(card, name, value.as_deref()),
        }
    }
}

/// Returns the index of the N with or without PHONETIC.
fn place_of(card: &VcardCst, phonetic: bool) -> Option<usize> {
    let view = View::from_card(card);
    let line = if phonetic { phonetic_line(&view) } else { name_line(&view) }?;
    view.lines.iter().find(|(_, other)| std::ptr::eq(*other, line)).map(|(at, _)| *at)
}

/// Sets components of a structured value; the others keep their bytes. Where it changed, the line's place.
fn set_components(
    card: &mut VcardCst,
    at: Option<usize>,
    name: &str,
    given: &[(usize, Option<&str>)],
) -> Option<usize> {
    let old = at.map(|at| &card.props[at]);
    let mut raw = old.map(raw_components).unwrap_or_default();
    let now = old.map(name_parts).unwrap_or_default();
    raw.resize(raw.len().max(NAMES.len()), String::new());
    let mut changed = false;
    for (index, value) in given {
        let value = value.map(|value| plain(value).trim().to_owned()).unwrap_or_default();
        if now.get(*index).map(String::as_str).unwrap_or_default() != value {
            raw[*index] = escape(&value);
            changed = true;
        }
    }
    if !changed {
        return None;
    }
    let raw = raw.join(";");
    match at {
        Some(at) => card.props[at] = with_raw(&card.props[at], &raw),
        None => card.props.push(line(name, &[], &raw)),
    }
    at
}

/// A text that may stand in several lines: one line says it, unless they say it already.
fn set_one_text(card: &mut VcardCst, name: &str, wanted: Option<String>, now: Option<String>) {
    if wanted != now {
        set_text(card, name, wanted.as_deref());
    }
}

fn set_lists(card: &mut VcardCst, version: Version, wanted: &Contact, changed: &FieldSet) -> Outcome<()> {
    if changed.has("emails") {
        let filled: Vec<_> =
            wanted.emails.iter().filter(|one| !one.value.trim().is_empty()).cloned().collect();
        set_preferring(card, version, &filled, |email| email.primary);
    }
    if changed.has("phones") {
        let mut filled: Vec<_> =
            wanted.phones.iter().filter(|one| !one.value.trim().is_empty()).cloned().collect();
        // Computed from the number, never stored.
        filled.iter_mut().for_each(|phone| phone.e164 = None);
        set_preferring(card, version, &filled, |phone| phone.primary);
    }
    if changed.has("addresses") {
        set_addresses(card, &wanted.addresses);
    }
    if changed.has("organizations") {
        set_organizations(card, &wanted.organizations);
    }
    if changed.has("urls") {
        let filled: Vec<_> = wanted.urls.iter().filter(|one| !one.value.trim().is_empty()).cloned().collect();
        set_list(card, &filled);
    }
    if changed.has("imAddresses") {
        let filled: Vec<_> =
            wanted.im_addresses.iter().filter(|one| !one.handle.trim().is_empty()).cloned().collect();
        set_list(card, &filled);
    }
    if changed.has("relations") {
        let named = wanted.relations.iter().filter(|one| !one.name.trim().is_empty());
        let all: Vec<_> = named.cloned().collect();
        set_list(card, &all);
    }
    if changed.has("anniversaries") {
        if let Some(bad) = wanted.anniversaries.iter().find(|one| !is_day(&one.date)) {
            return Err(no_day("anniversaries", &bad.date));
        }
        set_list(card, &wanted.anniversaries);
    }
    Ok(())
}

fn set_birthday(card: &mut VcardCst, version: Version, wanted: Option<&PartialDate>) -> Outcome<()> {
    let old = places(card, "BDAY");
    let said = View::from_card(card).first("BDAY").and_then(day);
    let Some(wanted) = wanted else {
        // A year alone is no day of the model: it is not removed.
        if said.is_some() {
            drop_lines(card, &old);
        }
        return Ok(());
    };
    if !is_day(wanted) {
        return Err(no_day("birthday", wanted));
    }
    let old = old.first().map(|at| &card.props[*at]);
    if old.and_then(day).as_ref() != Some(wanted) {
        let made = day_line("BDAY", old, wanted, version);
        set_line(card, made);
    }
    Ok(())
}

fn no_day(field: &str, date: &PartialDate) -> Failure {
    let message = format!("{field} has no day {}-{} in it that exists", date.month, date.day);
    Failure::invalid(message).with_detail(json!({ "field": field }))
}

/// The version that a card was found in, for a card that is to be changed.
pub fn writable(card: &VcardCst) -> Outcome<Version> {
    version(card).ok_or_else(|| Failure::unsupported("changing cards of version 2.1"))
}
