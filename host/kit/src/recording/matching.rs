//! Replay: a request gets the answer of an equal recorded request. Each answer is used once.
//!
//! Requests are equal in method, scheme, host, port, path, the query in any order, and the body: JSON by its values, forms by their fields,
//! other types by their bytes. Headers are not compared. Of several equal recorded requests the first unused one answers, so concurrent
//! requests may arrive in any order. If none is equal, the first one matches that is equal after private values are replaced in both,
//! because a recording has placeholders for them.

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use http::{Request, Response};
use runtime::CarriedBody;
use serde_json::Value;
use url::{Url, form_urlencoded};

use crate::escapes::decoded;
use crate::recording::format::{RecordedRequest, RecordedResponse, Recording};
use crate::recording::redact::Redactor;
use crate::recording::rules::Rules;
use crate::recording::secrets::without_numbers;

/// The help text for requests that differ from the recording.
pub const RECORD_AGAIN: &str = "the connector sends other requests than when this was recorded. If you changed it, record again: switchboard connector record. Requests may depend only on the call: its arguments, its clock, its randomness and the provider's answers";

/// The maximum number of recorded requests that are shown beside an unmatched one.
const SHOWN: usize = 3;
/// The maximum number of differences shown per recorded request.
const SHOWN_DIFFERENCES: usize = 4;
/// The maximum number of characters shown of a value.
const SHOWN_CHARS: usize = 80;
const FORM: &str = "application/x-www-form-urlencoded";

/// Answers the requests of a run from a recording.
pub struct Replay {
    recording: Recording,
    rules: Rules,
    state: Mutex<ReplayState>,
}

/// The state of the current case.
#[derive(Default)]
struct ReplayState {
    case: String,
    answers: Vec<RecordedAnswer>,
    /// The first request that has no answer.
    missing: Option<String>,
}

struct RecordedAnswer {
    request: RecordedRequest,
    key: Key,
    /// The method and URL, as shown in messages.
    shown: String,
    response: RecordedResponse,
    is_used: bool,
}

/// The differences between a case and its recording, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingDifferences {
    /// A request that is not in the recording.
    pub missing: Option<String>,
    /// A recorded request that was not made.
    pub unused: Option<String>,
}

/// The parts of a request that are compared.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    method: String,
    /// Scheme, host and port.
    server: String,
    /// The percent-decoded path segments.
    path: Vec<String>,
    /// The names and values, sorted.
    query: Vec<(String, String)>,
    content: Content,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Json(Value),
    Form(Vec<(String, String)>),
    Bytes(Vec<u8>),
}

