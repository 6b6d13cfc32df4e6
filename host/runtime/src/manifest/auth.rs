//! `[auth]` of a manifest: the authentication of an account, and everything specific to a provider's OAuth. Values of an installation
//! (client id, secret, URLs that replace these) are in the operator's registration of the provider.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::manifest::url_template::UrlSetting;

/// The authentication of an account. URLs may contain `{name}` of `settings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The kinds of credentials that the provider accepts, best first; empty: none needed.
    #[serde(default, alias = "kind", deserialize_with = "one_or_many")]
    pub kinds: Vec<AuthKind>,
    /// OAuth: the provider's issuer identifier (RFC 8414, section 2), compared byte for byte. https.
    #[serde(default)]
    pub issuer: Option<String>,
    /// OAuth: where the issuer publishes its metadata. URLs of the manifest take precedence over the metadata.
    #[serde(default)]
    pub discovery: Discovery,
    /// OAuth: whether the authorization response must name the issuer (RFC 9207). If it does and the issuer is known, they are compared.
    #[serde(default)]
    pub iss: IssParameter,
    /// OAuth: the authorization endpoint. https.
    #[serde(default)]
    pub authorize_url: Option<String>,
    /// OAuth: the token endpoint, for codes and refresh tokens. https.
    #[serde(default)]
    pub token_url: Option<String>,
    /// OAuth: the revocation endpoint (RFC 7009), if the provider has one.
    #[serde(default)]
    pub revoke_url: Option<String>,
    /// OAuth: the userinfo endpoint (OpenID Connect Core, section 5.3).
    #[serde(default)]
    pub userinfo_url: Option<String>,
    /// OAuth: the page on which an administrator approves the client; shown to users whose organization requires approval, with
    /// `client_id`, `redirect_uri` and `scope` added where missing.
    #[serde(default)]
    pub admin_consent_url: Option<String>,
    /// OAuth: the operator's values that these URLs contain.
    #[serde(default)]
    pub settings: Vec<UrlSetting>,
    /// OAuth: how the client authenticates at the token endpoint, unless the registration says otherwise.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// OAuth: the PKCE method (RFC 7636).
    #[serde(default)]
    pub pkce: Pkce,
    /// OAuth: additional query parameters of the authorization request, for example `access_type = "offline"`.
    #[serde(default)]
    pub authorize_params: BTreeMap<String, String>,
    /// OAuth: additional parameters for a new connection.
    #[serde(default)]
    pub connect_params: BTreeMap<String, String>,
    /// OAuth: additional parameters for the reauthorization of a connection.
    #[serde(default)]
    pub reauthorize_params: BTreeMap<String, String>,
    /// OAuth: additional parameters of the token request.
    #[serde(default)]
    pub token_params: BTreeMap<String, String>,
    /// OAuth: values of `prompt` that OAuth clients of Switchboard may pass; they are added to the manifest's own.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// OAuth: provider scopes that are always requested.
    #[serde(default)]
    pub base_scopes: Vec<String>,
    /// OAuth: Switchboard's scope (`calendar.write`) to the provider's scopes that it needs.
    #[serde(default)]
    pub scopes: BTreeMap<String, Vec<String>>,
    /// OAuth: a provider scope to narrower ones that it includes; transitive.
    #[serde(default)]
    pub scope_implies: BTreeMap<String, Vec<String>>,
    /// OAuth: a scope as it is requested, to the name under which the provider grants it.
    #[serde(default)]
    pub scope_aliases: BTreeMap<String, String>,
    /// OAuth: prefixes that the provider may add to the scopes in its answers.
    #[serde(default)]
    pub scope_prefixes: Vec<String>,
    /// OAuth: how granted scopes are compared.
    #[serde(default)]
    pub scope_case: ScopeCase,
    /// OAuth: whether a refresh names the scopes again (RFC 6749, section 6).
    #[serde(default)]
    pub scopes_on_refresh: bool,
    /// OAuth: what happens to a used refresh token.
    #[serde(default)]
    pub rotation: Rotation,
    /// OAuth: lifetime of an access token in seconds where the answer has none (RFC 6749, section 5.1).
    #[serde(default = "hour")]
    pub token_lifetime_s: u64,
    /// OAuth: the source of an account's identity; see [`Auth::identity_source`].
    #[serde(default)]
    pub identity: Option<IdentitySource>,
    /// OAuth: the positions of the identity's fields in the answer of `userinfo_url`.
    #[serde(default)]
    pub userinfo: UserinfoPointers,
    /// OAuth: the user name of SASL logins; none: such a connection has no SASL login.
    #[serde(default)]
    pub login: Option<LoginName>,
    /// OAuth: the meanings of the provider's errors; the first matching rule applies.
    #[serde(default)]
    pub errors: Vec<ErrorRule>,
    /// OAuth: the location of the provider's own error numbers in an error of the token endpoint: a JSON pointer (RFC 6901) to a number or
    /// an array of numbers.
    #[serde(default)]
    pub codes_at: Option<String>,
}

