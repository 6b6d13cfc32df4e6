//! Stored rows as the API prints them. The body is stored as JSON text, so a resource is put together by splicing: nothing is
//! parsed and printed again on a read.

use std::fmt::Write;

use model::Instant;
use serde_json::Value;

use crate::resources::Kind;
use crate::storage::items::Item;

/// The JSON text of one resource.
pub fn item(item: &Item, warnings: &[Value], with_provider_data: bool) -> String {
    let mut out = String::with_capacity(item.body.len() + 512);
    let _ = write!(out, "{{\"id\":{},\"connectionId\":{}", quoted(&item.id), quoted(&item.connection_id));
    if Kind::parse(&item.kind) == Some(Kind::Event) {
        let series = item.series_id.as_deref().map_or("null".into(), quoted);
        let _ = write!(out, ",\"calendarId\":{},\"seriesId\":{series}", quoted(&item.parent_id));
    } else {
        // No provider behind today's connectors pushes changes: there is no channel to tell of.
        out.push_str(",\"watch\":null");
    }
    let _ = write!(out, ",\"externalId\":{}", quoted(&item.external_id));
    let body = item.body.trim();
    if body.len() > 2 {
        out.push(',');
        out.push_str(&body[1..body.len() - 1]);
    }
    let _ = write!(
        out,
        ",\"metadata\":{},\"createdAt\":\"{}\",\"updatedAt\":\"{}\",\"etag\":{}",
        item.metadata,
        Instant::from_millis(item.created_at),
        Instant::from_millis(item.updated_at),
        quoted(&item.etag)
    );
    out.push_str(",\"warnings\":[");
    for (i, warning) in warnings.iter().enumerate() {
        let _ = write!(out, "{}{warning}", if i > 0 { "," } else { "" });
    }
    out.push(']');
    if with_provider_data {
        let _ = write!(out, ",\"providerData\":{}", item.provider_data.as_deref().unwrap_or("null"));
    }
    out.push('}');
    out
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
