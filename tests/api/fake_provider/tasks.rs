//! A list of tasks of Alice's at a fake provider, through `/v1/task-lists`.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::{FakeProvider, World, change_lines};

/// A list of Alice's as the API has it.
pub struct FollowedTaskList {
    pub connection: String,
    pub path: String,
    pub tasks: String,
    cursor: Option<String>,
}

impl FollowedTaskList {
    /// The list, as the API lists it.
    pub fn new(list: &Value) -> FollowedTaskList {
        let path = format!("/v1/task-lists/{}", text(&list["id"]));
        let connection = text(&list["connectionId"]);
        FollowedTaskList { connection, tasks: format!("{path}/tasks"), path, cursor: None }
    }

    /// The default list, with Alice's account just connected.
    pub async fn connect<P: FakeProvider>(world: &World<P>) -> FollowedTaskList {
        let lists = connect_lists(world).await;
        FollowedTaskList::new(lists.iter().find(|list| list["role"] == "default").expect("the default list"))
    }

    /// The tasks, as fresh as the provider.
    pub async fn all<P: FakeProvider>(&self, world: &World<P>) -> Vec<Value> {
        let page = world.get(&format!("{}?limit=200", self.tasks)).await;
        page["data"].as_array().expect("a list").clone()
    }

    pub async fn titled<P: FakeProvider>(&self, world: &World<P>, title: &str) -> Value {
        let all = self.all(world).await;
        let found = all.iter().find(|task| task["title"] == title);
        found.unwrap_or_else(|| panic!("no {title}: {all:#?}")).clone()
    }

    /// The path of a task.
    pub fn path(&self, task: &Value) -> String {
        format!("{}/{}", self.tasks, text(&task["id"]))
    }

    /// Follows the list, and returns the initial items of the feed.
    pub async fn follow<P: FakeProvider>(&mut self, world: &World<P>) -> Vec<String> {
        world.api.post(format!("{}/sync/start", self.path), json!({})).send().await.expect(202);
        self.changes(world).await
    }

    /// The changes since they were read last, each as its type and its title; sorted.
    pub async fn changes<P: FakeProvider>(&mut self, world: &World<P>) -> Vec<String> {
        let feed = format!("{}/sync/changes?limit=100", self.path);
        change_lines(&world.read_feed(&feed, &mut self.cursor).await, "title")
    }
}

/// Alice's lists as the API lists them, with her account just connected.
pub async fn connect_lists<P: FakeProvider>(world: &World<P>) -> Vec<Value> {
    let connection = text(&world.connect_for(&["tasks.read", "tasks.write"]).await["id"]);
    let page = world.get(&format!("/v1/task-lists?connection_id={connection}")).await;
    page["data"].as_array().expect("a list").clone()
}
