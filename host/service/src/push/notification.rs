//! Parses providers' notifications by the `[push]` of their connectors' manifests. Pure: nothing is compared with stored rows here.

use base::error::{Code, Result, invalid, refuse};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::HeaderMap;
use runtime::{Push, PushAuth, PushPlace, WithoutSecret};
use serde_json::Value;
use url::form_urlencoded;

/// Most notifications in one request.
pub const MAX_NOTIFICATIONS: usize = 1_000;
/// Longest value that a handshake echoes, bytes.
const MAX_ECHO: usize = 4_096;
/// Longest name of a watch or an account, and longest secret, bytes. Longer ones do not come from a provider of ours.
const MAX_TEXT: usize = 1_024;

/// Base64 decoders for both alphabets, padded or not.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ENGINES: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&STANDARD, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)];

/// A request of a provider.
#[derive(Clone, Copy, Debug)]
pub struct ProviderRequest<'a> {
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// The subject of a notification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotificationSubject {
    /// The provider's id of a watch.
    Watch(String),
    /// An address, in lower case.
    Account(String),
}

impl NotificationSubject {
    /// Returns the id or the address.
    pub fn name(&self) -> &str {
        match self {
            NotificationSubject::Watch(name) | NotificationSubject::Account(name) => name,
        }
    }
}

/// A change of the watch itself that a notification reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// It has to be renewed now.
    Renew,
    /// The provider has ended it.
    Removed,
}

/// One notification, not authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub subject: NotificationSubject,
    /// The returned token, or the signature; empty with `auth = "jwt"`, where a token authenticates the whole request, and if the manifest
    /// accepts notifications without a secret as hints.
    pub secret: String,
    pub lifecycle: Option<Lifecycle>,
}

/// A parsed request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Notifications that name a watch or an account and have a secret, or need none.
    pub all: Vec<Notification>,
    /// Number of further ones that only report the start of a watch.
    pub greetings: usize,
}

/// Returns the value to echo, if the request only checks that the address exists.
pub fn handshake(push: &Push, query: &str) -> Result<Option<String>> {
    let Some(PushPlace::Query(wanted)) = &push.handshake else { return Ok(None) };
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let Some((_, value)) = pairs.find(|(name, _)| name == wanted.as_str()) else { return Ok(None) };
    if value.len() > MAX_ECHO || value.chars().any(char::is_control) {
        let message = format!("{wanted} must have at most {MAX_ECHO} bytes and no control characters");
        return Err(invalid(Code::InvalidParameter, wanted.as_str(), message));
    }
    Ok(Some(value.into_owned()))
}

/// Parses the notifications of a request.
pub fn read(push: &Push, incoming: ProviderRequest<'_>) -> Result<Notifications> {
    let body = match needs_body(push) {
        true if !incoming.body.is_empty() => serde_json::from_slice(incoming.body)
            .map_err(|_| refuse(Code::InvalidJson, "the body is not JSON"))?,
        _ => Value::Null,
    };
    let mut found = Notifications::default();
    for one in list_notifications(push, &body)? {
        let at = |place: &Option<PushPlace>| text_at(place.as_ref()?, incoming.headers, one);
        if at(&push.state).as_deref() == Some("sync") {
            found.greetings += 1;
            continue;
        }
        let subject = match &push.account {
            None => at(&push.watch).map(NotificationSubject::Watch),
            Some(place) => account(push, place, incoming.headers, one),
        };
        let secret = match push.auth {
            PushAuth::Jwt => Some(String::new()),
            PushAuth::ChannelToken | PushAuth::ClientState | PushAuth::Hmac => {
                let is_hint = push.without_secret == WithoutSecret::Hint;
                at(&push.secret).or_else(|| is_hint.then(String::new))
            }
        };
        let (Some(subject), Some(secret)) = (subject, secret) else { continue };
        let lifecycle = match at(&push.lifecycle).as_deref() {
            Some("reauthorizationRequired") => Some(Lifecycle::Renew),
            Some("subscriptionRemoved") => Some(Lifecycle::Removed),
            // "missed", and unknown values: something may have changed.
            _ => None,
        };
        found.all.push(Notification { subject, secret, lifecycle });
    }
    Ok(found)
}

fn needs_body(push: &Push) -> bool {
    let places =
        [&push.list, &push.watch, &push.account, &push.base64, &push.secret, &push.state, &push.lifecycle];
    places.into_iter().any(|place| matches!(place, Some(PushPlace::Pointer(_))))
}

/// Returns the single notifications of a body.
fn list_notifications<'b>(push: &Push, body: &'b Value) -> Result<Vec<&'b Value>> {
    let Some(PushPlace::Pointer(pointer)) = &push.list else { return Ok(vec![body]) };
    let Some(list) = body.pointer(pointer).and_then(Value::as_array) else {
        return Err(refuse(Code::InvalidRequest, format!("the body has no list at {pointer}")));
    };
    if list.len() > MAX_NOTIFICATIONS {
        let message =
            format!("the request has {} notifications: at most {MAX_NOTIFICATIONS} are possible", list.len());
        return Err(refuse(Code::PayloadTooLarge, message));
    }
    Ok(list.iter().collect())
}

