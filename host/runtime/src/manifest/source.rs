//! `connector.toml` as a TOML file: errors name the line and the key, and texts contain no invisible characters.

use std::fmt;

use anyhow::{bail, ensure};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use toml::de::{Deserializer, Error};
use toml::{Table, Value};

/// Maximum bytes of a text, and of a key.
const MAX_TEXT: usize = 2_048;
const MAX_KEY: usize = 128;

/// A manifest that is not valid TOML, or has an unknown key or an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestSyntaxError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The error's text: the key, its value, and the allowed values.
    pub message: String,
}

impl fmt::Display for ManifestSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ManifestSyntaxError {}

/// Parses the text of a manifest, without checking its meaning.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    check_characters(text)?;
    let table: Table = toml::from_str(text).map_err(|error| syntax_error(text, &error, ""))?;
    table.iter().try_for_each(|(key, value)| check_texts(key, key, value))?;
    let document = Deserializer::parse(text).map_err(|error| syntax_error(text, &error, ""))?;
    let read = serde_path_to_error::deserialize(document);
    Ok(read.map_err(|error| syntax_error(text, error.inner(), &key_of(error.path())))?)
}

/// Whether `c` is invisible, or changes how its neighbours are displayed: control characters, separators of lines and paragraphs,
/// format characters (Unicode category Cf: bidirectional controls, zero width, tags), fillers and variation selectors but those
/// of emoji.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0d}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Refuses hidden characters anywhere in the file, also in comments: messages and editors show its lines.
fn check_characters(text: &str) -> Result<(), ManifestSyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(hidden) = line.chars().find(|c| *c != '\t' && is_hidden(*c)) {
            let message = format!("the character U+{:04X} cannot be seen: take it out", u32::from(hidden));
            return Err(ManifestSyntaxError { line: at + 1, message });
        }
    }
    Ok(())
}

/// Refuses hidden characters, which may be escaped, and texts that are too long. `name` is the value's own key.
fn check_texts(path: &str, name: &str, value: &Value) -> anyhow::Result<()> {
    check_text(path, name, MAX_KEY)?;
    match value {
        Value::String(text) => check_text(path, text, MAX_TEXT),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| check_texts(&format!("{path}[{at}]"), name, item)),
        Value::Table(table) => {
            table.iter().try_for_each(|(key, value)| check_texts(&format!("{path}.{key}"), key, value))
        }
        _ => Ok(()),
    }
}

fn check_text(path: &str, text: &str, max: usize) -> anyhow::Result<()> {
    if let Some(hidden) = text.chars().find(|c| is_hidden(*c)) {
        // The path itself may contain the character.
        let path: String = path.chars().filter(|c| !is_hidden(*c)).take(MAX_KEY).collect();
        let path = if path.is_empty() { "a key" } else { &path };
        bail!(
            "{path}: the character U+{:04X} is not allowed: a text is one line of visible characters",
            u32::from(hidden)
        );
    }
    let shown: String = path.chars().take(MAX_KEY).collect();
    ensure!(text.len() <= max, "{shown}: has {} bytes, at most {max} are allowed", text.len());
    Ok(())
}

/// Returns the keys and indices of a path, without names of enum variants.
fn key_of(path: &serde_path_to_error::Path) -> String {
    let mut key = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => key.push_str(&format!("[{index}]")),
            Segment::Map { key: name } if key.is_empty() => key.push_str(name),
            Segment::Map { key: name } => key.push_str(&format!(".{name}")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    key
}

fn syntax_error(text: &str, error: &Error, key: &str) -> ManifestSyntaxError {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    ManifestSyntaxError { line, message: in_words(error.message(), key) }
}

/// Rephrases the deserializer's message with the key, and without names of Rust types.
fn in_words(message: &str, key: &str) -> String {
    let message = message.trim().replace('\n', " ");
    if key.is_empty() {
        return message;
    }
    let unknown = message.strip_prefix("unknown variant `").and_then(|rest| rest.rsplit_once("`, expected "));
    if let Some((unknown, known)) = unknown {
        // If the fault is in a list, the list is named.
        let key = key.strip_suffix(']').and_then(|item| item.rsplit_once('[')).map_or(key, |(list, _)| list);
        let known: Vec<String> =
            known.split('`').skip(1).step_by(2).map(|name| format!("\"{name}\"")).collect();
        return format!("{key}: \"{unknown}\" is not known; use {}", alternatives(&known));
    }
    let of_type = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    match of_type.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((got, wanted)) => {
            format!("{key} must be {}; got {}", wanted_in_words(wanted), got_in_words(got))
        }
        None if message == "wanted string or table" => format!("{key} must be a text"),
        None => message,
    }
}

