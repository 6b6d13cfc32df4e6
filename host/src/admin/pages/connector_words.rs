//! Permissions and needs of a connector in words.

use runtime::{AuthKind, HostRule, Manifest};

use crate::admin::texts::{ConnectorTexts, fill};

/// The servers that a connector may send requests to, and whether credentials go with them.
pub fn destinations(t: &ConnectorTexts, manifest: &Manifest) -> Vec<String> {
    let of_host = |rule: &HostRule| {
        let text = if rule.inject.is_some() { t.with_credentials } else { t.without_credentials };
        fill(text, &[("place", &place(rule))])
    };
    let mut all: Vec<String> = manifest.hosts.iter().map(of_host).collect();
    for name in manifest.hosts_from_settings.iter().chain(&manifest.servers_from_settings) {
        let Some(setting) = manifest.settings.iter().find(|setting| setting.name == *name) else { continue };
        if setting.fixed.is_none() {
            let text = if setting.operator { t.operator_server } else { t.user_server };
            all.push(fill(text, &[("name", name)]));
        }
        // The manifest's own server: always, or where nobody names another one.
        if let Some(value) = setting.fixed.as_ref().or(setting.default.as_ref()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            all.push(fill(t.with_credentials, &[("place", &value)]));
        }
    }
    for related in &manifest.related_hosts {
        let hosts = related.hosts.join(", ");
        all.push(fill(t.related, &[("hosts", &hosts), ("domain", &related.domain)]));
    }
    if all.is_empty() {
        all.push(t.nowhere.to_owned());
    }
    all
}

/// A place as people write it: methods, scheme where it is not https, host, port, path.
fn place(rule: &HostRule) -> String {
    let scheme = if rule.scheme == "https" { String::new() } else { format!("{}://", rule.scheme) };
    let port = rule.port.map(|port| format!(":{port}")).unwrap_or_default();
    let path = if rule.path_prefix == "/" { "" } else { rule.path_prefix.as_str() };
    let methods = rule.methods.join(" ");
    let space = if methods.is_empty() { "" } else { " " };
    format!("{methods}{space}{scheme}{}{port}{path}", rule.host)
}

/// The credentials that a user gives to connect an account.
pub fn asks(t: &ConnectorTexts, manifest: &Manifest) -> Vec<String> {
    let word = |kind: &AuthKind| match kind {
        AuthKind::Basic => t.asks_password,
        AuthKind::Bearer => t.asks_token,
        AuthKind::Oauth => t.asks_oauth,
    };
    let mut all: Vec<String> = manifest.auth.kinds.iter().map(|kind| word(kind).to_owned()).collect();
    if all.is_empty() {
        all.push(t.asks_nothing.to_owned());
    }
    all
}

/// The settings that a user gives to connect an account.
pub fn settings(t: &ConnectorTexts, manifest: &Manifest) -> Vec<String> {
    let asked = manifest.settings.iter().filter(|setting| setting.fixed.is_none() && !setting.operator);
    asked
        .map(|setting| fill(t.asks_setting, &[("name", &setting.name), ("text", &setting.description)]))
        .collect()
}

/// The provider's scopes that users are asked to consent to, with the scopes of this API that they are for.
pub fn scopes(t: &ConnectorTexts, manifest: &Manifest) -> Vec<String> {
    let base = manifest.auth.base_scopes.iter();
    let mut all: Vec<String> = base.map(|scope| fill(t.scope_always, &[("scope", scope)])).collect();
    for (ours, theirs) in &manifest.auth.scopes {
        all.extend(theirs.iter().map(|scope| fill(t.scope_for, &[("scope", scope), ("ours", ours)])));
    }
    if all.is_empty() {
        all.push(t.asks_nothing.to_owned());
    }
    all
}

