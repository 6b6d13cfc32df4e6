//! What is private in an exchange, and what stands for it in a recording.
//!
//! One map serves requests, responses, URLs and queries of all cases: an id that the provider gives out under a private name and that the
//! connector sends back is the same placeholder in both places, so it replays. Tokens of pages and of changes are no credentials and stay.
//! A value is known only when it was seen, so all exchanges are read twice: first to learn, then to replace.

use std::collections::HashMap;

use serde_json::{Map, Value};
use url::Url;
use url::form_urlencoded::{self, Serializer};

use crate::escapes::{decoded, escaped};
use crate::recording::format::{Recorded, RecordedRequest, RecordedResponse};
use crate::recording::rules::{Rules, has_request_header};

/// Secrets shorter than this, in bytes, are replaced where their name tells what they are, and not in other text: there they would be
/// found in words that mean something else.
const MIN_IN_TEXT: usize = 8;
/// Tokens with one of these in their name say where a walk goes on.
const PAGING: [&str; 7] = ["page", "sync", "next", "delta", "continu", "cursor", "skip"];
const SECRET: [&str; 3] = ["secret", "password", "passwd"];
/// The domain of the addresses that stand for others. An address there is nobody's.
const NOBODY: &str = "@example.test";
/// What begins like this is the kit's own.
const OF_KIT: [&str; 2] = ["kit-", "swkit-"];
/// The shortest JSON Web Token that is taken for one, in bytes.
const MIN_TOKEN: usize = 20;
const FORM: &str = "application/x-www-form-urlencoded";

/// What stands for the secret of this number. No placeholder of a known secret begins like another one.
pub fn placeholder(number: usize) -> String {
    format!("REDACTED-{number:03}")
}

/// Replaces what is private, the same everywhere.
pub struct Redactor<'r> {
    rules: &'r Rules,
    /// Numbers of the secrets that were seen.
    secrets: HashMap<String, usize>,
    /// What is looked for in any text and what stands for it, the longest first.
    in_text: Vec<(String, String)>,
    /// Numbers of the addresses that were seen, in lower case.
    addresses: HashMap<String, usize>,
}

impl<'r> Redactor<'r> {
    /// Knows these secrets, which get the first numbers.
    pub fn new(secrets: &[String], rules: &'r Rules) -> Self {
        let mut redactor =
            Redactor { rules, secrets: HashMap::new(), in_text: Vec::new(), addresses: HashMap::new() };
        for secret in secrets {
            redactor.learn(secret);
        }
        redactor
    }

    /// How many addresses were replaced.
    pub fn addresses(&self) -> usize {
        self.addresses.len()
    }

    /// The exchange without what is private and known by now.
    pub fn exchange(&mut self, exchange: &Recorded) -> Recorded {
        Recorded {
            n: exchange.n,
            request: self.request(&exchange.request),
            response: self.response(&exchange.response),
        }
    }

    fn request(&mut self, request: &RecordedRequest) -> RecordedRequest {
        let headers = request.headers.iter().filter(|(name, _)| has_request_header(name));
        RecordedRequest {
            method: request.method.clone(),
            url: self.url(&request.url),
            headers: headers.map(|(name, value)| (name.clone(), self.text(value))).collect(),
            body: self.body(request.headers.get("content-type"), &request.body),
        }
    }

    fn response(&mut self, response: &RecordedResponse) -> RecordedResponse {
        let rules = self.rules;
        let headers = response.headers.iter().filter(|(name, _)| rules.has_response_header(name));
        RecordedResponse {
            status: response.status,
            headers: headers.map(|(name, value)| (name.clone(), self.text_or_url(value))).collect(),
            body: self.body(response.headers.get("content-type"), &response.body),
        }
    }

