//! The rest of the walk: a contact and a task, in a book and a list of their own, which are deleted again.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::demo::walk::{Walk, list, text};

impl Walk {
    /// Makes a contact in a group, and finds it by any spelling of its number; and suggests a duplicate for merging.
    pub fn meet_somebody(&mut self) -> Result<()> {
        let connection = self.connection().to_owned();
        let book = json!({ "connection_id": connection, "name": "Switchboard demo" });
        let book = self
            .ask("Create a contact book", "POST", "/v1/contact-books", &[], Some(&book))?
            .expect(&[201])?;
        let mut contact = json!({
            "bookId": book["id"], "givenName": "Ada", "familyName": "Lovelace",
            "emails": [{ "value": "ada@example.org", "type": "work" }],
            "phones": [{ "value": "+44 20 7946 0958", "type": "mobile" }],
            "birthday": { "month": 12, "day": 10 },
        });
        let ada =
            self.ask("Create a contact", "POST", "/v1/contacts", &[], Some(&contact))?.expect(&[201])?;
        ensure!(ada["displayName"] == "Ada Lovelace", "the name to show was not made of its parts");
        let path = format!("/v1/contacts?book_id={}&phone=%2B44-20-79460958", text(&book, "id")?);
        let found = self.ask("Who has this number?", "GET", &path, &[], None)?.expect(&[200])?;
        ensure!(list(&found)?.len() == 1 && list(&found)?[0]["id"] == ada["id"], "the contact was not found");
        contact = json!({ "bookId": book["id"], "displayName": "Lovelace, Ada", "emails": [{ "value": "ADA@example.org" }] });
        let twin =
            self.ask("Create her once more", "POST", "/v1/contacts", &[], Some(&contact))?.expect(&[201])?;
        let query = json!({ "bookIds": [book["id"]] });
        let path = "/v1/contacts/merge-suggestions/query";
        let found = self.ask("Who is there twice?", "POST", path, &[], Some(&query))?.expect(&[200])?;
        let ids = [&ada["id"], &twin["id"]];
        let is_pair =
            |s: &Value| ids.iter().all(|id| s["contactIds"].as_array().is_some_and(|m| m.contains(id)));
        ensure!(list(&found)?.iter().any(is_pair), "the two were not suggested");
        let group = json!({ "bookId": book["id"], "name": "Pioneers", "contactIds": [ada["id"]] });
        let group = self
            .ask("Put her into a group", "POST", "/v1/contact-groups", &[], Some(&group))?
            .expect(&[201])?;
        ensure!(group["memberCount"] == 1, "the group has no member");
        let path = format!("/v1/contact-books/{}", text(&book, "id")?);
        let refused =
            self.ask("Delete the book: it is not empty", "DELETE", &path, &[], None)?.expect(&[409])?;
        ensure!(refused["error"]["code"] == "not_empty", "the code is not not_empty");
        self.ask("Delete it with what is in it", "DELETE", &format!("{path}?force=true"), &[], None)?
            .expect(&[204])?;
        Ok(())
    }

    /// Makes a task and its subtask, and completes both.
    pub fn do_something(&mut self) -> Result<()> {
        let new = json!({ "connection_id": self.connection(), "name": "Switchboard demo" });
        let made =
            self.ask("Create a task list", "POST", "/v1/task-lists", &[], Some(&new))?.expect(&[201])?;
        let path = format!("/v1/task-lists/{}", text(&made, "id")?);
        let tasks = format!("{path}/tasks");
        let task = json!({ "title": "Write the report", "dueDate": "2030-01-31", "priority": "high" });
        let task = self.ask("Create a task", "POST", &tasks, &[], Some(&task))?.expect(&[201])?;
        let part = json!({ "title": "Collect the figures", "parentId": task["id"] });
        let part = self.ask("And a part of it", "POST", &tasks, &[], Some(&part))?.expect(&[201])?;
        ensure!(part["parentId"] == task["id"], "the subtask does not name its task");
        let body = json!({ "status": "completed", "etag": task["etag"] });
        let own = format!("{tasks}/{}", text(&task, "id")?);
        let done = self.ask("Complete the task", "PATCH", &own, &[], Some(&body))?.expect(&[200])?;
        ensure!(done["completedAt"].is_string(), "the completion has no time");
        let open = self
            .ask("What is still to do?", "GET", &format!("{tasks}?open=true"), &[], None)?
            .expect(&[200])?;
        ensure!(list(&open)?.len() == 1, "the part alone is open");
        self.ask("Delete the list", "DELETE", &path, &[], None)?.expect(&[204])?;
        Ok(())
    }
}
