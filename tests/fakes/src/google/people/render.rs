//! People and groups as Google answers them, with the fields that it computes for a reader.

use serde_json::{Map, Value, json};

use crate::google::people::book::{
    AddressBook, FeedRecord, FeedVersion, GroupContent, PersonContent, ProfileContent,
};
use crate::google::people::facts::PEOPLE;
use crate::google::people::masks::{FieldSet, SourceSet};
use crate::google::times;

/// The picture of a contact that has none.
const DEFAULT_PHOTO: &str = "https://lh3.googleusercontent.com/cm/fake-default=s100";

/// A way to show people: the fields and sources that a request asks for.
pub struct PersonView<'m> {
    pub mask: &'m FieldSet,
    pub sources: SourceSet,
    /// A list: it limits long fields, and its etags are none that an update takes.
    pub is_list: bool,
    /// A list with a sync token: it tells deletions and previous names.
    pub is_delta: bool,
    /// `CONTACT` or `OTHER_CONTACT`.
    pub source: &'static str,
}

impl<'m> PersonView<'m> {
    /// A view of one contact.
    pub fn single(mask: &'m FieldSet, sources: SourceSet) -> PersonView<'m> {
        PersonView { mask, sources, is_list: false, is_delta: false, source: "CONTACT" }
    }

    pub fn show(&self, id: &str, version: &FeedVersion<PersonContent>) -> Value {
        let content = &version.content;
        let mut person = json!({ "resourceName": content.resource_name });
        let etag = if self.is_list { list_etag(version) } else { person_etag(version) };
        person["etag"] = etag.into();
        if self.mask.has("metadata") {
            person["metadata"] = self.metadata(id, version);
        }
        if version.is_deleted {
            return person;
        }
        for field in self.mask.iter() {
            let mut values = Vec::new();
            if self.sources.has_contact {
                values.extend(self.field(id, content, field));
            }
            if let Some(profile) = content.profile.as_ref().filter(|_| self.sources.has_profile) {
                values.extend(profile_field(profile, field));
            }
            if let Some(first) = values.iter_mut().find(|value| value["metadata"]["sourcePrimary"] == true) {
                first["metadata"]["primary"] = true.into();
            }
            if self.is_list {
                values.truncate(PEOPLE.number("limits", "list_values"));
            }
            if !values.is_empty() {
                person[field] = values.into();
            }
        }
        person
    }

    fn metadata(&self, id: &str, version: &FeedVersion<PersonContent>) -> Value {
        let mut sources = Vec::new();
        if self.sources.has_contact {
            sources.push(json!({ "type": self.source, "id": id, "etag": source_etag(version),
                "updateTime": times::stamp(version.at_ms) }));
        }
        if let Some(profile) = version.content.profile.as_ref().filter(|_| self.sources.has_profile) {
            sources.push(
                json!({ "type": "PROFILE", "id": profile.id, "etag": format!("#profile{}", profile.id),
                "profileMetadata": { "objectType": "PERSON", "userTypes": ["GOOGLE_USER"] } }),
            );
        }
        let mut metadata = json!({ "sources": sources, "objectType": "PERSON" });
        if self.is_delta && version.is_deleted {
            metadata["deleted"] = true.into();
        }
        if self.is_delta && !version.content.previous_names.is_empty() {
            metadata["previousResourceNames"] = json!(version.content.previous_names);
        }
        metadata
    }

    /// The values that the contact itself has of a field.
    fn field(&self, id: &str, content: &PersonContent, field: &str) -> Vec<Value> {
        let source = json!({ "type": self.source, "id": id });
        if field == "photos" {
            let mut photo = json!({ "metadata": { "sourcePrimary": true, "source": source } });
            photo["url"] = content.photo.as_deref().unwrap_or(DEFAULT_PHOTO).into();
            if content.photo.is_none() {
                photo["default"] = true.into();
            }
            return vec![photo];
        }
        let Some(stored) = content.fields.get(field).and_then(Value::as_array) else { return Vec::new() };
        let marked = stored.iter().position(|value| value["metadata"]["sourcePrimary"] == true);
        let values = stored.iter().enumerate().map(|(at, value)| {
            let mut value = value.clone();
            compute(field, &mut value);
            value["metadata"] = json!({ "source": source });
            if at == marked.unwrap_or(0) && field != "memberships" && field != "clientData" {
                value["metadata"]["sourcePrimary"] = true.into();
            }
            value
        });
        values.collect()
    }
}

fn profile_field(profile: &ProfileContent, field: &str) -> Vec<Value> {
    let stored = profile.fields.get(field).and_then(Value::as_array);
    let values = stored.into_iter().flatten().cloned().map(|mut value| {
        compute(field, &mut value);
        value["metadata"] =
            json!({ "sourcePrimary": true, "source": { "type": "PROFILE", "id": profile.id } });
        value
    });
    values.collect()
}

/// Adds the members of a value that Google computes.
fn compute(field: &str, value: &mut Value) {
    match field {
        "names" => compute_name(value),
        "phoneNumbers" => {
            let written = value["value"].as_str().filter(|text| text.starts_with('+'));
            if let Some(written) = written {
                let digits: String = written.chars().filter(char::is_ascii_digit).collect();
                value["canonicalForm"] = format!("+{digits}").into();
            }
        }
        "addresses" if !value["formattedValue"].is_string() => {
            let parts = ["streetAddress", "extendedAddress", "city", "region", "postalCode", "country"];
            let lines: Vec<&str> = parts.iter().filter_map(|part| value[*part].as_str()).collect();
            value["formattedValue"] = lines.join("\n").into();
        }
        "birthdays" if value["date"].is_object() && !value["text"].is_string() => {
            let part = |name: &str| value["date"][name].as_i64().unwrap_or_default();
            let text = format!("{}/{}/{}", part("month"), part("day"), part("year"));
            value["text"] = text.into();
        }
        "biographies" if !value["contentType"].is_string() => value["contentType"] = "TEXT_PLAIN".into(),
        _ => {}
    }
    let has_formatted_type = !["nicknames", "miscKeywords", "locations"].contains(&field);
    let kind = value["type"].as_str().filter(|_| has_formatted_type);
    if let Some(kind) = kind.map(str::to_owned) {
        let mut letters = kind.chars();
        let formatted = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
        value["formattedType"] = formatted.unwrap_or_default().into();
    }
    if let Some(protocol) = value["protocol"].as_str().filter(|_| field == "imClients") {
        value["formattedProtocol"] = protocol.to_owned().into();
    }
}

fn compute_name(name: &mut Value) {
    let text = |name: &Value, member: &str| name[member].as_str().unwrap_or_default().to_owned();
    let (given, middle, family) =
        (text(name, "givenName"), text(name, "middleName"), text(name, "familyName"));
    let joined = |parts: &[&str]| {
        let there: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        there.join(" ")
    };
    let (prefix, suffix) = (text(name, "honorificPrefix"), text(name, "honorificSuffix"));
    let full = joined(&[&prefix, &given, &middle, &family]);
    let full = if suffix.is_empty() { full } else { format!("{full}, {suffix}") };
    let last_first = match (given.is_empty() && middle.is_empty(), family.is_empty()) {
        (false, false) => format!("{family}, {}", joined(&[&given, &middle])),
        _ => joined(&[&given, &middle, &family]),
    };
    let shown = name["unstructuredName"].as_str().map_or(full, str::to_owned);
    name["unstructuredName"] = shown.clone().into();
    name["displayName"] = shown.into();
    name["displayNameLastFirst"] = last_first.into();
}

/// The etag of the source, which an update names.
pub fn source_etag(version: &FeedVersion<PersonContent>) -> String {
    format!("#{:08x}=", version.changed)
}

/// The etag of a person that was read by itself.
pub fn person_etag(version: &FeedVersion<PersonContent>) -> String {
    format!("%EgUBAgMuNxoEAQIFBw{:08x}==", version.changed)
}

/// The etag of a person in a list.
fn list_etag(version: &FeedVersion<PersonContent>) -> String {
    format!("%EggBAgMJLjc9PxoEAQIFBw{:08x}==", version.changed)
}

/// The etag of a group.
pub fn group_etag(version: &FeedVersion<GroupContent>) -> String {
    format!("group{:08x}", version.changed)
}

/// A group with the fields that a request asks for. A count of 0 is left out, as all defaults are.
pub fn show_group(
    book: &AddressBook,
    record: &FeedRecord<GroupContent>,
    version: &FeedVersion<GroupContent>,
    mask: &FieldSet,
) -> Value {
    let content = &version.content;
    let mut group = Map::new();
    group.insert("resourceName".to_owned(), format!("contactGroups/{}", record.id).into());
    if !content.is_system {
        group.insert("etag".to_owned(), group_etag(version).into());
    }
    if mask.has("metadata") && !content.is_system {
        let mut metadata = json!({ "updateTime": times::stamp(version.at_ms) });
        if version.is_deleted {
            metadata["deleted"] = true.into();
        }
        group.insert("metadata".to_owned(), metadata);
    }
    if version.is_deleted {
        return Value::Object(group);
    }
    if mask.has("groupType") {
        let kind = if content.is_system { "SYSTEM_CONTACT_GROUP" } else { "USER_CONTACT_GROUP" };
        group.insert("groupType".to_owned(), kind.into());
    }
    if mask.has("name") {
        group.insert("name".to_owned(), content.name.clone().into());
        group.insert("formattedName".to_owned(), content.formatted_name.clone().into());
    }
    let members = book.members(&record.id).len();
    if mask.has("memberCount") && members > 0 {
        group.insert("memberCount".to_owned(), members.into());
    }
    if mask.has("clientData") && !content.client_data.is_empty() {
        group.insert("clientData".to_owned(), content.client_data.clone().into());
    }
    Value::Object(group)
}