/// The limits of one account that the host keeps to.
pub fn limits(t: &ConnectorTexts, manifest: &Manifest) -> Vec<String> {
    let concurrent = manifest.limits.concurrent.iter();
    let mut all: Vec<String> =
        concurrent.map(|most| fill(t.limit_concurrent, &[("n", &most.to_string())])).collect();
    for rate in &manifest.limits.rates {
        let (units, seconds) = (rate.units.to_string(), rate.per_s.to_string());
        all.push(fill(t.limit_rate, &[("name", &rate.name), ("n", &units), ("s", &seconds)]));
    }
    if all.is_empty() {
        all.push(t.limits_none.to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use runtime::AccountLimits;

    use super::*;
    use crate::admin::texts::connectors::ENGLISH;

    #[test]
    fn permissions_are_sentences() {
        let manifest = Manifest::parse(
            r#"
            name = "notes"
            version = "0.1.0"
            title = "Notes"
            surfaces = ["tasks"]
            hosts_from_settings = ["serverUrl"]
            [[hosts]]
            host = "api.notes.example"
            path_prefix = "/v1"
            methods = ["GET", "POST"]
            inject = "default"
            [auth]
            kinds = ["oauth", "basic"]
            authorize_url = "https://notes.example/authorize"
            token_url = "https://notes.example/token"
            [[settings]]
            name = "serverUrl"
            required = true
            description = "where the server is"
            "#,
        )
        .unwrap();
        assert_eq!(
            destinations(&ENGLISH, &manifest),
            [
                "GET POST api.notes.example/v1, with the account's credentials",
                "the server in the setting serverUrl, which the user enters, with the account's credentials",
            ]
        );
        assert_eq!(
            asks(&ENGLISH, &manifest),
            ["Consent at the provider (OAuth 2.0)", "A user name and a password"]
        );
    }

    #[test]
    fn servers_that_the_manifest_names_are_shown() {
        let of = |value: &str| {
            let manifest = format!(
                r#"
                name = "notes"
                version = "0.1.0"
                title = "Notes"
                surfaces = ["tasks"]
                hosts_from_settings = ["serverUrl"]
                auth = {{ kind = "basic" }}
                [[settings]]
                name = "serverUrl"
                description = "where the server is"
                {value}
                "#
            );
            destinations(&ENGLISH, &Manifest::parse(&manifest).unwrap())
        };
        let own = "https://evil.example, with the account's credentials";
        assert_eq!(of("fixed = \"https://evil.example\""), [own]);
        let named =
            "the server in the setting serverUrl, which the user enters, with the account's credentials";
        assert_eq!(of("default = \"https://evil.example\""), [named, own]);
        assert_eq!(of("required = true"), [named]);
    }

    #[test]
    fn scopes_settings_and_limits_are_sentences() {
        let manifest = Manifest::parse(
            r#"
            name = "notes"
            version = "0.1.0"
            title = "Notes"
            surfaces = ["tasks"]
            [[hosts]]
            host = "api.notes.example"
            [auth]
            kinds = ["oauth"]
            authorize_url = "https://notes.example/authorize"
            token_url = "https://notes.example/token"
            base_scopes = ["me"]
            [auth.scopes]
            "tasks.read" = ["notes.read"]
            [[settings]]
            name = "list"
            description = "the list to open"
            [[settings]]
            name = "mode"
            description = "a mode"
            fixed = "plain"
            [limits]
            concurrent = 4
            rates = [{ name = "notes", surfaces = ["tasks"], units = 6000, per_s = 60 }]
            "#,
        )
        .unwrap();
        assert_eq!(scopes(&ENGLISH, &manifest), ["me, always", "notes.read, for tasks.read"]);
        assert_eq!(settings(&ENGLISH, &manifest), ["The setting list: the list to open"]);
        let expected = ["Requests at once: 4", "notes: 6000 units within 60 s"];
        assert_eq!(limits(&ENGLISH, &manifest), expected);
        let none = Manifest { limits: AccountLimits::default(), ..manifest };
        assert_eq!(limits(&ENGLISH, &none), ["None"]);
    }
}
