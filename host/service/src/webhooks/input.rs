//! Validation of subscriptions; errors name their field.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Result, invalid, refuse};
use base::input::errors::understood;
use base::input::validate::{self, fault};
use base::scopes;
use base::tenant::Tenant;
use http::HeaderName;
use model::bounds::webhook::{
    MAX_CONCURRENT, MAX_CONNECTIONS, MAX_EVENT_TYPES, MAX_GRACE_S, MAX_HEADER_BYTES, MAX_HEADERS,
    MAX_PER_SECOND,
};
use model::webhook::{SignatureVersion, WebhookOptions, WebhookStatus, WebhookSubscription};
use runtime::UrlCheck;
use serde_json::{Map, Value, json};
use storage::api_keys::ApiKey;
use storage::connections;
use storage::webhooks::Webhook;
use url::Url;

use crate::app::App;
use crate::webhooks::masking::MASK;
use crate::webhooks::notification_types::{self, Family};

/// Headers that the host sets itself, or that control the connection: names, and prefixes of names.
const RESERVED: [&str; 8] =
    ["host", "user-agent", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"];
const RESERVED_STARTS: [&str; 4] = ["webhook-", "content-", "transfer-", "proxy-"];

/// Takes the options of a write, which are not stored, out of the body.
pub fn options(input: &mut Map<String, Value>) -> Result<WebhookOptions> {
    let mut given = Map::new();
    for name in ["rotateSecret", "secretGraceSeconds"] {
        given.extend(input.remove(name).filter(|v| !v.is_null()).map(|v| (name.to_owned(), v)));
    }
    let (options, _): (WebhookOptions, Value) = understood(&Value::Object(given), &mut Vec::new())?;
    match (0..=MAX_GRACE_S).contains(&options.secret_grace_seconds) {
        true => Ok(options),
        false => Err(fault("secretGraceSeconds", "must be from 0 to 604,800, which is a week")),
    }
}

/// Checks everything that depends on the fields alone.
pub fn check(s: &WebhookSubscription) -> Result<()> {
    if s.url.is_empty() {
        return Err(invalid(Code::MissingField, "url", "url is required"));
    }
    event_types(&s.event_types)?;
    validate::length("connectionIds", s.connection_ids.len(), MAX_CONNECTIONS)?;
    each_once("connectionIds", &s.connection_ids)?;
    validate::text("description", s.description.as_deref(), validate::MAX_LINE)?;
    signatures(&s.signatures)?;
    headers(&s.headers)?;
    if s.max_per_second.is_some_and(|n| !(1..=MAX_PER_SECOND).contains(&n)) {
        return Err(fault("maxPerSecond", "must be from 1 to 1,000, or null for no limit"));
    }
    if !(1..=MAX_CONCURRENT).contains(&s.max_concurrent) {
        return Err(fault("maxConcurrent", "must be from 1 to 64"));
    }
    Ok(())
}

/// Checks a list of exact names and patterns of event types, which must not be empty.
pub fn event_types(patterns: &[String]) -> Result<()> {
    if patterns.is_empty() {
        let message =
            "eventTypes needs at least one event type, such as calendar.event.created, or * for all";
        return Err(invalid(Code::MissingField, "eventTypes", message));
    }
    validate::length("eventTypes", patterns.len(), MAX_EVENT_TYPES)?;
    if let Some(n) = patterns.iter().position(|pattern| !notification_types::is_known(pattern)) {
        let message = "must be an event type such as calendar.event.created, a family such as calendar.*, or *; see /docs";
        return Err(fault(&format!("eventTypes[{n}]"), message));
    }
    each_once("eventTypes", patterns)
}

/// Checks that a list has no duplicates.
pub fn each_once(field: &str, texts: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match texts.iter().position(|text| !seen.insert(text)) {
        Some(n) => Err(fault(&format!("{field}[{n}]"), "is there twice")),
        None => Ok(()),
    }
}

/// Refuses to send to a subscription that is not active.
pub fn check_active(status: WebhookStatus) -> Result<()> {
    let word = match status {
        WebhookStatus::Paused => "paused",
        WebhookStatus::Disabled => "disabled",
        WebhookStatus::Active | WebhookStatus::Failing => return Ok(()),
    };
    let message =
        format!("the webhook is {word}, so that nothing is sent to it; set its status to active first");
    Err(refuse(Code::InvalidState, message))
}

fn signatures(versions: &[SignatureVersion]) -> Result<()> {
    // Receivers' libraries support no other one.
    if !versions.contains(&SignatureVersion::V1) {
        return Err(fault("signatures", "must have v1, alone or with v1a"));
    }
    match (1..versions.len()).find(|n| versions[..*n].contains(&versions[*n])) {
        Some(n) => Err(fault(&format!("signatures[{n}]"), "is there twice")),
        None => Ok(()),
    }
}

fn headers(headers: &BTreeMap<String, String>) -> Result<()> {
    validate::length("headers", headers.len(), MAX_HEADERS)?;
    let mut names = BTreeSet::new();
    let mut bytes = 0;
    for (name, value) in headers {
        let field = format!("headers.{name}");
        let lower = name.to_ascii_lowercase();
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(fault(&field, "must be the name of an HTTP header"));
        }
        let is_reserved = RESERVED.contains(&lower.as_str())
            || RESERVED_STARTS.iter().any(|start| lower.starts_with(start));
        if is_reserved {
            return Err(fault(&field, "is a header that this service sets itself; leave it out"));
        }
        if value == MASK {
            return Err(fault(&field, "stands for a stored value, but none is stored; send the value"));
        }
        if !value.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) || value.trim() != value {
            return Err(fault(&field, "must be visible ASCII, without spaces around it"));
        }
        bytes += name.len() + value.len();
        if !names.insert(lower) {
            return Err(fault(&field, "is there twice: upper and lower case are the same in names"));
        }
    }
    match bytes > MAX_HEADER_BYTES {
        true => Err(fault("headers", "may have at most 4,096 bytes, names and values together")),
        false => Ok(()),
    }
}

