//! A call of Graph: its user, path, parameters and body, as the surfaces read them, and the links and pages of its answer.

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use url::form_urlencoded::Serializer;

use crate::door::{Reply, first_named};
use crate::graph::errors::GraphError;
use crate::graph::ids;
use crate::graph::prefer::Preferences;

/// Collections in whose paths a key may follow.
const COLLECTIONS: [&str; 13] = [
    "attachments",
    "calendarGroups",
    "calendars",
    "checklistItems",
    "childFolders",
    "contactFolders",
    "contacts",
    "events",
    "instances",
    "linkedResources",
    "lists",
    "mailFolders",
    "messages",
];
/// Segments behind a collection that are no key.
const OPERATIONS: [&str; 2] = ["delta", "$count"];

/// A call that the document allows, by a user whose token has a scope for it.
pub struct GraphCall {
    /// The address of the account.
    pub user: String,
    /// The account's id, as `/me` has it.
    pub account_id: String,
    pub method: String,
    /// The segments after `/me` or `/users/{id}`, each percent-decoded. Functions have no brackets, and keys are segments of their own:
    /// `mailFolders('inbox')/messages/microsoft.graph.delta()` is `mailFolders`, `inbox`, `messages`, `delta`.
    pub path: Vec<String>,
    /// Without parameters that are empty.
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    /// The body as it came.
    pub content: Bytes,
    /// The body where it is JSON, else null.
    pub body: Value,
    pub prefer: Preferences,
    /// The scopes of the token, without the prefix of Graph's address.
    pub scopes: Vec<String>,
    /// The beginning of links in answers, as in `https://graph.microsoft.com/v1.0`.
    pub link_root: String,
}

impl GraphCall {
    /// The segments of the path, to be matched.
    pub fn segments(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// A parameter of the query, as in `$filter`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        first_named(&self.query, name)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the body is JSON.
    pub fn is_json(&self) -> bool {
        is_json(&self.headers)
    }

    /// Whether the token has one of these scopes.
    pub fn has_scope(&self, any: &[&str]) -> bool {
        self.scopes.iter().any(|scope| any.iter().any(|one| one.eq_ignore_ascii_case(scope)))
    }

    /// The id that this caller gets for an item: the immutable one with the preference, else the one of its place.
    pub fn id_of(&self, key: &str, place: u64) -> String {
        match self.prefer.immutable_ids {
            true => ids::immutable(key),
            false => ids::mutable(key, place),
        }
    }

    /// Checks If-Match, where there is one.
    ///
    /// # Errors
    /// It is not the item's etag: 412.
    pub fn check_if_match(&self, etag: &str) -> Result<(), GraphError> {
        match self.header("if-match") {
            Some(given) if given != "*" && given != etag => Err(GraphError::conflict()),
            _ => Ok(()),
        }
    }

    /// The parameter `$top` up to `most`, else `usual`.
    ///
    /// # Errors
    /// It is no positive number: 400.
    pub fn top(&self, usual: usize, most: usize) -> Result<usize, GraphError> {
        let Some(text) = self.parameter("$top") else { return Ok(usual) };
        match text.parse::<usize>() {
            Ok(top) if top > 0 => Ok(top.min(most)),
            _ => Err(invalid_number("$top", text)),
        }
    }

    /// The parameter `$skip`, else 0.
    ///
    /// # Errors
    /// It is no number: 400.
    pub fn skip(&self) -> Result<usize, GraphError> {
        let Some(text) = self.parameter("$skip") else { return Ok(0) };
        text.parse().map_err(|_| invalid_number("$skip", text))
    }

    /// The page of a delta: the preference `odata.maxpagesize` up to `most`, else `usual`; `$top` counts for nothing.
    pub fn delta_page(&self, usual: usize, most: usize) -> usize {
        self.prefer.max_page_size.unwrap_or(usual).min(most)
    }

    /// The members that `$select` names; none where all are wanted.
    pub fn selected(&self) -> Option<Vec<&str>> {
        self.parameter("$select").map(|text| text.split(',').map(str::trim).collect())
    }

    /// The item with the members alone that `$select` names, with `id` and annotations.
    pub fn select(&self, item: Value) -> Value {
        match (self.selected(), item) {
            (Some(names), Value::Object(members)) => {
                let is_wanted = |name: &String| {
                    name == "id"
                        || name.contains('@')
                        || names.iter().any(|one| last_segment(one).eq_ignore_ascii_case(name))
                };
                Value::Object(members.into_iter().filter(|(name, _)| is_wanted(name)).collect::<Map<_, _>>())
            }
            (_, item) => item,
        }
    }

    /// `@odata.context` of an answer, as in `context("messages/$entity")`.
    pub fn context(&self, of: &str) -> String {
        format!("{}/$metadata#users('{}')/{of}", self.link_root, self.account_id)
    }

    /// The path in the spelling that Graph's links have, as in `/me/mailFolders('inbox')/messages`.
    pub fn link_path(&self) -> String {
        let mut text = String::from("/me");
        let mut is_key = false;
        for segment in &self.path {
            let is_operation = OPERATIONS.contains(&segment.as_str());
            match is_key && !is_operation {
                true => text.push_str(&format!("('{}')", escaped(segment))),
                false => text.push_str(&format!("/{}", escaped(segment))),
            }
            is_key = (!is_key || is_operation) && COLLECTIONS.contains(&segment.as_str());
        }
        text
    }

    /// The link of the next page of a list, with `$skip` and the other parameters as they were.
    pub fn next_link(&self, skip: usize) -> String {
        let mut query = Serializer::new(String::new());
        for (name, value) in self.query.iter().filter(|(name, _)| name != "$skip") {
            query.append_pair(name, value);
        }
        query.append_pair("$skip", &skip.to_string());
        format!("{}{}?{}", self.link_root, self.link_path(), query.finish())
    }

    /// A link that has a token alone, as in `token_link("$deltatoken", "…")`.
    pub fn token_link(&self, name: &str, token: &str) -> String {
        format!("{}{}?{name}={}", self.link_root, self.link_path(), escaped(token))
    }

    /// A page of a list by `$top` and `$skip`, with `@odata.count` where `$count` asks for it. `of` is what `context` takes.
    ///
    /// # Errors
    /// A parameter is no number: 400.
    pub fn page(&self, of: &str, items: Vec<Value>, sizes: PageSizes) -> Result<Value, GraphError> {
        let (top, skip) = (self.top(sizes.usual, sizes.most)?, self.skip()?);
        let all = items.len();
        let value: Vec<Value> =
            items.into_iter().skip(skip).take(top).map(|item| self.select(item)).collect();
        let mut page = json!({ "@odata.context": self.context(of), "value": value });
        if self.parameter("$count") == Some("true") {
            page["@odata.count"] = all.into();
        }
        if skip + top < all {
            page["@odata.nextLink"] = self.next_link(skip + top).into();
        }
        Ok(page)
    }
}

/// The sizes of a list's pages: without `$top`, and the largest.
#[derive(Clone, Copy, Debug)]
pub struct PageSizes {
    pub usual: usize,
    pub most: usize,
}

/// Whether a body of these headers is JSON.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/json"))
}