impl Default for Auth {
    fn default() -> Self {
        toml::from_str("").expect("every key of [auth] has a default")
    }
}

/// A kind of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthKind {
    /// User name and password (RFC 7617).
    Basic,
    /// A fixed token that the user pastes (RFC 6750).
    Bearer,
    /// OAuth 2.0 with authorization code and PKCE.
    Oauth,
}

/// The location of an issuer's metadata, which lists its URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discovery {
    /// No metadata: the manifest and the registration have the URLs.
    #[default]
    None,
    /// At `{issuer}/.well-known/openid-configuration` (OpenID Connect Discovery, section 4).
    Openid,
    /// At `/.well-known/oauth-authorization-server` before the issuer's path (RFC 8414, section 3.1).
    Oauth,
}

/// Whether the authorization response must have `iss` (RFC 9207).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssParameter {
    /// Only if the discovered metadata says so.
    #[default]
    Optional,
    Required,
}

/// How a client authenticates at the token endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuth {
    /// By `client_id` and `client_secret` in the body.
    #[default]
    Post,
    /// By the `Authorization` header (RFC 6749, section 2.3.1).
    Basic,
    /// A public client: by `client_id` alone.
    None,
}

impl ClientAuth {
    /// By its name in manifests and registrations: `post`, `basic` or `none`.
    pub fn parse(name: &str) -> Option<Self> {
        [ClientAuth::Post, ClientAuth::Basic, ClientAuth::None].into_iter().find(|way| way.as_str() == name)
    }

    /// Its name in manifests and registrations.
    pub fn as_str(self) -> &'static str {
        match self {
            ClientAuth::Post => "post",
            ClientAuth::Basic => "basic",
            ClientAuth::None => "none",
        }
    }
}

/// The PKCE method (RFC 7636).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pkce {
    #[default]
    S256,
    /// No PKCE: only for a provider that refuses it.
    #[serde(rename = "off")]
    Off,
}

/// How granted scopes are compared with the requested ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeCase {
    #[default]
    Exact,
    Insensitive,
}

/// The fate of a used refresh token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rotation {
    /// It can be used again, even if the answer has a new one.
    #[default]
    Kept,
    /// The token becomes invalid: the response has the next one. After a lost response many providers accept it again for some seconds.
    Rotating,
}

/// The source of an account's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentitySource {
    /// The answer of `userinfo_url`.
    Userinfo,
    /// The `id_token` of the token answer; the authorization request has a `nonce`.
    IdToken,
    /// The connector's `check`.
    Check,
}

/// The user name of SASL logins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginName {
    /// The identity's email address.
    Email,
}

/// JSON pointers (RFC 6901) into the answer of `userinfo_url`; by default to OpenID's claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserinfoPointers {
    /// To the account's stable id.
    pub id: String,
    /// To the account's email address; the first existing one is used.
    pub email: Vec<String>,
    pub name: String,
}