/// `a, b or c`.
fn alternatives(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn wanted_in_words(wanted: &str) -> &str {
    match wanted {
        "a string" => "a text",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "u16" => "a whole number from 0 to 65535",
        "u64" | "u32" | "usize" => "a whole number from 0",
        "i64" => "a whole number",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        _ => wanted,
    }
}

fn got_in_words(got: &str) -> String {
    match got {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => {
            let value = got.split_once(' ').map(|(_, value)| value.trim_matches('`'));
            if got.starts_with("string ") {
                format!("the text {}", value.unwrap_or(got))
            } else {
                value.unwrap_or(got).to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest::Manifest;

    const HEAD: &str =
        "name = \"notes\"\nversion = \"0.1.0\"\ntitle = \"Notes\"\nsurfaces = [\"tasks@1.0.0\"]\n";

    /// The refusal of a manifest with these lines behind the first four.
    fn refusal(more: &str) -> String {
        format!("{:#}", Manifest::parse(&format!("{HEAD}{more}")).unwrap_err())
    }

    #[test]
    fn a_value_that_is_not_known_is_told_with_those_that_are() {
        for (more, said) in [
            (
                "auth.kinds = [\"token\"]",
                "line 5: auth.kinds: \"token\" is not known; use \"basic\", \"bearer\" or \"oauth\"",
            ),
            (
                "auth.kind = \"token\"",
                "line 5: auth.kind: \"token\" is not known; use \"basic\", \"bearer\" or \"oauth\"",
            ),
            ("level = \"strickt\"", "line 5: level: \"strickt\" is not known; use \"strict\" or \"compat\""),
            (
                "\nmemory = \"huge\"",
                "line 6: memory: \"huge\" is not known; use \"small\", \"standard\" or \"large\"",
            ),
            ("[auth]\nlogin = \"id\"", "line 6: auth.login: \"id\" is not known; use \"email\""),
            (
                "auth.discovery = \"dns\"",
                "auth.discovery: \"dns\" is not known; use \"none\", \"openid\" or \"oauth\"",
            ),
            ("auth.iss = \"no\"", "auth.iss: \"no\" is not known; use \"optional\" or \"required\""),
            (
                "auth.client_auth = \"jwt\"",
                "auth.client_auth: \"jwt\" is not known; use \"post\", \"basic\" or \"none\"",
            ),
            ("auth.pkce = \"plain\"", "auth.pkce: \"plain\" is not known; use \"S256\" or \"off\""),
            (
                "auth.scope_case = \"lower\"",
                "auth.scope_case: \"lower\" is not known; use \"exact\" or \"insensitive\"",
            ),
            (
                "auth.rotation = \"once\"",
                "auth.rotation: \"once\" is not known; use \"kept\" or \"rotating\"",
            ),
            (
                "auth.identity = \"me\"",
                "auth.identity: \"me\" is not known; use \"userinfo\", \"id_token\" or \"check\"",
            ),
            (
                "auth.errors = [{ at = \"here\", is = \"retry\" }]",
                "auth.errors[0].at: \"here\" is not known; use \"authorize\" or \"token\"",
            ),
            (
                "auth.errors = [{ at = \"token\", is = \"bad\" }]",
                "auth.errors[0].is: \"bad\" is not known; use \"reauthorize\", ",
            ),
            (
                "auth.settings = [{ name = \"a\", kind = \"path\" }]",
                "auth.settings[0].kind: \"path\" is not known; use \"segment\" or \"host\"",
            ),
            (
                "push.auth = \"none\"",
                "push.auth: \"none\" is not known; use \"channel-token\", \"client-state\", \"hmac\" or \"jwt\"",
            ),
            (
                "push = { auth = \"hmac\", algorithm = \"md5\" }",
                "push.algorithm: \"md5\" is not known; use \"sha256\"",
            ),
        ] {
            let error = refusal(more);
            assert!(error.contains(said), "{more}: {error}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_told_with_what_must_stand_there() {
        for (more, said) in [
            ("hosts = 3", "line 5: hosts must be a list; got 3"),
            ("auth.kinds = 3", "line 5: auth.kinds must be a kind of credentials or a list of them; got 3"),
            ("description = [\"a\"]", "description must be a text; got a list"),
            ("level = 3", "level must be a text"),
            ("auth = \"basic\"", "auth must be a table; got the text \"basic\""),
            (
                "[[settings]]\nname = \"a\"\nrequired = \"yes\"\ndescription = \"b\"",
                "settings[0].required must be true or false; got the text \"yes\"",
            ),
            (
                "[[hosts]]\nhost = \"a.example\"\nport = 70000",
                "hosts[0].port must be a whole number from 0 to 65535; got 70000",
            ),
        ] {
            let error = refusal(more);
            assert!(error.contains(said), "{more}: {error}");
        }
    }

    #[test]
    fn no_text_has_characters_that_cannot_be_seen() {
        // Escape, delete, a C1 control, right-to-left override, isolates, zero width, soft hyphen, separators, tags, a filler.
        for hidden in [
            "001B", "007F", "009B", "202E", "2066", "200B", "200D", "FEFF", "00AD", "2028", "2029", "000A",
            "000D", "0009", "000E0041", "3164",
        ] {
            let escape = if hidden.len() == 4 { format!("\\u{hidden}") } else { format!("\\U{hidden}") };
            for (more, key) in [
                (format!("description = \"a{escape}b\""), "description:"),
                (
                    format!("[[settings]]\nname = \"a\"\ndescription = \"{escape}\""),
                    "settings[0].description:",
                ),
                (
                    format!("[[settings]]\nname = \"a\"\ndescription = \"b\"\ndefault = [[\"{escape}\"]]"),
                    "settings[0].default[0][0]:",
                ),
                (format!("[auth.authorize_params]\n\"a{escape}\" = \"b\""), "auth.authorize_params.a:"),
                (format!("\"{escape}\" = 1"), ":"),
            ] {
                let error = refusal(&more);
                assert!(error.contains(&format!("{key} the character U+")), "{more}: {error}");
                assert!(!error.contains(super::is_hidden), "{error:?}");
            }
        }
        for raw in ['\u{1b}', '\u{202e}', '\u{200b}', '\u{e0041}'] {
            for more in
                [format!("# a comment {raw}"), format!("description = \"{raw}\""), format!("{raw} = [")]
            {
                let error = refusal(&more);
                assert!(error.contains("line 5: the character U+"), "{more:?}: {error:?}");
                assert!(!error.contains(super::is_hidden), "{error:?}");
            }
        }
        for text in ["Kalender für Büro", "日本語", "יומן", "✉\u{fe0f} Mail", "a  b"] {
            assert!(Manifest::parse(&format!("{HEAD}description = \"{text}\"")).is_ok(), "{text}");
        }
        assert!(Manifest::parse(&format!("\u{feff}{}", HEAD.replace('\n', "\r\n"))).is_ok());
    }

    #[test]
    fn texts_have_a_longest_length() {
        let long = "a".repeat(2_049);
        for (more, said) in [
            (format!("description = \"{long}\""), "description: has 2049 bytes, at most 2048 are allowed"),
            (format!("[auth.authorize_params]\n{long} = \"b\""), "has 2049 bytes, at most 128 are allowed"),
        ] {
            let error = refusal(&more);
            assert!(error.contains(said) && error.len() < 400, "{error}");
        }
    }
}
