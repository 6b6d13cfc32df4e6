//! The model's contacts as Graph's: the members that the caller changed, and what Graph cannot keep of them. Pure.

use model::contacts::{Anniversary, Contact, ContactKind, ImAddress, Relation};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;
use crate::contacts::addresses::put_addresses;
use crate::contacts::dates::{ANNIVERSARY, date_to, property_to};
use crate::contacts::mapping::{ASSISTANT, CHILD, MANAGER, SPOUSE, WEDDING, text};
use crate::contacts::native::FolderContact;
use crate::contacts::phones::put_phones;

/// E-mail addresses that a contact has at most.
const MAX_EMAILS: usize = 3;
/// Addresses for instant messages that a contact has at most.
const MAX_IM_ADDRESSES: usize = 3;

/// The JSON of a contact, and warnings about what Graph cannot keep.
#[derive(Debug, Default)]
pub struct WrittenContact {
    /// Null empties a member.
    pub body: Map<String, Value>,
    pub lost: Vec<Warning>,
}

/// Returns Graph's JSON of the fields that `changed` names. `before`: the contact as it is at Graph, whose e-mail addresses keep their
/// names.
pub fn contact_to(ours: &Contact, changed: &[String], before: Option<&FolderContact>) -> WrittenContact {
    let mut document = ContactDocument { ours, changed, written: WrittenContact::default() };
    document.put_texts();
    if document.has("emails") {
        document.put_emails(before);
    }
    let WrittenContact { body, lost } = &mut document.written;
    if changed.iter().any(|name| name == "phones") {
        put_phones(&ours.phones, body, lost);
    }
    if changed.iter().any(|name| name == "addresses") {
        put_addresses(&ours.addresses, body, lost);
    }
    document.put_work();
    document.put_relations();
    document.put_days();
    document.put_name();
    document.warn_of_the_rest();
    document.written
}

/// A contact's JSON in the making.
struct ContactDocument<'a> {
    ours: &'a Contact,
    changed: &'a [String],
    written: WrittenContact,
}