impl Replay {
    /// Creates a replay of this recording.
    pub fn new(recording: Recording, rules: Rules) -> Self {
        Replay { recording, rules, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, ReplayState> {
        self.state.lock().expect("no panic while answering from a recording")
    }

    /// Begins a case. Returns the time of the kit's clock when it was recorded.
    pub fn begin_case(&self, id: &str) -> Option<i64> {
        let case = self.recording.find_case(id);
        let exchanges = case.map(|case| case.exchanges.as_slice()).unwrap_or_default();
        let answers = exchanges.iter().map(|exchange| RecordedAnswer {
            request: exchange.request.clone(),
            key: Key::from_request(&exchange.request, &self.rules.ignore),
            shown: exchange.request.to_string(),
            response: exchange.response.clone(),
            is_used: false,
        });
        *self.state() = ReplayState { case: id.to_owned(), answers: answers.collect(), missing: None };
        case.map(|case| case.at_ms)
    }

    /// Returns the recorded answer; none if this request is not in the recording, or was made more often than recorded.
    pub fn answer(&self, request: &Request<Bytes>) -> Option<Response<CarriedBody>> {
        let request = RecordedRequest::from_request(request);
        let key = Key::from_request(&request, &self.rules.ignore);
        let mut state = self.state();
        let mut left = state.answers.iter().enumerate().filter(|(_, answer)| !answer.is_used);
        let equal = left.clone().find(|(_, answer)| answer.key == key).or_else(|| {
            let redacted = Key::of_redacted(&request, &self.rules);
            left.find(|(_, answer)| Key::of_redacted(&answer.request, &self.rules) == redacted)
        });
        if let Some(place) = equal.map(|(place, _)| place)
            && let Some(answer) = state.answers.get_mut(place)
        {
            answer.is_used = true;
            return Some(answer.response.carried());
        }
        let said = state.missing_said(&request, &key);
        state.missing.get_or_insert(said);
        None
    }

    /// Ends the case. Returns the differences between its requests and the recorded ones.
    pub fn end_case(&self) -> RecordingDifferences {
        let state = std::mem::take(&mut *self.state());
        let left: Vec<&RecordedAnswer> = state.answers.iter().filter(|answer| !answer.is_used).collect();
        let unused = left.first().map(|first| {
            let (case, count) = (&state.case, left.len());
            format!(
                "of the requests recorded in case {case}, {count} were not sent; the first is {}",
                first.shown
            )
        });
        RecordingDifferences { missing: state.missing, unused }
    }
}

impl ReplayState {
    /// Returns the message for a request that is not recorded, with the most similar recorded ones.
    fn missing_said(&self, request: &RecordedRequest, key: &Key) -> String {
        let mut nearest: Vec<(usize, &RecordedAnswer, Vec<String>)> = self
            .answers
            .iter()
            .map(|answer| {
                let (distance, differences) = key.differences(&answer.key);
                // Unused requests come first: the connector probably meant one of those.
                (2 * distance + usize::from(answer.is_used), answer, differences)
            })
            .collect();
        nearest.sort_by_key(|(distance, ..)| *distance);
        let mut said = format!("{request} is not in the recording of case {}", self.case);
        said.push_str(if nearest.is_empty() {
            ", which has no requests"
        } else {
            "; the closest recorded requests:"
        });
        for (_, answer, differences) in nearest.into_iter().take(SHOWN) {
            let mut shown: Vec<String> = differences.into_iter().take(SHOWN_DIFFERENCES).collect();
            if answer.is_used {
                shown.push("the connector has sent it already".to_owned());
            }
            said.push_str(&format!("\n      {}: {}", answer.shown, shown.join("; ")));
        }
        said
    }
}

impl Key {
    fn from_request(request: &RecordedRequest, ignore: &[String]) -> Key {
        let url = Url::parse(&request.url).ok();
        let server = url.as_ref().map_or_else(
            || request.url.clone(),
            |url| {
                let port = url.port_or_known_default().unwrap_or_default();
                format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default())
            },
        );
        let path = url.as_ref().map_or("", Url::path).split('/').map(decoded).collect();
        let mut query: Vec<(String, String)> =
            url.iter().flat_map(|url| url.query_pairs().into_owned()).collect();
        query.sort();
        let content = Content::from_request(request, ignore);
        Key { method: request.method.clone(), server, path, query, content }
    }

    /// Returns the key of a request in which all private values are replaced by the same placeholder.
    fn of_redacted(request: &RecordedRequest, rules: &Rules) -> Key {
        let mut redactor = Redactor::new(&[], rules);
        // The first pass learns the private values.
        redactor.request(request);
        let mut redacted = redactor.request(request);
        redacted.url = without_numbers(&redacted.url);
        if let Ok(text) = std::str::from_utf8(&redacted.body) {
            redacted.body = without_numbers(text).into_bytes();
        }
        Key::from_request(&redacted, &rules.ignore)
    }

    /// Returns the distance between a recorded request and this one, and the differences.
    fn differences(&self, recorded: &Key) -> (usize, Vec<String>) {
        let mut found = Vec::new();
        let mut distance = 0;
        if self.method != recorded.method {
            distance += 6;
            found.push(format!("its method is {}", recorded.method));
        }
        if self.server != recorded.server {
            distance += 6;
            found.push(format!("its server is {}, not {}", recorded.server, self.server));
        }
        if self.path != recorded.path {
            let length = self.path.len().max(recorded.path.len());
            distance += (0..length).filter(|at| self.path.get(*at) != recorded.path.get(*at)).count() + 1;
            found.push(format!("its path is {}", recorded.path.join("/")));
        }
        let before = found.len();
        for (name, value) in recorded.query.iter().filter(|pair| !self.query.contains(pair)) {
            found.push(format!("its query has {name}={}", short(value)));
        }
        for (name, value) in self.query.iter().filter(|pair| !recorded.query.contains(pair)) {
            found.push(format!("its query has no {name}={}", short(value)));
        }
        if before == found.len() && self.query != recorded.query {
            found.push("a part of its query is there another number of times".to_owned());
        }
        self.content.differences(&recorded.content, &mut found);
        (distance + found.len() - before, found)
    }
}

impl Content {
    fn from_request(request: &RecordedRequest, ignore: &[String]) -> Content {
        let is_form = request.headers.get("content-type").is_some_and(|kind| kind.starts_with(FORM));
        if is_form {
            return Content::Form(form_urlencoded::parse(&request.body).into_owned().collect());
        }
        match serde_json::from_slice::<Value>(&request.body) {
            Ok(mut value) => {
                for pointer in ignore {
                    remove(&mut value, pointer);
                }
                Content::Json(value)
            }
            Err(_) => Content::Bytes(request.body.clone()),
        }
    }

    fn differences(&self, recorded: &Content, found: &mut Vec<String>) {
        match (self, recorded) {
            (Content::Json(asked), Content::Json(recorded)) => json_differences("", asked, recorded, found),
            (Content::Form(asked), Content::Form(recorded)) if asked != recorded => {
                found.push("its form has other fields".to_owned());
            }
            (asked, recorded) if asked != recorded => {
                found.push(format!("its body is {}", recorded.describe()));
            }
            _ => {}
        }
    }