impl Default for UserinfoPointers {
    fn default() -> Self {
        UserinfoPointers { id: "/sub".to_owned(), email: vec!["/email".to_owned()], name: "/name".to_owned() }
    }
}

/// The meaning of an error of the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRule {
    pub at: ErrorPlace,
    /// The `error` of the response; none: any.
    #[serde(default)]
    pub error: Option<String>,
    /// Error numbers at `codes_at`, of which the response must have one; empty: no condition.
    #[serde(default)]
    pub codes: Vec<i64>,
    pub is: ErrorClass,
}

/// The request in which a provider reports an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorPlace {
    /// The authorization response (RFC 6749, section 4.1.2.1).
    Authorize,
    /// The token endpoint (RFC 6749, section 5.2).
    Token,
}

/// The meaning of an error of the provider for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The user's grant is gone: they have to authorize the connection again.
    Reauthorize,
    /// The user has not agreed to the required scopes.
    ConsentMissing,
    /// An administrator of the user's organization has to agree.
    AdminBlocked,
    /// The registration is wrong: the operator has to correct it, the user cannot.
    Operator,
    /// Temporary: a retry may succeed.
    Retry,
    /// The user declined.
    Denied,
}

fn hour() -> u64 {
    3_600
}

/// Reads one kind, or a list of them. Not an untagged enum, whose error would not list the possible kinds.
fn one_or_many<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<AuthKind>, D::Error> {
    struct KindsVisitor;
    impl<'de> Visitor<'de> for KindsVisitor {
        type Value = Vec<AuthKind>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a kind of credentials or a list of them")
        }

        fn visit_str<E: de::Error>(self, kind: &str) -> Result<Vec<AuthKind>, E> {
            Ok(vec![AuthKind::deserialize(StrDeserializer::new(kind))?])
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<AuthKind>, S::Error> {
            let mut kinds = Vec::new();
            while let Some(kind) = list.next_element()? {
                kinds.push(kind);
            }
            Ok(kinds)
        }
    }
    d.deserialize_any(KindsVisitor)
}

impl Auth {
    /// Returns the meaning of an error by the rules of the manifest; none: the usual meaning.
    pub fn error_class(&self, at: ErrorPlace, error: Option<&str>, codes: &[i64]) -> Option<ErrorClass> {
        let fits = |rule: &&ErrorRule| {
            rule.at == at
                && (rule.error.is_none() || rule.error.as_deref() == error)
                && (rule.codes.is_empty() || rule.codes.iter().any(|code| codes.contains(code)))
        };
        self.errors.iter().find(fits).map(|rule| rule.is)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Map, Value, json};

    use super::*;
    use crate::manifest::{EndpointOverrides, Manifest, Setting};

    /// A provider whose issuer is its registration's.
    const DISCOVERED: &str = r#"
        [auth]
        kinds = ["oauth", "basic", "bearer"]
        discovery = "oauth"
        iss = "required"
        client_auth = "none"
        rotation = "rotating"
        errors = [{ at = "authorize", error = "admin_policy_enforced", is = "admin_blocked" }]
        scopes = { "email.read" = ["mail.read"], "email.write" = ["mail.write"] }
        scope_implies = { "mail.write" = ["mail.read"] }
    "#;

