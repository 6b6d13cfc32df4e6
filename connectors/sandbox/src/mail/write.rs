//! Changes, adds and sends messages.

use connector_sdk::http::{Request, Response, Segment};
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::EmailMessage;
use model::wire::email::{
    DraftSave, MessageAppend, MessageDelete, MessageSend, MessageUpdate, RecipientOutcome, Sent,
};
use model::wire::{Mutated, Source};
use serde_json::json;

use crate::api::{change, new_id, object, url};
use crate::items::{deleted_source, members, target};
use crate::mail::entries::{ReportForm, source};
use crate::mail::read::one;
use crate::native::WriteResponse;

/// The folder that deleted messages go to.
const TRASH: &str = "trash";

/// Returns the result of a change.
fn mutated(response: &Response) -> Outcome<Mutated> {
    let written: WriteResponse = object(response)?;
    let entry = written.record.ok_or_else(|| Failure::not_found("the message has been deleted meanwhile"))?;
    mutation(source(&entry, ReportForm::Whole)?)
}

fn mutation(source: Source) -> Outcome<Mutated> {
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![source], item, ..Mutated::default() })
}

/// Changes the named fields of a message.
pub fn update(context: &Context, args: &MessageUpdate) -> Outcome<Mutated> {
    let id = target(Some(&args.message.source))?;
    let mut body = members(args, None);
    body.retain(|name, _| !["source", "hint", "ifMatch"].contains(&name.as_str()));
    let request = Request::patch(url(context, &["mail", "messages", id], &[])?)
        .if_match(args.if_match.as_deref())
        .json(&body);
    mutated(&change(context, request, "changing the message")?)
}

/// Moves a message to the trash, or deletes it permanently.
pub fn delete(context: &Context, args: &MessageDelete) -> Outcome<Mutated> {
    let id = target(Some(&args.message.source))?;
    let is_final = args.permanent || is_in_trash(context, id)?;
    let query: &[_] = if is_final { &[("forever", "true")] } else { &[] };
    let request =
        Request::delete(url(context, &["mail", "messages", id], query)?).if_match(args.if_match.as_deref());
    let is_gone = match change(context, request, "deleting the message") {
        Ok(response) if !is_final => return Ok(Mutated { item: None, ..mutated(&response)? }),
        Ok(_) => true,
        // Gone already is as good as deleted.
        Err(e) if e.code == code::NOT_FOUND => true,
        Err(e) => return Err(e),
    };
    Ok(Mutated { sources: is_gone.then(|| deleted_source(id)).into_iter().collect(), ..Mutated::default() })
}

/// Whether the message is in the trash. Deleting it there is permanent, while the provider by default would leave it there.
fn is_in_trash(context: &Context, id: &str) -> Outcome<bool> {
    let source = match one(context, id) {
        Err(e) if e.code == code::NOT_FOUND => return Ok(true),
        found => found?,
    };
    let item = source.items.first().ok_or_else(|| Failure::not_found("the message is gone"))?;
    let message: EmailMessage = item.body.read().map_err(|e| Failure::unavailable(e.to_string()))?;
    Ok(message.folder_ids == [TRASH])
}

/// Uploads the bytes of a blob. Finds the message of an earlier attempt with the same idempotency key.
fn upload(
    context: &Context,
    path: &str,
    query: &[(&str, &str)],
    blob: &str,
    if_match: Option<&str>,
) -> Outcome<Mutated> {
    let id = new_id(context);
    let query = [&[("id", id.as_str())], query].concat();
    let request = Request::post(url(context, &["mail", path], &query)?)
        .header("content-type", "message/rfc822")
        .if_match(if_match);
    let request = Request { body: vec![Segment::Blob(blob.to_owned())], ..request };
    match change(context, request, "storing the message") {
        Ok(response) => mutated(&response),
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            mutation(one(context, &id)?)
        }
        Err(e) => Err(e),
    }
}

/// Adds a message to folders.
pub fn append(context: &Context, args: &MessageAppend) -> Outcome<Mutated> {
    if args.keywords.iter().any(|word| word.contains(',')) {
        return Err(Failure::invalid("a keyword must not contain a comma"));
    }
    let at = args.received_at.map(|at| at.to_string());
    let members = [
        ("folders", args.folders.join(",")),
        ("labels", args.labels.join(",")),
        ("keywords", args.keywords.join(",")),
        ("unread", args.unread.to_string()),
        ("starred", args.starred.to_string()),
        ("draft", args.draft.to_string()),
        ("receivedAt", at.unwrap_or_default()),
    ];
    let query: Vec<(&str, &str)> =
        members.iter().filter(|(_, v)| !v.is_empty()).map(|(n, v)| (*n, v.as_str())).collect();
    upload(context, "messages", &query, &args.blob, None)
}

