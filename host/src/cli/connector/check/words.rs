//! Permissions and requirements of a connector as text, shown before it is installed.

use runtime::{AuthKind, HostRule, Manifest, Setting, Surface};
use serde_json::Value;

/// The WIT package of the host.
const PACKAGE: &str = "switchboard:connector/";
const PRIVATE: &str = "in private networks only where the operator allows it";

/// Returns the name of an interface of the host's own package, without package and version. None: another package, or an interface with
/// types only.
pub fn own_interface(import: &str) -> Option<&str> {
    let name = import.strip_prefix(PACKAGE)?.split('@').next()?;
    (name != "types").then_some(name)
}

/// Describes an import of a connector.
pub fn import(name: &str) -> &'static str {
    let interface = name.split('@').next().unwrap_or(name);
    match interface.strip_prefix(PACKAGE) {
        Some("http") => "requests to the hosts that the manifest allows",
        Some("log") => "lines in the log of the call",
        Some("clock") => "the time",
        Some("random") => "random bytes",
        Some("blob") => "attachments and other large content of the call",
        Some("tcp") => "connections to the mail servers of the settings",
        Some("progress") => "a note of how far a write got",
        Some("time-zones") => "conversions between time zones",
        Some(_) => "types of the other interfaces",
        None => wasi(interface.strip_prefix("wasi:").unwrap_or(interface)),
    }
}

fn wasi(interface: &str) -> &'static str {
    match interface {
        "cli/environment" => "an environment without variables and arguments",
        "cli/exit" => "exit, which ends the call",
        "cli/stdin" => "an empty standard input",
        "cli/stdout" | "cli/stderr" => "output to the log",
        _ if interface.starts_with("cli/terminal") => "no terminal",
        _ if interface.starts_with("clocks/") => "the time",
        _ if interface.starts_with("filesystem/") => "a file system without files",
        _ if interface.starts_with("io/") => "streams",
        _ if interface.starts_with("random/") => "random bytes",
        _ if interface.starts_with("http/") => "requests to the hosts that the manifest allows",
        _ => "nothing",
    }
}

/// Lists the servers to which the connector may send requests, each with whether the account's credentials are sent.
pub fn destinations(manifest: &Manifest) -> Vec<String> {
    let mut all: Vec<String> = manifest.hosts.iter().map(host).collect();
    let lists = [
        (&manifest.hosts_from_settings, "the server"),
        (&manifest.servers_from_settings, "the mail servers"),
    ];
    let is_operators = |name: &&String| manifest.settings.iter().any(|s| s.name == **name && s.operator);
    for (names, what) in lists {
        for by in ["user", "operator"] {
            let names = names.iter().filter(|name| is_operators(name) == (by == "operator"));
            let names: Vec<String> = names.cloned().collect();
            if !names.is_empty() {
                let names = settings(&names);
                all.push(format!(
                    "{what} that the {by} names in {names}, with the account's credentials; {PRIVATE}"
                ));
            }
        }
    }
    let of_places = manifest.hosts_from_settings.iter().chain(&manifest.servers_from_settings);
    for setting in of_places.filter_map(|name| manifest.settings.iter().find(|s| s.name == *name)) {
        if let Some(fixed) = &setting.fixed {
            let name = &setting.name;
            all.push(format!("{}, always: the manifest fixes the setting {name}", value(fixed)));
        } else if let Some(default) = &setting.default {
            let by = if setting.operator { "operator" } else { "user" };
            all.push(format!("{}, where the {by} leaves out {}", value(default), setting.name));
        }
    }
    for related in &manifest.related_hosts {
        let (hosts, domain) = (related.hosts.join(", "), &related.domain);
        all.push(format!("{hosts} if that server is in {domain}, with the account's credentials"));
    }
    if all.is_empty() {
        all.push("no host".to_owned());
    }
    all
}

/// Describes a rule of `[[hosts]]`.
pub fn host(rule: &HostRule) -> String {
    let scheme = if rule.scheme == "https" { String::new() } else { format!("{}://", rule.scheme) };
    let port = rule.port.map(|port| format!(":{port}")).unwrap_or_default();
    let mut limits = Vec::new();
    if !rule.methods.is_empty() {
        limits.push(rule.methods.join(" "));
    }
    if rule.path_prefix != "/" {
        limits.push(format!("below {}", rule.path_prefix));
    }
    let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) };
    let credentials = if rule.inject.is_some() { "with" } else { "without" };
    format!("{scheme}{}{port}{limits}, {credentials} the account's credentials", rule.host)
}

/// Returns the value of a setting: a text unchanged, anything else as JSON.
pub fn value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Describes a kind of credentials for users.
pub fn credentials(kind: AuthKind) -> &'static str {
    match kind {
        AuthKind::Basic => "a user name and a password",
        AuthKind::Bearer => "an access token",
        AuthKind::Oauth => "consent at the provider (OAuth 2.0)",
    }
}