    const GOOGLE: &str = r#"
        [auth]
        kinds = ["oauth"]
        issuer = "https://accounts.google.com"
        authorize_url = "https://accounts.google.com/o/oauth2/v2/auth"
        token_url = "https://oauth2.googleapis.com/token"
        revoke_url = "https://oauth2.googleapis.com/revoke"
        userinfo_url = "https://openidconnect.googleapis.com/v1/userinfo"
        authorize_params = { access_type = "offline", prompt = "consent" }
        reauthorize_params = { include_granted_scopes = "true" }
        prompts = ["select_account"]
        base_scopes = ["openid", "email", "profile"]
        scopes = { "email.read" = ["https://www.googleapis.com/auth/gmail.readonly"] }
        scope_implies = { "https://mail.google.com/" = ["https://www.googleapis.com/auth/gmail.modify"] }
        scope_aliases = { "email" = "https://www.googleapis.com/auth/userinfo.email" }
        errors = [{ at = "authorize", error = "admin_policy_enforced", is = "admin_blocked" }, { at = "authorize", error = "org_internal", is = "operator" }]
    "#;

    const MICROSOFT: &str = r#"
        [auth]
        kinds = ["oauth"]
        authorize_url = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize"
        token_url = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token"
        userinfo_url = "https://graph.microsoft.com/v1.0/me?$select=id,mail,userPrincipalName,displayName"
        userinfo = { id = "/id", email = ["/mail", "/userPrincipalName"], name = "/displayName" }
        admin_consent_url = "https://login.microsoftonline.com/{tenant}/v2.0/adminconsent"
        settings = [{ name = "tenant", kind = "segment", default = "common", admin_consent_values = { common = "organizations" } }]
        connect_params = { prompt = "select_account" }
        prompts = ["login", "consent"]
        scopes_on_refresh = true
        base_scopes = ["openid", "profile", "email", "offline_access", "User.Read"]
        scopes = { "email.read" = ["Mail.Read", "MailboxSettings.Read"] }
        scope_implies = { "Mail.ReadWrite" = ["Mail.Read"] }
        scope_prefixes = ["https://graph.microsoft.com/"]
        scope_case = "insensitive"
        codes_at = "/error_codes"
        errors = [{ at = "token", codes = [50033, 90033], is = "retry" }, { at = "token", codes = [65001], is = "consent_missing" }, { at = "token", error = "interaction_required", is = "reauthorize" }]
    "#;

    const OPENID: &str = r#"
        [auth]
        kinds = ["oauth"]
        issuer = "https://id.example.com"
        discovery = "openid"
        rotation = "rotating"
        authorize_params = { prompt = "consent" }
        base_scopes = ["openid", "email", "offline_access"]
        scopes = { "calendar.read" = ["calendar"], "calendar.write" = ["calendar"] }
    "#;

    const JMAP: &str = r#"
        [auth]
        kinds = ["oauth", "bearer", "basic"]
        discovery = "oauth"
        base_scopes = ["offline_access", "urn:ietf:params:jmap:core"]
        scopes = { "email.read" = ["urn:ietf:params:jmap:mail"] }
    "#;

    const GMAIL_IMAP: &str = r#"
        servers_from_settings = ["imap"]
        [auth]
        kinds = ["oauth"]
        authorize_url = "https://accounts.google.com/o/oauth2/v2/auth"
        token_url = "https://oauth2.googleapis.com/token"
        login = "email"
        base_scopes = ["openid", "email"]
        scopes = { "email.read" = ["https://mail.google.com/"] }
        [[settings]]
        name = "imap"
        description = "The IMAP server"
        fixed = { host = "imap.gmail.com", port = 993, tls = "implicit" }
    "#;

    fn manifest(rest: &str) -> anyhow::Result<Manifest> {
        let head = "name = \"x\"\nversion = \"1.0.0\"\ntitle = \"X\"\nsurfaces = [\"calendar\"]\n";
        Manifest::parse(&format!("{head}{rest}"))
    }

    fn auth(rest: &str) -> Auth {
        manifest(rest).unwrap().auth
    }

    fn none() -> (Map<String, Value>, EndpointOverrides) {
        (Map::new(), EndpointOverrides::default())
    }

