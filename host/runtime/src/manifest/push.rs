//! `[push]` of a manifest: how the host reads the notifications that a provider posts. A notification is only a hint that something has
//! changed; connectors never see one.
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
//!
//! A provider with several kinds of notifications has a table of each, `[[push]]` with a name and its surfaces.

use std::fmt;

use anyhow::{anyhow, bail, ensure};
use http::HeaderName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::surface::Surface;

/// Maximum length of a location, bytes.
const MAX_PLACE: usize = 256;

/// How notifications of one kind are read and authenticated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The last part of the address that the provider posts to, `/v1/providers/CONNECTOR/notifications/NAME`: 1 to 40 of a-z, 0-9 and `-`.
    /// Default: none, the address ends with `notifications`. At most one of several tables has no name.
    #[serde(default)]
    pub name: Option<String>,
    /// The surfaces whose watches post notifications of this kind; others are polled. Default: all. With several tables, each must name its
    /// own.
    #[serde(default)]
    pub surfaces: Vec<Surface>,
    pub auth: PushAuth,
    /// `query:NAME`: a request with this parameter verifies that the address exists; the answer is the parameter's value as text.
    #[serde(default)]
    pub handshake: Option<PushPlace>,
    /// A JSON pointer (RFC 6901) to the list of notifications in the body. Default: the request is a single notification, and the other
    /// pointers begin at its body.
    #[serde(default)]
    pub list: Option<PushPlace>,
    /// Location of the watch's id: `Watching.externalId` of the connector's answer. Either this or `account` is required.
    #[serde(default)]
    pub watch: Option<PushPlace>,
    /// Location of the account's email address, if the provider names no watch.
    #[serde(default)]
    pub account: Option<PushPlace>,
    /// A JSON pointer to base64 text (RFC 4648, either alphabet) that contains JSON, in which the pointer `account` begins.
    #[serde(default)]
    pub base64: Option<PushPlace>,
    /// Location at which the provider returns the watch's token; with `auth = "hmac"` the header of the signature; with `auth = "jwt"` the
    /// header of the provider's token, by default `Authorization`, as a bearer token.
    #[serde(default)]
    pub secret: Option<PushPlace>,
    /// With `auth = "hmac"`: the algorithm of the signature.
    #[serde(default)]
    pub algorithm: Option<PushAlgorithm>,
    /// Location of the resource's state in the notification. The value `sync` only reports that the watch has begun.
    #[serde(default)]
    pub state: Option<PushPlace>,
    /// Location of the watch's own state: `reauthorizationRequired`, `subscriptionRemoved` or `missed`.
    #[serde(default)]
    pub lifecycle: Option<PushPlace>,
    /// Treatment of a notification of a known watch without a secret. Default: refused.
    #[serde(default)]
    pub without_secret: WithoutSecret,
    /// With `auth = "jwt"`: the accepted tokens.
    #[serde(default)]
    pub jwt: Option<PushJwt>,
}

/// Treatment of notifications without a secret, although the provider was given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutSecret {
    /// They are ignored; a request with no other notification is answered with 401.
    #[default]
    Refuse,
    /// They make a pull due, for one collection at most once a minute, and change nothing else. For a provider that sometimes omits the
    /// secret: anyone who knows the id of a watch can trigger as much, but learns nothing.
    Hint,
}

/// `[push.jwt]`: the tokens that authenticate a request as the provider's. A token is signed by a public key of the provider (RSA, ECDSA or
/// Ed25519), has a `kid` and an `exp`, and authenticates the whole request, whatever watches or accounts it names.
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
    /// Accepted values of `iss`, compared exactly. 1 to 8.
    pub issuers: Vec<String>,
    /// The URL of the provider's keys, as a JSON Web Key Set (RFC 7517). https, except on this machine. The host caches them as
    /// long as the answer allows, 5 minutes to 24 hours.
    pub jwks_url: String,
    /// Required value of `aud`, or one of its values. Default: the address that the provider posts to,
    /// `https://…/v1/providers/NAME/notifications`.
    #[serde(default)]
    pub audience: Option<String>,
    /// Required value of `email`, with `email_verified` true. Needed if the issuer makes tokens for anybody and any audience, as Google
    /// does: then this is the account that the subscription posts as.
    #[serde(default)]
    pub email: Option<String>,
    /// Instead of `email`: the name of a setting with `operator = true`. `email` must be what the operator entered for an application, and
    /// the request counts only for watches of applications with this value. Accounts of an application without a value are polled. For a
    /// provider that posts to a topic of the operator's.
    #[serde(default)]
    pub email_setting: Option<String>,
}

/// The proof that a notification is the provider's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PushAuth {
    /// The token of the watch is returned in a header.
    ChannelToken,
    /// The token of the watch is returned in each notification.
    ClientState,
    /// The body is signed with the token of the watch.
    Hmac,
    /// A JSON Web Token (RFC 7519) of the provider, one for each request.
    Jwt,
}

/// The signature of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PushAlgorithm {
    /// HMAC-SHA256 (RFC 2104) of the body, as hex or base64, with or without `sha256=` before it.
    Sha256,
}

/// A location in a request: `query:NAME`, `header:NAME` or a JSON pointer into the body.
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
    pub(super) fn is_pointer(&self) -> bool {
        matches!(self, PushPlace::Pointer(_))
    }
}

impl Push {
    /// Whether watches of the surface with this name post notifications of this kind.
    pub fn covers(&self, surface: &str) -> bool {
        self.surfaces.is_empty() || self.surfaces.iter().any(|covered| covered.as_str() == surface)
    }
}