/// Returns the text at a place; none if there is none, or if it cannot be ours.
fn text_at(place: &PushPlace, headers: &HeaderMap, one: &Value) -> Option<String> {
    let text = match place {
        PushPlace::Header(name) => headers.get(name)?.to_str().ok()?,
        PushPlace::Pointer(pointer) => one.pointer(pointer)?.as_str()?,
        PushPlace::Query(_) => return None,
    };
    let can_be_ours = (1..=MAX_TEXT).contains(&text.len()) && !text.contains('\0');
    can_be_ours.then(|| text.to_owned())
}

fn account(push: &Push, place: &PushPlace, headers: &HeaderMap, one: &Value) -> Option<NotificationSubject> {
    let text = match &push.base64 {
        None => text_at(place, headers, one)?,
        Some(PushPlace::Pointer(pointer)) => {
            let coded = one.pointer(pointer)?.as_str()?;
            let bytes = ENGINES.iter().find_map(|engine| engine.decode(coded).ok())?;
            text_at(place, headers, &serde_json::from_slice(&bytes).ok()?)?
        }
        Some(PushPlace::Query(_) | PushPlace::Header(_)) => return None,
    };
    Some(NotificationSubject::Account(text.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use runtime::PushAlgorithm;
    use serde_json::json;

    use super::*;

    fn place(text: &str) -> Option<PushPlace> {
        Some(PushPlace::try_from(text.to_owned()).unwrap())
    }

    fn nothing(auth: PushAuth) -> Push {
        Push {
            name: None,
            surfaces: Vec::new(),
            auth,
            without_secret: WithoutSecret::Refuse,
            handshake: None,
            list: None,
            watch: None,
            account: None,
            base64: None,
            secret: None,
            algorithm: None,
            state: None,
            lifecycle: None,
            jwt: None,
        }
    }

    fn google() -> Push {
        Push {
            watch: place("header:X-Goog-Channel-ID"),
            secret: place("header:X-Goog-Channel-Token"),
            state: place("header:X-Goog-Resource-State"),
            ..nothing(PushAuth::ChannelToken)
        }
    }

    fn graph() -> Push {
        Push {
            handshake: place("query:validationToken"),
            list: place("/value"),
            watch: place("/subscriptionId"),
            secret: place("/clientState"),
            lifecycle: place("/lifecycleEvent"),
            ..nothing(PushAuth::ClientState)
        }
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    fn read_of(push: &Push, headers: &HeaderMap, body: &Value) -> Result<Notifications> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        read(push, ProviderRequest { headers, body: &body })
    }

    fn watch(id: &str, secret: &str, lifecycle: Option<Lifecycle>) -> Notification {
        Notification {
            subject: NotificationSubject::Watch(id.to_owned()),
            secret: secret.to_owned(),
            lifecycle,
        }
    }

    #[test]
    fn a_channel_of_google_is_all_in_the_headers() {
        let channel = [("x-goog-channel-id", "wat_1"), ("x-goog-channel-token", "t")];
        let named = [channel[0], channel[1], ("x-goog-resource-state", "exists")];
        let found = read_of(&google(), &headers(&named), &Value::Null).unwrap();
        assert_eq!(found, Notifications { all: vec![watch("wat_1", "t", None)], greetings: 0 });
        let begun = [channel[0], channel[1], ("x-goog-resource-state", "sync")];
        let found = read_of(&google(), &headers(&begun), &Value::Null).unwrap();
        assert_eq!(found, Notifications { all: Vec::new(), greetings: 1 });
        let nameless = read_of(&google(), &headers(&[("x-goog-channel-token", "t")]), &Value::Null).unwrap();
        assert_eq!(nameless, Notifications::default());
        // A body that is not parsed may have any content.
        let odd = ProviderRequest { headers: &headers(&named), body: b"{" };
        assert_eq!(read(&google(), odd).unwrap().all.len(), 1);
    }

    #[test]
    fn a_post_of_graph_has_many_notifications() {
        let body = json!({ "value": [
            { "subscriptionId": "a", "clientState": "s", "changeType": "updated" },
            { "subscriptionId": "b", "clientState": "s", "lifecycleEvent": "reauthorizationRequired" },
            { "subscriptionId": "c", "clientState": "s", "lifecycleEvent": "subscriptionRemoved" },
            { "subscriptionId": "d", "clientState": "s", "lifecycleEvent": "missed" },
            { "subscriptionId": "e" },
            { "clientState": "s" },
            { "subscriptionId": 7, "clientState": "s" },
            "nonsense",
        ] });
        let found = read_of(&graph(), &HeaderMap::new(), &body).unwrap();
        let wanted = [
            watch("a", "s", None),
            watch("b", "s", Some(Lifecycle::Renew)),
            watch("c", "s", Some(Lifecycle::Removed)),
            watch("d", "s", None),
        ];
        assert_eq!(found, Notifications { all: wanted.to_vec(), greetings: 0 });
    }

    #[test]
    fn a_notification_without_its_secret_may_be_a_hint() {
        let hinted = Push { without_secret: WithoutSecret::Hint, ..graph() };
        let body = json!({ "value": [
            { "subscriptionId": "a", "clientState": "s" },
            { "subscriptionId": "b" },
            { "subscriptionId": "c", "clientState": null },
            { "changeType": "updated" },
        ] });
        let found = read_of(&hinted, &HeaderMap::new(), &body).unwrap();
        assert_eq!(found.all, [watch("a", "s", None), watch("b", "", None), watch("c", "", None)]);
        assert_eq!(read_of(&graph(), &HeaderMap::new(), &body).unwrap().all, [watch("a", "s", None)]);
    }

    #[test]
    fn what_is_no_notification_is_refused() {
        let code = |body: &Value| read_of(&graph(), &HeaderMap::new(), body).unwrap_err().code();
        assert_eq!(code(&json!({ "values": [] })), Some(Code::InvalidRequest));
        assert_eq!(code(&Value::Null), Some(Code::InvalidRequest));
        let many = vec![json!({}); MAX_NOTIFICATIONS + 1];
        assert_eq!(code(&json!({ "value": many })), Some(Code::PayloadTooLarge));
        let broken = ProviderRequest { headers: &HeaderMap::new(), body: b"{\"value\":[" };
        assert_eq!(read(&graph(), broken).unwrap_err().code(), Some(Code::InvalidJson));
        let long = json!({ "value": [{ "subscriptionId": "x".repeat(1_025), "clientState": "s" }] });
        assert_eq!(read_of(&graph(), &HeaderMap::new(), &long).unwrap(), Notifications::default());
        let nul = json!({ "value": [{ "subscriptionId": "a\0", "clientState": "s" }] });
        assert_eq!(read_of(&graph(), &HeaderMap::new(), &nul).unwrap(), Notifications::default());
    }

    #[test]
    fn an_account_may_be_in_coded_json() {
        let push = Push {
            account: place("/emailAddress"),
            base64: place("/message/data"),
            secret: place("header:x-signature"),
            algorithm: Some(PushAlgorithm::Sha256),
            ..nothing(PushAuth::Hmac)
        };
        let signed = headers(&[("x-signature", "00")]);
        // {"emailAddress":"Ann@example.test?>"} in both alphabets.
        for data in [
            "eyJlbWFpbEFkZHJlc3MiOiJBbm5AZXhhbXBsZS50ZXN0Pz4ifQ==",
            "eyJlbWFpbEFkZHJlc3MiOiJBbm5AZXhhbXBsZS50ZXN0Pz4ifQ",
        ] {
            let body = json!({ "message": { "data": data } });
            let found = read_of(&push, &signed, &body).unwrap();
            let subject = NotificationSubject::Account("ann@example.test?>".to_owned());
            let notification = Notification { subject, secret: "00".to_owned(), lifecycle: None };
            assert_eq!(found, Notifications { all: vec![notification], greetings: 0 }, "{data}");
        }
        let odd = json!({ "message": { "data": "%" } });
        assert_eq!(read_of(&push, &signed, &odd).unwrap(), Notifications::default());
    }

    #[test]
    fn with_a_token_for_the_request_notifications_need_no_secret() {
        let push = Push { watch: place("/id"), list: place("/value"), ..nothing(PushAuth::Jwt) };
        let body = json!({ "value": [{ "id": "a" }, { "id": "b", "secret": "s" }, { "secret": "s" }] });
        let found = read_of(&push, &HeaderMap::new(), &body).unwrap();
        assert_eq!(found.all, [watch("a", "", None), watch("b", "", None)]);
    }

    #[test]
    fn a_handshake_is_only_what_the_manifest_names() {
        let echoed = |query: &str| handshake(&graph(), query).unwrap();
        assert_eq!(echoed("validationToken=a%20b%3Cc%3E+d"), Some("a b<c> d".to_owned()));
        assert_eq!(echoed("a=b&validationToken="), Some(String::new()));
        assert_eq!(echoed("validationtoken=x"), None);
        assert_eq!(handshake(&google(), "validationToken=x").unwrap(), None);
        for bad in ["validationToken=%0d%0a".to_owned(), format!("validationToken={}", "x".repeat(4_097))] {
            let error = handshake(&graph(), &bad).unwrap_err();
            assert_eq!(error.code(), Some(Code::InvalidParameter));
        }
    }
}
