//! The body of a notification: a pure function of a log entry, so that each attempt and each replay sends the same bytes.

use bytes::Bytes;
use model::Instant;
use model::webhook::PayloadMode;
use storage::json_text;
use storage::log::Entry;

use base::tenant::Tenant;

/// The version in which new log entries are rendered. An entry keeps its version: a changed form gets the next number, and earlier ones
/// stay supported.
pub const VERSION: i64 = 1;
/// Longest body in bytes. A resource that would exceed it is left out.
const MAX_BYTES: usize = 256 << 10;

/// Renders the JSON text of a `Notification` in form `version` (1 is the only one). The resource is the text in the log.
pub fn render(entry: &Entry, tenant: &Tenant, mode: PayloadMode, version: i64) -> Bytes {
    debug_assert_eq!(version, VERSION, "a form that this host does not know");
    let head = head(entry, tenant);
    let resource = entry.resource.as_deref().filter(|_| mode == PayloadMode::Full);
    let whole = |resource: &str, is_truncated: bool| {
        let truncated = if is_truncated { "true" } else { "false" };
        [head.as_str(), ",\"resource\":", resource, ",\"truncated\":", truncated, "}}"].concat()
    };
    let body = whole(resource.unwrap_or("null"), false);
    let body = if body.len() > MAX_BYTES { whole("null", true) } else { body };
    Bytes::from(body)
}

/// Everything before the resource.
fn head(entry: &Entry, tenant: &Tenant) -> String {
    let parent_id = Some(&entry.parent_id).filter(|id| !id.is_empty());
    let fields: [(&str, String); 14] = [
        ("{\"id\":", json_text(&entry.id)),
        (",\"type\":", json_text(&entry.entry_type)),
        (",\"timestamp\":", json_text(&Instant::from_millis(entry.at))),
        (",\"sequence\":", entry.sequence.to_string()),
        (",\"api_version\":", json_text("v1")),
        (",\"application_id\":", json_text(&tenant.application_id)),
        (",\"connection_id\":", json_text(&entry.connection_id)),
        (",\"data\":{\"resourceType\":", json_text(&entry.resource_type)),
        (",\"resourceId\":", json_text(&entry.resource_id)),
        (",\"parentId\":", json_text(&parent_id)),
        (",\"changeType\":", json_text(&entry.change_type)),
        (",\"changedFields\":", entry.changed_fields.clone().unwrap_or_else(|| "null".to_owned())),
        (",\"etag\":", json_text(&entry.etag)),
        (",\"origin\":", json_text(&entry.origin)),
    ];
    fields.iter().flat_map(|(name, value)| [*name, value.as_str()]).collect()
}

#[cfg(test)]
mod tests {
    use model::webhook::Notification;

    use super::*;

    fn tenant() -> Tenant {
        let id = |kind: &str| format!("{kind}_01J00000000000000000000001");
        Tenant { organization_id: id("org"), application_id: id("app") }
    }

    fn updated() -> Entry {
        Entry {
            sequence: 4_711,
            id: "ev_01J00000000000000000000002".to_owned(),
            connection_id: Some("conn_01J00000000000000000000003".to_owned()),
            account_ids: None,
            entry_type: "calendar.event.updated".to_owned(),
            change_type: "updated".to_owned(),
            resource_type: "calendar.event".to_owned(),
            resource_id: "evt_01J00000000000000000000004".to_owned(),
            parent_id: "cal_01J00000000000000000000005".to_owned(),
            changed_fields: Some("[\"title\",\"start\"]".to_owned()),
            etag: Some("\"18c2f\"".to_owned()),
            origin: "api".to_owned(),
            resource: Some("{\"id\":\"evt_01J00000000000000000000004\",\"title\":\"Überblick\"}".to_owned()),
            at: 1_772_442_000_123,
        }
    }

    fn of_webhook() -> Entry {
        Entry {
            connection_id: None,
            entry_type: "webhook.disabled".to_owned(),
            change_type: "state".to_owned(),
            resource_type: "webhook".to_owned(),
            resource_id: "wh_01J00000000000000000000006".to_owned(),
            parent_id: String::new(),
            changed_fields: None,
            etag: None,
            origin: "system".to_owned(),
            resource: None,
            ..updated()
        }
    }

    /// Receivers verify bytes: a later version of the host must send the same bytes again.
    #[test]
    fn bytes_are_those_of_the_golden_file() {
        let golden = [
            (updated(), PayloadMode::Full, include_str!("golden/full.json")),
            (updated(), PayloadMode::Thin, include_str!("golden/thin.json")),
            (of_webhook(), PayloadMode::Full, include_str!("golden/without_connection.json")),
        ];
        for (entry, mode, text) in golden {
            let body = render(&entry, &tenant(), mode, VERSION);
            assert_eq!(String::from_utf8_lossy(&body), text.trim_end());
        }
    }

    #[test]
    fn the_body_is_what_the_model_says() {
        for (entry, mode) in [(updated(), PayloadMode::Full), (of_webhook(), PayloadMode::Thin)] {
            let body = render(&entry, &tenant(), mode, VERSION);
            let read: Notification = serde_json::from_slice(&body).unwrap();
            assert_eq!(json_text(&read).as_bytes(), &*body);
        }
    }

    #[test]
    fn a_resource_that_is_too_large_is_left_out() {
        let with = |length: usize| {
            let entry = Entry { resource: Some(json_text(&"x".repeat(length))), ..updated() };
            render(&entry, &tenant(), PayloadMode::Full, VERSION)
        };
        let around = with(0).len();
        let largest = with(MAX_BYTES - around);
        assert!(largest.len() == MAX_BYTES && largest.ends_with(b"xx\",\"truncated\":false}}"));
        let larger = with(MAX_BYTES - around + 1);
        assert!(larger.len() < 1_024 && larger.ends_with(b"\"resource\":null,\"truncated\":true}}"));
    }
}
