//! Bodies of token endpoints' responses as they occur in practice: JSON (RFC 6749, section 5.1) under any `Content-Type`, with a byte order
//! mark, or form-encoded, and refusals that are no JSON object. Pure.

use std::borrow::Cow;

use serde_json::{Map, Value};
use url::form_urlencoded;

/// Error codes by which servers report that the user's grant has ended: that of RFC 6749, section 5.2, those of GitHub and Slack, and that
/// of RFC 6750, section 3.1, which some use in place of the first.
pub const ENDED_GRANTS: [&str; 5] =
    ["invalid_grant", "bad_refresh_token", "bad_verification_code", "invalid_refresh_token", "invalid_token"];

/// The one of these codes that also occurs in pages of gateways and proxies, where it says nothing about the grant.
const AMBIGUOUS: &str = "invalid_token";

/// Members in which servers put the error code that belongs in `error`.
const CODE_MEMBERS: [&str; 5] = ["code", "error_code", "errorCode", "error", "type"];

/// Longest name of a parameter, bytes. A body with longer ones is no form.
const MAX_NAME: usize = 64;

/// Returns the text of a body, without its byte order mark (RFC 8259, section 8.1); after a UTF-16 mark it is decoded as UTF-16.
pub fn decoded(body: &[u8]) -> Cow<'_, str> {
    match body {
        [0xEF, 0xBB, 0xBF, text @ ..] => String::from_utf8_lossy(text),
        [0xFF, 0xFE, text @ ..] => utf16(text, u16::from_le_bytes),
        [0xFE, 0xFF, text @ ..] => utf16(text, u16::from_be_bytes),
        text => String::from_utf8_lossy(text),
    }
}

fn utf16<'t>(text: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'t, str> {
    let units: Vec<u16> = text.as_chunks::<2>().0.iter().map(|pair| unit(*pair)).collect();
    Cow::Owned(String::from_utf16_lossy(&units))
}

/// Returns the parameters of a response: the members of a JSON object, or the fields of a form. None: it is neither.
pub fn parameters(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(parameters)) => Some(parameters),
        Ok(_) => None,
        Err(_) => form(text),
    }
}

/// Parses a form that contains a token or an error: almost every text is a form of some kind.
fn form(text: &str) -> Option<Map<String, Value>> {
    let mut parameters = Map::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        let is_name = (1..=MAX_NAME).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        if !is_name {
            return None;
        }
        // RFC 6749, section 3.2: a parameter without a value counts as omitted. GitHub's `scope` is an example.
        if !value.is_empty() {
            parameters.insert(name.into_owned(), value.into_owned().into());
        }
    }
    let is_answer =
        ["access_token", "refresh_token", "error"].iter().any(|name| parameters.contains_key(*name));
    is_answer.then_some(parameters)
}

/// Whether the parameters contain an error. Some servers send an empty `error` in successful responses.
pub fn is_refusal(parameters: &Map<String, Value>) -> bool {
    match parameters.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(error)) => !error.trim().is_empty(),
        Some(Value::Number(number)) => number.as_i64() != Some(0),
        Some(Value::Bool(true) | Value::Array(_) | Value::Object(_)) => true,
    }
}

/// Returns the error code of a refusal: `error`, or, if that is no text, one of `ENDED_GRANTS` elsewhere in the body.
pub fn error_code(text: &str, parameters: Option<&Map<String, Value>>) -> Option<String> {
    let error = parameters.and_then(|parameters| parameters.get("error"));
    if let Some(error) = error.and_then(Value::as_str).map(str::trim).filter(|error| !error.is_empty()) {
        return Some(error.to_owned());
    }
    let nested = [error.and_then(Value::as_object), parameters];
    let members = nested.into_iter().flatten().flat_map(|object| CODE_MEMBERS.map(|name| object.get(name)));
    let whole = text.trim().trim_matches('"');
    let mut codes = members.flatten().filter_map(Value::as_str).chain([whole]);
    let named = codes.find_map(ended_grant);
    named.or_else(|| words(text).filter_map(ended_grant).find(|code| *code != AMBIGUOUS)).map(str::to_owned)
}

