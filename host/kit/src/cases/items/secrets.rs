//! Cases that check the connector's output for secrets of the provider and data of the account.

use std::collections::BTreeSet;

use runtime::Surface;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, ensure};
use crate::escapes::decoded;
use crate::line::Fault;
use crate::surface_bench::{ItemChange, ItemKind, merged, optional, written_source};

/// Suffixes of the names of members that hold a secret.
const SECRETS: [&str; 3] = ["secret", "password", "bearer"];
/// The words before `key` or `token` that make it a credential. Other keys are ids and names: `projectKey`, `lastEvaluatedKey`.
const CREDENTIALS: [&str; 21] = [
    "access",
    "api",
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "decryption",
    "encryption",
    "exchange",
    "feed",
    "hmac",
    "private",
    "refresh",
    "secret",
    "session",
    "share",
    "shared",
    "sharing",
    "signature",
    "signing",
    "subscription",
];
/// Parts of token names that mark positions or versions, not secrets.
const POSITIONS: [&str; 40] = [
    "after",
    "anchor",
    "before",
    "bookmark",
    "change",
    "checkpoint",
    "continu",
    "ctag",
    "cursor",
    "delta",
    "etag",
    "history",
    "idempot",
    "iterator",
    "list",
    "lock",
    "marker",
    "next",
    "offset",
    "page",
    "paging",
    "paginat",
    "partition",
    "position",
    "prev",
    "public",
    "query",
    "resume",
    "revision",
    "scroll",
    "seek",
    "sequence",
    "since",
    "skip",
    "snapshot",
    "start",
    "state",
    "sync",
    "version",
    "watermark",
];
/// The minimum length of a value that counts as a secret, in bytes.
const MIN_SECRET: usize = 8;
/// A lower-case marker in every text that `S6` writes.
const PRIVATE: &str = "s6-private";

/// Returns the values in a provider's answers whose names mark them as secrets: `apiKey`, `shareToken`, `client_secret`.
pub fn find_secrets(answers: &[Vec<u8>]) -> BTreeSet<String> {
    fn find(value: &Value, is_secret: bool, into: &mut BTreeSet<String>) {
        match value {
            Value::String(text) if is_secret && text.len() >= MIN_SECRET && !text.contains(' ') => {
                into.insert(text.clone());
            }
            Value::Array(values) => values.iter().for_each(|value| find(value, is_secret, into)),
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| find(value, names_secret(name), into));
            }
            _ => {}
        }
    }
    let mut secrets = BTreeSet::new();
    let values = answers.iter().filter_map(|answer| serde_json::from_slice::<Value>(answer).ok());
    values.for_each(|value| find(&value, false, &mut secrets));
    secrets
}

/// Whether a member of this name holds a secret.
fn names_secret(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let is_credential = |of: &str| CREDENTIALS.iter().any(|word| of.ends_with(word));
    if let Some(of) = name.strip_suffix("key") {
        return is_credential(of);
    }
    if let Some(of) = name.strip_suffix("token") {
        return is_credential(of) || !POSITIONS.iter().any(|part| of.contains(part));
    }
    SECRETS.iter().any(|end| name.ends_with(end))
}

/// Calls all operations of the surface that the connector supports.
async fn exercise(bench: &mut Bench, kind: &ItemKind, fields: Value, case: &str) -> Outcome {
    let collection = bench.collection(kind).await?;
    let made =
        bench.try_write_item(kind, &collection, ItemChange::create(fields.clone()), &kind.key(case)).await;
    if let Some(made) = optional(made, kind.create_op)? {
        let source = written_source(&made)?;
        let other = json!({ (kind.other): fields[kind.other] });
        let change = ItemChange::update(&source, &other);
        let key = kind.key(&format!("{case}-after"));
        optional(bench.try_write_item(kind, &collection, change, &key).await, kind.update_op)?;
        optional(bench.get_item(kind, &collection, &source.external_id).await, kind.get_op)?;
        bench.items(kind, &collection, 0, None).await?;
        let key = kind.key(&format!("{case}-delete"));
        let gone = bench.try_delete_item(kind, &collection, &source.external_id, &key).await;
        optional(gone, kind.delete_op)?;
    }
    bench.items(kind, &collection, 0, None).await.map(drop)
}

