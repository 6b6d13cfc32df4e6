//! The operation that `switchboard api` calls: a method and a path, or an operation's ID.

use std::str::FromStr;

use anyhow::Result;
use http::Method;

use crate::api::operation::Operation;
use crate::cli::refusal::{WRONG_USAGE, exit_failure};

/// Operations that an error suggests.
const MAX_SUGGESTIONS: usize = 5;
/// The methods of the API.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PATCH, Method::PUT, Method::DELETE];

/// The method and the path of a request.
#[derive(Debug, PartialEq, Eq)]
pub struct RequestTarget {
    pub method: Method,
    /// The percent-encoded path, which begins with a slash.
    pub path: String,
    /// The query that is part of the path on the command line.
    pub query: Option<String>,
}

impl RequestTarget {
    /// Parses `GET /v1/calendars`, `/v1/calendars`, or `calendars.events.list CALENDAR_ID`. A path alone is read, or written to if there is
    /// a body.
    ///
    /// # Errors
    /// Exit code 2, with the form that is expected.
    pub fn parse(words: &[String], has_body: bool, operations: &[Operation]) -> Result<RequestTarget> {
        let (first, rest) = words.split_first().ok_or_else(|| usage("there is no request"))?;
        let is_url = |word: &String| !word.starts_with('/') && word.contains("://");
        if is_url(first) || (parse_method(first).is_some() && rest.iter().any(is_url)) {
            return Err(exit_failure(
                WRONG_USAGE,
                "a request names a path, not a URL",
                "give the path alone, such as /v1/calendars; --server names the server",
            ));
        }
        if first.starts_with('/') {
            let method = if has_body { Method::POST } else { Method::GET };
            return match rest {
                [] => RequestTarget::from_path(method, first),
                _ => Err(usage("there are words after the path")),
            };
        }
        if let Some(method) = parse_method(first) {
            return match rest {
                [path] if path.starts_with('/') => RequestTarget::from_path(method, path),
                _ => Err(usage(&format!("{method} needs a path that begins with /"))),
            };
        }
        RequestTarget::from_operation(first, rest, operations)
    }

    fn from_path(method: Method, path: &str) -> Result<RequestTarget> {
        ensure_plain(path)?;
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (path, None),
        };
        Ok(RequestTarget { method, path: path.to_owned(), query })
    }

    fn from_operation(id: &str, values: &[String], operations: &[Operation]) -> Result<RequestTarget> {
        let Some(operation) = operations.iter().find(|operation| operation.id() == id) else {
            return Err(exit_failure(
                WRONG_USAGE,
                format!("there is no operation \"{id}\""),
                suggestion(id, operations),
            ));
        };
        let names: Vec<&str> = operation.path_parameters().collect();
        if names.len() != values.len() || values.iter().any(|value| matches!(value.as_str(), "" | "." | ".."))
        {
            let words = names.iter().map(|name| format!(" {{{name}}}")).collect::<String>();
            return Err(exit_failure(
                WRONG_USAGE,
                format!("{id} needs {} after its name; {} given", parameters(names.len()), values.len()),
                format!("the form is `switchboard api {id}{words}`"),
            ));
        }
        let mut values = values.iter();
        let segments = operation.path.split('/').map(|segment| match segment.starts_with('{') {
            true => values.next().map(|value| encode(value)).unwrap_or_default(),
            false => segment.to_owned(),
        });
        let path = segments.collect::<Vec<_>>().join("/");
        Ok(RequestTarget { method: operation.method.clone(), path, query: None })
    }

    /// Whether the request changes something, and so takes an Idempotency-Key. A query that is sent by POST does not.
    pub fn is_write(&self) -> bool {
        !self.method.is_safe() && !self.path.ends_with("/query")
    }

    /// Whether the path belongs to the API, whose operations need a key.
    pub fn needs_key(&self) -> bool {
        self.path.starts_with("/v1/")
    }
}

/// Refuses a path that leads elsewhere than it says, such as one with an id that a script got from outside: the key would go there.
fn ensure_plain(path: &str) -> Result<()> {
    let (before_query, _) = path.split_once('?').unwrap_or((path, ""));
    let is_dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    match path.contains(char::is_control)
        || before_query.contains('\\')
        || before_query.split('/').any(is_dots)
    {
        false => Ok(()),
        true => Err(exit_failure(
            WRONG_USAGE,
            "the path has a `.` or `..` segment, a backslash or a control character",
            "check the IDs in it, or name the operation and its IDs: `switchboard api calendars.get CALENDAR_ID`",
        )),
    }
}