    fn describe(&self) -> String {
        match self {
            Content::Json(value) => short(&value.to_string()),
            Content::Form(fields) => format!("a form of {} fields", fields.len()),
            Content::Bytes(bytes) if bytes.is_empty() => "empty".to_owned(),
            Content::Bytes(bytes) => short(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// Describes the members in which two values differ, by their JSON pointers.
fn json_differences(at: &str, asked: &Value, recorded: &Value, found: &mut Vec<String>) {
    match (asked, recorded) {
        (Value::Object(asked), Value::Object(recorded)) => {
            for (name, value) in recorded {
                let at = format!("{at}/{name}");
                match asked.get(name) {
                    Some(other) => json_differences(&at, other, value, found),
                    None => found.push(format!("its body has {at}")),
                }
            }
            let more = asked.keys().filter(|name| !recorded.contains_key(*name));
            found.extend(more.map(|name| format!("its body has no {at}/{name}")));
        }
        (Value::Array(asked), Value::Array(recorded)) if asked.len() == recorded.len() => {
            for (number, (asked, recorded)) in asked.iter().zip(recorded).enumerate() {
                json_differences(&format!("{at}/{number}"), asked, recorded, found);
            }
        }
        (asked, recorded) if asked != recorded => {
            let (asked, recorded) = (short(&asked.to_string()), short(&recorded.to_string()));
            let place = if at.is_empty() { String::new() } else { format!(" {at}") };
            found.push(format!("in its body{place} is {recorded}, not {asked}"));
        }
        _ => {}
    }
}

/// Removes the member that a JSON pointer names (RFC 6901).
fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    let name = name.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&name);
        }
        Some(Value::Array(values)) => {
            if let Some(value) = name.parse::<usize>().ok().and_then(|at| values.get_mut(at)) {
                *value = Value::Null;
            }
        }
        _ => {}
    }
}

/// The beginning of a value.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::format::{RecordedCase, RecordedExchange};

    fn recorded(requests: &[(&str, &str, &str)]) -> Replay {
        let exchange = |(n, (method, url, body)): (usize, &(&str, &str, &str))| RecordedExchange {
            n: n + 1,
            request: RecordedRequest {
                method: (*method).into(),
                url: (*url).into(),
                body: (*body).into(),
                ..RecordedRequest::default()
            },
            response: RecordedResponse {
                status: 200,
                body: format!("answer {n}").into(),
                ..RecordedResponse::default()
            },
        };
        let case = RecordedCase {
            id: "W1".into(),
            surface: "tasks".into(),
            at_ms: 5,
            exchanges: requests.iter().enumerate().map(exchange).collect(),
        };
        let recording = Recording { cases: vec![case], ..Recording::default() };
        let ignore = vec!["/requestId".into(), "/of/0".into()];
        let replay = Replay::new(recording, Rules { ignore, ..Rules::default() });
        assert_eq!(replay.begin_case("W1"), Some(5));
        replay
    }

    fn ask(replay: &Replay, method: &str, url: &str, body: &str) -> Option<String> {
        let request = Request::builder().method(method).uri(url).body(Bytes::from(body.to_owned())).unwrap();
        replay.answer(&request).map(|answer| String::from_utf8(answer.body().bytes()).unwrap())
    }

    #[test]
    fn equal_is_what_means_the_same() {
        for (recorded_url, url, recorded_body, body, is_equal) in [
            ("https://a.test/x?a=1&b=2", "https://a.test/x?b=2&a=1", "", "", true),
            ("https://a.test/x?a=1&a=1", "https://a.test/x?a=1", "", "", false),
            ("https://a.test/x%2ey?a=%2e", "https://a.test:443/x.y?a=.", "", "", true),
            ("https://a.test/x/y", "https://a.test/x%2Fy", "", "", false),
            ("https://a.test/x", "http://a.test/x", "", "", false),
            ("https://a.test/x", "https://a.test:444/x", "", "", false),
            ("https://a.test/x", "https://b.test/x", "", "", false),
            ("https://a.test/x", "https://a.test/x", "{\"a\":1,\"b\":[2]}", "{ \"b\": [2], \"a\": 1 }", true),
            ("https://a.test/x", "https://a.test/x", "{\"a\":1}", "{\"a\":\"1\"}", false),
            ("https://a.test/x", "https://a.test/x", "{\"requestId\":1}", "{\"requestId\":2}", true),
            ("https://a.test/x", "https://a.test/x", "{\"requestId\":1}", "{}", true),
            ("https://a.test/x", "https://a.test/x", "{\"of\":[1,2]}", "{\"of\":[3,2]}", true),
            ("https://a.test/x", "https://a.test/x", "a b", "a  b", false),
        ] {
            let replay = recorded(&[("POST", recorded_url, recorded_body)]);
            let answer = ask(&replay, "POST", url, body);
            assert_eq!(answer.is_some(), is_equal, "{url} {body}");
            assert!(ask(&replay, "PUT", url, body).is_none());
        }
    }