/// Case `S5`: no secret leaves the connector.
pub async fn secrets(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "the host adds credentials by itself. Keep keys and tokens from the provider's answers out of URLs, bodies, answers, errors and the log";
    bench.needs_surface(kind)?;
    if bench.surfaces.contains(&Surface::Lifecycle) {
        let _ = bench.calls.check().await;
    }
    exercise(bench, kind, (kind.body)(&kind.label("S5")), "S5").await?;
    let (exchanges, logged) = (bench.line.take_exchanges(), bench.log.take());
    for secret in &bench.secrets {
        let shows = |text: &str| text.contains(secret.as_str());
        for exchange in &exchanges {
            let method = &exchange.method;
            ensure(!shows(&exchange.url), || format!("a secret is in the URL of a {method}"), HELP)?;
            let in_header = exchange.headers.iter().find(|(_, value)| shows(value));
            ensure(
                in_header.is_none(),
                || format!("a secret is in a header that the connector has set on a {method}"),
                HELP,
            )?;
            let in_body = shows(&String::from_utf8_lossy(&exchange.body));
            ensure(!in_body, || format!("a secret is in the body of a {method}"), HELP)?;
        }
        let out = bench.calls.outputs.iter().chain(&logged).any(|text| shows(text));
        ensure(!out, || "a secret is in an answer, in an error or in the log".to_owned(), HELP)?;
    }
    // A value that the connector also returns, such as an id or a version, is allowed in URLs.
    let is_answered = |value: &String| bench.calls.outputs.iter().any(|text| text.contains(value.as_str()));
    let found = find_secrets(&bench.interceptor.take_answers());
    for secret in found.iter().filter(|secret| !is_answered(secret)) {
        let in_url = exchanges.iter().find(|exchange| decoded(&exchange.url).contains(secret.as_str()));
        ensure(
            in_url.is_none(),
            || {
                let method = in_url.map(|exchange| exchange.method.as_str()).unwrap_or_default();
                format!("a key or token from the provider's answers is in the URL of a {method}")
            },
            HELP,
        )?;
        let is_logged = logged.iter().any(|line| line.contains(secret.as_str()));
        ensure(!is_logged, || "a key or token from the provider's answers is in the log".to_owned(), HELP)?;
    }
    Ok(())
}

/// Case `S6`: the log contains no data of the account.
pub async fn quiet_log(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str =
        "log what happened, how often, and ids: no titles, notes, categories, addresses or names of people";
    bench.needs_surface(kind)?;
    let account = match bench.surfaces.contains(&Surface::Lifecycle) {
        true => bench.calls.check().await.ok(),
        false => None,
    };
    let fields = private(bench, kind).await?;
    exercise(bench, kind, fields.clone(), "S6").await?;
    // Send a request that the provider rejects: connectors log those, and may log too much.
    let collection = bench.collection(kind).await?;
    bench.line.spoil_all(Fault::Answer(400, Vec::new(), "{}"));
    let rejected = ItemChange::create(fields);
    let _ = bench.try_write_item(kind, &collection, rejected, &kind.key("S6-rejected")).await;
    bench.line.mend();
    let email = account.and_then(|account| account.email).map(|email| email.to_lowercase());
    let is_private = |line: &String| {
        let line = line.to_lowercase();
        line.contains(PRIVATE) || email.as_ref().is_some_and(|email| line.contains(email.as_str()))
    };
    let lines = bench.log.take();
    let found = lines.iter().filter(|line| is_private(line)).count();
    ensure(
        found == 0,
        || format!("{found} of {} log lines contain text of an item or the account's address", lines.len()),
        HELP,
    )
}

