//! Validation of contacts: bounds and formats of the fields that a client may write, before the provider is called; errors name their
//! field. Only fields that the client changed are checked: the others are the provider's data.

use base::error::{Code, Result, invalid};
use base::input::validate::{self, fault};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::civil::Date;
use model::bounds::contact::{MAX_ENTRIES, MAX_GROUPS, MAX_KIND, MAX_PHONE, MAX_PICTURE, MAX_YEAR};
use model::bounds::{MAX_LABEL, MAX_LINE, MAX_TEXT, MAX_URL};
use model::contacts::{
    Contact, ContactEmail, ContactKind, ContactPhone, PartialDate, PhoneKind, PostalAddress,
};

/// Checks the fields of a contact that `changed` names, and that the contact has at least one identifying field unless it had none
/// `before`. List entries that it had before are not checked.
pub fn valid(contact: &Contact, changed: &[String], before: Option<&Contact>) -> Result<()> {
    if before.is_none_or(has_something) && !has_something(contact) {
        let message =
            "a contact needs at least one of a name, an e-mail address, a phone number and an organization";
        return Err(invalid(Code::MissingField, "displayName", message));
    }
    let nothing = Contact::default();
    let before = before.unwrap_or(&nothing);
    let is_new = |field: &str| changed.iter().any(|f| f == field);
    names(contact, &is_new)?;
    lists(contact, before, &is_new)?;
    if is_new("emails") {
        emails(&contact.emails, &before.emails)?;
    }
    if is_new("phones") {
        phones(&contact.phones, &before.phones)?;
    }
    if is_new("addresses") {
        addresses(&contact.addresses, &before.addresses)?;
    }
    if is_new("organizations") {
        for (i, one) in validate::added(&contact.organizations, &before.organizations) {
            let at = |name: &str| format!("organizations[{i}].{name}");
            for (name, value) in [("name", &one.name), ("title", &one.title), ("department", &one.department)]
            {
                validate::text(&at(name), value.as_deref(), MAX_LINE)?;
            }
            if one.name.is_none() && one.title.is_none() && one.department.is_none() {
                let message = format!("{} or another of its texts is required", at("name"));
                return Err(invalid(Code::MissingField, at("name"), message));
            }
        }
    }
    links(contact, before, &is_new)?;
    dates(contact, before, &is_new)?;
    if is_new("photo") {
        photo(contact)?;
    }
    Ok(())
}

/// Contract: at least one of name, e-mail, phone, organization.
fn has_something(contact: &Contact) -> bool {
    let has_name = [
        &contact.display_name,
        &contact.given_name,
        &contact.middle_name,
        &contact.family_name,
        &contact.nickname,
    ]
    .into_iter()
    .flatten()
    .any(|name| !name.trim().is_empty());
    let has_organization = contact.organizations.iter().any(|o| o.name.is_some());
    has_name || has_organization || !contact.emails.is_empty() || !contact.phones.is_empty()
}

fn names(contact: &Contact, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    let fields = [
        ("displayName", &contact.display_name, MAX_LINE),
        ("givenName", &contact.given_name, MAX_LINE),
        ("middleName", &contact.middle_name, MAX_LINE),
        ("familyName", &contact.family_name, MAX_LINE),
        ("prefix", &contact.prefix, MAX_LINE),
        ("suffix", &contact.suffix, MAX_LINE),
        ("nickname", &contact.nickname, MAX_LINE),
        ("phoneticGivenName", &contact.phonetic_given_name, MAX_LINE),
        ("phoneticFamilyName", &contact.phonetic_family_name, MAX_LINE),
        ("notes", &contact.notes, MAX_TEXT),
    ];
    let mut changed = fields.into_iter().filter(|(field, ..)| is_new(field));
    changed.try_for_each(|(field, value, max)| validate::text(field, value.as_deref(), max))
}