    fn body(&mut self, content_type: Option<&String>, body: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(body) else { return self.bytes(body) };
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
            let clean = self.json(value.clone(), false);
            // What has nothing private in it keeps its bytes.
            return if clean == value { body.to_vec() } else { clean.to_string().into_bytes() };
        }
        if content_type.is_some_and(|kind| kind.starts_with(FORM)) {
            let fields: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
            let clean = self.pairs(&fields);
            let render = || Serializer::new(String::new()).extend_pairs(&clean).finish().into_bytes();
            return if clean == fields { body.to_vec() } else { render() };
        }
        self.text(text).into_bytes()
    }

    fn json(&mut self, value: Value, is_secret: bool) -> Value {
        match value {
            Value::String(text) if is_secret => Value::String(self.secret(&text)),
            Value::String(text) => Value::String(self.text_or_url(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.json(value, is_secret)).collect(),
            Value::Object(members) => {
                let clean: Map<String, Value> = members
                    .into_iter()
                    .map(|(name, value)| {
                        let value = self.json(value, is_secret || self.names_secret(&name));
                        (self.text(&name), value)
                    })
                    .collect();
                Value::Object(clean)
            }
            other => other,
        }
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Vec<(String, String)> {
        let clean = pairs.iter().map(|(name, value)| {
            let value = if self.names_secret(name) { self.secret(value) } else { self.text(value) };
            (name.clone(), value)
        });
        clean.collect()
    }

    fn url(&mut self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else { return self.text(url) };
        let query: Vec<(String, String)> = parsed.query_pairs().into_owned().collect();
        let clean_query = self.pairs(&query);
        let segments = parsed.path().split('/').map(|segment| {
            let plain = decoded(segment);
            let clean = self.text(&plain);
            if clean == plain { segment.to_owned() } else { escaped(&clean) }
        });
        let path = segments.collect::<Vec<_>>().join("/");
        if clean_query == query && path == parsed.path() {
            return url.to_owned();
        }
        parsed.set_path(&path);
        if clean_query != query {
            parsed.query_pairs_mut().clear().extend_pairs(&clean_query);
        }
        parsed.to_string()
    }

    fn text_or_url(&mut self, text: &str) -> String {
        let is_url = text.starts_with("https://") || text.starts_with("http://");
        if is_url && !text.contains(char::is_whitespace) { self.url(text) } else { self.text(text) }
    }

    fn text(&mut self, text: &str) -> String {
        for token in json_web_tokens(text) {
            if !self.rules.keeps(token) {
                self.learn(token);
            }
        }
        let mut clean = text.to_owned();
        for (secret, placeholder) in &self.in_text {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), placeholder);
            }
        }
        self.without_addresses(&clean)
    }

    /// What is no text has no names, and no addresses that could be told from chance.
    fn bytes(&self, body: &[u8]) -> Vec<u8> {
        let mut clean = body.to_vec();
        for (secret, placeholder) in &self.in_text {
            let find = |bytes: &[u8]| bytes.windows(secret.len()).position(|part| part == secret.as_bytes());
            while let Some(at) = find(&clean) {
                drop(clean.splice(at..at + secret.len(), placeholder.bytes()));
            }
        }
        clean
    }

    /// What stands for a value that its name makes a secret.
    fn secret(&mut self, value: &str) -> String {
        if let Some(number) = self.secrets.get(value) {
            return placeholder(*number);
        }
        let is_of_kit = OF_KIT.iter().any(|start| value.starts_with(start));
        if value.is_empty() || is_of_kit || self.rules.keeps(value) {
            return self.text(value);
        }
        placeholder(self.learn(value))
    }

    /// The number of a secret, a new one of a secret that was not seen before.
    fn learn(&mut self, secret: &str) -> usize {
        if let Some(number) = self.secrets.get(secret) {
            return *number;
        }
        let number = self.secrets.len() + 1;
        self.secrets.insert(secret.to_owned(), number);
        if secret.len() >= MIN_IN_TEXT {
            let in_url = escaped(secret);
            if in_url != secret {
                self.in_text.push((in_url, placeholder(number)));
            }
            self.in_text.push((secret.to_owned(), placeholder(number)));
            self.in_text.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        }
        number
    }

    /// Whether a member, a field or a part of a query of this name holds a secret.
    fn names_secret(&self, name: &str) -> bool {
        if self.rules.keeps(name) {
            return false;
        }
        let lower = name.to_ascii_lowercase();
        let has_one_of = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        let is_token = lower.contains("token") && !has_one_of(&PAGING);
        // The word alone: `apiKey` and `api_keys`, and not `keywords`.
        let is_key = lower.match_indices("key").any(|(at, key)| {
            let rest = name.get(at + key.len()..).unwrap_or_default();
            !rest.strip_prefix('s').unwrap_or(rest).starts_with(|c: char| c.is_ascii_lowercase())
        });
        is_token || is_key || has_one_of(&SECRET)
    }

    fn without_addresses(&mut self, text: &str) -> String {
        let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, sign, after)) = at_sign(rest) {
            let (head, local) = split_local(before);
            let (domain, tail) = split_domain(after);
            let address = format!("{local}@{domain}");
            let stands_for_it =
                if local.is_empty() || !is_domain(domain) { None } else { self.address(&address) };
            match stands_for_it {
                Some(other) => {
                    clean.push_str(head);
                    clean.push_str(&other.replace('@', sign));
                    rest = tail;
                }
                None => {
                    clean.push_str(before);
                    clean.push_str(sign);
                    rest = after;
                }
            }
        }
        clean.push_str(rest);
        clean
    }

    /// The address that stands for this one; none for one that may stay.
    fn address(&mut self, address: &str) -> Option<String> {
        let address = address.to_lowercase();
        if address.ends_with(NOBODY) || self.rules.keeps_address(&address) {
            return None;
        }
        let next = self.addresses.len() + 1;
        let number = *self.addresses.entry(address).or_insert(next);
        Some(format!("user{number}{NOBODY}"))
    }
}

