//! `lifecycle.check` and what the account's mail can do.

use connector_sdk::{Context, Failure, Outcome, code};
use io_jmap::rfc8621::identity::JmapIdentity;
use model::capabilities::{Alias, BounceDetection, EmailDelta, ThreadSource};
use model::wire::Account;
use model::wire::email::MailFeatures;
use serde_json::{Map, Value, json};
use url::Url;

use crate::client::Client;
use crate::send::identities;
use crate::session::{DiscoveredSession, Endpoint, find, moved_to};

/// Finds the session, and tries that its API answers.
pub fn check(cx: &Context) -> Outcome<Account> {
    let found = match find(cx) {
        Ok(found) => found,
        // Once the host has accepted that place too, it asks again.
        Err(failure) => {
            let origin = moved_to(cx, &failure).ok_or(failure)?;
            let settled = cx.connection.settings.get("discoveredOrigins").and_then(Value::as_array);
            let settled = settled.into_iter().flatten().filter_map(|known| Some(known.as_str()?.to_owned()));
            return Ok(Account {
                discovered_origins: settled.chain([origin]).collect(),
                ..Account::default()
            });
        }
    };
    let identities = match read_identities(&Client::at(cx, found.endpoint.clone())) {
        // The API is at a place that the host has to accept first: then it asks again. Or the account may not see its identities.
        Err(failure) if is_no_answer(&failure) => Vec::new(),
        read => read?,
    };
    let addresses = addresses(cx, &found, &identities);
    let name = identities
        .iter()
        .map(|identity| &identity.name)
        .chain([&found.name])
        .find(|name| !name.trim().is_empty());
    Ok(Account {
        external_account_id: external_id(&found),
        email: addresses.first().cloned().or_else(|| cx.setting("email").map(str::to_lowercase)),
        aliases: addresses.iter().skip(1).cloned().collect(),
        display_name: name.cloned(),
        time_zone: None,
        surfaces: vec!["email".to_owned()],
        provider_scopes: Vec::new(),
        settings: settings(&found.endpoint),
        discovered_origins: found.origins,
    })
}

/// The host or the method refused, not the server: of its refusals there is a status.
fn is_no_answer(failure: &Failure) -> bool {
    failure.http_status.is_none() && [code::FORBIDDEN, code::UNSUPPORTED].contains(&failure.code.as_str())
}

/// Accounts of two servers can have the same name.
fn external_id(found: &DiscoveredSession) -> String {
    let api = found.endpoint.api_url.parse::<Url>().ok();
    let host = api.as_ref().and_then(Url::host_str).unwrap_or_default();
    format!("{host}/{}/{}", found.endpoint.account_id, found.username)
}

/// The account's identities (RFC 8621 section 6). Without submission there are none; then mail is requested, so that the API is tested.
fn read_identities(client: &Client) -> Outcome<Vec<JmapIdentity>> {
    if client.endpoint().submission {
        let mut batch = client.batch().with_submission();
        let get = batch.call("Identity/get", json!({ "ids": null }));
        return client.run(batch, "reading the account's identities")?.get(&get).map(identities);
    }
    let mut batch = client.batch();
    let get = batch.call("Mailbox/get", json!({ "ids": [] }));
    client.run(batch, "reading the mailbox")?.get::<Value>(&get).map(|_| Vec::new())
}

/// The account's addresses, lower case, its own first. `*@example.com` is a right to send, no address.
fn addresses(cx: &Context, found: &DiscoveredSession, identities: &[JmapIdentity]) -> Vec<String> {
    let login = [Some(&found.username), cx.connection.username.as_ref(), Some(&found.name)];
    let login = login.into_iter().flatten().map(|name| name.to_lowercase()).filter(|name| name.contains('@'));
    let sendable: Vec<String> = sendable(identities).map(|identity| identity.email.to_lowercase()).collect();
    let own = login.clone().find(|name| sendable.is_empty() || sendable.contains(name));
    let mut all: Vec<String> = Vec::new();
    for address in own.into_iter().chain(sendable).chain(login) {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all
}

fn sendable(identities: &[JmapIdentity]) -> impl Iterator<Item = &JmapIdentity> {
    identities.iter().filter(|identity| identity.email.contains('@') && !identity.email.starts_with('*'))
}

fn settings(endpoint: &Endpoint) -> Map<String, Value> {
    match serde_json::to_value(endpoint) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

/// Returns the features of this account.
pub fn features(cx: &Context) -> Outcome<MailFeatures> {
    let client = Client::new(cx)?;
    let endpoint = client.endpoint();
    let identities = match read_identities(&client) {
        Err(failure) if failure.code == code::AUTH_EXPIRED => return Err(failure),
        Err(failure) if is_passing(&failure) => return Err(failure),
        read => read.unwrap_or_default(),
    };
    let writable = !endpoint.read_only;
    let can_send = writable && endpoint.submission;
    let own = cx.connection.addresses.first();
    let is_default =
        |identity: &JmapIdentity| own.is_some_and(|own| identity.email.eq_ignore_ascii_case(own));
    let alias = |identity: &JmapIdentity| Alias {
        email: identity.email.clone(),
        name: Some(identity.name.clone()).filter(|name| !name.trim().is_empty()),
        is_default: is_default(identity),
    };
    let aliases: Vec<Alias> = sendable(&identities).map(alias).collect();
    Ok(MailFeatures {
        search: true,
        native_search: true,
        modify_flags: writable,
        move_messages: writable,
        delete: writable,
        permanent_delete: writable,
        drafts: writable,
        send: can_send,
        append: writable,
        folders: true,
        labels: false,
        multi_folder: true,
        threads: ThreadSource::Server,
        keywords: writable,
        importance: false,
        send_as_alias: can_send
            && (aliases.len() > 1 || identities.iter().any(|one| one.email.starts_with('*'))),
        delegated_send: false,
        bounce_detection: BounceDetection::Dsn,
        push: endpoint.event_source_url.is_some(),
        delta: EmailDelta::DeltaToken,
        max_message_bytes: max_message_bytes(&endpoint),
        max_recipients: None,
        max_send_per_day: None,
        aliases,
    })
}

fn is_passing(failure: &Failure) -> bool {
    [code::UNAVAILABLE, code::TIMEOUT, code::RATE_LIMITED].contains(&failure.code.as_str())
}

/// A message is uploaded whole. The limit of its attachments is one of their files (RFC 8621, section 1.3.1), which are larger in the message.
fn max_message_bytes(endpoint: &Endpoint) -> Option<i64> {
    let limits = [endpoint.max_size_upload, endpoint.max_size_attachments_per_email.map(encoded_bytes)];
    limits.into_iter().flatten().min().and_then(|bytes| i64::try_from(bytes).ok())
}

/// Bytes that a file takes in a message: lines of 57 bytes each in base64, with 76 characters and the end of the line (RFC 2045, section 6.8).
fn encoded_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(57).saturating_mul(78)
}