fn lists(contact: &Contact, before: &Contact, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    let lengths = [
        ("emails", contact.emails.len(), before.emails.len(), MAX_ENTRIES),
        ("phones", contact.phones.len(), before.phones.len(), MAX_ENTRIES),
        ("addresses", contact.addresses.len(), before.addresses.len(), MAX_ENTRIES),
        ("organizations", contact.organizations.len(), before.organizations.len(), MAX_ENTRIES),
        ("urls", contact.urls.len(), before.urls.len(), MAX_ENTRIES),
        ("imAddresses", contact.im_addresses.len(), before.im_addresses.len(), MAX_ENTRIES),
        ("relations", contact.relations.len(), before.relations.len(), MAX_ENTRIES),
        ("anniversaries", contact.anniversaries.len(), before.anniversaries.len(), MAX_ENTRIES),
        ("groupIds", contact.group_ids.len(), before.group_ids.len(), MAX_GROUPS),
    ];
    let mut changed = lengths.into_iter().filter(|(field, ..)| is_new(field));
    changed.try_for_each(|(field, entries, had, max)| validate::length(field, entries, max.max(had)))
}

fn emails(emails: &[ContactEmail], had: &[ContactEmail]) -> Result<()> {
    for (i, email) in validate::added(emails, had) {
        validate::address(&format!("emails[{i}].value"), &email.value)?;
        label(&format!("emails[{i}].label"), email.label.as_deref(), email.kind == ContactKind::Custom)?;
    }
    one_primary("emails", emails.iter().map(|e| e.primary), had.iter().filter(|e| e.primary).count())
}

fn phones(phones: &[ContactPhone], had: &[ContactPhone]) -> Result<()> {
    for (i, phone) in validate::added(phones, had) {
        let field = format!("phones[{i}].value");
        if !phone.value.chars().any(char::is_alphanumeric) || phone.value.chars().any(char::is_control) {
            return Err(fault(&field, "must be a telephone number"));
        }
        validate::text(&field, Some(&phone.value), MAX_PHONE)?;
        label(&format!("phones[{i}].label"), phone.label.as_deref(), phone.kind == PhoneKind::Custom)?;
    }
    one_primary("phones", phones.iter().map(|p| p.primary), had.iter().filter(|p| p.primary).count())
}

/// Checks a label; `custom` needs one.
fn label(field: &str, label: Option<&str>, is_custom: bool) -> Result<()> {
    if is_custom && label.is_none_or(|l| l.trim().is_empty()) {
        return Err(invalid(Code::MissingField, field, format!("{field} is required with type custom")));
    }
    validate::text(field, label, MAX_LABEL)
}

/// At most one entry is primary, unless there `were` more before.
fn one_primary(list: &str, primary: impl Iterator<Item = bool>, were: usize) -> Result<()> {
    let found: Vec<usize> = primary.enumerate().filter(|(_, is)| *is).map(|(i, _)| i).collect();
    match found.get(1).filter(|_| found.len() > were) {
        None => Ok(()),
        Some(second) => {
            let first = found[0];
            Err(fault(
                &format!("{list}[{second}].primary"),
                &format!("cannot be true beside {list}[{first}].primary"),
            ))
        }
    }
}

fn addresses(addresses: &[PostalAddress], had: &[PostalAddress]) -> Result<()> {
    for (i, address) in validate::added(addresses, had) {
        let at = |name: &str| format!("addresses[{i}].{name}");
        let parts = [
            ("formatted", &address.formatted),
            ("street", &address.street),
            ("extended", &address.extended),
            ("poBox", &address.po_box),
            ("locality", &address.locality),
            ("region", &address.region),
            ("postalCode", &address.postal_code),
            ("country", &address.country),
        ];
        if parts.iter().all(|(_, part)| part.as_deref().is_none_or(|p| p.trim().is_empty())) {
            let message = format!("{} or another part of the address is required", at("formatted"));
            return Err(invalid(Code::MissingField, at("formatted"), message));
        }
        for (name, part) in parts {
            validate::text(&at(name), part.as_deref(), MAX_LINE)?;
        }
        if let Some(code) = &address.country_code
            && !(code.len() == 2 && code.bytes().all(|b| b.is_ascii_uppercase()))
        {
            return Err(fault(&at("countryCode"), "must be two capital letters (ISO 3166-1), such as DE"));
        }
        label(&at("label"), address.label.as_deref(), address.kind == ContactKind::Custom)?;
    }
    Ok(())
}

