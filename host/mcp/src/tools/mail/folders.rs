//! `list_folders`, and folders that arguments name by their role.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object};
use crate::tools::mail::parts::with_argument;
use crate::tools::shape::{FieldChoice, ListPage, cursor_schema, items, list_schema};

/// Most folders of a page of the API.
const MAX_FOLDERS: usize = 200;
/// Bytes of a folder's name with those of the folders around it.
const NAME_BYTES: usize = 150;
/// Roles by which arguments can name a folder.
pub const ROLES: [&str; 10] =
    ["inbox", "archive", "drafts", "sent", "trash", "junk", "all", "important", "flagged", "outbox"];

pub const LIST_FOLDERS: Definition = Definition {
    name: "list_folders",
    title: "List mail folders",
    description: "The folders of an account with their ids, roles and numbers of unread messages.",
    scope: "email.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 4 << 10,
    input,
    output: folders_schema,
};

fn input() -> JsonObject {
    object(json!({ "connectionId": {"type": "string"}, "cursor": cursor_schema() }), &["connectionId"])
}

fn folders_schema() -> JsonObject {
    let folder = object(
        json!({
            "id": {"type": "string"},
            "role": {"type": "string"},
            "untrustedName": {"type": "string", "description": "With the folders around it, from the outermost."},
            "unreadCount": {"type": "integer"},
            "hiddenTextRemoved": {"type": "integer"},
        }),
        &["id"],
    );
    list_schema("folders", json!({ "folders": {"type": "array", "items": folder} }))
}

/// Arguments of `list_folders`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListFoldersArguments {
    connection_id: String,
    cursor: Option<String>,
}

pub async fn list_folders<A: Api>(
    context: &Context<'_, A>,
    arguments: ListFoldersArguments,
) -> Result<Outcome, ToolError> {
    let request = Request::get("/v1/email/folders")
        .with("connection_id", arguments.connection_id)
        .with_some("cursor", arguments.cursor);
    let page = ListPage::read(context.api, request, MAX_FOLDERS, LIST_FOLDERS.budget, folder).await;
    let page = page.map_err(|error| with_argument(error, &[("connection_id", "connectionId")]))?;
    Ok(page.into_result("folders", LIST_FOLDERS.name).into())
}

fn folder(folder: &Value) -> Value {
    let path: Vec<&str> = folder["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let name = if path.is_empty() { folder["name"].clone() } else { json!(path.join(" / ")) };
    let unread = folder["unreadCount"].as_u64().filter(|count| *count > 0);
    FieldChoice::new(folder, false)
        .copy(&["id", "role"])
        .line("untrustedName", &name, NAME_BYTES)
        .put("unreadCount", json!(unread))
        .finish()
}

/// Returns the id of a folder that an argument names by its id, or by its role in an account.
///
/// # Errors
/// Fails if the role is of no folder, or of folders of several accounts.
pub async fn find_folder_id<A: Api>(
    api: &A,
    connection_id: Option<&str>,
    folder: String,
) -> Result<String, ToolError> {
    if !ROLES.contains(&folder.as_str()) {
        return Ok(folder);
    }
    let request = Request::get("/v1/email/folders").with_some("connection_id", connection_id);
    let mut page = json_of(api.call(request.with("limit", MAX_FOLDERS)).await)?;
    let folders = items(&mut page);
    let mut found = folders.iter().filter(|item| item["role"] == folder.as_str());
    match (found.next().and_then(|item| item["id"].as_str()), found.next()) {
        (Some(id), None) => Ok(id.to_owned()),
        (Some(_), Some(_)) => {
            let message = format!("several accounts have a folder {folder}: give connectionId too");
            Err(ToolError::invalid("folder", message))
        }
        (None, _) => {
            let message =
                format!("there is no folder with the role {folder}; give the id of one from list_folders");
            Err(ToolError::invalid("folder", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{find_folder_id, folder};
    use crate::tools::script::Script;

    #[test]
    fn a_folder_has_its_path_and_no_bookkeeping() {
        let stored = json!({
            "id": "fld_1", "name": "2026", "path": ["Work", "2026"], "role": null, "unreadCount": 0, "etag": "\"1\"",
            "rights": {"mayRead": true},
        });
        assert_eq!(folder(&stored), json!({"id": "fld_1", "untrustedName": "Work / 2026"}));
    }

    #[tokio::test]
    async fn a_folder_is_found_by_its_role() {
        let folders = json!({"data": [{"id": "fld_1", "role": "inbox"}, {"id": "fld_2", "role": "inbox"}, {"id": "fld_3", "role": "sent"}]});
        let api = Script::new().on("GET", "/v1/email/folders", 200, folders);
        let find = async |name: &str| {
            find_folder_id(&api, None, name.to_owned()).await.map_err(|error| error.message)
        };
        assert_eq!(find("sent").await, Ok("fld_3".to_owned()));
        assert_eq!(find("fld_9").await, Ok("fld_9".to_owned()));
        assert!(find("inbox").await.unwrap_err().contains("give connectionId"));
        assert!(find("trash").await.unwrap_err().contains("list_folders"));
    }
}
