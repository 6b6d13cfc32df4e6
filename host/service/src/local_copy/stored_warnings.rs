//! A connector's warnings about an item, stored as part of the item in front of its body: rows without any, nearly all, are read as fast as
//! without this feature, and a new warning is a logged change.

use model::wire::Warning;
use serde_json::value::RawValue;

/// Prefix of a body with warnings.
const FIRST: &str = "{\"warnings\":";
/// Most bytes of one item's warnings, as JSON.
const MAX_BYTES: usize = 64 << 10;

/// Returns the body with these warnings. The error says what is wrong with them.
pub fn warned(body: String, warnings: &[Warning]) -> Result<String, String> {
    if warnings.is_empty() {
        return Ok(body);
    }
    let text = serde_json::to_string(warnings).map_err(|e| e.to_string())?;
    if text.len() > MAX_BYTES {
        return Err(format!("an item's warnings have more than {MAX_BYTES} bytes"));
    }
    Ok(join_warnings(&text, &body))
}

/// Returns a rewritten body with the warnings that it had before.
pub fn as_before(before: &str, body: String) -> String {
    match split(before) {
        (Some(warnings), _) => join_warnings(warnings, &body),
        (None, _) => body,
    }
}

/// Splits a stored body into its warnings, a JSON array, and its other members, without the braces.
pub fn split(body: &str) -> (Option<&str>, &str) {
    let body = body.trim();
    let rest = body.strip_prefix(FIRST);
    let Some(rest) = rest else { return (None, members(body, 1)) };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(warnings)) => {
            (Some(warnings.get()), members(rest, values.byte_offset()).trim_start_matches(','))
        }
        _ => (None, members(body, 1)),
    }
}

fn join_warnings(warnings: &str, body: &str) -> String {
    let members = members(body.trim(), 1);
    let comma = if members.is_empty() { "" } else { "," };
    format!("{FIRST}{warnings}{comma}{members}}}")
}

/// Returns the text of an object from this byte on, without the closing brace.
fn members(object: &str, from: usize) -> &str {
    object.get(from..object.len().saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use model::calendar::Event;

    use super::*;

    fn warning(message: &str) -> Warning {
        Warning { code: "duplicate_instance".into(), message: message.into(), target: None }
    }

    #[test]
    fn warnings_stand_before_the_body_and_are_found_again() {
        let event = Event { title: Some("],\"warnings\":[{\"code\":1}]".into()), ..Event::default() };
        let body = serde_json::to_string(&event).unwrap();
        let members = body.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap();
        assert_eq!(split(&body), (None, members));
        for messages in [vec!["plain"], vec!["a \"b\" ]}", "{[,:\\"], vec!["ü\n"; 40]] {
            let warnings: Vec<Warning> = messages.into_iter().map(warning).collect();
            let stored = warned(body.clone(), &warnings).unwrap();
            let (found, rest) = split(&stored);
            assert_eq!(serde_json::from_str::<Vec<Warning>>(found.unwrap()).unwrap(), warnings);
            assert_eq!(rest, members);
            assert_eq!(
                serde_json::from_str::<Event>(&stored).unwrap(),
                event,
                "readers need not know of them"
            );
            assert_eq!(as_before(&stored, body.clone()), stored);
        }
        assert_eq!(as_before(&body, "{}".into()), "{}");
        assert_eq!(split(&warned("{}".into(), &[warning("a")]).unwrap()).1, "");
        for odd in ["", "{", "{}", "{\"warnings\":", "{\"warnings\":[1"] {
            split(odd);
        }
    }

    #[test]
    fn a_flood_of_them_is_refused() {
        assert!(warned("{}".into(), &vec![warning(&"x".repeat(1_000)); 100]).is_err());
        assert_eq!(warned("{}".into(), &[]).unwrap(), "{}");
    }
}
