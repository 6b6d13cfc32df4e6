//! `messages.update` and `messages.delete`. Marks and categories are a PATCH, a folder is a move; Graph takes If-Match with both.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::Importance;
use model::wire::email::{MessageDelete, MessageUpdate};
use model::wire::{Mutated, Source, Warning};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute, object, send};
use crate::mail::categories::merged;
use crate::mail::message::{deleted_source, partial};
use crate::mail::native::Message;
use crate::mail::select::STATE;
use crate::odata::{failures, root};

const DOING: &str = "changing the message";
/// The folder of deleted messages.
const TRASH: &str = "deleteditems";

/// Returns a warning about a field that the provider does not keep.
pub fn field_warning(field: &str, message: &str) -> Warning {
    Warning {
        code: "field_not_supported".to_owned(),
        message: message.to_owned(),
        target: Some(field.to_owned()),
    }
}

/// Changes the marks, the categories and the folder of a message.
pub fn update(context: &Context, args: &MessageUpdate) -> Outcome<Mutated> {
    let id = args.message.source.as_str();
    let target = folder_of(args.folders.as_deref())?;
    let marks = marks(args);
    let mut state: Option<Message> = None;
    if !marks.is_empty() || has_labels(args) {
        state = Some(patch(context, args, marks)?);
    } else if target.is_none() || args.if_match.is_some() {
        state = Some(read_state(context, id, args.if_match.as_deref())?);
    }
    let is_there =
        |folder: &str| state.as_ref().is_some_and(|state| state.parent_folder_id.as_deref() == Some(folder));
    if let Some(folder) = target.filter(|folder| !is_there(folder)) {
        state = Some(move_to(context, id, folder)?);
    }
    let state = state.unwrap_or_default();
    let source = state_of(id, &state);
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![source], item, warnings: losses(args), part: None })
}

/// The source of a message of which the state is known. An id that is another one now follows that which the host knows.
fn state_of(id: &str, state: &Message) -> Source {
    let source = partial(state);
    let previous_id = (source.external_id != id).then(|| id.to_owned());
    Source { previous_id, ..source }
}

/// The one folder that the message is to be in.
fn folder_of(folders: Option<&[String]>) -> Outcome<Option<&str>> {
    match folders {
        None => Ok(None),
        Some([folder]) => Ok(Some(folder.as_str())),
        Some([]) => Err(Failure::invalid("name a folder for the message")),
        Some(_) => Err(Failure::new(code::UNSUPPORTED, "a message of this provider is in one folder")),
    }
}

fn has_labels(args: &MessageUpdate) -> bool {
    !args.add_labels.is_empty() || !args.remove_labels.is_empty()
}

/// The members of a PATCH, without the categories.
fn marks(args: &MessageUpdate) -> Map<String, Value> {
    let mut marks = Map::new();
    if let Some(is_unread) = args.unread {
        marks.insert("isRead".to_owned(), json!(!is_unread));
    }
    if let Some(is_starred) = args.starred {
        let status = if is_starred { "flagged" } else { "notFlagged" };
        marks.insert("flag".to_owned(), json!({ "flagStatus": status }));
    }
    if let Some(importance) = args.importance {
        marks.insert("importance".to_owned(), json!(importance_name(importance)));
    }
    marks
}

/// Graph's name of an importance.
pub fn importance_name(importance: Importance) -> &'static str {
    match importance {
        Importance::Low => "low",
        Importance::Normal => "normal",
        Importance::High => "high",
    }
}

/// Warns of fields that Graph does not change.
fn losses(args: &MessageUpdate) -> Vec<Warning> {
    let lost = [
        ("answered", args.answered.is_some()),
        ("forwarded", args.forwarded.is_some()),
        ("keywords", !args.add_keywords.is_empty() || !args.remove_keywords.is_empty()),
    ];
    let lost = lost.into_iter().filter(|(_, is_given)| *is_given);
    lost.map(|(field, _)| field_warning(field, "the provider does not keep this")).collect()
}

