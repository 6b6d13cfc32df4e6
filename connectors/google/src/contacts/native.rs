//! Google's JSON of people and contact groups, the members that are read and written.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contacts::values::{
    ClientData, FieldMetadata, PersonAddress, PersonBiography, PersonBirthday, PersonEmail, PersonEvent,
    PersonIm, PersonMembership, PersonName, PersonNickname, PersonOrganization, PersonPhone, PersonPhoto,
    PersonRelation, PersonSource, PersonUrl,
};

/// The group of the contacts that are marked with a star.
pub const STARRED: &str = "contactGroups/starred";
/// The group of all contacts that are in no other group.
pub const MY_CONTACTS: &str = "contactGroups/myContacts";

/// A person: lists of values, each with its source. Read-only members are not serialized.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Person {
    #[serde(skip_serializing)]
    pub resource_name: String,
    #[serde(skip_serializing_if = "PersonMetadata::is_empty")]
    pub metadata: PersonMetadata,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<PersonName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nicknames: Vec<PersonNickname>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub email_addresses: Vec<PersonEmail>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phone_numbers: Vec<PersonPhone>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<PersonAddress>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<PersonOrganization>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<PersonUrl>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub im_clients: Vec<PersonIm>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<PersonRelation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub birthdays: Vec<PersonBirthday>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<PersonEvent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub biographies: Vec<PersonBiography>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memberships: Vec<PersonMembership>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_data: Vec<ClientData>,
    #[serde(skip_serializing)]
    pub photos: Vec<PersonPhoto>,
    #[serde(skip_serializing)]
    pub calendar_urls: Vec<Value>,
    #[serde(skip_serializing)]
    pub external_ids: Vec<Value>,
    #[serde(skip_serializing)]
    pub genders: Vec<Value>,
    #[serde(skip_serializing)]
    pub interests: Vec<Value>,
    #[serde(skip_serializing)]
    pub locales: Vec<Value>,
    #[serde(skip_serializing)]
    pub locations: Vec<Value>,
    #[serde(skip_serializing)]
    pub misc_keywords: Vec<Value>,
    #[serde(skip_serializing)]
    pub occupations: Vec<Value>,
    #[serde(skip_serializing)]
    pub sip_addresses: Vec<Value>,
    #[serde(skip_serializing)]
    pub skills: Vec<Value>,
    #[serde(skip_serializing)]
    pub user_defined: Vec<Value>,
}

/// Retains the contact's own values of these lists.
macro_rules! retain_own {
    ($person:ident: $($list:ident),+) => {
        $($person.$list.retain(|value| is_own(value.metadata.as_ref()));)+
    };
}

impl Person {
    /// Returns the person without the values of a linked profile.
    pub fn own(mut self) -> Self {
        retain_own!(self: names, nicknames, email_addresses, phone_numbers, addresses, organizations, urls);
        retain_own!(self: im_clients, relations, birthdays, events, biographies);
        self
    }

    /// The source with the account's own values; none if the person is not a contact of the account.
    pub fn contact_source(&self) -> Option<&PersonSource> {
        let is_contact =
            |source: &&PersonSource| matches!(source.kind.as_deref(), Some("CONTACT" | "OTHER_CONTACT"));
        self.metadata.sources.iter().find(is_contact)
    }

    /// The version of the account's own values.
    pub fn etag(&self) -> Option<&str> {
        self.contact_source()?.etag.as_deref()
    }

    /// The resource names of the contact's groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self
            .memberships
            .iter()
            .filter_map(|one| one.contact_group_membership.as_ref()?.contact_group_resource_name.as_deref());
        groups.filter(|name| !name.is_empty())
    }

    /// Whether the contact was made by a creation with this key.
    pub fn has_key(&self, key: &str) -> bool {
        self.client_data.iter().any(|data| data.is_key(key))
    }
}

/// Whether a value belongs to a contact, not to a profile.
fn is_own(metadata: Option<&FieldMetadata>) -> bool {
    let kind = metadata.and_then(|metadata| metadata.source.as_ref()?.kind.as_deref());
    !matches!(kind, Some("PROFILE" | "DOMAIN_PROFILE" | "ACCOUNT" | "DOMAIN_CONTACT"))
}

/// The sources of a person, and the names that the person has had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersonMetadata {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PersonSource>,
    #[serde(skip_serializing)]
    pub previous_resource_names: Vec<String>,
    #[serde(skip_serializing)]
    pub deleted: bool,
}

impl PersonMetadata {
    /// Whether it has no members to write.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

/// The resource name of a person and whether the person exists, without content.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersonHead {
    pub resource_name: String,
    pub metadata: PersonMetadata,
}

/// A contact group.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersonGroup {
    pub resource_name: String,
    pub etag: Option<String>,
    pub name: Option<String>,
    /// The name of a system group in the account's language.
    pub formatted_name: Option<String>,
    pub group_type: Option<String>,
    pub member_count: i64,
    /// The resource names of the members, as many as were requested.
    pub member_resource_names: Vec<String>,
    pub client_data: Vec<ClientData>,
    pub metadata: GroupMetadata,
}

impl PersonGroup {
    /// Whether this is a system group of Google.
    pub fn is_system(&self) -> bool {
        self.group_type.as_deref() == Some("SYSTEM_CONTACT_GROUP")
    }

    /// Whether the group was made by a creation with this key.
    pub fn has_key(&self, key: &str) -> bool {
        self.client_data.iter().any(|data| data.is_key(key))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GroupMetadata {
    pub deleted: bool,
    pub update_time: Option<String>,
}

/// A page of people or groups, each parsed separately.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PeoplePage {
    pub connections: Vec<Box<RawValue>>,
    pub other_contacts: Vec<Box<RawValue>>,
    pub contact_groups: Vec<Box<RawValue>>,
    pub next_page_token: Option<String>,
    pub next_sync_token: Option<String>,
}

/// The answer of a read of many people.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PeopleBatch {
    pub responses: Vec<BatchedPerson>,
}

/// One of many people, or the status that explains its absence.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BatchedPerson {
    pub requested_resource_name: String,
    pub person: Option<Box<RawValue>>,
    pub http_status_code: Option<u16>,
    pub status: BatchStatus,
}

impl BatchedPerson {
    /// Whether no person has the requested name (`NOT_FOUND` of google.rpc.Code).
    pub fn is_missing(&self) -> bool {
        self.person.is_none() && (self.status.code == Some(5) || self.http_status_code == Some(404))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct BatchStatus {
    pub code: Option<i64>,
}

/// The answer of a change of a photo.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PhotoAnswer {
    pub person: Option<Person>,
}

/// The answer of a change of a group's members.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MembersAnswer {
    pub not_found_resource_names: Vec<String>,
    pub can_not_remove_last_contact_group_resource_names: Vec<String>,
}