fn links(contact: &Contact, before: &Contact, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    let required = |field: String, value: &str| match value.trim().is_empty() {
        true => Err(invalid(Code::MissingField, field.clone(), format!("{field} is required"))),
        false => validate::text(&field, Some(value), MAX_LINE),
    };
    if is_new("urls") {
        for (i, url) in validate::added(&contact.urls, &before.urls) {
            let field = format!("urls[{i}].value");
            let fits = url.value.len() <= MAX_URL
                && url::Url::parse(&url.value).is_ok_and(|u| u.scheme() != "javascript");
            if !fits {
                return Err(invalid(
                    Code::InvalidUrl,
                    field.clone(),
                    format!("{field} must be an absolute URL"),
                ));
            }
        }
    }
    if is_new("imAddresses") {
        for (i, im) in validate::added(&contact.im_addresses, &before.im_addresses) {
            required(format!("imAddresses[{i}].handle"), &im.handle)?;
            validate::text(&format!("imAddresses[{i}].protocol"), im.protocol.as_deref(), MAX_KIND)?;
        }
    }
    if is_new("relations") {
        for (i, relation) in validate::added(&contact.relations, &before.relations) {
            required(format!("relations[{i}].name"), &relation.name)?;
            validate::text(&format!("relations[{i}].type"), relation.kind.as_deref(), MAX_KIND)?;
        }
    }
    Ok(())
}

fn dates(contact: &Contact, before: &Contact, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    if let Some(birthday) = contact.birthday.as_ref().filter(|_| is_new("birthday")) {
        partial_date("birthday", birthday)?;
    }
    if is_new("anniversaries") {
        for (i, one) in validate::added(&contact.anniversaries, &before.anniversaries) {
            partial_date(&format!("anniversaries[{i}].date"), &one.date)?;
            validate::text(&format!("anniversaries[{i}].type"), one.kind.as_deref(), MAX_KIND)?;
        }
    }
    Ok(())
}

/// A date that exists; without a year, one that exists in some year.
fn partial_date(field: &str, date: &PartialDate) -> Result<()> {
    /// A leap year.
    const ANY_YEAR: i64 = 2000;
    let small = |n: i64| i8::try_from(n).ok();
    let exists = Some(date.year.unwrap_or(ANY_YEAR))
        .filter(|year| (1..=MAX_YEAR).contains(year))
        .and_then(|year| i16::try_from(year).ok())
        .zip(small(date.month))
        .zip(small(date.day))
        .is_some_and(|((year, month), day)| Date::new(year, month, day).is_ok());
    if exists {
        Ok(())
    } else {
        Err(fault(field, "must be a day that exists: year (or null), month 1-12, day 1-31"))
    }
}

/// A link, or the picture itself as a `data:` URL (RFC 2397).
fn photo(contact: &Contact) -> Result<()> {
    let Some(photo) = &contact.photo else { return Ok(()) };
    let field = "photo.url";
    let Some(url) = photo.url.as_deref() else {
        return Err(invalid(
            Code::MissingField,
            field,
            "photo.url is required; null as photo takes the picture away",
        ));
    };
    let Some(data) = url.strip_prefix("data:") else {
        return validate::url(
            field,
            url,
            &["http", "https"],
            "an http or https URL, or a data: URL of an image",
        );
    };
    let bytes = data
        .split_once(";base64,")
        .filter(|(kind, _)| kind.starts_with("image/") && !kind.contains([';', ',']))
        .and_then(|(_, text)| BASE64_STANDARD.decode(text).ok());
    match bytes {
        Some(bytes) if bytes.is_empty() || bytes.len() > MAX_PICTURE => {
            Err(fault(field, &format!("may hold a picture of at most {MAX_PICTURE} bytes")))
        }
        Some(_) => Ok(()),
        None => Err(fault(field, "must look like data:image/png;base64,iVBORw0K...")),
    }
}
