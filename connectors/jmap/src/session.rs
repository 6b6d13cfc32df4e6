//! The session (RFC 8620 section 2): its discovery, its data on the mail account, and the endpoint that later calls need.

use std::collections::BTreeMap;

use connector_sdk::{Context, Failure, Outcome, code, http};
use io_jmap::rfc8620::{JMAP_CORE_CAPABILITY, JmapCoreCapability};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::{Origin, Url};

use crate::protocol::{MAIL, SUBMISSION};

/// The well-known path of the session (RFC 8620 section 2.2).
const WELL_KNOWN: &str = "/.well-known/jmap";

/// The maximum number of redirects that are followed during discovery.
const MAX_REDIRECTS: usize = 5;

/// The session object. io-jmap's `JmapSession` requires an absolute `apiUrl`, but some servers return relative ones.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    #[serde(default)]
    username: String,
    accounts: BTreeMap<String, SessionAccount>,
    #[serde(default)]
    primary_accounts: BTreeMap<String, String>,
    capabilities: BTreeMap<String, Value>,
    api_url: String,
    download_url: String,
    upload_url: String,
    /// Any value, because mail works without it.
    #[serde(default)]
    event_source_url: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SessionAccount {
    name: String,
    is_personal: bool,
    is_read_only: bool,
    account_capabilities: BTreeMap<String, Value>,
}

/// The part of the session that later calls need. Kept in the connection's settings under these names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    pub session_url: String,
    pub api_url: String,
    /// A template (RFC 6570 level 1) with `accountId`, `blobId`, `name` and `type`.
    pub download_url: String,
    /// A template with `accountId`.
    pub upload_url: String,
    /// A template with `types`, `closeafter` and `ping` (RFC 8620 section 7.3), at which the host listens for changes, see
    /// `connector.toml`. None if the server has none, or has it at an origin that the account does not use otherwise.
    pub event_source_url: Option<String>,
    pub account_id: String,
    /// Whether the account can send (RFC 8621 section 7).
    pub submission: bool,
    pub read_only: bool,
    pub max_objects_in_get: Option<u64>,
    /// The maximum size of an upload, in octets.
    pub max_size_upload: Option<u64>,
    /// The maximum total size of a message's attachments, in octets.
    pub max_size_attachments_per_email: Option<u64>,
}

/// The result of discovery.
pub struct DiscoveredSession {
    pub endpoint: Endpoint,
    /// The user of the credentials.
    pub username: String,
    /// The account's display name.
    pub name: String,
    /// The origins of the session and of its URLs, other than that of `serverUrl`.
    pub origins: Vec<String>,
}

/// Finds the session: at its previous URL, at the user's URL, or at the well-known path.
pub fn find(cx: &Context) -> Outcome<DiscoveredSession> {
    let base = base(cx)?;
    let mut refused = None;
    for place in places(cx, &base) {
        match read(cx, &base, place) {
            Ok(found) => return Ok(found),
            // Wrong credentials are not retried, because servers lock accounts; rate limits and timeouts are left to a later call.
            Err(failure) if is_final(&failure) => return Err(failure),
            // The first failure other than "not found" is reported.
            Err(failure) => {
                refused = refused.filter(|first: &Failure| first.code != code::INVALID).or(Some(failure))
            }
        }
    }
    Err(refused.unwrap_or_else(|| no_session(None)))
}

fn is_final(failure: &Failure) -> bool {
    let is_told = failure.detail.as_ref().is_some_and(|detail| detail.get("session").is_some());
    is_told || [code::AUTH_EXPIRED, code::RATE_LIMITED, code::TIMEOUT].contains(&failure.code.as_str())
}

/// Parses `settings.serverUrl`.
fn base(cx: &Context) -> Outcome<Url> {
    let given = cx.setting("serverUrl").and_then(|text| text.parse::<Url>().ok());
    let mut base = given.filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
        Failure::invalid(
            "settings.serverUrl must be an absolute http or https URL, such as https://jmap.example.com/",
        )
    })?;
    base.set_fragment(None);
    // The host adds credentials; those in a URL would end up in logs.
    if !base.username().is_empty() || base.password().is_some() {
        return Err(Failure::invalid("settings.serverUrl must not contain a user name or password"));
    }
    Ok(base)
}