    #[test]
    fn manifest_auth_reads_each_example() {
        let sandbox = auth(DISCOVERED);
        assert_eq!((sandbox.discovery, sandbox.iss), (Discovery::Oauth, IssParameter::Required));
        assert_eq!((sandbox.client_auth, sandbox.rotation), (ClientAuth::None, Rotation::Rotating));
        let google = auth(GOOGLE);
        assert_eq!((google.client_auth, google.pkce), (ClientAuth::Post, Pkce::S256));
        assert_eq!((google.token_lifetime_s, google.scopes_on_refresh, google.login), (3_600, false, None));
        assert_eq!((google.userinfo.id.as_str(), google.discovery), ("/sub", Discovery::None));
        let class = google.error_class(ErrorPlace::Authorize, Some("org_internal"), &[]);
        assert_eq!(class, Some(ErrorClass::Operator));
        assert_eq!(google.error_class(ErrorPlace::Token, Some("org_internal"), &[]), None);
        let microsoft = auth(MICROSOFT);
        assert_eq!(microsoft.userinfo.email, ["/mail", "/userPrincipalName"]);
        assert_eq!((microsoft.scopes_on_refresh, microsoft.scope_case), (true, ScopeCase::Insensitive));
        let class = microsoft.error_class(ErrorPlace::Token, Some("invalid_grant"), &[1, 90_033]);
        assert_eq!(class, Some(ErrorClass::Retry));
        assert_eq!(microsoft.error_class(ErrorPlace::Token, Some("invalid_grant"), &[]), None);
        assert_eq!(auth(OPENID).discovery, Discovery::Openid);
        assert_eq!(auth(JMAP).kinds, [AuthKind::Oauth, AuthKind::Bearer, AuthKind::Basic]);
        let imap = manifest(GMAIL_IMAP).unwrap();
        assert_eq!(imap.auth.login, Some(LoginName::Email));
        let fixed = json!({ "host": "imap.gmail.com", "port": 993, "tls": "implicit" });
        let description = "The IMAP server".to_owned();
        let setting = Setting {
            name: "imap".to_owned(),
            required: false,
            operator: false,
            description,
            default: None,
            fixed: Some(fixed),
        };
        assert_eq!(imap.settings, [setting]);
        assert_eq!(manifest("").unwrap().auth, Auth::default());
    }

    #[test]
    fn urls_are_the_manifests_with_what_the_operator_gave() {
        let (values, overrides) = none();
        let of = auth(MICROSOFT).endpoints(&values, &overrides).unwrap();
        let authorize = "https://login.microsoftonline.com/common/oauth2/v2.0/authorize";
        assert_eq!(of.authorize_url.unwrap().as_str(), authorize);
        let consent = "https://login.microsoftonline.com/organizations/v2.0/adminconsent";
        assert_eq!(of.admin_consent_url.unwrap().as_str(), consent, "administrators have no common page");
        assert_eq!((of.issuer, of.metadata_url, of.revoke_url), (None, None, None));
        let values = json!({ "tenant": "contoso.example.com", "serverUrl": "https://x.test" });
        let overrides: EndpointOverrides = serde_json::from_value(json!({
            "tokenUrl": "http://127.0.0.1:9000/token",
            "revokeUrl": "none",
        }))
        .unwrap();
        let of = auth(MICROSOFT).endpoints(values.as_object().unwrap(), &overrides).unwrap();
        let consent = "https://login.microsoftonline.com/contoso.example.com/v2.0/adminconsent";
        assert_eq!(of.admin_consent_url.unwrap().as_str(), consent);
        assert_eq!(of.token_url.unwrap().as_str(), "http://127.0.0.1:9000/token");
        assert!(of.is_revocation_off);

        let metadata = |text: &str, issuer: Option<&str>| {
            let overrides = EndpointOverrides { issuer: issuer.map(str::to_owned), ..Default::default() };
            let of = auth(text).endpoints(&Map::new(), &overrides).unwrap();
            (of.issuer.unwrap(), of.metadata_url.map(|url| url.to_string()))
        };
        assert_eq!(metadata(GOOGLE, None), ("https://accounts.google.com".to_owned(), None));
        let openid = "https://id.example.com/.well-known/openid-configuration";
        assert_eq!(metadata(OPENID, None).1.unwrap(), openid);
        let tenant = "https://id.example.com/t/.well-known/openid-configuration";
        assert_eq!(metadata(OPENID, Some("https://id.example.com/t/")).1.unwrap(), tenant);
        let oauth = "http://127.0.0.1:1/.well-known/oauth-authorization-server/sandbox";
        assert_eq!(metadata(DISCOVERED, Some("http://127.0.0.1:1/sandbox")).1.unwrap(), oauth);

        let userinfo = url::Url::parse("https://x.test").unwrap();
        assert_eq!(auth(GOOGLE).identity_source(Some(&userinfo)), IdentitySource::Userinfo);
        assert_eq!(auth(JMAP).identity_source(None), IdentitySource::Check);
    }

