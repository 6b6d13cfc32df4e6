//! Graph's contacts as the model's. Pure.

use model::contacts::{
    Anniversary, Contact, ContactEmail, ContactKind, ContactPhone, ContactUrl, ImAddress, Organization,
    PhoneKind, PostalAddress, Relation,
};
use serde_json::{Map, Value, json};

use crate::contacts::dates::{ANNIVERSARY, date_from};
use crate::contacts::native::{FolderContact, PhysicalAddress};

/// The kind of the one anniversary that Exchange has.
pub const WEDDING: &str = "wedding";
/// Kinds of relations that a contact has members for.
pub const SPOUSE: &str = "spouse";
pub const MANAGER: &str = "manager";
pub const ASSISTANT: &str = "assistant";
pub const CHILD: &str = "child";

/// Most characters of a protocol before the name of an address for instant messages.
const MAX_PROTOCOL_CHARS: usize = 16;

/// Returns the contact, without its picture.
pub fn contact_from(theirs: &FolderContact) -> Contact {
    Contact {
        display_name: text(theirs.display_name.as_ref()),
        given_name: text(theirs.given_name.as_ref()),
        middle_name: text(theirs.middle_name.as_ref()),
        family_name: text(theirs.surname.as_ref()),
        prefix: text(theirs.title.as_ref()),
        suffix: text(theirs.generation.as_ref()),
        nickname: text(theirs.nick_name.as_ref()),
        phonetic_given_name: text(theirs.yomi_given_name.as_ref()),
        phonetic_family_name: text(theirs.yomi_surname.as_ref()),
        emails: emails_from(theirs),
        phones: phones_from(theirs),
        addresses: addresses_from(theirs),
        organizations: organization_from(theirs).into_iter().collect(),
        urls: text(theirs.business_home_page.as_ref())
            .map(|value| ContactUrl { value, kind: ContactKind::Work })
            .into_iter()
            .collect(),
        im_addresses: texts(theirs.im_addresses.as_ref()).map(|text| im_from(&text)).collect(),
        relations: relations_from(theirs),
        birthday: date_from(theirs.birthday.as_deref()),
        anniversaries: anniversary_from(theirs).into_iter().collect(),
        notes: text(theirs.personal_notes.as_ref()),
        ..Contact::default()
    }
}

/// Returns a text; an empty one is none.
pub fn text(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// The texts of a list that are not empty.
fn texts(list: Option<&Vec<String>>) -> impl Iterator<Item = String> {
    list.into_iter().flatten().filter(|text| !text.is_empty()).cloned()
}

/// The first address is the one that Outlook writes to.
fn emails_from(theirs: &FolderContact) -> Vec<ContactEmail> {
    let addresses = theirs.email_addresses.iter().flatten();
    let addresses = addresses.filter_map(|one| text(one.address.as_ref())).enumerate();
    let email =
        |(at, value): (usize, String)| ContactEmail { value, primary: at == 0, ..ContactEmail::default() };
    addresses.map(email).collect()
}

fn phones_from(theirs: &FolderContact) -> Vec<ContactPhone> {
    let of_kind =
        |kind: PhoneKind| move |value: String| ContactPhone { value, kind, ..ContactPhone::default() };
    let business = texts(theirs.business_phones.as_ref()).map(of_kind(PhoneKind::Work));
    let home = texts(theirs.home_phones.as_ref()).map(of_kind(PhoneKind::Home));
    let mobile = text(theirs.mobile_phone.as_ref()).map(of_kind(PhoneKind::Mobile));
    business.chain(home).chain(mobile).collect()
}

fn addresses_from(theirs: &FolderContact) -> Vec<PostalAddress> {
    let addresses = [
        (ContactKind::Home, &theirs.home_address),
        (ContactKind::Work, &theirs.business_address),
        (ContactKind::Other, &theirs.other_address),
    ];
    addresses.into_iter().filter_map(|(kind, address)| address_from(kind, address.as_ref()?)).collect()
}

/// None where the address has no parts.
fn address_from(kind: ContactKind, theirs: &PhysicalAddress) -> Option<PostalAddress> {
    let bare = PostalAddress { kind, ..PostalAddress::default() };
    let address = PostalAddress {
        street: text(theirs.street.as_ref()),
        locality: text(theirs.city.as_ref()),
        region: text(theirs.state.as_ref()),
        postal_code: text(theirs.postal_code.as_ref()),
        country: text(theirs.country_or_region.as_ref()),
        ..bare.clone()
    };
    (address != bare).then_some(address)
}

fn organization_from(theirs: &FolderContact) -> Option<Organization> {
    let organization = Organization {
        name: text(theirs.company_name.as_ref()),
        title: text(theirs.job_title.as_ref()),
        department: text(theirs.department.as_ref()),
        current: true,
    };
    (organization != Organization::default()).then_some(organization)
}

/// An address for instant messages: `xmpp:ada@example.test`, or a name without a protocol.
fn im_from(theirs: &str) -> ImAddress {
    let is_protocol = |name: &str| {
        !name.is_empty()
            && name.len() <= MAX_PROTOCOL_CHARS
            && name.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    match theirs.split_once(':').filter(|(protocol, handle)| is_protocol(protocol) && !handle.is_empty()) {
        Some((protocol, handle)) => {
            ImAddress { protocol: Some(protocol.to_owned()), handle: handle.to_owned() }
        }
        None => ImAddress { protocol: None, handle: theirs.to_owned() },
    }
}

fn relations_from(theirs: &FolderContact) -> Vec<Relation> {
    let of_kind = |kind: &'static str| move |name: String| Relation { name, kind: Some(kind.to_owned()) };
    let single =
        [(SPOUSE, &theirs.spouse_name), (MANAGER, &theirs.manager), (ASSISTANT, &theirs.assistant_name)];
    let single = single.into_iter().filter_map(|(kind, name)| text(name.as_ref()).map(of_kind(kind)));
    single.chain(texts(theirs.children.as_ref()).map(of_kind(CHILD))).collect()
}

fn anniversary_from(theirs: &FolderContact) -> Option<Anniversary> {
    let mut properties = theirs.single_value_extended_properties.iter().flatten();
    let property = properties.find(|one| one.id.eq_ignore_ascii_case(ANNIVERSARY))?;
    Some(Anniversary { kind: Some(WEDDING.to_owned()), date: date_from(property.value.as_deref())? })
}

/// Returns members of a contact that the model has no field for; none where there are none.
pub fn contact_data(theirs: &FolderContact) -> Option<Value> {
    let mut data = Map::new();
    let members = [
        ("fileAs", &theirs.file_as),
        ("initials", &theirs.initials),
        ("officeLocation", &theirs.office_location),
        ("profession", &theirs.profession),
        ("yomiCompanyName", &theirs.yomi_company_name),
        ("updatedAt", &theirs.last_modified_date_time),
    ];
    for (name, value) in members {
        data.extend(text(value.as_ref()).map(|value| (name.to_owned(), json!(value))));
    }
    let categories: Vec<String> = texts(theirs.categories.as_ref()).collect();
    if !categories.is_empty() {
        data.insert("categories".to_owned(), json!(categories));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}
