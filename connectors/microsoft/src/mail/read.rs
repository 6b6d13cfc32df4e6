//! Messages by their ids, with as much of each as is asked for: twenty requests in one batch. Graph gives a text in one form at a time, so
//! a message with its text is two requests.

use std::collections::HashMap;

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::EmailBody;
use model::wire::email::MessagesGet;
use model::wire::{Source, Sources};

use crate::api::{ask, object};
use crate::mail::access::ensure_readable;
use crate::mail::message::{MessageExtras, deleted_source, source_with, unreadable};
use crate::mail::native::{ItemBody, Message};
use crate::mail::select::{self, FULL, LISTED, WITH_HEADERS};
use crate::odata::prefer::{Prefer, with};
use crate::odata::{batch, failures, root};

/// Messages of one call (`wire::email::MessagesGet`).
const MAX_MESSAGES: usize = 200;
/// Messages of a batch with their texts, each of which is two parts.
const MESSAGES_WITH_TEXT: usize = 10;
/// Bytes of all texts of one answer, which has an end. What has no room is cut off.
const TEXT_ROOM: usize = 5 << 20;
/// Most bytes of a text that are read, also where the host asks for more.
const MAX_TEXT_BYTES: usize = 4 << 20;
const DOING: &str = "reading the messages";

/// Returns the messages; a missing one is reported as deleted. Fails where the provider does not answer for all of them at the moment: what
/// is left out would be taken for gone.
pub fn get(context: &Context, args: &MessagesGet) -> Outcome<Sources> {
    ensure_readable(context)?;
    let ids: Vec<&str> =
        args.messages.iter().take(MAX_MESSAGES).map(|message| message.source.as_str()).collect();
    let at_once = if args.body { MESSAGES_WITH_TEXT } else { batch::MAX_PARTS };
    let mut reader = Reader { context, args, room: TEXT_ROOM };
    let mut sources = Vec::with_capacity(ids.len());
    for ids in ids.chunks(at_once) {
        sources.extend(reader.read_some(ids)?);
    }
    Ok(Sources { sources, ..Sources::default() })
}

/// Reads a message as it is now, with everything that lists show. Fails with `not-found` where it is gone.
pub fn read_source(context: &Context, id: &str) -> Outcome<Source> {
    let message: Message = ask(context, Request::get(select::message(id, LISTED)?), "reading the message")?;
    Ok(source_with(&message, MessageExtras::default()))
}

struct Reader<'a> {
    context: &'a Context<'a>,
    args: &'a MessagesGet,
    /// Bytes that are left for texts.
    room: usize,
}

