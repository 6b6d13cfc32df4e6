//! `[push]` of a manifest: how the host reads the notifications that a provider posts to it. A notification is a hint that something has
//! changed; no connector ever sees one.
//!
//! ```toml
//! [push]
//! auth = "client-state"
//! handshake = "query:validationToken"
//! list = "/value"
//! watch = "/subscriptionId"
//! secret = "/clientState"
//! lifecycle = "/lifecycleEvent"
//! ```

use anyhow::{anyhow, bail, ensure};
use http::HeaderName;
use serde::{Deserialize, Serialize};
use url::Host;

use crate::http_url;

/// Longest text of a place, bytes.
const MAX_PLACE: usize = 256;
/// Issuers of a token, and the longest text that a token is held against, bytes.
const MAX_ISSUERS: usize = 8;
const MAX_CLAIM: usize = 2_048;

/// How notifications are read, and what proves that they are the provider's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    pub auth: PushAuth,
    /// `query:NAME`: a request with this parameter asks whether the address exists, and is answered with the parameter's value as text.
    #[serde(default)]
    pub handshake: Option<PushPlace>,
    /// A JSON pointer (RFC 6901) to the list of notifications in the body. Default: the request is one notification, and pointers of the
    /// other keys begin at its body.
    #[serde(default)]
    pub list: Option<PushPlace>,
    /// What names the watch: `Watching.externalId` of the connector's answer. Either this or `account` is needed.
    #[serde(default)]
    pub watch: Option<PushPlace>,
    /// What names the account, by its e-mail address, where the provider names no watch.
    #[serde(default)]
    pub account: Option<PushPlace>,
    /// A JSON pointer to base64 text (RFC 4648, either alphabet) that is itself JSON; the pointer `account` begins in there.
    #[serde(default)]
    pub base64: Option<PushPlace>,
    /// Where the token of the watch is sent back; with `auth = "hmac"` the header with the signature; with `auth = "jwt"` the header with
    /// the provider's token, by default `Authorization`, where it is a bearer's.
    #[serde(default)]
    pub secret: Option<PushPlace>,
    /// With `auth = "hmac"`: what the signature is made with.
    #[serde(default)]
    pub algorithm: Option<PushAlgorithm>,
    /// What the notification says of what it is about. The value `sync` only says that the watch has begun.
    #[serde(default)]
    pub state: Option<PushPlace>,
    /// What the notification says of the watch itself: `reauthorizationRequired`, `subscriptionRemoved` or `missed`.
    #[serde(default)]
    pub lifecycle: Option<PushPlace>,
    /// With `auth = "jwt"`: whose tokens count.
    #[serde(default)]
    pub jwt: Option<PushJwt>,
}

/// `[push.jwt]`: whose tokens prove that a request is the provider's. A token is signed by a public key of the provider (RSA, ECDSA or
/// Ed25519), has a `kid` and an `exp`, and stands for the whole request, whatever watches or accounts that names.
///
/// ```toml
/// [push]
/// auth = "jwt"
/// account = "/emailAddress"
/// base64 = "/message/data"
/// [push.jwt]
/// issuers = ["https://accounts.google.com"]
/// jwks_url = "https://www.googleapis.com/oauth2/v3/certs"
/// email = "push@project.iam.gserviceaccount.com"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushJwt {
    /// `iss` is exactly one of these. 1 to 8.
    pub issuers: Vec<String>,
    /// Where the provider's keys are, as a JSON Web Key Set (RFC 7517). https, but on this machine. The host keeps them as long as the
    /// answer says, 5 minutes to 24 hours.
    pub jwks_url: String,
    /// `aud` is exactly this, or has exactly this among others. Default: the address that the provider posts to,
    /// `https://…/v1/providers/NAME/notifications`.
    #[serde(default)]
    pub audience: Option<String>,
    /// `email` is exactly this, and `email_verified` is true. Needed where an issuer makes tokens for anybody and any audience, as Google
    /// does: this is then the account that the subscription posts as.
    #[serde(default)]
    pub email: Option<String>,
}

