//! Alice's contacts at a fake provider, through `/v1/contacts`.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::{FakeProvider, World, change_lines};

/// Alice's contacts as the API has them, with her account connected.
pub struct AddressBook {
    pub connection: String,
    cursor: Option<String>,
}

impl AddressBook {
    pub async fn connect<P: FakeProvider>(world: &World<P>) -> AddressBook {
        let connection = world.connect_for(&["contacts.read", "contacts.write"]).await;
        AddressBook { connection: text(&connection["id"]), cursor: None }
    }

    /// A list of the connection's, as fresh as the provider.
    pub async fn list<P: FakeProvider>(&self, world: &World<P>, resource: &str) -> Vec<Value> {
        let page = world.get(&format!("/v1/{resource}?connection_id={}&limit=200", self.connection)).await;
        page["data"].as_array().expect("a list").clone()
    }

    pub async fn named<P: FakeProvider>(&self, world: &World<P>, name: &str) -> Value {
        let all = self.list(world, "contacts").await;
        let found = all.iter().find(|contact| contact["displayName"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {all:#?}")).clone()
    }

    /// Follows the contacts, and returns the initial items of the feed.
    pub async fn follow<P: FakeProvider>(&mut self, world: &World<P>) -> Vec<String> {
        let body = json!({ "connectionId": self.connection });
        world.api.post("/v1/contacts/sync/start", body).send().await.expect(202);
        self.changes(world).await
    }

    /// The changes of contacts since they were read last, each as its type and its name; sorted.
    pub async fn changes<P: FakeProvider>(&mut self, world: &World<P>) -> Vec<String> {
        let feed = format!("/v1/contacts/sync/changes?connection_id={}&limit=100", self.connection);
        let mut changes = world.read_feed(&feed, &mut self.cursor).await;
        changes.retain(|change| change["resourceType"] == "contact");
        change_lines(&changes, "displayName")
    }

    /// Makes a contact with these fields.
    pub async fn create<P: FakeProvider>(&self, world: &World<P>, mut fields: Value) -> Value {
        fields["connectionId"] = json!(self.connection);
        world.api.post("/v1/contacts", fields).send().await.expect(201)
    }
}

/// The path of a contact.
pub fn path(contact: &Value) -> String {
    format!("/v1/contacts/{}", text(&contact["id"]))
}