fn places(cx: &Context, base: &Url) -> Vec<Url> {
    let mut well_known = base.clone();
    well_known.set_path(WELL_KNOWN);
    well_known.set_query(None);
    let known = cx.setting("sessionUrl").and_then(|text| text.parse().ok());
    let is_bare = base.path() == "/" && base.query().is_none();
    let given = if is_bare { [well_known, base.clone()] } else { [base.clone(), well_known] };
    let mut places: Vec<Url> = known.into_iter().chain(given).collect();
    let mut seen = Vec::new();
    places.retain(|url| {
        let is_new = !seen.contains(url);
        seen.push(url.clone());
        is_new
    });
    places
}

fn read(cx: &Context, base: &Url, place: Url) -> Outcome<DiscoveredSession> {
    let (at, response) = get(cx, base, place)?;
    if !response.is_success() {
        let failure = cx.failure(&response, "reading the JMAP session");
        return Err(match failure.code.as_str() {
            code::NOT_FOUND | code::UNSUPPORTED | code::INVALID => no_session(Some(response.status)),
            _ => failure,
        });
    }
    let session: Session =
        serde_json::from_slice(&response.body).map_err(|_| no_session(Some(response.status)))?;
    build_session(base, &at, session)
}

fn no_session(status: Option<u16>) -> Failure {
    let failure = Failure::invalid(
        "there is no JMAP server at settings.serverUrl (no session at it or at /.well-known/jmap)",
    );
    Failure { http_status: status, ..failure }
}

/// Sends a GET request and follows redirects on the same host, or to https.
fn get(cx: &Context, base: &Url, place: Url) -> Outcome<(Url, http::Response)> {
    let mut at = place;
    for _ in 0..=MAX_REDIRECTS {
        let request = http::Request::get(at.as_str()).header("accept", "application/json");
        let response = cx.send(request).map_err(|failure| match failure.code.as_str() {
            // The host allows only the origins that the user entered and those that it has accepted.
            code::FORBIDDEN if at.origin() != base.origin() => moved_failure(&at),
            _ => failure,
        })?;
        let to =
            response.header("location").filter(|_| response.is_redirect()).and_then(|to| at.join(to).ok());
        let Some(mut next) = to else { return Ok((at, response)) };
        if next.origin() != at.origin() && next.scheme() != "https" {
            return Err(Failure::invalid(
                "the provider redirects the JMAP session to another host without https",
            ));
        }
        next.set_fragment(None);
        at = next;
    }
    Err(Failure::unavailable(format!("the provider redirects more than {MAX_REDIRECTS} times")))
}

fn moved_failure(to: &Url) -> Failure {
    let place = to.origin().ascii_serialization();
    Failure::invalid(format!("the provider keeps this account at {place}; give that as settings.serverUrl"))
        .with_detail(serde_json::json!({ "session": "moved", "origin": place }))
}

/// Returns the origin that the session moved to, if the host has to accept it first.
pub fn moved_to(cx: &Context, failure: &Failure) -> Option<String> {
    let origin = failure.detail.as_ref()?.get("origin")?.as_str()?;
    (!cx.is_accepted(origin)).then(|| origin.to_owned())
}

fn build_session(base: &Url, at: &Url, session: Session) -> Outcome<DiscoveredSession> {
    let Some((id, account)) = mail_account(&session) else {
        return Err(Failure::invalid(format!(
            "the account has no mail at this server (no {MAIL} in its JMAP session)"
        ))
        .with_detail(serde_json::json!({ "session": "no mail" })));
    };
    let core = session.capabilities.get(JMAP_CORE_CAPABILITY).cloned();
    let core =
        core.and_then(|core| serde_json::from_value::<JmapCoreCapability>(core).ok()).unwrap_or_default();
    let mail = account.account_capabilities.get(MAIL);
    let urls = [&session.api_url, &session.download_url, &session.upload_url].map(|url| absolute(at, url));
    let [Some(api_url), Some(download_url), Some(upload_url)] = urls else {
        return Err(Failure::unavailable("the provider's JMAP session has invalid URLs"));
    };
    // Some servers omit submission from the account's capabilities, but list the account as primary for it.
    let can_send = account.account_capabilities.contains_key(SUBMISSION)
        || session.primary_accounts.get(SUBMISSION).is_some_and(|primary| primary == id);
    let origins = origins(base, &[at.as_str(), &api_url, &download_url, &upload_url]);
    let endpoint = Endpoint {
        session_url: at.to_string(),
        account_id: id.clone(),
        submission: can_send && session.capabilities.contains_key(SUBMISSION),
        read_only: account.is_read_only,
        max_objects_in_get: core.max_objects_in_get,
        max_size_upload: core.max_size_upload,
        max_size_attachments_per_email: mail
            .and_then(|mail| mail.get("maxSizeAttachmentsPerEmail")?.as_u64()),
        event_source_url: event_source(base, at, &session, &[&api_url, &download_url, &upload_url]),
        api_url,
        download_url,
        upload_url,
    };
    let name = account.name.clone();
    Ok(DiscoveredSession { endpoint, username: session.username, name, origins })
}