/// What proves that a notification is the provider's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PushAuth {
    /// The token of the watch comes back in a header.
    ChannelToken,
    /// The token of the watch comes back in each notification.
    ClientState,
    /// The body is signed with the token of the watch.
    Hmac,
    /// A JSON Web Token (RFC 7519) of the provider, one for each request.
    Jwt,
}

/// How a body is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PushAlgorithm {
    /// HMAC-SHA256 (RFC 2104) of the body, as hex or base64, with or without `sha256=` before it.
    Sha256,
}

/// A place in a request: `query:NAME`, `header:NAME` or a JSON pointer into the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PushPlace {
    Query(String),
    Header(HeaderName),
    /// RFC 6901.
    Pointer(String),
}

impl TryFrom<String> for PushPlace {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        ensure!(text.len() <= MAX_PLACE, "push: a place has at most {MAX_PLACE} bytes");
        if let Some(name) = text.strip_prefix("query:").filter(|name| !name.is_empty()) {
            return Ok(PushPlace::Query(name.to_owned()));
        }
        if let Some(name) = text.strip_prefix("header:") {
            let name = HeaderName::try_from(name.to_ascii_lowercase());
            return Ok(PushPlace::Header(name.map_err(|_| anyhow!("push: \"{text}\" names no header"))?));
        }
        match text.starts_with('/') {
            true => Ok(PushPlace::Pointer(text)),
            false => bail!(
                "push: \"{text}\" is no place: write a JSON pointer such as \"/subscriptionId\", \"header:NAME\" or \"query:NAME\""
            ),
        }
    }
}

impl From<PushPlace> for String {
    fn from(place: PushPlace) -> String {
        match place {
            PushPlace::Query(name) => format!("query:{name}"),
            PushPlace::Header(name) => format!("header:{name}"),
            PushPlace::Pointer(pointer) => pointer,
        }
    }
}

impl PushPlace {
    fn is_pointer(&self) -> bool {
        matches!(self, PushPlace::Pointer(_))
    }
}

/// Checks every key; each error names it. `has_watch`: the connector has the interface `watch`.
pub(super) fn check(push: &Push, has_watch: bool) -> anyhow::Result<()> {
    ensure!(
        has_watch,
        "push: nothing starts notifications: implement the interface watch, and add \"watch@1.0.0\" to surfaces"
    );
    if let Some(handshake) = &push.handshake {
        ensure!(
            matches!(handshake, PushPlace::Query(_)),
            "push.handshake: must be a parameter, such as \"query:validationToken\""
        );
    }
    for (key, place) in [("list", &push.list), ("base64", &push.base64)] {
        ensure!(
            place.as_ref().is_none_or(PushPlace::is_pointer),
            "push.{key}: must be a JSON pointer, /like/this"
        );
    }
    for (key, place) in [
        ("watch", &push.watch),
        ("account", &push.account),
        ("secret", &push.secret),
        ("state", &push.state),
        ("lifecycle", &push.lifecycle),
    ] {
        ensure!(
            !matches!(place, Some(PushPlace::Query(_))),
            "push.{key}: must be \"header:NAME\" or a JSON pointer: the address that a provider posts to has no query"
        );
    }
    ensure!(
        push.watch.is_some() != push.account.is_some(),
        "push.watch: give either it or push.account: a notification names a watch or an account"
    );
    ensure!(
        push.base64.is_none() || push.account.as_ref().is_some_and(PushPlace::is_pointer),
        "push.base64: only goes with a JSON pointer in push.account, which begins in it"
    );
    match (push.auth, &push.jwt) {
        (PushAuth::Jwt, Some(jwt)) => check_jwt(push, jwt),
        (PushAuth::Jwt, None) => {
            bail!("push.jwt: is missing: say whose tokens count, by issuers and jwks_url")
        }
        (_, Some(_)) => bail!("push.jwt: only goes with auth = \"jwt\""),
        (_, None) => check_secret(push),
    }
}

