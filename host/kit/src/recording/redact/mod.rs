//! Private parts of an exchange, and the placeholders for them in a recording.
//!
//! One map serves requests, responses, URLs and queries of all cases: an id that the provider gives out under a private name and that
//! the connector sends back is the same placeholder in both places, so it replays. Tokens of pages and of changes are no credentials
//! and stay. A value is known only once it was seen, so all exchanges are read twice: first to learn, then to replace. All parts of a
//! request's credentials are learned too, though no credential is recorded.

mod json;
mod uri;

use std::collections::BTreeMap;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use url::form_urlencoded::{self, Serializer};

use crate::escapes::{decoded, escaped};
use crate::recording::addresses::{KnownAddresses, is_address};
use crate::recording::credentials::{Credential, credentials_of};
use crate::recording::format::{RecordedExchange, RecordedRequest, RecordedResponse};
use crate::recording::markup::{PlaceKind, is_markup, markup_places, with_entities};
use crate::recording::multipart::MultipartBody;
use crate::recording::names::{
    NamePlace, Secrecy, is_name_of_secret, is_oauth_message, is_oauth_secret, is_secret_name,
};
use crate::recording::rules::{Rules, has_request_header};
use crate::recording::scan::{is_random, secret_places, split_scheme};
use crate::recording::secrets::{KnownSecrets, placeholder};

/// Beginnings of the kit's own values.
const OF_KIT: [&str; 2] = ["kit-", "swkit-"];
const FORM: &str = "application/x-www-form-urlencoded";
/// The maximum nesting of texts: a URL in the query of a URL, JSON in a string of JSON.
const MAX_DEPTH: usize = 8;

/// Replaces private values, consistently in all exchanges.
pub struct Redactor<'r> {
    rules: &'r Rules,
    secrets: KnownSecrets,
    addresses: KnownAddresses,
    depth: usize,
}

impl<'r> Redactor<'r> {
    /// A redactor that knows these secrets, which get the first numbers.
    pub fn new(secrets: &[String], rules: &'r Rules) -> Self {
        let addresses = KnownAddresses::default();
        let mut redactor = Redactor { rules, secrets: KnownSecrets::default(), addresses, depth: 0 };
        for secret in secrets {
            redactor.secrets.learn(secret, true);
        }
        redactor
    }

    /// How many addresses were replaced.
    pub fn addresses(&self) -> usize {
        self.addresses.count()
    }

    /// Returns the exchange without the private values known so far.
    pub fn exchange(&mut self, exchange: &RecordedExchange) -> RecordedExchange {
        RecordedExchange {
            n: exchange.n,
            request: self.request(&exchange.request),
            response: self.response(&exchange.response),
        }
    }

    /// Returns the request without the private values known so far.
    pub fn request(&mut self, request: &RecordedRequest) -> RecordedRequest {
        self.learn_headers(&request.headers);
        let headers = request.headers.iter().filter(|(name, _)| has_request_header(name));
        RecordedRequest {
            method: request.method.clone(),
            url: self.url(&request.url),
            headers: headers.map(|(name, value)| (name.clone(), self.text(value))).collect(),
            body: self.body(request.headers.get("content-type"), &request.body),
        }
    }

    fn response(&mut self, response: &RecordedResponse) -> RecordedResponse {
        self.learn_headers(&response.headers);
        let rules = self.rules;
        let headers = response.headers.iter().filter(|(name, _)| rules.has_response_header(name));
        RecordedResponse {
            status: response.status,
            headers: headers.map(|(name, value)| (name.clone(), self.text(value))).collect(),
            body: self.body(response.headers.get("content-type"), &response.body),
        }
    }

    /// Learns the secrets in the credentials of these headers; the headers are not recorded.
    fn learn_headers(&mut self, headers: &BTreeMap<String, String>) {
        for (name, value) in headers {
            self.learn_credentials(name, value);
        }
    }

    /// Learns the parts of the credential in a header of this name. Returns the number of the whole value; none if the header has no
    /// credential, or the author keeps it.
    fn learn_credentials(&mut self, name: &str, value: &str) -> Option<usize> {
        let mut first = None;
        for Credential { text, is_user } in credentials_of(name, value) {
            if !(self.is_kept(&text) || is_user && is_address(&text)) {
                let number = self.secrets.learn(&text, true);
                first = first.or(Some(number));
            }
        }
        first
    }

    /// Whether a value is the kit's own, or one that the author keeps.
    fn is_kept(&self, value: &str) -> bool {
        OF_KIT.iter().any(|start| value.starts_with(start)) || self.rules.keeps(value)
    }

    fn body(&mut self, content_type: Option<&String>, body: &[u8]) -> Vec<u8> {
        let kind = content_type.map(String::as_str).unwrap_or_default();
        if let Some(multipart) = MultipartBody::parse(kind, body)
            && self.depth < MAX_DEPTH
        {
            self.depth += 1;
            let clean = self.multipart(multipart);
            self.depth -= 1;
            return clean;
        }
        let Ok(text) = std::str::from_utf8(body) else { return self.secrets.replaced(body) };
        if let Some(clean) = self.json_text(text) {
            return clean.into_bytes();
        }
        if kind.starts_with(FORM) {
            let fields: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
            let clean = self.pairs(&fields);
            let render = || Serializer::new(String::new()).extend_pairs(&clean).finish().into_bytes();
            return if clean == fields { body.to_vec() } else { render() };
        }
        let is_markup = kind.contains("xml") || kind.contains("html") || text.trim_start().starts_with('<');
        if is_markup { self.markup(text).into_bytes() } else { self.text(text).into_bytes() }
    }

