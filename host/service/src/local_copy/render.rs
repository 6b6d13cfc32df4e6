//! Renders stored rows for the API. The body is stored as JSON text, so that a resource is spliced together: a read parses and serializes
//! nothing.

use std::fmt::Write;

use base::error::Result;
use model::Instant;
use model::sync::Watch;
use serde_json::Value;
use storage::items::{Item, ItemColumns};
use storage::json_text;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::stored_warnings;

/// Returns the JSON text of one resource.
pub fn item(item: &Item, warnings: &[Value], with_provider_data: bool) -> String {
    item_columns(&ItemColumns::from(item), warnings, with_provider_data)
}

/// Same as `item` for a borrowed row.
pub fn item_columns(item: &ItemColumns<'_>, warnings: &[Value], with_provider_data: bool) -> String {
    let mut out = String::with_capacity(item.body.len() + item.metadata.len() + 512);
    field(&mut out, "{\"id\":", item.id);
    field(&mut out, ",\"connectionId\":", item.connection_id);
    place(&mut out, item);
    field(&mut out, ",\"externalId\":", item.external_id);
    let (stored, members) = stored_warnings::split(item.body);
    if !members.is_empty() {
        out.push(',');
        out.push_str(members);
    }
    out.push_str(",\"metadata\":");
    out.push_str(item.metadata);
    let (created, updated) = (Instant::from_millis(item.created_at), Instant::from_millis(item.updated_at));
    // Writing to a string cannot fail.
    let _ = write!(out, ",\"createdAt\":\"{created}\",\"updatedAt\":\"{updated}\"");
    field(&mut out, ",\"etag\":", item.etag);
    // Stored warnings, an array, come first.
    out.push_str(",\"warnings\":");
    let stored = stored.and_then(|array| array.strip_suffix(']')).unwrap_or("[");
    out.push_str(stored);
    for (i, warning) in warnings.iter().enumerate() {
        let _ = write!(out, "{}{warning}", if i > 0 || stored.len() > 1 { "," } else { "" });
    }
    out.push(']');
    if with_provider_data {
        out.push_str(",\"providerData\":");
        out.push_str(item.provider_data.unwrap_or("null"));
    }
    out.push('}');
    out
}

/// Writes the fields that locate the item, and the host's fields of its kind.
fn place(out: &mut String, item: &ItemColumns<'_>) {
    match ResourceKind::parse(item.kind) {
        Some(ResourceKind::Event) => {
            field(out, ",\"calendarId\":", item.parent_id);
            match item.series_id {
                Some(series) => field(out, ",\"seriesId\":", series),
                None => out.push_str(",\"seriesId\":null"),
            }
        }
        // Watches are no part of a calendar's version: `watched` inserts them.
        Some(ResourceKind::Calendar) => out.push_str(",\"watch\":null"),
        Some(ResourceKind::Contact | ResourceKind::ContactGroup) => {
            field(out, ",\"bookId\":", item.parent_id)
        }
        Some(ResourceKind::Task) => field(out, ",\"taskListId\":", item.parent_id),
        // The body of mail items is complete.
        Some(_) | None => {}
    }
}

/// Inserts the counts of its contents into a rendered collection.
pub fn counted(text: String, items: i64, open: i64) -> String {
    // Inside a JSON string these quotes would be escaped: only the fields themselves match.
    text.replacen("\"contactCount\":null", &format!("\"contactCount\":{items}"), 1)
        .replacen("\"taskCount\":null", &format!("\"taskCount\":{items}"), 1)
        .replacen("\"openCount\":null", &format!("\"openCount\":{open}"), 1)
}

/// Inserts its watch into a rendered calendar.
pub fn watched(text: String, watch: &Watch) -> Result<String> {
    // The field stands before all fields of the provider.
    Ok(text.replacen("\"watch\":null", &format!("\"watch\":{}", serde_json::to_string(watch)?), 1))
}

/// Appends `before`, and `text` as a JSON string.
pub fn field(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    // Ids need no escapes. The loop checks every byte without an early exit, so that it is vectorized.
    if !text.bytes().fold(false, |found, b| found | (b < b' ') | (b == b'"') | (b == b'\\')) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&json_text(text));
    }
}

#[cfg(test)]
mod tests {
    use model::sync::WatchStatus;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_calendar_is_printed_with_its_watch() {
        let watch = Watch { status: WatchStatus::Active, ..Watch::default() };
        let text = r#"{"id":"cal_1","watch":null,"name":"x","providerData":{"watch":null}}"#;
        let printed: Value = serde_json::from_str(&watched(text.to_owned(), &watch).unwrap()).unwrap();
        let expected = json!({ "status": "active", "expiresAt": null, "lastNotificationAt": null });
        assert_eq!(printed["watch"], expected);
        assert_eq!(printed["providerData"]["watch"], Value::Null);
    }

    #[test]
    fn any_text_is_a_json_string() {
        for text in ["plain", "\"quoted\"", "back\\slash", "line\nbreak\t\u{1}\u{7f}", "Grüße ☕"] {
            let mut out = String::new();
            field(&mut out, "", text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