/// Returns the code that the text is, ignoring case.
fn ended_grant(text: &str) -> Option<&'static str> {
    ENDED_GRANTS.into_iter().find(|code| text.trim().eq_ignore_ascii_case(code))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_read_from_json_and_from_forms() {
        let token = json!({ "access_token": "a b", "refresh_token": "c+d" });
        for text in [
            r#"{"access_token":"a b","refresh_token":"c+d"}"#,
            "\r\n {\"access_token\":\"a b\",\"refresh_token\":\"c+d\"}\n",
            "access_token=a+b&refresh_token=c%2Bd",
            "access_token=a%20b&scope=&refresh_token=c%2Bd\n",
        ] {
            assert_eq!(parameters(text), token.as_object().cloned(), "{text}");
        }
        for text in ["", "[]", "\"x\"", "7", "<html><a href='?a=b&error=c'>", "a=b", "access_token=", "error"]
        {
            assert_eq!(parameters(text), None, "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            let text = "{\"a\":\"é\"}".encode_utf16().flat_map(bytes);
            mark.into_iter().chain(text).collect::<Vec<u8>>()
        };
        let narrow = [&[0xEF, 0xBB, 0xBF][..], "{\"a\":\"é\"}".as_bytes()].concat();
        for body in [narrow, wide([0xFF, 0xFE], u16::to_le_bytes), wide([0xFE, 0xFF], u16::to_be_bytes)] {
            assert_eq!(decoded(&body), "{\"a\":\"é\"}");
        }
        assert_eq!(decoded(&[0xFF, 0xFE, 0x61]), "", "half a character");
    }

    #[test]
    fn an_error_code_is_found_wherever_it_stands() {
        for (text, wanted) in [
            (r#"{"error":"invalid_client","message":"not invalid_grant"}"#, Some("invalid_client")),
            (r#"{"error":{"code":"invalid_token","message":"x"}}"#, Some("invalid_token")),
            (r#"{"error":{"message":"INVALID_REFRESH_TOKEN","code":400}}"#, Some("invalid_refresh_token")),
            (r#"{"code":"bad_refresh_token"}"#, Some("bad_refresh_token")),
            (r#"{"errors":[{"detail":"oauth: invalid_grant"}]}"#, Some("invalid_grant")),
            (r#"["invalid_grant"]"#, Some("invalid_grant")),
            (r#""invalid_token""#, Some("invalid_token")),
            ("invalid_token\n", Some("invalid_token")),
            ("Error: invalid_grant (token revoked)", Some("invalid_grant")),
            ("<h1>400 - invalid_grant</h1>", Some("invalid_grant")),
            ("error=bad_refresh_token&error_description=x", Some("bad_refresh_token")),
            ("<p>invalid_token: sign in to the network</p>", None),
            (r#"{"message":"invalid_token header"}"#, None),
            ("not_invalid_grant", None),
            (r#"{"error":{"message":"x"}}"#, None),
            ("", None),
        ] {
            let found = error_code(text, parameters(text).as_ref());
            assert_eq!(found.as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn an_empty_error_is_none() {
        for error in [json!(null), json!(""), json!(" "), json!(false), json!(0)] {
            assert!(!is_refusal(json!({ "error": error }).as_object().unwrap()), "{error}");
        }
        for error in [json!("x"), json!(true), json!(1), json!({}), json!([])] {
            assert!(is_refusal(json!({ "error": error }).as_object().unwrap()), "{error}");
        }
    }

    proptest! {
        /// A form is parsed as the server wrote it, whatever characters the tokens have.
        #[test]
        fn a_form_is_read_as_it_was_written(access in "\\PC{1,40}", refresh in "\\PC{1,40}") {
            let fields = [("access_token", &access), ("refresh_token", &refresh), ("scope", &String::new())];
            let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            let wanted = json!({ "access_token": access, "refresh_token": refresh });
            prop_assert_eq!(parameters(&form), wanted.as_object().cloned());
        }

        /// No body makes the parser fail.
        #[test]
        fn any_body_is_read(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let text = decoded(&body);
            let found = parameters(&text);
            let _ = error_code(&text, found.as_ref());
        }
    }
}