/// The fields of an item with [`PRIVATE`] in each text.
async fn private(bench: &mut Bench, kind: &ItemKind) -> Outcome<Value> {
    let text = |of: &str| json!(format!("swkit-S6-private-{of}"));
    let person = json!([{ "email": "swkit-s6-private@example.test", "name": text("person") }]);
    // Attendees only with the feature: otherwise the provider might send them real mail.
    let invites = kind.surface == Surface::Calendar && bench.features(kind).await?["attendees"] == true;
    let mut fields = merged(&(kind.body)(&kind.label("S6-private")), &json!({ (kind.other): text("notes") }));
    match kind.surface {
        Surface::Tasks => {
            fields["assignees"] = person;
            fields["categories"] = json!([text("category")]);
        }
        Surface::Calendar if invites => fields["attendees"] = person,
        Surface::Contacts => {
            fields["emails"] = json!([{ "value": "swkit-s6-private@example.test", "type": "work" }]);
            fields["familyName"] = text("family");
        }
        Surface::Email => fields["from"] = json!("swkit-s6-private@example.test"),
        _ => {}
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_the_names_of_members() {
        let answer = json!({
            "id": "an-id-of-12", "apiKey": "0123456789", "nextPageToken": "0123456789-page", "key": "PROJECT-1",
            "lists": [{ "share_token": "share-0123", "changeKey": "change-0123", "note": "no secret" }],
            "clientSecret": { "value": "in an object", "keys": [1] }, "password": "short", "tokens": ["t"],
            "accessToken": ["token-number-one", "two words are none"],
        });
        let found = find_secrets(&[answer.to_string().into_bytes(), b"<html>".to_vec()]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["0123456789", "share-0123", "token-number-one"]);
    }
    #[test]
    fn names_of_credentials_are_told_from_names_of_positions_and_ids() {
        for name in [
            "access_token",
            "accessToken",
            "page_access_token",
            "apiKey",
            "api_key",
            "X-Api-Key",
            "projectApiKey",
            "client_secret",
            "clientSecret",
            "sessionToken",
            "nextSessionToken",
            "authToken",
            "oauth_token",
            "bearer",
            "password",
            "newPassword",
            "refreshToken",
            "refresh_token",
            "privateKey",
            "private_key",
            "signingKey",
            "secretKey",
            "secretAccessKey",
            "sharedAccessKey",
            "shareToken",
            "feedKey",
            "id_token",
            "token",
            "deviceToken",
            "uploadToken",
            "exchange_token",
            "csrfToken",
            "encryptionKey",
            "Ocp-Apim-Subscription-Key",
            "webhookSecret",
            "clientToken",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "resumeToken",
            "scrollToken",
            "startKey",
            "lastEvaluatedKey",
            "exclusiveStartKey",
            "projectKey",
            "listKey",
            "spaceKey",
            "boardKey",
            "issueKey",
            "parentKey",
            "epicKey",
            "statusKey",
            "userKey",
            "accountKey",
            "assigneeKey",
            "versionToken",
            "revisionKey",
            "bookmarkToken",
            "nextPageToken",
            "pageToken",
            "syncToken",
            "nextSyncToken",
            "deltaToken",
            "$deltatoken",
            "$skiptoken",
            "skip_token",
            "continuationToken",
            "changeKey",
            "changeToken",
            "next_cursor",
            "cursor",
            "starting_after",
            "iCalUID",
            "etag",
            "ctag",
            "key",
            "keys",
            "objectKey",
            "partitionKey",
            "sortKey",
            "primary_key",
            "publicKey",
            "idempotencyKey",
            "startToken",
            "prevToken",
            "previousPageToken",
            "paginationToken",
            "offsetToken",
            "historyToken",
            "listToken",
            "stateToken",
            "snapshotToken",
            "queryToken",
            "markerToken",
            "designKey",
            "keyword",
            "tokenType",
            "nextRecordsUrl",
            "locatorKey",
            "colorKey",
            "i18nKey",
            "routingKey",
            "dedupeKey",
            "fieldKey",
            "sectionKey",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
