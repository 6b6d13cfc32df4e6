//! Checks of `[auth]` when a connector is installed. Each error names the key.

use anyhow::{Context, ensure};

use crate::manifest::auth::{Auth, ErrorClass, ErrorPlace, Pkce};
use crate::manifest::url_template::UrlTemplate;

/// Parameters of the authorization request that the host alone sets.
const OF_AUTHORIZE: [&str; 8] = [
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
];

/// Parameters of the token request that the host alone sets.
const OF_TOKEN: [&str; 8] = [
    "client_id",
    "client_secret",
    "code",
    "code_verifier",
    "grant_type",
    "redirect_uri",
    "refresh_token",
    "scope",
];

/// Longest life of an access token, seconds: a year.
const MAX_LIFETIME_S: u64 = 365 * 24 * 3_600;

/// Checks every key.
pub(super) fn check(auth: &Auth) -> anyhow::Result<()> {
    for (n, setting) in auth.settings.iter().enumerate() {
        setting.check().context("auth")?;
        let is_new = auth.settings.iter().take(n).all(|earlier| earlier.name != setting.name);
        ensure!(is_new, "auth.settings: {} is named twice", setting.name);
    }
    check_urls(auth)?;
    check_params(auth)?;
    check_scopes(auth)?;
    check_errors(auth)?;
    let pointers = [&auth.userinfo.id, &auth.userinfo.name].into_iter().chain(&auth.userinfo.email);
    for pointer in pointers {
        ensure!(pointer.starts_with('/'), "auth.userinfo: \"{pointer}\" must be a JSON pointer, /like/this");
    }
    ensure!(
        (1..=MAX_LIFETIME_S).contains(&auth.token_lifetime_s),
        "auth.token_lifetime_s: must be 1 to {MAX_LIFETIME_S}"
    );
    Ok(())
}

/// A warning for the operator about a connector without errors.
pub(super) fn warning(auth: &Auth) -> Option<&'static str> {
    (auth.pkce == Pkce::Off).then_some(
        "auth.pkce is \"off\": authorization codes are not protected against injection (RFC 9700, section 2.1.1)",
    )
}

/// URLs are https, except on this machine; each setting occurs in one of them.
fn check_urls(auth: &Auth) -> anyhow::Result<()> {
    let (mut names, mut for_administrators) = (Vec::new(), Vec::new());
    for (field, url) in [
        ("issuer", &auth.issuer),
        ("authorize_url", &auth.authorize_url),
        ("token_url", &auth.token_url),
        ("revoke_url", &auth.revoke_url),
        ("userinfo_url", &auth.userinfo_url),
        ("admin_consent_url", &auth.admin_consent_url),
    ] {
        let Some(text) = url else { continue };
        let template = UrlTemplate::parse(text, &auth.settings).with_context(|| format!("auth.{field}"))?;
        let is_local = matches!(template.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        ensure!(template.scheme() == "https" || is_local, "auth.{field}: must be https");
        let has_query = field == "issuer" && text.contains('?');
        ensure!(!has_query, "auth.issuer: must not have a query (RFC 8414, section 2)");
        names.extend(template.names().map(str::to_owned));
        if field == "admin_consent_url" {
            for_administrators.extend(template.names().map(str::to_owned));
        }
    }
    for setting in &auth.settings {
        ensure!(names.contains(&setting.name), "auth.settings: {} stands in no URL", setting.name);
        ensure!(
            setting.admin_consent_values.is_empty() || for_administrators.contains(&setting.name),
            "auth.settings: {} has admin_consent_values and does not stand in admin_consent_url",
            setting.name
        );
    }
    Ok(())
}

fn check_params(auth: &Auth) -> anyhow::Result<()> {
    for (field, params, reserved) in [
        ("authorize_params", &auth.authorize_params, OF_AUTHORIZE),
        ("connect_params", &auth.connect_params, OF_AUTHORIZE),
        ("reauthorize_params", &auth.reauthorize_params, OF_AUTHORIZE),
        ("token_params", &auth.token_params, OF_TOKEN),
    ] {
        for name in params.keys() {
            ensure!(!name.is_empty(), "auth.{field}: a parameter must have a name");
            ensure!(!reserved.contains(&name.as_str()), "auth.{field}: {name} is set by the host alone");
        }
    }
    for prompt in &auth.prompts {
        ensure!(is_token(prompt), "auth.prompts: \"{prompt}\" must be one word, for example \"consent\"");
    }
    Ok(())
}

fn check_scopes(auth: &Auth) -> anyhow::Result<()> {
    let mapped = auth.scopes.values().flatten();
    let implied = auth.scope_implies.iter().flat_map(|(wide, narrow)| narrow.iter().chain([wide]));
    let aliases = auth.scope_aliases.iter().flat_map(|(answered, asked)| [answered, asked]);
    let lists: [(&str, Vec<&String>); 5] = [
        ("base_scopes", auth.base_scopes.iter().collect()),
        ("scopes", mapped.collect()),
        ("scope_implies", implied.collect()),
        ("scope_aliases", aliases.collect()),
        ("scope_prefixes", auth.scope_prefixes.iter().collect()),
    ];
    for (field, scopes) in lists {
        for scope in scopes {
            ensure!(
                is_token(scope),
                "auth.{field}: \"{scope}\" must be printable ASCII without spaces, quotes and backslashes (RFC 6749, section 3.3)"
            );
        }
    }
    for (ours, needed) in &auth.scopes {
        ensure!(!needed.is_empty(), "auth.scopes: {ours} must need at least one of the provider's scopes");
    }
    Ok(())
}

fn check_errors(auth: &Auth) -> anyhow::Result<()> {
    if let Some(pointer) = &auth.codes_at {
        ensure!(pointer.starts_with('/'), "auth.codes_at: must be a JSON pointer, /like/this");
    }
    for rule in &auth.errors {
        let is_at_token = rule.at == ErrorPlace::Token;
        ensure!(
            rule.error.is_some() || !rule.codes.is_empty(),
            "auth.errors: a rule must name an error or codes"
        );
        ensure!(
            rule.codes.is_empty() || (is_at_token && auth.codes_at.is_some()),
            "auth.errors: codes are those of the token endpoint, at the pointer that codes_at names"
        );
        ensure!(
            rule.is != ErrorClass::Denied || !is_at_token,
            "auth.errors: a user can only say no (\"denied\") at \"authorize\""
        );
    }
    Ok(())
}

/// One word as RFC 6749 has them (section 3.3, `scope-token`).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
}