/// Texts that look like JSON Web Tokens: two, three or five parts, the first of which is an object in base64 (RFC 7519).
fn json_web_tokens(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let has_parts = [2, 3, 5].contains(&word.split('.').count());
        word.starts_with("eyJ") && word.len() >= MIN_TOKEN && has_parts
    })
}

/// A text around its first `@`, which may be escaped.
fn at_sign(text: &str) -> Option<(&str, &str, &str)> {
    let (plain, in_url) = (text.find('@'), text.find("%40"));
    let (at, length) = match (plain, in_url) {
        (Some(plain), Some(in_url)) if in_url < plain => (in_url, "%40".len()),
        (Some(plain), _) => (plain, 1),
        (None, Some(in_url)) => (in_url, "%40".len()),
        (None, None) => return None,
    };
    let (before, rest) = text.split_at(at);
    let (sign, after) = rest.split_at(length);
    Some((before, sign, after))
}

/// What is before an address, and its local part.
fn split_local(before: &str) -> (&str, &str) {
    let is_local = |c: &char| c.is_alphanumeric() || "._+-".contains(*c);
    let length: usize = before.chars().rev().take_while(is_local).map(char::len_utf8).sum();
    let (head, local) = before.split_at(before.len() - length);
    // The digits of an escape before the address are not its own.
    let digits = if head.ends_with('%') { 2_usize.min(local.len()) } else { 0 };
    let local = local.split_at_checked(digits).map_or(local, |(_, rest)| rest);
    (before.strip_suffix(local).unwrap_or(head), local)
}

/// The domain of an address, and what is behind it.
fn split_domain(after: &str) -> (&str, &str) {
    let is_part = |c: &char| c.is_alphanumeric() || ".-".contains(*c);
    let length: usize = after.chars().take_while(is_part).map(char::len_utf8).sum();
    let (domain, _) = after.split_at(length);
    let domain = domain.trim_end_matches(['.', '-']);
    (domain, after.strip_prefix(domain).unwrap_or_default())
}