    #[test]
    fn a_fault_of_a_registration_names_the_field() {
        let one = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
        let (none, urls) = none();
        let token_url = Some("ftp://x.test".to_owned());
        for (text, values, overrides, field) in [
            (JMAP, none.clone(), urls.clone(), "authorize_url"),
            (MICROSOFT, one("tenant", json!("x/../evil")), urls.clone(), "tenant"),
            (MICROSOFT, one("tenant", json!(1)), urls.clone(), "tenant"),
            (GOOGLE, none.clone(), EndpointOverrides { token_url, ..urls.clone() }, "token_url"),
            (
                JMAP,
                none.clone(),
                EndpointOverrides { issuer: Some("https://x.test/?a".to_owned()), ..urls },
                "issuer",
            ),
        ] {
            let error = format!("{:#}", auth(text).endpoints(&values, &overrides).unwrap_err());
            assert!(error.contains(field), "{field}: {error}");
        }
    }

    #[test]
    fn a_fault_of_the_manifest_names_the_key() {
        let url = "token_url = \"https://login.microsoftonline.com/{tenant}";
        for (from, to, key) in [
            (url, "token_url = \"https://login.microsoftonline.com/x{tenant}", "auth.token_url"),
            (url, "token_url = \"http://login.microsoftonline.com/{tenant}", "auth.token_url"),
            ("name = \"tenant\"", "name = \"other\"", "{tenant}"),
            ("default = \"common\"", "default = \"a/b\"", "tenant"),
            ("kind = \"segment\"", "kind = \"host\"", "tenant"),
            ("{ prompt = ", "{ state = ", "auth.connect_params"),
            ("\"User.Read\"", "\"User Read\"", "auth.base_scopes"),
            ("\"/error_codes\"", "\"error_codes\"", "auth.codes_at"),
            ("codes_at = \"/error_codes\"", "", "auth.errors"),
            ("codes = [65001], ", "", "auth.errors"),
            ("is = \"consent_missing\"", "is = \"denied\"", "auth.errors"),
            ("id = \"/id\"", "id = \"id\"", "auth.userinfo"),
            ("scopes_on_refresh = true", "token_lifetime_s = 0", "auth.token_lifetime_s"),
            ("scopes_on_refresh", "scope_on_refresh", "scope_on_refresh"),
            ("scope_case = \"insensitive\"", "issuer = \"https://x.test/?a\"", "auth.issuer"),
        ] {
            assert!(MICROSOFT.contains(from), "{from}");
            let error = format!("{:#}", manifest(&MICROSOFT.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(key), "{to}: {error}");
        }
        let clash = format!("{MICROSOFT}\n[[settings]]\nname = \"tenant\"\ndescription = \".\"");
        assert!(format!("{:#}", manifest(&clash).unwrap_err()).contains("auth.settings"));
        let params = BTreeMap::from([("prompt".to_owned(), "consent".to_owned())]);
        assert_eq!(auth(OPENID).authorize_params, params);
    }
}