impl ContactDocument<'_> {
    fn has(&self, field: &str) -> bool {
        self.changed.iter().any(|name| name == field)
    }

    fn set(&mut self, member: &str, value: Value) {
        self.written.body.insert(member.to_owned(), value);
    }

    fn warn(&mut self, is_lost: bool, field: &str, message: &str) {
        if is_lost {
            self.written.lost.push(field_warning(field, message));
        }
    }

    fn put_texts(&mut self) {
        let ours = self.ours;
        let texts = [
            ("givenName", "givenName", &ours.given_name),
            ("middleName", "middleName", &ours.middle_name),
            ("familyName", "surname", &ours.family_name),
            ("prefix", "title", &ours.prefix),
            ("suffix", "generation", &ours.suffix),
            ("nickname", "nickName", &ours.nickname),
            ("phoneticGivenName", "yomiGivenName", &ours.phonetic_given_name),
            ("phoneticFamilyName", "yomiSurname", &ours.phonetic_family_name),
            ("notes", "personalNotes", &ours.notes),
        ];
        for (field, member, value) in texts {
            if self.has(field) {
                self.set(member, json!(text(value.as_ref())));
            }
        }
    }

    fn put_emails(&mut self, before: Option<&FolderContact>) {
        let ours = &self.ours.emails;
        let old = |address: &str| {
            let mut old = before.into_iter().flat_map(|before| before.email_addresses.iter().flatten());
            let same = |one: Option<&String>| one.is_some_and(|one| one.eq_ignore_ascii_case(address));
            old.find(|one| same(one.address.as_ref())).and_then(|one| text(one.name.as_ref()))
        };
        let addresses = ours.iter().take(MAX_EMAILS).map(|email| match old(&email.value) {
            Some(name) => json!({ "address": email.value, "name": name }),
            None => json!({ "address": email.value }),
        });
        let addresses: Vec<Value> = addresses.collect();
        let is_typed =
            ours.iter().any(|one| one.kind != ContactKind::Other || text(one.label.as_ref()).is_some());
        let is_later = ours.iter().skip(1).any(|one| one.primary);
        let is_long = ours.len() > MAX_EMAILS;
        self.set("emailAddresses", Value::Array(addresses));
        self.warn(is_long, "emails", "Outlook keeps three e-mail addresses: the others were left out");
        self.warn(is_typed, "emails", "Outlook keeps e-mail addresses without a type and a label");
        self.warn(is_later, "emails", "in Outlook the first e-mail address is the preferred one");
    }

    /// Adds the organization, the page and the addresses for instant messages.
    fn put_work(&mut self) {
        let ours = self.ours;
        if self.has("organizations") {
            let all = &ours.organizations;
            let main = all.iter().find(|one| one.current).or(all.first()).cloned().unwrap_or_default();
            self.set("companyName", json!(text(main.name.as_ref())));
            self.set("jobTitle", json!(text(main.title.as_ref())));
            self.set("department", json!(text(main.department.as_ref())));
            self.warn(
                all.len() > 1,
                "organizations",
                "Outlook keeps one organization: the others were left out",
            );
            self.warn(!main.current, "organizations", "Outlook keeps an organization as the present one");
        }
        if self.has("urls") {
            let all = &ours.urls;
            let main = all.iter().find(|one| one.kind == ContactKind::Work).or(all.first());
            self.set("businessHomePage", json!(main.map(|one| &one.value)));
            let is_private =
                main.is_some_and(|one| matches!(one.kind, ContactKind::Home | ContactKind::Custom));
            self.warn(all.len() > 1, "urls", "Outlook keeps one web address: the others were left out");
            self.warn(is_private, "urls", "Outlook keeps the web address as a business one");
        }
        if self.has("imAddresses") {
            let all: Vec<String> = ours.im_addresses.iter().take(MAX_IM_ADDRESSES).map(im_to).collect();
            self.set("imAddresses", json!(all));
            let is_long = ours.im_addresses.len() > MAX_IM_ADDRESSES;
            let message = "Outlook keeps three addresses for instant messages: the others were left out";
            self.warn(is_long, "imAddresses", message);
        }
    }

    fn put_relations(&mut self) {
        if !self.has("relations") {
            return;
        }
        let contact = self.ours;
        let ours = &contact.relations;
        let of_kind = |kind: &'static str| {
            let is_it = move |one: &&Relation| {
                one.kind.as_deref().is_some_and(|own| own.trim().eq_ignore_ascii_case(kind))
            };
            ours.iter().filter(is_it).map(|one| one.name.as_str())
        };
        let single = [("spouseName", SPOUSE), ("manager", MANAGER), ("assistantName", ASSISTANT)];
        let mut kept = of_kind(CHILD).count();
        let children: Vec<&str> = of_kind(CHILD).collect();
        self.set("children", json!(children));
        for (member, kind) in single {
            let name = of_kind(kind).next();
            kept += usize::from(name.is_some());
            self.set(member, json!(name));
        }
        let is_lost = kept < ours.len();
        self.warn(
            is_lost,
            "relations",
            "Outlook keeps a spouse, a manager, an assistant and children: other relations were left out",
        );
    }

    fn put_days(&mut self) {
        let ours = self.ours;
        if self.has("birthday") {
            self.set("birthday", json!(ours.birthday.as_ref().map(date_to)));
        }
        if self.has("anniversaries") {
            let main = ours.anniversaries.iter().find(|one| is_wedding(one));
            let value = property_to(main.map(|one| &one.date));
            self.set("singleValueExtendedProperties", json!([{ "id": ANNIVERSARY, "value": value }]));
            let is_lost = ours.anniversaries.len() > usize::from(main.is_some());
            self.warn(is_lost, "anniversaries", "Outlook keeps one wedding day: other days were left out");
        }
    }

    /// Adds the whole name to each change: Graph composes it again from the parts where it is missing.
    fn put_name(&mut self) {
        let name = text(self.ours.display_name.as_ref());
        let is_sent = name.is_some() && !self.written.body.is_empty();
        if is_sent || self.has("displayName") {
            self.set("displayName", json!(name));
        }
    }

    fn warn_of_the_rest(&mut self) {
        let lost = [
            ("starred", self.ours.starred, "Outlook's contacts have no star"),
            ("groupIds", !self.ours.group_ids.is_empty(), "Outlook has no groups of contacts"),
        ];
        for (field, is_lost, message) in lost {
            let is_lost = is_lost && self.has(field);
            self.warn(is_lost, field, message);
        }
    }
}

/// An address for instant messages as one text.
fn im_to(ours: &ImAddress) -> String {
    match text(ours.protocol.as_ref()) {
        Some(protocol) => format!("{protocol}:{}", ours.handle),
        None => ours.handle.clone(),
    }
}

/// Whether it is the anniversary that Exchange has a property for.
fn is_wedding(ours: &Anniversary) -> bool {
    let kind = ours.kind.as_deref().unwrap_or_default();
    kind.is_empty() || [WEDDING, "anniversary"].iter().any(|name| kind.eq_ignore_ascii_case(name))
}