/// An answer of JSON in Graph's content type.
pub fn json_reply(status: u16, body: &Value) -> Reply {
    let kind = "application/json; odata.metadata=minimal; odata.streaming=true; IEEE754Compatible=false; charset=utf-8";
    let reply = Reply::new(status).header("content-type", kind).body(body.to_string());
    match body["@odata.etag"].as_str() {
        Some(etag) => reply.header("etag", etag),
        None => reply,
    }
}

/// Splits a path's segments as `GraphCall::path` has them.
pub fn normalized(segments: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for segment in segments.iter().filter(|segment| !segment.is_empty()) {
        let segment = segment.strip_prefix("microsoft.graph.").unwrap_or(segment);
        match segment.strip_suffix("')").and_then(|text| text.split_once("('")) {
            Some((name, key)) if !name.is_empty() && !name.contains('=') => {
                all.push(name.to_owned());
                all.push(key.replace("''", "'"));
            }
            _ => all.push(segment.strip_suffix("()").unwrap_or(segment).to_owned()),
        }
    }
    all
}

/// Returns the name after the cast, as in `microsoft.graph.fileAttachment/contentId`.
fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn escaped(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace("%24", "$")
}

fn invalid_number(name: &str, text: &str) -> GraphError {
    GraphError::bad_request(&format!("Invalid value '{text}' for {name} query option found."))
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn keys_in_brackets_and_functions_are_segments() {
        let split = |path: &str| normalized(&path.split('/').map(str::to_owned).collect::<Vec<_>>());
        let expected = ["mailFolders", "in'box", "messages", "delta"];
        assert_eq!(split("mailFolders('in''box')/messages/microsoft.graph.delta()"), expected);
        assert_eq!(split("calendarView/delta()"), ["calendarView", "delta"]);
        let call = "reminderView(StartDateTime='a',EndDateTime='b')";
        assert_eq!(split(call), [call]);
    }
}