/// A name of several parts whose last one is of letters.
fn is_domain(domain: &str) -> bool {
    let Some((rest, last)) = domain.rsplit_once('.') else { return false };
    !rest.is_empty() && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";

    fn exchange(url: &str, content_type: &str, body: &str) -> Recorded {
        let headers = |more: &[(&str, &str)]| -> BTreeMap<String, String> {
            let usual = [("content-type", content_type)];
            usual.iter().chain(more).map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        Recorded {
            n: 1,
            request: RecordedRequest {
                method: "POST".into(),
                url: url.into(),
                headers: headers(&[("x-api-key", "own-key-of-ann"), ("if-match", "W/\"ann@home.org\"")]),
                body: body.into(),
            },
            response: RecordedResponse {
                status: 200,
                headers: headers(&[("x-session", "own-key-of-ann"), ("etag", "\"ann@home.org\"")]),
                body: body.into(),
            },
        }
    }

    fn redacted(rules: &Rules, exchanges: &[Recorded]) -> (Vec<Recorded>, usize) {
        let mut redactor = Redactor::new(&["known-secret".to_owned()], rules);
        for exchange in exchanges {
            redactor.exchange(exchange);
        }
        let clean = exchanges.iter().map(|exchange| redactor.exchange(exchange)).collect();
        (clean, redactor.addresses())
    }

    #[test]
    fn redaction_leaves_no_secret() {
        const JSON: &str = "application/json";
        let form = "user=ann%40home.org&password=open-sesame";
        let ical = "ATTENDEE;CN=x:mailto:ann@home.org\r\nURL:https://a.test/%2Fann%40home.org/known-secret";
        for (url, content_type, body) in [
            ("https://a.test/", JSON, json!({ "accessToken": "open-sesame" })),
            ("https://a.test/", JSON, json!({ "refresh_tokens": ["open-sesame"] })),
            ("https://a.test/", JSON, json!({ "clientSecret": { "value": "open-sesame" } })),
            ("https://a.test/", JSON, json!({ "Password": "open-sesame", "of": "ann@home.org" })),
            ("https://a.test/", JSON, json!({ "apikey": "open-sesame", "text": "see open-sesame" })),
            ("https://a.test/", JSON, json!({ "key": "a", "keyId": "open-sesame" })),
            ("https://a.test/", JSON, json!({ "text": TOKEN, "again": format!("Bearer {TOKEN}.") })),
            ("https://a.test/", JSON, json!({ "Ann@Home.org": "Ann <ANN@home.org>, ann@home.org." })),
            ("https://a.test/?access_token=open-sesame", JSON, json!({})),
            ("https://a.test/?for=ann%40home%2Eorg&q=known-secret", JSON, json!([])),
            ("https://a.test/of/ann%40home%2eorg/x?a=1", JSON, json!(["known-secret"])),
            ("https://a.test/", JSON, json!({ "next": "https://a.test/?api_key=open-sesame&a=1" })),
            ("https://a.test/", "application/x-www-form-urlencoded", json!(form)),
            ("https://a.test/", "text/calendar", json!(ical)),
        ] {
            let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            let rules = Rules::default();
            let (clean, _) = redacted(&rules, &[exchange(url, content_type, &body)]);
            let text = serde_json::to_string(&clean).unwrap();
            for private in [
                "open-sesame",
                "known-secret",
                "eyJ",
                "ann@home",
                "ann%40home",
                "Ann@",
                "ANN@",
                "own-key-of-ann",
            ] {
                assert!(!text.contains(private), "{private} in {text}");
            }
        }
    }

    #[test]
    fn what_tells_where_to_go_on_stays() {
        let body = json!({ "nextPageToken": "l2", "syncToken": "abc", "keywords": ["work"], "title": "swkit-W1",
            "clientKey": "kit-W1", "to": "bob@example.test", "at": "a@b", "version": "x@1.2" });
        let whole = exchange("https://a.test/?pageToken=l2", "application/json", &body.to_string());
        let rules = Rules::default();
        let (clean, _) = redacted(&rules, std::slice::from_ref(&whole));
        assert_eq!(
            (&clean[0].request.url, &clean[0].request.body),
            (&whole.request.url, &whole.request.body)
        );
    }

    #[test]
    fn one_map_serves_all_exchanges() {
        let first =
            exchange("https://a.test/of/handle-of-ann", "application/json", "{\"to\":\"b@home.org\"}");
        let body = "{\"shareToken\":\"handle-of-ann\",\"a\":\"ann@home.org\"}";
        let second = exchange("https://a.test/?token=handle-of-ann", "application/json", body);
        let rules = Rules::default();
        let (clean, addresses) = redacted(&rules, &[first, second]);
        assert_eq!(clean[0].request.url, "https://a.test/of/REDACTED-002");
        assert_eq!(clean[1].request.url, "https://a.test/?token=REDACTED-002");
        let value: Value = serde_json::from_slice(&clean[1].response.body).unwrap();
        let etag = clean[1].response.headers["etag"].as_str();
        let address = value["a"].as_str().unwrap();
        assert_eq!((value["shareToken"].as_str(), addresses), (Some("REDACTED-002"), 2));
        assert_eq!(etag, format!("\"{address}\""));
    }

    #[test]
    fn the_author_says_what_stays() {
        let rules = Rules {
            keep: vec!["sortKey".into(), "@home.org".into(), "plain".into()],
            keep_headers: vec!["X-Session".into(), "Set-Cookie".into()],
            ..Rules::default()
        };
        let body = "{\"sortKey\":\"0001-abcdef\",\"of\":\"ann@home.org\",\"token\":\"plain\"}";
        let mut whole = exchange("https://a.test/", "application/json", body);
        whole.response.headers.insert("set-cookie".into(), "a=b".into());
        let (clean, addresses) = redacted(&rules, std::slice::from_ref(&whole));
        assert_eq!((clean[0].response.body.as_slice(), addresses), (body.as_bytes(), 0));
        let names: Vec<&str> = clean[0].response.headers.keys().map(String::as_str).collect();
        assert_eq!(names, ["content-type", "etag", "x-session"]);
    }

    #[test]
    fn a_secret_in_bytes_is_replaced() {
        let mut whole = exchange("https://a.test/", "image/png", "");
        whole.response.body = [b"\xff\x00".as_slice(), b"known-secret", b"\xfe"].concat();
        let rules = Rules::default();
        let (clean, _) = redacted(&rules, &[whole]);
        assert_eq!(clean[0].response.body, [b"\xff\x00".as_slice(), b"REDACTED-001", b"\xfe"].concat());
    }
}
