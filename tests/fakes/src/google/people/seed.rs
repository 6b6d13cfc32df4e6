//! Contacts as another program of the user's changes them: without the checks of the API.

use serde_json::{Map, Value, json};

use crate::google::people::book::{self, PersonContent, ProfileContent};
use crate::google::people::masks::{FieldSet, SourceSet};
use crate::google::people::render::PersonView;
use crate::google::people::{contacts, groups};
use crate::google::state::State;

impl State {
    /// Stores a contact with these fields, as in `{"names": [{"givenName": "Ada"}]}`. Returns its resource name.
    pub fn put_contact(&mut self, user: &str, fields: Value) -> String {
        let stamp = contacts::stamp(self);
        let mut fields = fields.as_object().cloned().unwrap_or_default();
        fields.entry("memberships".to_owned()).or_insert_with(|| json!([book::membership("myContacts")]));
        let record = contacts::new_person(stamp, fields);
        let name = record.latest().content.resource_name.clone();
        self.people.entry(user.to_owned()).or_default().people.insert(record.id.clone(), record);
        name
    }

    /// Replaces fields of a contact; null removes one.
    pub fn change_contact(&mut self, user: &str, name: &str, change: Value) {
        self.change_person(user, name, |content| {
            for (field, value) in change.as_object().into_iter().flatten() {
                match value {
                    Value::Null => content.fields.remove(field),
                    value => content.fields.insert(field.clone(), value.clone()),
                };
            }
        });
    }

    fn change_person(&mut self, user: &str, name: &str, change: impl FnOnce(&mut PersonContent)) {
        let stamp = contacts::stamp(self);
        let book = self.people.entry(user.to_owned()).or_default();
        let Ok(record) = book.person_mut(name) else { panic!("there is no {name}") };
        let mut content = record.latest().content.clone();
        change(&mut content);
        record.put(stamp, content);
    }

    /// Deletes a contact.
    pub fn delete_contact(&mut self, user: &str, name: &str) {
        let stamp = contacts::stamp(self);
        let book = self.people.entry(user.to_owned()).or_default();
        let Ok(record) = book.person_mut(name) else { panic!("there is no {name}") };
        record.delete(stamp);
    }

    /// Links a contact with the Google profile of this number, which has these fields: it gets another resource name, which is returned.
    pub fn link_contact(&mut self, user: &str, name: &str, profile: &str, fields: Value) -> String {
        let new_name = format!("people/{profile}");
        let linked = ProfileContent {
            id: profile.to_owned(),
            fields: fields.as_object().cloned().unwrap_or_default(),
        };
        self.change_person(user, name, |content| {
            let old = std::mem::replace(&mut content.resource_name, new_name.clone());
            content.previous_names.push(old);
            content.profile = Some(linked);
        });
        new_name
    }

    /// All fields of a contact, with its metadata; null where there is none.
    pub fn contact(&self, user: &str, name: &str) -> Value {
        let mask = FieldSet::all("person");
        let record = self.people.get(user).and_then(|book| book.person(name).ok());
        let view = PersonView::single(&mask, SourceSet::CONTACT);
        record.map_or(Value::Null, |record| view.show(&record.id, record.latest()))
    }

    /// The resource names of a user's contacts.
    pub fn contact_names(&self, user: &str) -> Vec<String> {
        let people = self.people.get(user).into_iter().flat_map(|book| book.people.values());
        let living = people.map(|record| record.latest()).filter(|version| !version.is_deleted);
        living.map(|version| version.content.resource_name.clone()).collect()
    }

    /// Stores another contact, one that the user has written to and not kept. Returns its resource name.
    pub fn put_other_contact(&mut self, user: &str, fields: Value) -> String {
        let stamp = contacts::stamp(self);
        let fields: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
        let mut record = contacts::new_person(stamp, fields);
        let mut content = record.latest().content.clone();
        content.resource_name = content.resource_name.replace("people/", "otherContacts/");
        let name = content.resource_name.clone();
        record.put(stamp, content);
        self.people.entry(user.to_owned()).or_default().others.insert(record.id.clone(), record);
        name
    }

    /// Stores a group. Returns its resource name.
    pub fn put_group(&mut self, user: &str, name: &str) -> String {
        let stamp = contacts::stamp(self);
        let book = self.people.entry(user.to_owned()).or_default();
        format!("contactGroups/{}", groups::insert(book, stamp, name, Vec::new()))
    }

    /// The name of a group and the resource names of its members; none where there is no such group.
    pub fn group(&self, user: &str, resource_name: &str) -> Option<(String, Vec<String>)> {
        let book = self.people.get(user)?;
        let record = book.group(resource_name).ok()?;
        let members = book.members(&record.id).into_iter().map(str::to_owned).collect();
        Some((record.latest().content.name.clone(), members))
    }

    /// Lets all sync tokens of a user's contacts that were handed out so far expire.
    pub fn expire_contact_tokens(&mut self, user: &str) {
        let number = self.next_change();
        self.people.entry(user.to_owned()).or_default().valid_from = number;
    }
}

/// The routes below `/__control/people`, for tests in another process.
///
/// # Errors
/// There is no such route.
pub fn control(state: &mut State, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    match (method, path) {
        ("POST", [user, "contacts"]) => Ok(json!({ "resourceName": state.put_contact(user, body.clone()) })),
        ("PATCH", [user, "contacts", id]) => {
            state.change_contact(user, &format!("people/{id}"), body.clone());
            Ok(json!({}))
        }
        ("DELETE", [user, "contacts", id]) => {
            state.delete_contact(user, &format!("people/{id}"));
            Ok(json!({}))
        }
        ("POST", [user, "contacts", id, "profile", profile]) => {
            let name = state.link_contact(user, &format!("people/{id}"), profile, body.clone());
            Ok(json!({ "resourceName": name }))
        }
        ("POST", [user, "others"]) => {
            Ok(json!({ "resourceName": state.put_other_contact(user, body.clone()) }))
        }
        ("POST", [user, "expire"]) => {
            state.expire_contact_tokens(user);
            Ok(json!({}))
        }
        _ => Err("no such route".to_owned()),
    }
}