    #[test]
    fn a_private_value_of_the_connector_s_own_is_equal_to_its_placeholder() {
        for (recorded_url, url, recorded_body, body, is_equal) in [
            ("https://a.test/x?api_key=REDACTED-004", "https://a.test/x?api_key=constant", "", "", true),
            ("https://a.test/x?page=REDACTED-004", "https://a.test/x?page=constant", "", "", false),
            ("https://REDACTED-001:REDACTED-002@a.test/x", "https://ann:pw@a.test/x", "", "", true),
            (
                "https://a.test/x",
                "https://a.test/x",
                "{\"client_assertion\":\"REDACTED-003\",\"a\":1}",
                "{\"a\":1,\"client_assertion\":\"eyJ.b\"}",
                true,
            ),
            (
                "https://a.test/x",
                "https://a.test/x",
                "{\"client_assertion\":\"REDACTED-003\",\"a\":1}",
                "{\"a\":2,\"client_assertion\":\"eyJ.b\"}",
                false,
            ),
            ("https://a.test/x", "https://a.test/x", "<pwd>REDACTED-002</pwd>", "<pwd>secret</pwd>", true),
        ] {
            let replay = recorded(&[("POST", recorded_url, recorded_body)]);
            assert_eq!(ask(&replay, "POST", url, body).is_some(), is_equal, "{url} {body}");
        }
        // A request that is equal with its secrets is preferred to one that is equal only without them.
        let replay = recorded(&[
            ("GET", "https://a.test/?token=REDACTED-002", ""),
            ("GET", "https://a.test/?token=b", ""),
        ]);
        assert_eq!(ask(&replay, "GET", "https://a.test/?token=b", "").as_deref(), Some("answer 1"));
        assert_eq!(ask(&replay, "GET", "https://a.test/?token=a", "").as_deref(), Some("answer 0"));
    }

    #[test]
    fn equal_requests_are_answered_in_order_and_no_oftener() {
        let url = "https://a.test/x";
        let replay = recorded(&[("GET", url, ""), ("GET", "https://a.test/y", ""), ("GET", url, "")]);
        assert_eq!(ask(&replay, "GET", url, "").as_deref(), Some("answer 0"));
        assert_eq!(ask(&replay, "GET", url, "").as_deref(), Some("answer 2"));
        assert_eq!(ask(&replay, "GET", url, ""), None);
        let unmatched = replay.end_case();
        let missing = unmatched.missing.unwrap();
        assert!(missing.starts_with("GET https://a.test/x is not in the recording of case W1"), "{missing}");
        assert!(missing.contains("GET https://a.test/x: the connector has sent it already"), "{missing}");
        let unused = unmatched.unused.unwrap();
        assert!(unused.ends_with("1 were not sent; the first is GET https://a.test/y"), "{unused}");
    }

    #[test]
    fn the_three_nearest_are_told() {
        let replay = recorded(&[
            ("DELETE", "https://b.test/elsewhere", ""),
            ("POST", "https://a.test/x", "{\"title\":\"one\"}"),
            ("POST", "https://a.test/x?a=1", "{\"title\":\"two\",\"more\":true}"),
            ("POST", "https://a.test/y", "{\"title\":\"two\"}"),
        ]);
        assert_eq!(ask(&replay, "POST", "https://a.test/x", "{\"title\":\"two\"}"), None);
        let missing = replay.end_case().missing.unwrap();
        let lines: Vec<&str> = missing.lines().map(str::trim).collect();
        assert_eq!(
            lines[1..],
            [
                "POST https://a.test/x: in its body /title is \"one\", not \"two\"",
                "POST https://a.test/x?a=1: its query has a=1; its body has /more",
                "POST https://a.test/y: its path is /y",
            ]
        );
    }

    #[test]
    fn a_case_is_over_when_everything_was_asked_for() {
        let replay = recorded(&[("GET", "https://a.test/", "")]);
        assert_eq!(ask(&replay, "GET", "https://a.test", "").as_deref(), Some("answer 0"));
        assert_eq!(replay.end_case(), RecordingDifferences::default());
        assert_eq!(replay.begin_case("W2"), None);
        assert_eq!(ask(&replay, "GET", "https://a.test/", ""), None);
        let missing = replay.end_case().missing.unwrap();
        assert!(missing.ends_with("is not in the recording of case W2, which has no requests"), "{missing}");
    }
}
