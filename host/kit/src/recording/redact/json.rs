//! Private parts of JSON: values by the names of their members, or by the name in a sibling member.

use serde_json::{Map, Number, Value};

use crate::recording::names::{
    NamePlace, Secrecy, is_about, is_naming, is_numeric_secret, is_oauth_message, is_oauth_secret,
    is_secret_if_random, is_value_name,
};
use crate::recording::redact::{MAX_DEPTH, Redactor};
use crate::recording::scan::is_random;
use crate::recording::secrets::placeholder;

/// The minimum digits of a number that is a secret by its name, and of one that is replaced in other texts.
const MIN_DIGITS: usize = 6;
const MIN_DIGITS_SOUGHT: usize = 14;
/// The minimum length of a member name that may be a token itself, in bytes, and its minimum digits.
const MIN_TOKEN: usize = 20;
const MIN_TOKEN_DIGITS: usize = 4;

impl Redactor<'_> {
    /// Redacts a text that is JSON of several values; none for other texts. A text without private data keeps its bytes.
    pub(super) fn json_text(&mut self, text: &str) -> Option<String> {
        if self.depth >= MAX_DEPTH || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        self.depth += 1;
        let clean = self.json(value.clone(), Secrecy::Open);
        self.depth -= 1;
        // Of duplicate members, the first exists in the bytes only.
        let is_clean = clean == value && self.secrets.matches(text.as_bytes()).is_empty();
        Some(if is_clean { text.to_owned() } else { clean.to_string() })
    }

    fn json(&mut self, value: Value, secrecy: Secrecy) -> Value {
        match value {
            Value::String(text) if secrecy > Secrecy::Open => Value::String(self.secret(&text, secrecy)),
            Value::String(text) => Value::String(self.embedded(&text)),
            Value::Number(number) if secrecy > Secrecy::Open && digits(&number.to_string()) >= MIN_DIGITS => {
                self.secret_number(&number, false)
            }
            Value::Array(values) => values.into_iter().map(|value| self.json(value, secrecy)).collect(),
            Value::Object(members) => Value::Object(self.object(members, secrecy)),
            other => other,
        }
    }

    /// A number is replaced by a number.
    fn secret_number(&mut self, number: &Number, is_sought: bool) -> Value {
        let text = number.to_string();
        let is_sought = is_sought || digits(&text) >= MIN_DIGITS_SOUGHT;
        Value::from(self.secrets.learn(&text, is_sought))
    }

    fn object(&mut self, members: Map<String, Value>, of_object: Secrecy) -> Map<String, Value> {
        let is_oauth = is_oauth_message(members.keys().map(String::as_str));
        let has_value = members.keys().any(|name| is_value_name(name));
        // {"name": "X-Api-Key", "value": …}: the value of one member names the other.
        let names_secret = |(name, value): (&String, &Value)| {
            let text = value.as_str().filter(|text| is_naming(name) && !text.contains(char::is_whitespace));
            text.is_some_and(|text| self.names_secret(text, NamePlace::Parameter))
        };
        let is_named = has_value && members.iter().any(names_secret);
        let clean = members.into_iter().map(|(name, value)| {
            let is_name = has_value && is_naming(&name) && !value.as_str().is_some_and(is_random);
            let own = match is_named && is_value_name(&name) {
                true => Secrecy::Everywhere,
                false if is_name => Secrecy::Open,
                false => self.secrecy(&name, &value, is_oauth),
            };
            let secrecy = own.max(of_object);
            let value = match value {
                Value::Number(number) if secrecy > Secrecy::Open && is_numeric_secret(&name) => {
                    self.secret_number(&number, true)
                }
                // The expiry of a token is a number too.
                Value::Number(number) if is_about(&name) => Value::Number(number),
                value => self.json(value, secrecy),
            };
            (self.member_name(&name, of_object), value)
        });
        clean.collect()
    }

    /// Returns the secrecy of a member's value, by the member's name.
    fn secrecy(&self, name: &str, value: &Value, is_oauth: bool) -> Secrecy {
        let looks_random = |text: &str| is_random(text) && !text.contains(char::is_whitespace);
        let is_secret = self.names_secret(name, NamePlace::Member)
            || (!self.rules.keeps(name)
                && (is_oauth && is_oauth_secret(name)
                    || is_secret_if_random(name) && value.as_str().is_some_and(looks_random)));
        if is_secret { Secrecy::of_secret(name) } else { Secrecy::Open }
    }

    /// Redacts the name of a member: in an object of secrets a name may be one.
    fn member_name(&mut self, name: &str, of_object: Secrecy) -> String {
        let is_token = name.len() >= MIN_TOKEN && digits(name) >= MIN_TOKEN_DIGITS && is_random(name);
        match of_object > Secrecy::Open && is_token && !self.is_kept(name) {
            true => placeholder(self.secrets.learn(name, false)),
            false => self.text(name),
        }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}