/// Checks that the key has the read scopes of the event types: a webhook must not report data that its key may not read.
pub fn check_scopes(patterns: &[String], key: &ApiKey) -> Result<()> {
    for (n, pattern) in patterns.iter().enumerate() {
        // `*` covers what the key may read.
        let Some(family) = notification_types::family_of(pattern) else { continue };
        let scope = family.read_scope();
        if !scopes::holds(&key.scopes, scope) {
            let field = format!("eventTypes[{n}]");
            let message = format!("{field} needs the scope {scope}, which the API key that asks lacks");
            return Err(invalid(Code::InsufficientScope, field, message));
        }
    }
    Ok(())
}

/// Names of the event families that the key may read.
pub fn families(key: &ApiKey) -> Vec<String> {
    let readable = Family::ALL.iter().filter(|family| scopes::holds(&key.scopes, family.read_scope()));
    readable.map(|family| family.as_str().to_owned()).collect()
}

/// Checks that the connections exist. `bound_to` are the allowed ones; empty: any of the application.
pub async fn check_connections(
    app: &App,
    tenant: &Tenant,
    ids: &[String],
    bound_to: &[String],
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<String> =
        connections::existing(app.db.reader(), tenant, ids).await?.into_iter().collect();
    let is_usable = |id: &String| known.contains(id) && (bound_to.is_empty() || bound_to.contains(id));
    match ids.iter().position(|id| !is_usable(id)) {
        Some(n) => Err(fault(
            &format!("connectionIds[{n}]"),
            "is not a connection that this subscription may get events of",
        )),
        None => Ok(()),
    }
}

/// Sets the URL of a subscription if notifications may be sent there. Returns a warning if the host cannot be checked now.
pub async fn set_url(app: &App, w: &mut Webhook, text: &str) -> Result<Option<Value>> {
    let wrong = |why: &str| invalid(Code::InvalidUrl, "url", format!("url: {why}"));
    let url: Url = runtime::parse_webhook_url(text).map_err(wrong)?;
    let warning = match app.runtime.check_webhook_url(&w.tenant.application_id, &url).await {
        UrlCheck::Ok => None,
        UrlCheck::Refused(why) => return Err(wrong(&why)),
        UrlCheck::Unresolved => {
            let message = "the host of url cannot be looked up now; notifications wait until it can be";
            Some(json!({ "code": "unresolved_url", "message": message, "target": "url", "field": "url" }))
        }
    };
    let port = url.port_or_known_default().unwrap_or_default();
    w.target = format!("{}:{port}", url.host_str().unwrap_or_default());
    w.url = url.into();
    Ok(warning)
}
