//! `mark_messages`: the marks and the folder of messages.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Api, Request, segment};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::shape::items;

/// Messages of one call.
const MAX_MESSAGES: usize = 50;
/// Folders that can be named by their role instead of an id.
const ROLES: [&str; 4] = ["inbox", "archive", "junk", "trash"];
/// The role, and the name, of folders whose messages a server sends.
const OUTBOX: &str = "outbox";
/// Pages of folders that are searched for one.
const MAX_PAGES: usize = 5;
/// Bytes of the result for messages that could not be changed.
const FAILURE_BYTES: usize = 1_600;
/// Bytes of an error's message that the result shows.
const MAX_SHOWN: usize = 120;

pub const MARK_MESSAGES: Definition = Definition {
    name: "mark_messages",
    title: "Mark or move messages",
    description: "Marks messages as read or unread, stars them, or moves them to a folder. Messages moved to `trash` stay there until \
        the provider or the user empties it; nothing is destroyed.",
    scope: "email.write",
    effect: Effect::Write,
    idempotent: true,
    open_world: false,
    budget: 2 << 10,
    input,
    output: result_schema,
};

fn input() -> JsonObject {
    object(
        json!({
            "messageIds": {
                "type": "array", "minItems": 1, "maxItems": MAX_MESSAGES, "items": {"type": "string"},
            },
            "unread": {"type": "boolean"},
            "starred": {"type": "boolean"},
            "folder": {
                "type": "string",
                "description": "inbox, archive, junk, trash, or the id of a folder from list_folders. The messages are in no other folder then.",
            },
        }),
        &["messageIds"],
    )
}

fn result_schema() -> JsonObject {
    let failure = object(
        json!({
            "messageId": {"type": "string"},
            "code": {"type": "string"},
            "message": {"type": "string"},
        }),
        &["messageId", "code"],
    );
    output(
        json!({
            "changed": {"type": "integer", "description": "Messages that were changed."},
            "failed": {"type": "array", "items": failure},
        }),
        &["changed"],
    )
}

/// Arguments of `mark_messages`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MarkMessagesArguments {
    message_ids: Vec<String>,
    unread: Option<bool>,
    starred: Option<bool>,
    folder: Option<String>,
}

pub async fn mark_messages<A: Api>(
    context: &Context<'_, A>,
    arguments: MarkMessagesArguments,
) -> Result<Outcome, ToolError> {
    let MarkMessagesArguments { message_ids, unread, starred, folder } = arguments;
    if !(1..=MAX_MESSAGES).contains(&message_ids.len()) {
        let message = format!("messageIds must have 1 to {MAX_MESSAGES} ids; got {}", message_ids.len());
        return Err(ToolError::invalid("messageIds", message));
    }
    let mut patch = Map::new();
    for (name, mark) in [("unread", unread), ("starred", starred)] {
        if let Some(mark) = mark {
            patch.insert(name.to_owned(), json!(mark));
        }
    }
    if patch.is_empty() && folder.is_none() {
        return Err(ToolError::new("missing_field", "give unread, starred or folder").param("folder"));
    }
    if let Some(id) = folder.as_deref().filter(|folder| !ROLES.contains(folder)) {
        ensure_no_outbox(context.api, id).await?;
    }
    let mut folders = FolderIds::default();
    let (mut changed, mut failed) = (0, Vec::new());
    for id in &message_ids {
        match mark(context.api, id, &patch, folder.as_deref(), &mut folders).await {
            Ok(()) => changed += 1,
            Err(error) => failed.push(failure(id, &error)),
        }
    }
    let mut result = json!({ "changed": changed });
    if !failed.is_empty() {
        let (kept, is_cut) = cut(failed, FAILURE_BYTES);
        result["failed"] = Value::Array(kept);
        if is_cut {
            result["truncated"] = json!(true);
            result["howToContinue"] =
                json!("Call mark_messages with fewer messages to see the other errors.");
        }
    }
    Ok(result.into())
}

fn failure(id: &str, error: &ToolError) -> Value {
    let message: String = error.message.chars().take(MAX_SHOWN).collect();
    let id: String = id.chars().take(MAX_SHOWN).collect();
    json!({ "messageId": id, "code": error.code, "message": message })
}

/// The ids of folders with a role, by connection.
#[derive(Debug, Default)]
struct FolderIds(HashMap<String, String>);

impl FolderIds {
    /// Returns the id of the connection's folder with this role.
    async fn find<A: Api>(&mut self, api: &A, connection_id: &str, role: &str) -> Result<String, ToolError> {
        if let Some(id) = self.0.get(connection_id) {
            return Ok(id.clone());
        }
        let request =
            Request::get("/v1/email/folders").with("connection_id", connection_id).with("limit", 200);
        let mut page = json_of(api.call(request).await)?;
        let all = items(&mut page);
        let id = all.iter().find(|one| one["role"] == role).and_then(|one| one["id"].as_str());
        let Some(id) = id else {
            let message = format!("the account has no folder {role}");
            return Err(ToolError::invalid("folder", message));
        };
        self.0.insert(connection_id.to_owned(), id.to_owned());
        Ok(id.to_owned())
    }
}

