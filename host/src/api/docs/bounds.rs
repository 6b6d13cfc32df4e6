//! The bounds of a value in words, such as `1 to 200` or `at most 255 characters`.

use serde_json::Value;

/// Keywords of a lower and an upper bound, with the unit that they count.
const KEYWORDS: [[&str; 3]; 4] = [
    ["minimum", "maximum", ""],
    ["minLength", "maxLength", " characters"],
    ["minItems", "maxItems", " items"],
    ["minProperties", "maxProperties", " members"],
];

/// The bounds that a schema sets, without those of a schema that it refers to; empty if there are none.
pub fn bounds(schema: &Value) -> String {
    let number = |name: &str| schema.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let parts = KEYWORDS.iter().filter_map(|[least, most, unit]| {
        let range = range(number(least), number(most))?;
        let is_one = range == "1" || range.ends_with(" 1");
        let unit = if is_one { unit.trim_end_matches('s') } else { *unit };
        Some(format!("{range}{unit}"))
    });
    let mut parts: Vec<String> = parts.collect();
    if schema["type"] == "array" {
        let each = bounds(&schema["items"]);
        parts.extend((!each.is_empty()).then(|| format!("each {each}")));
    }
    parts.join(", ")
}

fn range(least: Option<String>, most: Option<String>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) if least == most => Some(least),
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::bounds;

    #[test]
    fn bounds_have_words_and_units() {
        for (schema, expected) in [
            (json!({ "type": "integer", "minimum": 1, "maximum": 200 }), "1 to 200"),
            (json!({ "type": "string", "maxLength": 255 }), "at most 255 characters"),
            (
                json!({ "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 2, "maxLength": 2 } }),
                "at least 1 item, each 2 characters",
            ),
            (json!({ "type": "boolean" }), ""),
        ] {
            assert_eq!(bounds(&schema), expected, "{schema}");
        }
    }
}
