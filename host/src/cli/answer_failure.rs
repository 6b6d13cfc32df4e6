//! The error of a command whose request a server refused: one line with its cause and one with its remedy.

use http::HeaderMap;
use http::header::{LOCATION, RETRY_AFTER};
use serde::Deserialize;
use serde::de::IgnoredAny;
use url::Url;

use crate::cli::refusal::{SERVER_FAILED, exit_failure};

/// Most characters of a server's text that an error shows.
const MAX_SHOWN_CHARS: usize = 500;

/// An answer that is no success.
pub struct FailedAnswer<'a> {
    pub server: &'a Url,
    pub status: u16,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// The error envelope, as far as it is shown.
#[derive(Deserialize)]
struct ErrorDocument {
    error: ErrorFacts,
}

/// The facts of an error. Servers of other versions may have further ones.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorFacts {
    code: String,
    message: String,
    param: Option<String>,
    details: Vec<IgnoredAny>,
    request_id: String,
    current_etag: Option<String>,
}

impl FailedAnswer<'_> {
    /// The error of the command: exit code 4 if the server failed, and 1 if it refused the request.
    pub fn error(&self) -> anyhow::Error {
        let code = if self.status >= 500 { SERVER_FAILED } else { 1 };
        let facts = serde_json::from_slice::<ErrorDocument>(self.body).ok().map(|document| document.error);
        let cause = match &facts {
            Some(facts) => self.cause(facts),
            None => self.cause_of_text(),
        };
        exit_failure(code, cause, self.help(&facts.unwrap_or_default()))
    }

    fn cause(&self, facts: &ErrorFacts) -> String {
        let mut notes = vec![format!("{} {}", self.status, printable(&facts.code)).trim_end().to_owned()];
        if let Some(param) = &facts.param {
            notes.push(format!("param {}", printable(param)));
        }
        if facts.details.len() > 1 {
            notes.push(format!("{} faults", facts.details.len()));
        }
        if !facts.request_id.is_empty() {
            notes.push(format!("request {}", printable(&facts.request_id)));
        }
        let message = printable(&facts.message);
        let message = if message.is_empty() { "the request failed" } else { message.as_str() };
        format!("{message} ({})", notes.join(", "))
    }

    /// The cause of an answer that has no error envelope: it may be a proxy's.
    fn cause_of_text(&self) -> String {
        let text = printable(&String::from_utf8_lossy(self.body));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let separator = if text.is_empty() { "" } else { ": " };
        format!("the server answers {}{separator}{text}", self.status)
    }

    fn help(&self, facts: &ErrorFacts) -> String {
        let docs = format!("{}/docs", self.server.as_str().trim_end_matches('/'));
        let seconds =
            self.header(RETRY_AFTER.as_str()).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        match (self.status, facts.code.as_str(), seconds) {
            (300..=399, _, _) => {
                let location = self.header(LOCATION.as_str()).map(printable);
                format!(
                    "the server redirects to {}: name that server with --server",
                    location.unwrap_or_default()
                )
            }
            (401, _, _) => {
                "run `switchboard login` with another key; `switchboard keys create` creates one".to_owned()
            }
            (_, "insufficient_scope", _) => {
                "use a key that has the scope: `switchboard keys create --scopes …` creates one".to_owned()
            }
            (403, _, _) => "use a key that may do this, or ask an administrator of the server".to_owned(),
            (404 | 405, _, _) => format!("check the path and the IDs; {docs} lists the operations"),
            (_, "stale_etag", _) => match &facts.current_etag {
                Some(etag) => format!("read it again, then repeat with -H 'If-Match: {}'", printable(etag)),
                None => "read it again, then repeat with its etag: -H 'If-Match: …'".to_owned(),
            },
            (_, _, Some(seconds)) => format!("try again in {} s", printable(seconds)),
            (429, _, None) => "try again in a minute".to_owned(),
            (500..=u16::MAX, _, None) => {
                "try again; if it fails again, the server's log has the cause under the request's ID"
                    .to_owned()
            }
            _ => match &facts.param {
                Some(param) => format!("correct {}; {docs} describes it", printable(param)),
                None => format!("{docs} says what the operation accepts"),
            },
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
    }
}

/// A server's text made safe for a terminal: on one line, without control characters, and not endless.
pub fn printable(text: &str) -> String {
    let safe = |c: char| if c == '\n' || c == '\t' { Some(' ') } else { (!c.is_control()).then_some(c) };
    text.chars().filter_map(safe).take(MAX_SHOWN_CHARS).collect()
}

/// JSON on one line, made safe for a terminal: control characters, which can only be within its texts, are escaped.
pub fn printable_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Line ends and tabs can only stand between the tokens of JSON.
            '\n' | '\r' | '\t' => line.push(' '),
            c if c.is_control() => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use crate::cli::refusal::{exit_code, render};

    use super::*;

    /// The exit code and the lines of the error.
    fn failed(status: u16, headers: &[(&'static str, &str)], body: &str) -> (u8, String) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let server = Url::parse("http://127.0.0.1:8080/").unwrap();
        let error = FailedAnswer { server: &server, status, headers: &map, body: body.as_bytes() }.error();
        (exit_code(&error), render(&error))
    }

    #[test]
    fn an_error_has_a_line_of_cause_and_a_line_of_remedy() {
        let body = r#"{"error":{"type":"invalid_request_error","code":"missing_field","message":"title is required",
                      "param":"title","details":[],"request_id":"req_1"}}"#;
        let expected = "error: title is required (400 missing_field, param title, request req_1)\n\
                        help: correct title; http://127.0.0.1:8080/docs describes it\n";
        assert_eq!(failed(400, &[], body), (1, expected.to_owned()));
        let stale = r#"{"error":{"code":"stale_etag","message":"it changed","current_etag":"\"2\""}}"#;
        assert!(
            failed(409, &[], stale)
                .1
                .ends_with("help: read it again, then repeat with -H 'If-Match: \"2\"'\n")
        );
    }

    #[test]
    fn json_for_a_terminal_has_no_control_characters() {
        assert_eq!(
            printable_json("{\n\t\"a\": \"b\u{9b}31m\u{7f}é\"}"),
            "{  \"a\": \"b\\u009b31m\\u007fé\"}"
        );
    }

    #[test]
    fn a_failure_of_the_server_has_its_own_exit_code() {
        let (code, text) = failed(502, &[], "<html>\n bad\u{1b}[31m gateway");
        assert_eq!(
            (code, text.lines().next()),
            (4, Some("error: the server answers 502: <html> bad[31m gateway"))
        );
        let (code, text) = failed(503, &[("retry-after", "7")], "");
        assert_eq!((code, text.as_str()), (4, "error: the server answers 503\nhelp: try again in 7 s\n"));
        assert_eq!(failed(429, &[("retry-after", "3")], "").0, 1);
    }
}
