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
        let is_operators = manifest.settings.iter().any(|setting| setting.name == *name && setting.operator);
        let text = if is_operators { t.operator_server } else { t.user_server };
        all.push(fill(text, &[("name", name)]));
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

#[cfg(test)]
mod tests {
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
}