impl Reader<'_> {
    fn read_some(&mut self, ids: &[&str]) -> Outcome<Vec<Source>> {
        let mut parts = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            // What can be no id is the id of no message.
            let Ok(request) = self.request(id) else { continue };
            parts.push(Part::new(at.to_string(), request));
            if self.args.body {
                parts.push(Part::new(format!("text {at}"), text_request(id)?));
            }
        }
        let mut answers: HashMap<String, Response> = HashMap::new();
        if !parts.is_empty() {
            let outcome = batch::read(self.context, parts, batch::MAX_PARTS, DOING)?;
            for (name, answer) in outcome.parts {
                match answer {
                    PartOutcome::Answered(response) => _ = answers.insert(name, response),
                    PartOutcome::Missing => {
                        let lost =
                            || Failure::unavailable("the provider does not answer for all messages now");
                        return Err(outcome.wait.unwrap_or_else(lost));
                    }
                }
            }
        }
        // Where none is answered the fault is the account's, and not that of each message.
        let is_alone = !answers.values().any(|answer| answer.is_success() || answer.status == 404);
        let mut sources = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            let text = answers.remove(&format!("text {at}"));
            sources.push(match answers.remove(&at.to_string()) {
                Some(response) => self.source(id, &response, text.as_ref(), is_alone || ids.len() == 1)?,
                None => deleted_source(id),
            });
        }
        Ok(sources)
    }

    fn request(&self, id: &str) -> Outcome<Request> {
        Ok(match (self.args.body, self.args.headers) {
            (true, _) => with(Request::get(select::message(id, FULL)?), &[Prefer::UnsafeHtml]),
            (false, true) => Request::get(select::message(id, WITH_HEADERS)?),
            (false, false) => Request::get(select::message(id, LISTED)?),
        })
    }

    /// The message of an answer. Fails where the answer is about the account and not about the message.
    fn source(
        &mut self,
        id: &str,
        response: &Response,
        text: Option<&Response>,
        is_alone: bool,
    ) -> Outcome<Source> {
        if response.truncated {
            return self.without_text(id);
        }
        if response.is_success() {
            let message = object::<Message>(response).ok().filter(|message| message.id == id);
            return Ok(message.map_or_else(|| unreadable(id), |message| self.whole(&message, text)));
        }
        let failure = failures::of(self.context, response, DOING);
        match failure.code.as_str() {
            // A front end that answers 404 gives no reason.
            code::NOT_FOUND if failures::is_gone(&failure) => Ok(deleted_source(id)),
            code::INVALID => Ok(unreadable(id)),
            code::NOT_FOUND if is_alone => Err(failure.with_code(code::UNAVAILABLE)),
            code::NOT_FOUND | code::UNAVAILABLE | code::TIMEOUT | code::CONFLICT | code::FORBIDDEN
                if !is_alone =>
            {
                Ok(unreadable(id))
            }
            _ => Err(failure),
        }
    }

    /// A message whose text is longer than an answer: all but the text.
    fn without_text(&mut self, id: &str) -> Outcome<Source> {
        let message: Message =
            ask(self.context, Request::get(select::message(id, WITH_HEADERS)?), "reading the message")?;
        let body = EmailBody { truncated: true, ..EmailBody::default() };
        Ok(source_with(&message, MessageExtras { headers: true, body: Some(body) }))
    }

    fn whole(&mut self, message: &Message, text: Option<&Response>) -> Source {
        let body = self.args.body.then(|| self.body(message, text));
        source_with(message, MessageExtras { headers: self.args.headers || self.args.body, body })
    }

    /// The text in both forms. A message of plain text has the one alone.
    fn body(&mut self, message: &Message, text: Option<&Response>) -> EmailBody {
        let asked = usize::try_from(self.args.max_body_bytes).unwrap_or(usize::MAX);
        let most = if asked == 0 { MAX_TEXT_BYTES } else { asked.min(MAX_TEXT_BYTES) };
        let most = most.min(self.room / 2).max(1);
        let plain = text
            .filter(|response| response.is_success())
            .and_then(|response| object::<Message>(response).ok());
        let plain = plain.and_then(|message| message.body).filter(|body| !is_html(body));
        let (html, plain) = match &message.body {
            Some(body) if is_html(body) => (Some(&body.content), plain.map(|body| body.content)),
            Some(body) => (None, Some(body.content.clone())),
            None => (None, plain.map(|body| body.content)),
        };
        let is_lost = text.is_some_and(|response| response.truncated);
        let mut is_cut = is_lost;
        let mut shorten = |text: String| {
            let (text, is_short) = mail::read::cut(text.replace("\r\n", "\n"), most);
            is_cut |= is_short;
            Some(text).filter(|text| !text.is_empty())
        };
        let plain = plain.and_then(&mut shorten);
        let html = html.cloned().and_then(&mut shorten);
        let used = plain.iter().chain(&html).map(String::len).sum();
        self.room = self.room.saturating_sub(used);
        EmailBody { text: plain, html, safe_html: None, charset: Some("utf-8".to_owned()), truncated: is_cut }
    }
}

fn is_html(body: &ItemBody) -> bool {
    body.content_type.eq_ignore_ascii_case("html")
}

/// The request for the text of a message in plain form.
fn text_request(id: &str) -> Outcome<Request> {
    let url = root::me(&["messages", id], &[("$select", "id,body")])?;
    Ok(with(Request::get(url), &[Prefer::TextBodies]))
}