    fn multipart(&mut self, multipart: MultipartBody<'_>) -> Vec<u8> {
        let mut clean = Vec::new();
        for part in multipart.parts {
            clean.extend(self.text(&String::from_utf8_lossy(part.before)).into_bytes());
            let name = part.name.as_deref().unwrap_or_default();
            match std::str::from_utf8(part.content) {
                Ok(value) if self.names_secret(name, NamePlace::Parameter) => {
                    clean.extend(self.secret(value, Secrecy::of_secret(name)).into_bytes());
                }
                _ => clean.extend(self.body(part.content_type.as_ref(), part.content)),
            }
        }
        clean
    }

    /// Redacts a nested text: JSON, XML, base64 of JSON, a URL with escapes, or plain text.
    fn embedded(&mut self, text: &str) -> String {
        if self.depth >= MAX_DEPTH {
            return self.text(text);
        }
        if let Some(clean) = self.json_text(text) {
            return clean;
        }
        self.depth += 1;
        let clean = self.redact_encoded(text);
        self.depth -= 1;
        clean
    }

    fn redact_encoded(&mut self, text: &str) -> String {
        if is_markup(text) {
            return self.markup(text);
        }
        if let Some(plain) = json_of_base64(text)
            && self.json_text(&plain).is_some_and(|clean| clean != plain)
        {
            return placeholder(self.secrets.learn(text, true));
        }
        if ["%3A%2F%2F", "%3a%2f%2f"].iter().any(|sign| text.contains(sign)) && !text.contains("://") {
            let plain = decoded(text);
            let clean = self.embedded(&plain);
            if clean != plain {
                return escaped(&clean);
            }
        }
        self.text(text)
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Vec<(String, String)> {
        let is_oauth = is_oauth_message(pairs.iter().map(|(name, _)| name.as_str()))
            || pairs.iter().any(|(name, _)| name == "code" || name == "response_type");
        let clean = pairs.iter().map(|(name, value)| {
            let is_secret = self.names_secret(name, NamePlace::Parameter)
                || (is_oauth && is_oauth_secret(name) && !self.rules.keeps(name));
            let value = match is_secret {
                true => self.secret(value, Secrecy::of_secret(name)),
                false => self.embedded(value),
            };
            (self.text(name), value)
        });
        clean.collect()
    }

    /// XML and HTML: elements and attributes of private names, and everything else as text.
    fn markup(&mut self, text: &str) -> String {
        let rules = self.rules;
        let is_secret = |name: &str| !rules.keeps(name) && is_secret_name(name, NamePlace::Member);
        let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
        for place in markup_places(text, &is_secret) {
            clean.push_str(&self.text(part(text, at..place.range.start)));
            at = place.range.end;
            let raw = part(text, place.range);
            let changed = match place.kind {
                PlaceKind::Secret { name } => self.secret(&place.value, Secrecy::of_secret(name)),
                PlaceKind::Escaped => match self.embedded(&place.value) {
                    same if same == place.value => self.text(raw),
                    other => with_entities(&other, raw),
                },
            };
            clean.push_str(&changed);
        }
        clean.push_str(&self.text(part(text, at..text.len())));
        clean
    }

    /// Redacts a text without parseable URLs: secrets by their names and formats, known secrets, and addresses.
    fn plain(&mut self, text: &str) -> String {
        let rules = self.rules;
        let mut ranges: Vec<(Range<usize>, usize)> = Vec::new();
        for place in secret_places(text, &|name| rules.keeps(name)) {
            let value = decoded(part(text, place.range.clone()));
            if !self.is_kept(&value) {
                ranges.push((place.range, self.secrets.learn(&value, place.is_sought)));
            }
        }
        ranges.extend(
            self.secrets.matches(text.as_bytes()).into_iter().map(|known| (known.range, known.number)),
        );
        ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
        for (range, number) in ranges {
            if range.start >= at {
                clean.push_str(&self.addresses.replaced(part(text, at..range.start), rules));
                clean.push_str(&placeholder(number));
            }
            at = at.max(range.end);
        }
        clean.push_str(&self.addresses.replaced(part(text, at..text.len()), rules));
        clean
    }

    /// Returns the placeholder of a value that is secret by its name.
    fn secret(&mut self, value: &str, secrecy: Secrecy) -> String {
        if value.is_empty() || self.is_kept(value) {
            return self.text(value);
        }
        if let Some((scheme, _)) = split_scheme(value)
            && let Some(number) = self.learn_credentials("authorization", value)
        {
            return format!("{scheme} {}", placeholder(number));
        }
        // `key: password` names another value.
        let is_name = is_name_of_secret(value);
        if is_name && secrecy == Secrecy::Here {
            return self.text(value);
        }
        let is_sought = !is_name && (secrecy == Secrecy::Everywhere || is_random(value));
        placeholder(self.secrets.learn(value, is_sought))
    }

    /// Whether a value of this name is a secret.
    fn names_secret(&self, name: &str, place: NamePlace) -> bool {
        !self.rules.keeps(name) && is_secret_name(name, place)
    }
}

/// Returns a part of a text; empty if the range does not fit.
fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// The JSON that stands in a text in base64.
fn json_of_base64(text: &str) -> Option<String> {
    let text = text.trim_end_matches('=');
    let bytes = STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok()?;
    String::from_utf8(bytes).ok().filter(|plain| plain.starts_with(['{', '[']))
}