fn parse_method(word: &str) -> Option<Method> {
    let method = Method::from_str(&word.to_ascii_uppercase()).ok()?;
    METHODS.contains(&method).then_some(method)
}

fn usage(cause: &str) -> anyhow::Error {
    let help = "use for example `switchboard api GET /v1/calendars` or `switchboard api calendars.list`";
    exit_failure(WRONG_USAGE, cause, help)
}

fn parameters(count: usize) -> String {
    match count {
        0 => "no IDs".to_owned(),
        1 => "one ID".to_owned(),
        _ => format!("{count} IDs"),
    }
}

/// The operations whose ID is like this one, as a remedy.
fn suggestion(id: &str, operations: &[Operation]) -> String {
    let ids: Vec<String> = operations.iter().map(Operation::id).collect();
    let family = id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let (_, last) = id.rsplit_once('.').unwrap_or(("", ""));
    let is_like = |other: &&String| {
        let lower = other.to_ascii_lowercase();
        lower.contains(&id.to_ascii_lowercase())
            || (!family.is_empty()
                && lower.starts_with(&family)
                && (last.is_empty() || other.ends_with(last)))
    };
    let mut found: Vec<&str> = ids.iter().filter(is_like).map(String::as_str).collect();
    if found.is_empty() {
        let starts = |other: &&String| !family.is_empty() && other.to_ascii_lowercase().starts_with(&family);
        found = ids.iter().filter(starts).map(String::as_str).collect();
    }
    found.truncate(MAX_SUGGESTIONS);
    match found.is_empty() {
        true => "the page /docs of the server lists the operations; a path begins with /".to_owned(),
        false => format!("similar operations: {}", found.join(", ")),
    }
}

/// A path segment, percent-encoded.
fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use crate::api;
    use crate::cli::refusal::{exit_code, render};

    use super::*;

    fn parsed(words: &[&str], has_body: bool) -> Result<RequestTarget> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        RequestTarget::parse(&words, has_body, &api::operations())
    }

    fn request(words: &[&str], has_body: bool) -> String {
        let target = parsed(words, has_body).unwrap();
        let query = target.query.map_or(String::new(), |query| format!("?{query}"));
        format!("{} {}{query}", target.method, target.path)
    }

    #[test]
    fn a_request_is_a_method_and_a_path_or_an_operation() {
        assert_eq!(request(&["get", "/v1/calendars?limit=5"], false), "GET /v1/calendars?limit=5");
        assert_eq!(request(&["/v1/usage"], false), "GET /v1/usage");
        assert_eq!(request(&["/v1/usage?at=a://b"], false), "GET /v1/usage?at=a://b");
        assert_eq!(request(&["/v1/calendars"], true), "POST /v1/calendars");
        assert_eq!(request(&["calendars.list"], false), "GET /v1/calendars");
        assert_eq!(
            request(&["calendars.events.get", "cal_1", "a/b c"], false),
            "GET /v1/calendars/cal_1/events/a%2Fb%20c"
        );
    }

    #[test]
    fn a_write_is_what_changes_something() {
        let is_write = |words: &[&str]| parsed(words, false).unwrap().is_write();
        assert!(is_write(&["POST", "/v1/calendars"]) && is_write(&["DELETE", "/v1/calendars/cal_1"]));
        assert!(!is_write(&["GET", "/v1/calendars"]) && !is_write(&["POST", "/v1/contacts/query"]));
    }

    #[test]
    fn wrong_usage_says_the_form() {
        for (words, help) in [
            (&["GET"][..], "switchboard api GET /v1/calendars"),
            (&["GET", "v1/calendars"], "switchboard api GET /v1/calendars"),
            (&["GET", "https://api.example.com/v1/calendars"], "--server names the server"),
            (&["calendars.events.get", "cal_1"], "calendars.events.get {calendarId} {eventId}"),
            (&["calendars.events.get", "cal_1", ".."], "calendars.events.get {calendarId} {eventId}"),
            (&["calendars.remove"], "calendars."),
            (&["GET", "/v1/calendars/../../other"], "check the IDs"),
            (&["/v1/calendars/%2E%2e/x"], "check the IDs"),
            (&["/v1/a\\b"], "check the IDs"),
            (&["/v1/a\r\nb"], "check the IDs"),
        ] {
            let refused = parsed(words, false).unwrap_err();
            assert_eq!(exit_code(&refused), WRONG_USAGE, "{words:?}");
            let text = render(&refused);
            assert!(text.lines().count() == 2 && text.contains(help), "{words:?}: {text}");
        }
    }
}