/// Reads a table `[push]`, or the tables of `[[push]]`. Not an untagged enum, whose error would not name the wrong key.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Push>, D::Error> {
    struct TablesVisitor;
    impl<'de> Visitor<'de> for TablesVisitor {
        type Value = Vec<Push>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table [push], or several tables [[push]]")
        }

        fn visit_map<M: MapAccess<'de>>(self, table: M) -> Result<Vec<Push>, M::Error> {
            Ok(vec![Push::deserialize(MapAccessDeserializer::new(table))?])
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<Push>, S::Error> {
            let mut tables = Vec::new();
            while let Some(table) = list.next_element()? {
                tables.push(table);
            }
            Ok(tables)
        }
    }
    d.deserialize_any(TablesVisitor)
}

#[cfg(test)]
mod tests {
    use super::{PushAuth, PushPlace, WithoutSecret};
    use crate::manifest::Manifest;

    /// The only table of a manifest.
    fn only(text: &str) -> super::Push {
        let mut all = Manifest::parse(text).unwrap().push;
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

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
        let push = only(GRAPH);
        assert_eq!((push.name.as_deref(), push.without_secret), (None, WithoutSecret::Refuse));
        assert!(push.covers("calendar") && push.covers("email"), "a table without surfaces is for all");
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
            ("lifecycle =", "name = \"Calendar\"\nlifecycle =", "push.name:"),
            ("lifecycle =", "name = \"a/b\"\nlifecycle =", "push.name:"),
            ("lifecycle =", "surfaces = [\"email\"]\nlifecycle =", "push.surfaces:"),
            ("lifecycle =", "surfaces = [\"watch\"]\nlifecycle =", "push.surfaces:"),
            ("lifecycle =", "surfaces = [\"calendar\", \"calendar\"]\nlifecycle =", "push.surfaces:"),
            ("lifecycle =", "surfaces = [\"calendars\"]\nlifecycle =", "surfaces"),
            ("lifecycle =", "without_secret = \"take\"\nlifecycle =", "without_secret"),
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
        let hinted = signed.replacen("list = \"/value\"", "without_secret = \"hint\"", 1);
        let error = format!("{:#}", Manifest::parse(&hinted).unwrap_err());
        assert!(error.contains("push.without_secret:"), "{error}");
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
        let push = only(GMAIL);
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

    const SETTING: &str =
        "email_setting = \"account\"\n[[settings]]\nname = \"account\"\noperator = true\ndescription = \".\"";

    #[test]
    fn the_account_that_posts_may_be_the_operators() {
        let of_project = "email = \"push@project.iam.gserviceaccount.com\"";
        let of_operator = GMAIL.replacen(of_project, SETTING, 1);
        let jwt = only(&of_operator).jwt.unwrap();
        assert_eq!((jwt.email, jwt.email_setting.as_deref()), (None, Some("account")));
        for (from, to) in [
            ("email_setting", "email = \"x\"\nemail_setting"),
            ("email_setting = \"account\"", "email_setting = \"other\""),
            ("operator = true", ""),
            ("operator = true", "operator = true\ndefault = \"x\""),
        ] {
            assert!(of_operator.contains(from), "{from}");
            let error = format!("{:#}", Manifest::parse(&of_operator.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains("push.jwt.email_setting:"), "{to}: {error}");
        }
    }

    const TWO: &str = r#"
        name = "two"
        version = "1.0.0"
        title = "Two"
        surfaces = ["email@1.0.0", "calendar@1.0.0", "tasks@1.0.0", "watch@1.0.0"]
        [[push]]
        surfaces = ["calendar"]
        auth = "channel-token"
        watch = "header:x-channel"
        secret = "header:x-token"
        [[push]]
        name = "mail"
        surfaces = ["email"]
        auth = "client-state"
        watch = "/id"
        secret = "/state"
        without_secret = "hint"
    "#;

    #[test]
    fn there_may_be_several_kinds_of_notifications() {
        let manifest = Manifest::parse(TWO).unwrap();
        let name = |surface: &str| manifest.push_of(surface).map(|push| push.name.as_deref());
        assert_eq!((name("email"), name("calendar"), name("tasks")), (Some(Some("mail")), Some(None), None));
        assert_eq!(manifest.push_named(Some("mail")).unwrap().without_secret, WithoutSecret::Hint);
        assert_eq!(manifest.push_named(None).unwrap().auth, PushAuth::ChannelToken);
        assert!(manifest.push_named(Some("calendar")).is_none());
        for (from, to, said) in [
            ("name = \"mail\"", "", "[[push]] number 2: push.name:"),
            ("surfaces = [\"calendar\"]", "name = \"mail\"\nsurfaces = [\"calendar\"]", "push.name:"),
            ("surfaces = [\"email\"]", "", "[[push]] \"mail\": push.surfaces:"),
            ("surfaces = [\"email\"]", "surfaces = [\"calendar\"]", "[[push]] \"mail\": push.surfaces:"),
            ("surfaces = [\"email\"]", "surfaces = [\"contacts\"]", "[[push]] \"mail\": push.surfaces:"),
            ("secret = \"header:x-token\"", "", "[[push]] number 1: push.secret:"),
            ("\"client-state\"", "\"state\"", "push[1].auth"),
        ] {
            assert!(TWO.contains(from), "{from}");
            let error = format!("{:#}", Manifest::parse(&TWO.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(said), "{to}: {error}");
        }
    }
}