/// Ensures that the folder is none whose messages are sent: moving a draft there would be a way out around `policy::way_out`.
async fn ensure_no_outbox<A: Api>(api: &A, id: &str) -> Result<(), ToolError> {
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let request = Request::get("/v1/email/folders").with_some("cursor", cursor.as_deref());
        let mut page = json_of(api.call(request.with("limit", 200)).await)?;
        if let Some(folder) = items(&mut page).iter().find(|one| one["id"] == id) {
            let is_named_so =
                |name: &Value| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case(OUTBOX));
            return match is_named_so(&folder["role"]) || is_named_so(&folder["name"]) {
                true => Err(ToolError::invalid("folder", "messages cannot be moved to the outbox")),
                false => Ok(()),
            };
        }
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    // The API refuses what is no folder of the message's account.
    Ok(())
}

/// Changes one message.
async fn mark<A: Api>(
    api: &A,
    id: &str,
    patch: &Map<String, Value>,
    folder: Option<&str>,
    folders: &mut FolderIds,
) -> Result<(), ToolError> {
    let path = format!("/v1/email/messages/{}", segment(id));
    let mut patch = patch.clone();
    if let Some(folder) = folder {
        let folder_id = match ROLES.contains(&folder) {
            true => {
                let request = Request::get(path.as_str()).with("fields", "summary");
                let message = json_of(api.call(request).await)?;
                let connection_id = message["connectionId"].as_str().unwrap_or_default();
                folders.find(api, connection_id, folder).await?
            }
            false => folder.to_owned(),
        };
        patch.insert("folderIds".to_owned(), json!([folder_id]));
    }
    json_of(api.call(Request::patch(path, Value::Object(patch))).await).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::script::{Script, context, quiet_policy};

    async fn marked(api: &Script, arguments: Value) -> Result<Outcome, ToolError> {
        let policy = quiet_policy();
        mark_messages(&context(api, &policy), serde_json::from_value(arguments).unwrap()).await
    }

    #[tokio::test]
    async fn a_message_goes_to_the_trash_of_its_account() {
        let folders =
            json!({ "data": [{ "id": "fld_1", "role": "inbox" }, { "id": "fld_9", "role": "trash" }] });
        let api = Script::new()
            .on("GET", "/v1/email/messages/msg_1", 200, json!({ "id": "msg_1", "connectionId": "conn_1" }))
            .on("GET", "/v1/email/folders", 200, folders)
            .on("PATCH", "/v1/email/messages/msg_1", 200, json!({ "id": "msg_1" }));
        let arguments = json!({ "messageIds": ["msg_1", "msg_1"], "unread": false, "folder": "trash" });
        assert_eq!(marked(&api, arguments).await, Ok(json!({ "changed": 2 }).into()));
        assert_eq!(api.last().body, Some(json!({ "unread": false, "folderIds": ["fld_9"] })));
        let lists = api.lines().iter().filter(|line| line.contains("/v1/email/folders")).count();
        assert_eq!(lists, 1, "the folders of an account are read once");
        assert!(api.lines().iter().all(|line| !line.starts_with("DELETE")), "{:?}", api.lines());
    }

    /// Some servers send what is moved there.
    #[tokio::test]
    async fn nothing_is_moved_to_the_outbox() {
        for folder in [json!({ "id": "fld_7", "role": "outbox" }), json!({ "id": "fld_7", "name": "Outbox" })]
        {
            let api = Script::new().on("GET", "/v1/email/folders", 200, json!({ "data": [folder] }));
            let error =
                marked(&api, json!({ "messageIds": ["msg_1"], "folder": "fld_7" })).await.unwrap_err();
            assert_eq!((error.code.as_str(), error.param.as_deref()), ("invalid_parameter", Some("folder")));
        }
    }

    #[tokio::test]
    async fn each_message_that_failed_is_named() {
        let refusal = json!({ "error": { "code": "not_found", "message": "no such message" } });
        let api = Script::new().on("PATCH", "/v1/email/messages/msg_1", 200, json!({ "id": "msg_1" })).on(
            "PATCH",
            "/v1/email/messages/msg_2",
            404,
            refusal,
        );
        let arguments = json!({ "messageIds": ["msg_1", "msg_2"], "starred": true });
        let failure = json!({ "messageId": "msg_2", "code": "not_found", "message": "no such message" });
        assert_eq!(marked(&api, arguments).await, Ok(json!({ "changed": 1, "failed": [failure] }).into()));
    }

    #[tokio::test]
    async fn a_call_names_messages_and_a_change() {
        let api = Script::new();
        let many = vec!["msg_1"; MAX_MESSAGES + 1];
        for (arguments, param) in [
            (json!({ "messageIds": [], "unread": true }), "messageIds"),
            (json!({ "messageIds": many, "unread": true }), "messageIds"),
            (json!({ "messageIds": ["msg_1"] }), "folder"),
        ] {
            assert_eq!(marked(&api, arguments).await.unwrap_err().param.as_deref(), Some(param));
        }
    }
}