/// Writes the marks and the categories. Categories are replaced as a list: it is read, and written only on the version that was read. A
/// conflict with a version that is still there is none (microsoftgraph/microsoft-graph-docs#2256), and so is one of a list that was merged
/// here: both are tried once more.
fn patch(context: &Context, args: &MessageUpdate, marks: Map<String, Value>) -> Outcome<Message> {
    let id = args.message.source.as_str();
    let expected = args.if_match.as_deref();
    let attempt = || -> Outcome<Message> {
        let mut body = marks.clone();
        let mut version = expected.map(str::to_owned);
        if has_labels(args) {
            let now = read_state(context, id, expected)?;
            let categories = now.categories.clone().unwrap_or_default();
            body.insert(
                "categories".to_owned(),
                json!(merged(&categories, &args.add_labels, &args.remove_labels)?),
            );
            version = now.etag.or(version);
        }
        let request = Request::patch(root::me(&["messages", id], &[])?).if_match(version.as_deref());
        change(context, id, request.json(&Value::Object(body)), DOING)
    };
    match attempt() {
        Err(failure) if failure.code == code::CONFLICT && failure.http_status == Some(412) => {
            // Fails with `conflict` where the version is another one.
            read_state(context, id, expected)?;
            attempt()
        }
        done => done,
    }
}

/// Reads the state of a message. Fails with `conflict` where it is not the version that a change is based on.
pub fn read_state(context: &Context, id: &str, expected: Option<&str>) -> Outcome<Message> {
    let url = root::me(&["messages", id], &[("$select", STATE)])?;
    let message: Message = ask(context, Request::get(url), "reading the message")?;
    let is_other = |expected: &str| message.etag.as_deref().is_some_and(|etag| etag != expected);
    match expected.is_some_and(is_other) {
        true => Err(Failure::conflict("the message has changed since")),
        false => Ok(message),
    }
}

/// Sends a change whose answer is the message, with all of its text. One that is too long to be read says as well that the change was made.
fn change(context: &Context, id: &str, request: Request, doing: &str) -> Outcome<Message> {
    let response = send(context, request, doing)?;
    match response.truncated {
        true => read_state(context, id, None),
        false => object(&response),
    }
}

/// Moves a message into a folder, by its id or the name that Graph knows it by.
pub fn move_to(context: &Context, id: &str, folder: &str) -> Outcome<Message> {
    let request = Request::post(root::me(&["messages", id, "move"], &[])?);
    change(context, id, request.json(&json!({ "destinationId": folder })), "moving the message")
}

/// Moves a message to the trash, or destroys it.
pub fn delete(context: &Context, args: &MessageDelete) -> Outcome<Mutated> {
    let id = args.message.source.as_str();
    if let Some(expected) = args.if_match.as_deref() {
        read_state(context, id, Some(expected))?;
    }
    let source = match args.permanent {
        true => {
            destroy(context, id)?;
            deleted_source(id)
        }
        false => match move_to(context, id, TRASH) {
            Ok(message) => state_of(id, &message),
            Err(failure) if failures::is_gone(&failure) => deleted_source(id),
            Err(failure) if failure.code == code::NOT_FOUND => {
                return Err(failure.with_code(code::UNAVAILABLE));
            }
            Err(failure) => return Err(failure),
        },
    };
    Ok(Mutated { sources: vec![source], ..Mutated::default() })
}

/// Destroys a message. A cloud without that takes a deletion, after which an administrator can bring the message back. One that is gone is
/// no failure.
pub fn destroy(context: &Context, id: &str) -> Outcome<()> {
    let request = Request::post(root::me(&["messages", id, "permanentDelete"], &[])?);
    match execute(context, request, "deleting the message for good") {
        Err(failure)
            if [code::NOT_FOUND, code::INVALID, code::UNSUPPORTED].contains(&failure.code.as_str()) =>
        {
            remove(context, id, None)
        }
        done => done,
    }
}

/// Deletes a message. One that is gone is no failure (microsoftgraph/msgraph-sdk-dotnet#3047).
pub fn remove(context: &Context, id: &str, if_match: Option<&str>) -> Outcome<()> {
    let request = Request::delete(root::me(&["messages", id], &[])?).if_match(if_match);
    match execute(context, request, "deleting the message") {
        Err(failure) if failures::is_gone(&failure) => Ok(()),
        done => done,
    }
}