fn settings(names: &[String]) -> String {
    let noun = if names.len() == 1 { "the setting" } else { "the settings" };
    format!("{noun} {}", names.join(", "))
}

/// Lists the data that a user enters to connect an account.
pub fn needs_from_user(manifest: &Manifest) -> Vec<String> {
    let kinds: Vec<&str> = manifest.auth.kinds.iter().map(|kind| credentials(*kind)).collect();
    let mut needs = Vec::new();
    if !kinds.is_empty() {
        needs.push(kinds.join(" or "));
    }
    let asked = manifest.settings.iter().filter(|setting| setting.fixed.is_none() && !setting.operator);
    needs.extend(asked.map(requirement));
    needs
}

fn requirement(setting: &Setting) -> String {
    let optional = if setting.required { "" } else { " (optional)" };
    format!("the setting {}{optional}", setting.name)
}

/// Lists the data that the operator registers before users can connect accounts.
pub fn needs_from_operator(manifest: &Manifest) -> Vec<String> {
    let mut needs = Vec::new();
    if manifest.auth.kinds.contains(&AuthKind::Oauth) {
        needs.push("for OAuth, a client that is registered with the provider".to_owned());
    }
    for setting in manifest.auth.settings.iter().filter(|setting| setting.default.is_none()) {
        needs.push(format!("the setting {}", setting.name));
    }
    needs.extend(manifest.settings.iter().filter(|setting| setting.operator).map(requirement));
    if manifest.surfaces.iter().any(|version| version.surface == Surface::Watch) {
        let url = "for notifications from the provider, a public URL of the host with https (optional)";
        needs.push(url.to_owned());
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_told_in_words() {
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
            [[hosts]]
            host = "upload.notes.example"
            scheme = "http"
            port = 8080
            [[related_hosts]]
            domain = "notes.example"
            hosts = ["files.example"]
            [auth]
            kinds = ["oauth", "basic"]
            authorize_url = "https://notes.example/authorize"
            token_url = "https://notes.example/token"
            [[settings]]
            name = "serverUrl"
            required = true
            description = "where the server is"
            [[settings]]
            name = "list"
            description = "a list"
            [[settings]]
            name = "mode"
            description = "a mode"
            fixed = "plain"
            "#,
        )
        .unwrap();
        assert_eq!(
            destinations(&manifest),
            [
                "api.notes.example (GET POST, below /v1), with the account's credentials",
                "http://upload.notes.example:8080, without the account's credentials",
                "the server that the user names in the setting serverUrl, with the account's credentials; in private networks only where the operator allows it",
                "files.example if that server is in notes.example, with the account's credentials",
            ]
        );
        assert_eq!(
            needs_from_user(&manifest),
            [
                "consent at the provider (OAuth 2.0) or a user name and a password",
                "the setting serverUrl",
                "the setting list (optional)",
            ]
        );
        assert_eq!(
            needs_from_operator(&manifest),
            ["for OAuth, a client that is registered with the provider"]
        );
    }

    #[test]
    fn a_place_that_the_manifest_names_itself_is_shown() {
        let manifest = Manifest::parse(
            r#"
            name = "notes"
            version = "0.1.0"
            title = "Notes"
            surfaces = ["tasks"]
            hosts_from_settings = ["serverUrl", "other", "files"]
            [[settings]]
            name = "files"
            description = "a server"
            operator = true
            default = "https://files.example"
            [[settings]]
            name = "serverUrl"
            description = "where the server is"
            default = "https://notes.example"
            [[settings]]
            name = "other"
            description = "a server"
            fixed = "https://other.example"
            "#,
        )
        .unwrap();
        assert_eq!(
            destinations(&manifest),
            [
                "the server that the user names in the settings serverUrl, other, with the account's credentials; in private networks only where the operator allows it",
                "the server that the operator names in the setting files, with the account's credentials; in private networks only where the operator allows it",
                "https://notes.example, where the user leaves out serverUrl",
                "https://other.example, always: the manifest fixes the setting other",
                "https://files.example, where the operator leaves out files",
            ]
        );
        assert_eq!(needs_from_user(&manifest), ["the setting serverUrl (optional)"]);
        assert_eq!(needs_from_operator(&manifest), ["the setting files (optional)"]);
    }

    #[test]
    fn an_import_says_what_it_gives() {
        assert_eq!(own_interface("switchboard:connector/http@1.0.0"), Some("http"));
        assert_eq!(own_interface("switchboard:connector/types@1.0.0"), None);
        assert_eq!(own_interface("wasi:io/error@0.2.6"), None);
        assert_eq!(import("switchboard:connector/clock@1.0.0"), "the time");
        assert_eq!(import("wasi:filesystem/preopens@0.2.6"), "a file system without files");
    }
}
