//! Resources: the guide, and records by their address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::api::{Api, Content, Request, segment};
use crate::guide::GUIDE;
use crate::policy::Policy;
use crate::text::{fit, render};
use crate::tool::{Context, JsonObject, Outcome, ToolError};
use crate::tools;

/// The address of the guide.
pub const GUIDE_URI: &str = "switchboard://guide";
/// The scheme of all addresses.
const SCHEME: &str = "switchboard://";
/// Largest attachment that a resource has, in bytes.
const MAX_ATTACHMENT_BYTES: usize = 1024 * 1024;

/// A kind of record: the first part of its address, the names of its ids, and the tool that reads it.
struct ResourceKind {
    name: &'static str,
    ids: &'static [&'static str],
    tool: &'static str,
    title: &'static str,
    description: &'static str,
}

const KINDS: [ResourceKind; 4] = [
    ResourceKind {
        name: "messages",
        ids: &["messageId"],
        tool: "read_message",
        title: "Message",
        description: "An email: sender, recipients, text and names of attachments.",
    },
    ResourceKind {
        name: "threads",
        ids: &["threadId"],
        tool: "read_thread",
        title: "Conversation",
        description: "The messages of a conversation without quoted text.",
    },
    ResourceKind {
        name: "events",
        ids: &["calendarId", "eventId"],
        tool: "read_event",
        title: "Event",
        description: "An event of a calendar with its participants.",
    },
    ResourceKind {
        name: "attachments",
        ids: &["messageId", "attachmentId"],
        tool: "read_attachment",
        title: "Attachment",
        description: "A file of a message: text inline, everything else as bytes.",
    },
];

/// Returns the resources with a fixed address.
pub fn list() -> Vec<Resource> {
    let guide = Resource::new(GUIDE_URI, "guide")
        .with_title("Guide")
        .with_description("How to work with Switchboard: ids, drafts, text of others, limits.")
        .with_mime_type("text/markdown");
    vec![guide]
}

/// Returns the addresses of the records that the key may read.
pub fn templates(scopes: &[String], policy: &Policy) -> Vec<ResourceTemplate> {
    let kinds = KINDS.iter().filter(|kind| tools::find(kind.tool, scopes, policy).is_some());
    let template = |kind: &ResourceKind| {
        let ids: Vec<String> = kind.ids.iter().map(|id| format!("{{{id}}}")).collect();
        let address = format!("{SCHEME}{}/{}", kind.name, ids.join("/"));
        ResourceTemplate::new(address, kind.name).with_title(kind.title).with_description(kind.description)
    };
    kinds.map(template).collect()
}

/// Reads a resource.
///
/// # Errors
/// `resource not found` for an unknown address or a record that the key cannot read; `invalid request` with the API's error otherwise.
pub async fn read<A: Api>(context: &Context<'_, A>, uri: &str) -> Result<ResourceContents, ErrorData> {
    if uri == GUIDE_URI {
        return Ok(ResourceContents::text(GUIDE, uri).with_mime_type("text/markdown"));
    }
    let Some((kind, ids)) = parse(uri) else { return Err(not_found(uri)) };
    let Some(tool) = tools::find(kind.tool, context.api.scopes(), context.policy) else {
        return Err(not_found(uri));
    };
    let arguments: JsonObject =
        kind.ids.iter().zip(&ids).map(|(name, id)| ((*name).to_owned(), Value::from(id.as_str()))).collect();
    match tools::call(context, tool.name, arguments).await {
        // A file that is no text.
        Ok(Outcome::Done(output))
            if kind.name == "attachments" && output.structured.get("untrustedText").is_none() =>
        {
            match output.structured["size"].as_u64().and_then(|size| usize::try_from(size).ok()) {
                // It is not read in vain.
                Some(size) if size > MAX_ATTACHMENT_BYTES => Err(too_large(uri, size)),
                _ => file_bytes(context, uri, &ids).await,
            }
        }
        Ok(Outcome::Done(mut output)) => {
            fit(&mut output.structured, tool.budget);
            Ok(ResourceContents::text(render(&output.structured, &context.fence), uri))
        }
        // A tool that reads asks nothing.
        Ok(Outcome::Ask(_)) => Err(not_found(uri)),
        Err(error) => Err(failed(uri, &error)),
    }
}

/// The kind and the ids of an address; none for one that has no such form.
fn parse(uri: &str) -> Option<(&'static ResourceKind, Vec<String>)> {
    let (name, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let kind = KINDS.iter().find(|kind| kind.name == name)?;
    let ids: Vec<String> = rest.split('/').map(str::to_owned).collect();
    // Ids have no characters that an address encodes.
    let is_id = |id: &String| !id.is_empty() && segment(id) == *id;
    (ids.len() == kind.ids.len() && ids.iter().all(is_id)).then_some((kind, ids))
}

async fn file_bytes<A: Api>(
    context: &Context<'_, A>,
    uri: &str,
    ids: &[String],
) -> Result<ResourceContents, ErrorData> {
    let [message, file] = ids else { return Err(not_found(uri)) };
    let path = format!("/v1/email/messages/{}/attachments/{}", segment(message), segment(file));
    let answer = context.api.call(Request::get(path).with("format", "raw")).await;
    if !answer.is_success() {
        return Err(failed(uri, &ToolError::from(&answer)));
    }
    let Content::Bytes { media_type, bytes } = answer.body else { return Err(not_found(uri)) };
    if bytes.len() > MAX_ATTACHMENT_BYTES {
        return Err(too_large(uri, bytes.len()));
    }
    Ok(ResourceContents::blob(STANDARD.encode(&bytes), uri).with_mime_type(media_type))
}

fn too_large(uri: &str, bytes: usize) -> ErrorData {
    let message = format!(
        "the attachment has {bytes} bytes, and at most {MAX_ATTACHMENT_BYTES} can be read; open it in a mail client"
    );
    ErrorData::invalid_request(message, Some(json!({ "uri": uri })))
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))
}

/// The error of a resource whose record could not be read.
fn failed(uri: &str, error: &ToolError) -> ErrorData {
    if error.code == "not_found" {
        return not_found(uri);
    }
    let mut data = error.to_json();
    data["uri"] = json!(uri);
    ErrorData::invalid_request(error.message.clone(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_exactly_its_ids() {
        let parsed = |uri: &str| parse(uri).map(|(kind, ids)| (kind.tool, ids.join(" ")));
        assert_eq!(parsed("switchboard://messages/msg_1"), Some(("read_message", "msg_1".to_owned())));
        let event = Some(("read_event", "cal_1 evt_2".to_owned()));
        assert_eq!(parsed("switchboard://events/cal_1/evt_2"), event);
        for wrong in [
            "switchboard://messages",
            "switchboard://messages/",
            "switchboard://messages/a/b",
            "switchboard://messages/..",
            "switchboard://messages/a?b",
            "switchboard://keys/key_1",
            "https://example.com/messages/msg_1",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn templates_are_those_of_the_key() {
        let names = |scope: &str| {
            let templates = templates(&[scope.to_owned()], &Policy::default());
            templates.into_iter().map(|template| template.uri_template).collect::<Vec<_>>()
        };
        assert_eq!(names("calendar.read"), ["switchboard://events/{calendarId}/{eventId}"]);
        assert_eq!(names("email.read").len(), 3);
        assert!(names("contacts.read").is_empty());
    }
}
