//! The store of a user's contacts: records with all their versions, which a late feed tells one after the other.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::clock;
use crate::google::errors::ApiError;
use crate::google::people::errors;

/// The contacts, other contacts and groups of a user.
pub struct AddressBook {
    /// By the id of the source CONTACT.
    pub people: BTreeMap<String, FeedRecord<PersonContent>>,
    /// By the id of the source OTHER_CONTACT.
    pub others: BTreeMap<String, FeedRecord<PersonContent>>,
    /// By the id in the resource name.
    pub groups: BTreeMap<String, FeedRecord<GroupContent>>,
    /// Sync tokens from before this change have expired.
    pub valid_from: u64,
}

/// A resource with all its versions, the oldest first. There is always one.
pub struct FeedRecord<T> {
    pub id: String,
    versions: Vec<FeedVersion<T>>,
}

/// A version of a resource.
#[derive(Clone)]
pub struct FeedVersion<T> {
    pub changed: u64,
    pub at_ms: i64,
    pub is_deleted: bool,
    pub content: T,
}

/// The number and the time of a change.
#[derive(Clone, Copy)]
pub struct ChangeStamp {
    pub number: u64,
    pub at_ms: i64,
}

/// A person as it is stored: nothing that Google computes for a reader is in it.
#[derive(Clone, Default)]
pub struct PersonContent {
    /// As in `people/c1`.
    pub resource_name: String,
    pub previous_names: Vec<String>,
    /// The fields of the contact, each a list.
    pub fields: Map<String, Value>,
    /// The address of the picture; none for Google's default one.
    pub photo: Option<String>,
    /// The Google profile that the contact is linked with.
    pub profile: Option<ProfileContent>,
}

/// A Google profile beside a contact.
#[derive(Clone, Default)]
pub struct ProfileContent {
    pub id: String,
    pub fields: Map<String, Value>,
}

/// A group as it is stored.
#[derive(Clone, Default)]
pub struct GroupContent {
    pub name: String,
    pub formatted_name: String,
    pub is_system: bool,
    pub client_data: Vec<Value>,
}

/// The groups that each account has.
const SYSTEM_GROUPS: [(&str, &str); 8] = [
    ("myContacts", "My Contacts"),
    ("starred", "Starred"),
    ("friends", "Friends"),
    ("family", "Family"),
    ("coworkers", "Coworkers"),
    ("blocked", "Blocked"),
    ("all", "All"),
    ("chatBuddies", "Chat contacts"),
];

impl Default for AddressBook {
    fn default() -> Self {
        let groups = SYSTEM_GROUPS.map(|(id, formatted)| {
            let content = GroupContent {
                name: id.to_owned(),
                formatted_name: formatted.to_owned(),
                is_system: true,
                client_data: Vec::new(),
            };
            let stamp = ChangeStamp { number: 0, at_ms: clock::START_MS };
            (id.to_owned(), FeedRecord::new(id, stamp, content))
        });
        AddressBook { people: BTreeMap::new(), others: BTreeMap::new(), groups: groups.into(), valid_from: 0 }
    }
}

impl AddressBook {
    /// The person with this resource name, now or earlier.
    ///
    /// # Errors
    /// There is none, or it is deleted: 404.
    pub fn person(&self, resource_name: &str) -> Result<&FeedRecord<PersonContent>, ApiError> {
        self.people.values().find(|record| is_named(record, resource_name)).ok_or_else(errors::not_found)
    }

    /// The same, to be changed.
    ///
    /// # Errors
    /// There is none, or it is deleted: 404.
    pub fn person_mut(&mut self, resource_name: &str) -> Result<&mut FeedRecord<PersonContent>, ApiError> {
        self.people.values_mut().find(|record| is_named(record, resource_name)).ok_or_else(errors::not_found)
    }

    /// The group with this resource name.
    ///
    /// # Errors
    /// There is none, or it is deleted: 404.
    pub fn group(&self, resource_name: &str) -> Result<&FeedRecord<GroupContent>, ApiError> {
        let id = resource_name.strip_prefix("contactGroups/").unwrap_or_default();
        let found = self.groups.get(id).filter(|group| !group.latest().is_deleted);
        found.ok_or_else(errors::not_found)
    }

    /// The resource names of a group's members.
    pub fn members(&self, group: &str) -> Vec<&str> {
        let living = self.people.values().map(FeedRecord::latest).filter(|person| !person.is_deleted);
        let members = living.filter(|person| person.content.groups().contains(&group));
        members.map(|person| person.content.resource_name.as_str()).collect()
    }
}

fn is_named(record: &FeedRecord<PersonContent>, name: &str) -> bool {
    let version = record.latest();
    let content = &version.content;
    let has_name = content.resource_name == name || content.previous_names.iter().any(|one| one == name);
    has_name && !version.is_deleted
}

impl<T: Clone> FeedRecord<T> {
    pub fn new(id: &str, stamp: ChangeStamp, content: T) -> FeedRecord<T> {
        let version = FeedVersion { changed: stamp.number, at_ms: stamp.at_ms, is_deleted: false, content };
        FeedRecord { id: id.to_owned(), versions: vec![version] }
    }

    /// The version now.
    pub fn latest(&self) -> &FeedVersion<T> {
        self.versions.last().expect("a record begins with a version")
    }

    /// The version at this time; none where the record is newer.
    pub fn at(&self, ms: i64) -> Option<&FeedVersion<T>> {
        self.versions.iter().rev().find(|version| version.at_ms <= ms)
    }

    /// Stores another version.
    pub fn put(&mut self, stamp: ChangeStamp, content: T) {
        let version = FeedVersion { changed: stamp.number, at_ms: stamp.at_ms, is_deleted: false, content };
        self.versions.push(version);
    }

    /// Stores the deletion.
    pub fn delete(&mut self, stamp: ChangeStamp) {
        let content = self.latest().content.clone();
        let version = FeedVersion { changed: stamp.number, at_ms: stamp.at_ms, is_deleted: true, content };
        self.versions.push(version);
    }
}

impl PersonContent {
    /// The ids of the groups that the person is a member of.
    pub fn groups(&self) -> Vec<&str> {
        let memberships = self.fields.get("memberships").and_then(Value::as_array);
        memberships.into_iter().flatten().filter_map(group_of).collect()
    }
}

/// The id of the group of a membership.
pub fn group_of(membership: &Value) -> Option<&str> {
    let name = membership["contactGroupMembership"]["contactGroupResourceName"].as_str()?;
    name.strip_prefix("contactGroups/")
}

/// The membership of a group.
pub fn membership(group: &str) -> Value {
    json!({ "contactGroupMembership": {
        "contactGroupId": group, "contactGroupResourceName": format!("contactGroups/{group}") } })
}
