//! Google's name of a contact: its parts, and the whole as a free text. It is written as a whole. Pure.

use model::contacts::Contact;

use crate::contacts::native::Person;
use crate::contacts::person::text;
use crate::contacts::values::PersonName;

/// Returns the name, of the one that is there and the changed parts; none where nothing of it is left.
pub fn names_to(ours: &Contact, changed: &[String], before: &Person) -> Vec<PersonName> {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let old = before.names.first().cloned().unwrap_or_default();
    let old_whole = old.display_name.clone().or_else(|| old.unstructured_name.clone());
    let was_made_of_parts = is_made_of_parts(&old, old_whole.as_deref());
    let mut name = PersonName { display_name: None, metadata: None, ..old };
    let parts = [
        ("givenName", &ours.given_name, &mut name.given_name),
        ("middleName", &ours.middle_name, &mut name.middle_name),
        ("familyName", &ours.family_name, &mut name.family_name),
        ("prefix", &ours.prefix, &mut name.honorific_prefix),
        ("suffix", &ours.suffix, &mut name.honorific_suffix),
        ("phoneticGivenName", &ours.phonetic_given_name, &mut name.phonetic_given_name),
        ("phoneticFamilyName", &ours.phonetic_family_name, &mut name.phonetic_family_name),
    ];
    for (field, part, theirs) in parts {
        if has(field) {
            *theirs = text(part.as_ref());
        }
    }
    if has("phoneticGivenName") || has("phoneticFamilyName") {
        name.phonetic_full_name = None;
    }
    name.unstructured_name = if has("displayName") {
        text(ours.display_name.as_ref()).filter(|whole| !before.names.is_empty() || !is_borrowed(ours, whole))
    } else if was_made_of_parts {
        // Google composes it again from the parts.
        None
    } else {
        old_whole
    };
    let is_empty = name == PersonName::default();
    if is_empty { Vec::new() } else { vec![name] }
}

/// Whether the whole name contains each part, so that it changes with them.
fn is_made_of_parts(name: &PersonName, whole: Option<&str>) -> bool {
    let parts = [&name.given_name, &name.family_name];
    let mut parts = parts.into_iter().flatten().filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some() && parts.all(|part| whole.is_none_or(|whole| whole.contains(part.as_str())))
}

/// Whether the name to show is that of something else, because the contact has no name.
fn is_borrowed(ours: &Contact, whole: &str) -> bool {
    let parts = [
        &ours.given_name,
        &ours.middle_name,
        &ours.family_name,
        &ours.prefix,
        &ours.suffix,
        &ours.phonetic_given_name,
        &ours.phonetic_family_name,
    ];
    let has_parts = parts.into_iter().flatten().any(|part| !part.is_empty());
    let mut others = [&ours.nickname].into_iter().flatten().chain(
        ours.organizations
            .iter()
            .filter_map(|one| one.name.as_ref())
            .chain(ours.emails.iter().map(|one| &one.value))
            .chain(ours.phones.iter().map(|one| &one.value)),
    );
    !has_parts && others.any(|other| other == whole)
}