/// Stores a draft, replacing another one if requested.
pub fn save_draft(context: &Context, args: &DraftSave) -> Outcome<Mutated> {
    let replaces = args.replaces.as_ref().map(|message| ("replaces", message.source.as_str()));
    let thread = args.thread.as_deref().map(|thread| ("thread", thread));
    let query: Vec<(&str, &str)> = replaces.into_iter().chain(thread).collect();
    upload(context, "drafts", &query, &args.blob, args.if_match.as_deref())
}

/// Sends a message. The provider honours the idempotency key, so even a repeated request sends nothing twice.
pub fn send(context: &Context, args: &MessageSend) -> Outcome<Sent> {
    let request =
        Request::post(url(context, &["mail", "send"], &[])?).header("content-type", "application/json");
    let request = Request { body: order(args, &new_id(context)), ..request };
    context.reached("handed-over");
    let response = change(context, request, "sending the message")?;
    let sent: WriteResponse = object(&response)?;
    if sent.recipients.len() != args.recipients.len() {
        return Err(Failure::unavailable("the provider's answer lacks the outcome of a recipient"));
    }
    if sent.recipients.iter().any(|outcome| outcome.accepted) {
        context.reached("accepted");
    }
    let mut sources: Vec<Source> =
        sent.record.iter().map(|entry| source(entry, ReportForm::Whole)).collect::<Outcome<_>>()?;
    sources.extend(sent.dropped.iter().map(|id| deleted_source(id)));
    let outcomes = args.recipients.iter().cloned().zip(sent.recipients);
    Ok(Sent {
        recipients: outcomes.map(|(email, outcome)| RecipientOutcome { email, ..outcome }).collect(),
        sources,
        ..Sent::default()
    })
}

/// The request's body. The host inserts the messages as base64, so they do not pass through the connector.
fn order(args: &MessageSend, id: &str) -> Vec<Segment> {
    let head = json!({
        "id": id,
        "sender": args.from.email,
        "recipients": args.recipients,
        "keepCopy": args.save_to_sent,
        "draft": args.draft.as_ref().map(|draft| &draft.source),
        "thread": args.thread,
    });
    let mut head = head.to_string();
    // The closing brace comes last.
    head.pop();
    let text = |text: String| Segment::Bytes(text.into_bytes());
    let mut body = vec![text(head + ",\"raw\":\""), Segment::BlobBase64(args.blob.clone())];
    if let Some(copy) = args.sent_blob.as_ref().filter(|_| args.save_to_sent) {
        body.extend([text("\",\"copy\":\"".to_owned()), Segment::BlobBase64(copy.clone())]);
    }
    body.push(text("\"}".to_owned()));
    body
}

#[cfg(test)]
mod tests {
    use connector_sdk::http::Segment;
    use model::wire::email::{MessageRef, MessageSend};
    use serde_json::{Value, json};

    use crate::mail::write::order;

    fn order_json(args: &MessageSend) -> Value {
        let text = |segment| match segment {
            Segment::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
            Segment::BlobBase64(id) => format!("<{id}>"),
            other => panic!("{other:?}"),
        };
        let text: String = order(args, "the-id").into_iter().map(text).collect();
        serde_json::from_str(&text).unwrap()
    }

    /// For any envelope, the body is JSON with the blobs in their positions.
    #[test]
    fn orders() {
        let mut args = MessageSend { blob: "b1".to_owned(), ..MessageSend::default() };
        args.recipients = vec!["\"odd\\\"@x.test".to_owned()];
        (args.sent_blob, args.save_to_sent) = (Some("b2".to_owned()), true);
        args.draft = Some(MessageRef { source: "d".to_owned(), hint: None });
        args.thread = Some("t".to_owned());
        let full = order_json(&args);
        assert_eq!(full["thread"], "t");
        assert_eq!(
            (&full["raw"], &full["copy"], &full["draft"]),
            (&json!("<b1>"), &json!("<b2>"), &json!("d"))
        );
        assert_eq!((&full["recipients"][0], &full["id"]), (&json!("\"odd\\\"@x.test"), &json!("the-id")));
        args.save_to_sent = false;
        assert_eq!(order_json(&args)["copy"], Value::Null);
    }
}