/// The primary account for mail, else a personal account with mail, else any with mail.
fn mail_account(session: &Session) -> Option<(&String, &SessionAccount)> {
    let has_mail = |account: &SessionAccount| account.account_capabilities.contains_key(MAIL);
    let primary = session.primary_accounts.get(MAIL).and_then(|id| session.accounts.get_key_value(id));
    let all = || session.accounts.iter().filter(|(_, account)| has_mail(account));
    primary.or_else(|| all().find(|(_, account)| account.is_personal)).or_else(|| all().next())
}

/// Resolves a URL or URL template relative to `at`. `join` alone would escape a template's braces.
fn absolute(at: &Url, url: &str) -> Option<String> {
    let (fixed, template) = url.split_at(url.find('{').unwrap_or(url.len()));
    let joined = at.join(fixed).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(format!("{joined}{template}"))
}

/// The URL of the event source; none if its origin is used for nothing else. If the host did not accept that origin, the account could not
/// be connected, so polling is better.
fn event_source(base: &Url, at: &Url, session: &Session, urls: &[&str]) -> Option<String> {
    let url = session.event_source_url.as_str().filter(|url| !url.is_empty())?;
    let url = absolute(at, url)?;
    let own = origin(&url)?;
    let is_known = [base.origin(), at.origin()].contains(&own)
        || urls.iter().any(|url| origin(url) == Some(own.clone()));
    is_known.then_some(url)
}

/// The origin of a URL or URL template.
fn origin(url: &str) -> Option<Origin> {
    let fixed = url.split('{').next().unwrap_or(url);
    fixed.parse::<Url>().ok().map(|url| url.origin())
}

fn origins(base: &Url, urls: &[&str]) -> Vec<String> {
    let mut origins: Vec<String> = urls
        .iter()
        .filter_map(|url| origin(url))
        .filter(|origin| *origin != base.origin())
        .map(|origin| origin.ascii_serialization())
        .collect();
    origins.sort();
    origins.dedup();
    origins
}

/// Expands a URL template (RFC 6570 level 1): escapes all but unreserved characters in the values.
pub fn fill(template: &str, variables: &[(&str, &str)]) -> String {
    let mut url = template.to_owned();
    for (name, value) in variables {
        url = url.replace(&format!("{{{name}}}"), &escaped(value));
    }
    url
}

fn escaped(value: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::{absolute, fill, origins};

    #[test]
    fn templates_are_resolved_and_filled() {
        let at = "http://mail.example.com/jmap/".parse().unwrap();
        let template = absolute(&at, "/jmap/download/{accountId}/{blobId}/{name}?accept={type}").unwrap();
        assert_eq!(
            template,
            "http://mail.example.com/jmap/download/{accountId}/{blobId}/{name}?accept={type}"
        );
        let variables =
            [("accountId", "u1"), ("blobId", "G{name}"), ("name", "a b/ü.eml"), ("type", "text/plain")];
        let filled = fill(&template, &variables);
        let escaped =
            "http://mail.example.com/jmap/download/u1/G%7Bname%7D/a%20b%2F%C3%BC.eml?accept=text%2Fplain";
        assert_eq!(filled, escaped);
        assert_eq!(
            absolute(&at, "upload/{accountId}/").unwrap(),
            "http://mail.example.com/jmap/upload/{accountId}/"
        );
        let other = absolute(&at, "https://blobs.example.net/{accountId}").unwrap();
        assert_eq!(other, "https://blobs.example.net/{accountId}");
        assert_eq!(absolute(&at, "javascript:alert(1)"), None);
    }

    #[test]
    fn other_origins_are_told_once() {
        let base = "https://mail.example.com/".parse().unwrap();
        let urls = [
            "https://api.example.com/jmap",
            "https://api.example.com/d/{blobId}",
            "https://mail.example.com/u",
        ];
        assert_eq!(origins(&base, &urls), ["https://api.example.com"]);
    }
}