fn check_jwt(push: &Push, jwt: &PushJwt) -> anyhow::Result<()> {
    ensure!(
        matches!(push.secret, None | Some(PushPlace::Header(_))),
        "push.secret: must be the header with the token; without it that is \"header:Authorization\""
    );
    ensure!(push.algorithm.is_none(), "push.algorithm: only goes with auth = \"hmac\"");
    let is_claim = |text: &String| (1..=MAX_CLAIM).contains(&text.len()) && !text.contains(char::is_control);
    ensure!(
        (1..=MAX_ISSUERS).contains(&jwt.issuers.len()) && jwt.issuers.iter().all(is_claim),
        "push.jwt.issuers: must be 1 to {MAX_ISSUERS} texts, each what iss of a token is exactly"
    );
    for (key, claim) in [("audience", &jwt.audience), ("email", &jwt.email)] {
        ensure!(
            claim.as_ref().is_none_or(is_claim),
            "push.jwt.{key}: must be a text of 1 to {MAX_CLAIM} bytes without control characters"
        );
    }
    let url = http_url::parse(&jwt.jwks_url).map_err(|why| anyhow!("push.jwt.jwks_url: {why}"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    ensure!(url.scheme() == "https" || is_local, "push.jwt.jwks_url: must be https");
    Ok(())
}

fn check_secret(push: &Push) -> anyhow::Result<()> {
    let Some(secret) = &push.secret else {
        bail!(
            "push.secret: is missing: say where the token of the watch comes back, such as \"/clientState\""
        )
    };
    if push.auth != PushAuth::Hmac {
        ensure!(push.algorithm.is_none(), "push.algorithm: only goes with auth = \"hmac\"");
        return Ok(());
    }
    ensure!(
        matches!(secret, PushPlace::Header(_)),
        "push.secret: must be the header with the signature, such as \"header:X-Signature\""
    );
    ensure!(
        push.algorithm.is_some(),
        "push.algorithm: is missing: with auth = \"hmac\" it must be \"sha256\""
    );
    ensure!(
        push.list.is_none(),
        "push.list: does not go with auth = \"hmac\": a body that is signed for one watch is one notification"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PushAuth, PushPlace};
    use crate::manifest::Manifest;

    const GRAPH: &str = r#"
        name = "graph"
        version = "1.0.0"
        title = "Graph"
        surfaces = ["calendar@1.0.0", "watch@1.0.0"]
        [push]
        auth = "client-state"
        handshake = "query:validationToken"
        list = "/value"
        watch = "/subscriptionId"
        secret = "/clientState"
        lifecycle = "/lifecycleEvent"
    "#;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let push = Manifest::parse(GRAPH).unwrap().push.unwrap();
        assert_eq!(push.auth, PushAuth::ClientState);
        assert_eq!(push.list, Some(PushPlace::Pointer("/value".to_owned())));
        for text in ["query:validationToken", "header:x-goog-channel-id", "/a/b~1c", "/"] {
            let place = PushPlace::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(place), text);
        }
        for text in ["", "value", "query:", "header:", "header:a b", "cookie:x"] {
            let error = PushPlace::try_from(text.to_owned()).unwrap_err().to_string();
            assert!(error.contains("push: "), "{text}: {error}");
        }
    }

    #[test]
    fn a_fault_names_the_key() {
        for (from, to, said) in [
            ("\"client-state\"", "\"jwt\"", "push.jwt:"),
            ("\"client-state\"", "\"none\"", "auth"),
            (", \"watch@1.0.0\"", "", "push:"),
            ("query:validationToken", "/validationToken", "push.handshake:"),
            ("list = \"/value\"", "list = \"header:x\"", "push.list:"),
            ("watch = \"/subscriptionId\"", "watch = \"query:id\"", "push.watch:"),
            ("watch = \"/subscriptionId\"", "", "push.watch:"),
            ("watch = \"/subscriptionId\"", "watch = \"/id\"\naccount = \"/mail\"", "push.watch:"),
            ("watch = \"/subscriptionId\"", "watch = \"/id\"\nbase64 = \"/data\"", "push.base64:"),
            ("watch = \"/subscriptionId\"", "watch = \"subscriptionId\"", "is no place"),
            ("secret = \"/clientState\"", "", "push.secret:"),
            ("secret = ", "algorithm = \"sha256\"\nsecret = ", "push.algorithm:"),
            ("\"client-state\"", "\"hmac\"", "push.secret:"),
            ("lifecycle =", "life_cycle =", "life_cycle"),
            (
                "lifecycle =",
                "jwt = { issuers = [\"x\"], jwks_url = \"https://x.test\" }\nlifecycle =",
                "push.jwt:",
            ),
            ("lifecycle =", "jwt = { issuer = \"x\" }\nlifecycle =", "issuer"),
        ] {
            assert!(GRAPH.contains(from), "{from}");
            let error = format!("{:#}", Manifest::parse(&GRAPH.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(said), "{to}: {error}");
        }
        let signed = GRAPH.replacen("\"client-state\"", "\"hmac\"", 1);
        let signed = signed.replacen("secret = \"/clientState\"", "secret = \"header:x-signature\"", 1);
        let error = format!("{:#}", Manifest::parse(&signed).unwrap_err());
        assert!(error.contains("push.algorithm:"), "{error}");
        let signed = signed.replacen("auth =", "algorithm = \"sha256\"\nauth =", 1);
        let error = format!("{:#}", Manifest::parse(&signed).unwrap_err());
        assert!(error.contains("push.list:"), "{error}");
        assert!(Manifest::parse(&signed.replacen("list = \"/value\"", "", 1)).is_ok());
    }

    const GMAIL: &str = r#"
        name = "gmail"
        version = "1.0.0"
        title = "Gmail"
        surfaces = ["email@1.0.0", "watch@1.0.0"]
        [push]
        auth = "jwt"
        account = "/emailAddress"
        base64 = "/message/data"
        [push.jwt]
        issuers = ["https://accounts.google.com"]
        jwks_url = "https://www.googleapis.com/oauth2/v3/certs"
        email = "push@project.iam.gserviceaccount.com"
    "#;

    #[test]
    fn a_provider_may_prove_requests_by_tokens() {
        let push = Manifest::parse(GMAIL).unwrap().push.unwrap();
        let jwt = push.jwt.unwrap();
        assert_eq!((push.auth, push.secret, jwt.audience), (PushAuth::Jwt, None, None));
        assert_eq!(jwt.issuers, ["https://accounts.google.com"]);
        for (from, to) in [
            ("auth =", "secret = \"header:x-token\"\nauth ="),
            ("email =", "audience = \"switchboard\"\nemail ="),
            ("email = \"push@project.iam.gserviceaccount.com\"", ""),
            ("https://www.googleapis.com", "http://127.0.0.1:8080"),
        ] {
            assert!(GMAIL.contains(from), "{from}");
            let changed = Manifest::parse(&GMAIL.replacen(from, to, 1));
            assert!(changed.is_ok(), "{to}: {changed:?}");
        }
        for (from, to, said) in [
            ("auth =", "secret = \"/token\"\nauth =", "push.secret:"),
            ("auth =", "algorithm = \"sha256\"\nauth =", "push.algorithm:"),
            ("[\"https://accounts.google.com\"]", "[]", "push.jwt.issuers:"),
            ("[\"https://accounts.google.com\"]", "[\"\"]", "push.jwt.issuers:"),
            ("email =", "audience = \"\"\nemail =", "push.jwt.audience:"),
            ("push@project", "push\\u0000@project", "push.jwt.email:"),
            ("https://www.googleapis.com", "http://www.googleapis.com", "push.jwt.jwks_url:"),
            ("https://www.googleapis.com", "https://user@www.googleapis.com", "push.jwt.jwks_url:"),
            ("https://www.googleapis.com", "", "push.jwt.jwks_url:"),
            ("jwks_url =", "jwks_uri =", "jwks_uri"),
        ] {
            assert!(GMAIL.contains(from), "{from}");
            let error = format!("{:#}", Manifest::parse(&GMAIL.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(said), "{to}: {error}");
        }
    }
}
