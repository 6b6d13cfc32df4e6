//! Permissions and requirements that an update adds to those of the installed connector, as text.

use runtime::{Auth, IssParameter, Level, Manifest, MemoryClass, Pkce, Setting};
use serde_json::Value;

use crate::cli::connector::check::words;

/// Returns permissions and requirements of `new` that `old` does not have; empty if the update adds none.
pub fn added(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut all = Vec::new();
    for claimed in new.surfaces.iter().filter(|claimed| !has(&old.surfaces, |s| s.surface == claimed.surface))
    {
        all.push(format!("the surface {}", claimed.surface));
    }
    if new.level == Level::Compat && old.level == Level::Strict {
        all.push("imports of WASI: level \"compat\"".to_owned());
    }
    if size_rank(new.memory) > size_rank(old.memory) {
        all.push("more memory for each call".to_owned());
    }
    all.extend(added_places(old, new));
    all.extend(added_notifications(old, new));
    for kind in new.auth.kinds.iter().filter(|kind| !old.auth.kinds.contains(kind)) {
        all.push(format!("from the user: {}", words::credentials(*kind)));
    }
    all.extend(new.settings.iter().filter_map(|setting| asked_anew(old, setting)));
    all.extend(other_texts(old, new));
    all.extend(added_scopes(&old.auth, &new.auth));
    all.extend(added_oauth(&old.auth, &new.auth));
    all
}

/// Describes a setting that is new, newly required, or has a new description.
fn asked_anew(old: &Manifest, setting: &Setting) -> Option<String> {
    if setting.fixed.is_some() || setting.operator {
        return None;
    }
    let (name, text) = (&setting.name, &setting.description);
    let was_asked = |known: &&Setting| known.name == *name && known.fixed.is_none() && !known.operator;
    let known = old.settings.iter().find(was_asked);
    match known {
        None if setting.required => Some(format!("from the user: the setting {name}: \"{text}\"")),
        None => Some(format!("from the user: the setting {name} (optional): \"{text}\"")),
        Some(known) if setting.required && !known.required => {
            Some(format!("from the user: the setting {name}, which was optional: \"{text}\""))
        }
        Some(known) if known.description != *text => {
            Some(format!("other words for the user at the setting {name}: \"{text}\""))
        }
        Some(_) => None,
    }
}

/// Describes a changed title and description, with which the connector could pass for another provider.
fn other_texts(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut all = Vec::new();
    if new.title != old.title {
        all.push(format!("another title: \"{}\", it was \"{}\"", new.title, old.title));
    }
    if new.description != old.description {
        all.push(format!("another description: \"{}\"", new.description));
    }
    all
}

fn has<T>(list: &[T], is_it: impl Fn(&T) -> bool) -> bool {
    list.iter().any(is_it)
}

fn size_rank(class: MemoryClass) -> u8 {
    match class {
        MemoryClass::Small => 0,
        MemoryClass::Standard => 1,
        MemoryClass::Large => 2,
    }
}

/// Describes added hosts and servers, including those in fixed values of the manifest.
fn added_places(old: &Manifest, new: &Manifest) -> Vec<String> {
    let rules = new.hosts.iter().filter(|rule| !has(&old.hosts, |known| known.covers(rule)));
    let mut all: Vec<String> = rules.map(|rule| format!("requests to {}", words::host(rule))).collect();
    let lists = [
        (&old.hosts_from_settings, &new.hosts_from_settings, "requests to the server"),
        (&old.servers_from_settings, &new.servers_from_settings, "connections to the mail server"),
    ];
    for (known, names, what) in lists {
        for name in names {
            let is_known = known.contains(name);
            let value = given_value(new, name);
            if let Some(value) = value.filter(|value| !is_known || given_value(old, name) != Some(*value)) {
                all.push(format!("{what} {}, in the setting {name}", words::value(value)));
            }
            // The operator's value also applies to accounts that chose another one.
            let is_operators = has(&new.settings, |s| s.name == *name && s.operator);
            let was_operators = has(&old.settings, |s| s.name == *name && s.operator);
            let was_free = is_known && !is_fixed(old, name) && is_operators == was_operators;
            if !was_free && !is_fixed(new, name) {
                let by = if is_operators { "operator" } else { "user" };
                all.push(format!("{what} that the {by} names in the setting {name}"));
            }
        }
    }
    for related in &new.related_hosts {
        for host in &related.hosts {
            if !has(&old.related_hosts, |r| r.domain == related.domain && r.hosts.contains(host)) {
                all.push(format!("requests to {host} for accounts on servers in {}", related.domain));
            }
        }
    }
    all
}

/// Returns the value of a setting that the user does not enter.
fn given_value<'a>(manifest: &'a Manifest, name: &str) -> Option<&'a Value> {
    let setting = manifest.settings.iter().find(|setting| setting.name == name)?;
    setting.fixed.as_ref().or(setting.default.as_ref())
}

/// Whether the manifest gives a setting a value that users cannot change.
fn is_fixed(manifest: &Manifest, name: &str) -> bool {
    has(&manifest.settings, |setting| setting.name == name && setting.fixed.is_some())
}

fn added_notifications(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut all = Vec::new();
    if !new.push.is_empty() && old.push != new.push {
        let is_new = old.push.is_empty();
        let changed = "another proof or form of notifications: [push] was changed";
        all.push(if is_new { "notifications that the provider posts: [push]" } else { changed }.to_owned());
    }
    if new.idle_server.is_some() && new.idle_server != old.idle_server {
        all.push("a connection to the IMAP server that stays open: idle_server".to_owned());
    }
    if new.event_source.is_some() && new.event_source != old.event_source {
        all.push("a request that stays open: [event_source]".to_owned());
    }
    all
}

/// Describes the provider scopes that are added, with the users who must consent to them: a scope that was requested for one of
/// Switchboard's scopes counts as added if it is requested for another one, or always.
fn added_scopes(old: &Auth, new: &Auth) -> Vec<String> {
    let is_base = |auth: &Auth, scope: &String| auth.base_scopes.contains(scope);
    let base = new.base_scopes.iter().filter(|scope| !is_base(old, scope));
    let mut all: Vec<String> = base.map(|scope| format!("the provider's scope {scope}, always")).collect();
    for (ours, theirs) in &new.scopes {
        let known = old.scopes.get(ours).map(Vec::as_slice).unwrap_or_default();
        for scope in theirs {
            if !(known.contains(scope) || is_base(old, scope) || is_base(new, scope)) {
                all.push(format!("the provider's scope {scope}, for {ours}"));
            }
        }
    }
    all
}

/// Describes added parameters of the authorization request, and changed recipients of codes, tokens and the client secret.
fn added_oauth(old: &Auth, new: &Auth) -> Vec<String> {
    let mut all = Vec::new();
    for (key, known, url) in [
        ("issuer", &old.issuer, &new.issuer),
        ("authorize_url", &old.authorize_url, &new.authorize_url),
        ("token_url", &old.token_url, &new.token_url),
        ("revoke_url", &old.revoke_url, &new.revoke_url),
        ("userinfo_url", &old.userinfo_url, &new.userinfo_url),
        ("admin_consent_url", &old.admin_consent_url, &new.admin_consent_url),
    ] {
        if let Some(url) = url.as_ref().filter(|_| known != url) {
            all.push(format!("OAuth at another place: auth.{key} {url}"));
        }
    }
    for setting in new.settings.iter().filter(|setting| !old.settings.contains(setting)) {
        let value = setting.default.as_deref().unwrap_or("of the operator");
        all.push(format!("OAuth at another place: the setting {} ({value}) in its URLs", setting.name));
    }
    for (key, known, parameters) in [
        ("authorize_params", &old.authorize_params, &new.authorize_params),
        ("connect_params", &old.connect_params, &new.connect_params),
        ("reauthorize_params", &old.reauthorize_params, &new.reauthorize_params),
        ("token_params", &old.token_params, &new.token_params),
    ] {
        for (name, value) in parameters.iter().filter(|(name, value)| known.get(*name) != Some(*value)) {
            all.push(format!("the OAuth parameter {name}={value}: auth.{key}"));
        }
    }
    let weaker = [
        (new.discovery != old.discovery, "OAuth URLs from another source: auth.discovery"),
        (new.pkce == Pkce::Off && old.pkce != Pkce::Off, "authorization without PKCE: auth.pkce"),
        (
            new.iss == IssParameter::Optional && old.iss == IssParameter::Required,
            "returns that do not name their issuer: auth.iss",
        ),
        (
            (new.identity, &new.userinfo) != (old.identity, &old.userinfo),
            "another source of the account's identity: auth.identity, auth.userinfo",
        ),
    ];
    all.extend(weaker.into_iter().filter(|(is_weaker, _)| *is_weaker).map(|(_, what)| what.to_owned()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"notes\"\nversion = \"0.1.0\"\ntitle = \"Notes\"\n";
    const OLD: &str = r#"
        surfaces = ["tasks"]
        level = "strict"
        hosts_from_settings = ["serverUrl"]
        hosts = [{ host = "api.notes.example", path_prefix = "/v1", methods = ["GET"], inject = "default" }]
        settings = [{ name = "serverUrl", required = true, description = "." }]
        [auth]
        kinds = ["oauth"]
        iss = "required"
        authorize_url = "https://notes.example/authorize"
        token_url = "https://notes.example/token"
        base_scopes = ["notes.read"]
        "#;

    fn manifest(text: &str) -> Manifest {
        Manifest::parse(&format!("{HEAD}{text}")).unwrap()
    }

    #[test]
    fn what_is_new_is_told_and_what_is_gone_is_not() {
        let old = manifest(OLD);
        assert_eq!(added(&old, &old), Vec::<String>::new());
        for (from, to, expected) in [
            ("[\"tasks\"]", "[\"tasks\", \"email\"]", "the surface email"),
            ("level = \"strict\"", "level = \"compat\"", "imports of WASI: level \"compat\""),
            ("level = \"strict\"", "level = \"strict\"\nmemory = \"large\"", "more memory for each call"),
            (
                "api.notes.example",
                "api.evil.example",
                "requests to api.evil.example (GET, below /v1), with the account's credentials",
            ),
            ("/v1", "/", "requests to api.notes.example (GET), with the account's credentials"),
            (
                "[\"GET\"]",
                "[\"GET\", \"PUT\"]",
                "requests to api.notes.example (GET PUT, below /v1), with the account's credentials",
            ),
            (
                "required = true",
                "fixed = \"https://evil.example\"",
                "requests to the server https://evil.example, in the setting serverUrl",
            ),
            (
                "level",
                "servers_from_settings = [\"serverUrl\"]\nlevel",
                "connections to the mail server that the user names in the setting serverUrl",
            ),
            (
                "level",
                "related_hosts = [{ domain = \"notes.example\", hosts = [\"a.example\"] }]\nlevel",
                "requests to a.example for accounts on servers in notes.example",
            ),
            ("[\"oauth\"]", "[\"oauth\", \"basic\"]", "from the user: a user name and a password"),
            (
                "settings = [{",
                "settings = [{ name = \"key\", required = true, description = \".\" }, {",
                "from the user: the setting key: \".\"",
            ),
            (
                "settings = [{",
                "settings = [{ name = \"password\", description = \"Your password, again\" }, {",
                "from the user: the setting password (optional): \"Your password, again\"",
            ),
            (
                "description = \".\"",
                "description = \"Your password\"",
                "other words for the user at the setting serverUrl: \"Your password\"",
            ),
            ("surfaces", "description = \"By the bank\"\nsurfaces", "another description: \"By the bank\""),
            (
                "[\"notes.read\"]",
                "[\"notes.read\", \"notes.write\"]",
                "the provider's scope notes.write, always",
            ),
            (
                "[\"notes.read\"]",
                "[\"notes.read\"]\nscopes = { \"tasks.read\" = [\"notes.read\", \"notes.full\"] }",
                "the provider's scope notes.full, for tasks.read",
            ),
            (
                "https://notes.example/token",
                "https://evil.example/token",
                "OAuth at another place: auth.token_url https://evil.example/token",
            ),
            (
                "base_scopes",
                "authorize_params = { access_type = \"offline\" }\nbase_scopes",
                "the OAuth parameter access_type=offline: auth.authorize_params",
            ),
            ("base_scopes", "pkce = \"off\"\nbase_scopes", "authorization without PKCE: auth.pkce"),
            ("iss = \"required\"", "", "returns that do not name their issuer: auth.iss"),
        ] {
            assert!(OLD.contains(from), "{from}");
            let new = manifest(&OLD.replacen(from, to, 1));
            assert_eq!(added(&old, &new), [expected], "{to}");
        }
        for (from, to) in [
            ("/v1", "/v1/lists"),
            (", inject = \"default\"", ""),
            ("hosts_from_settings = [\"serverUrl\"]", ""),
            ("required = true", "required = false"),
            ("[\"notes.read\"]", "[]"),
        ] {
            assert!(OLD.contains(from), "{from}");
            let less = manifest(&OLD.replacen(from, to, 1));
            assert_eq!(added(&old, &less), Vec::<String>::new(), "{to}");
        }
    }

    /// The same scope for more users, and the same server for more of them, are additions.
    #[test]
    fn what_was_for_some_and_is_for_all_is_told() {
        let scopes = |text: &str| manifest(&format!("surfaces = [\"tasks\"]\n[auth]\n{text}"));
        let old = scopes(
            "base_scopes = [\"me\"]\nscopes = { \"tasks.write\" = [\"full\"], \"tasks.read\" = [\"read\"] }",
        );
        for (text, expected) in [
            ("base_scopes = [\"me\", \"full\"]", "the provider's scope full, always"),
            (
                "scopes = { \"tasks.write\" = [\"full\"], \"tasks.read\" = [\"full\"] }",
                "the provider's scope full, for tasks.read",
            ),
            (
                "scopes = { \"contacts.read\" = [\"read\", \"me\"] }",
                "the provider's scope read, for contacts.read",
            ),
        ] {
            assert_eq!(added(&old, &scopes(text)), [expected], "{text}");
        }
        assert_eq!(added(&old, &scopes("scopes = { \"tasks.read\" = [\"me\"] }")), Vec::<String>::new());

        for (key, what) in [
            ("hosts_from_settings", "requests to the server"),
            ("servers_from_settings", "connections to the mail server"),
        ] {
            let place = |value: &str| {
                let setting = format!("{{ name = \"place\", description = \".\"{value} }}");
                manifest(&format!("surfaces = [\"tasks\"]\n{key} = [\"place\"]\nsettings = [{setting}]"))
            };
            let fixed = place(", fixed = \"https://dav.good.example\"");
            let free = [
                format!("{what} that the user names in the setting place"),
                "from the user: the setting place (optional): \".\"".to_owned(),
            ];
            assert_eq!(added(&fixed, &place(", default = \"https://dav.good.example\"")), free);
            assert_eq!(added(&fixed, &place("")), free);
            assert_eq!(
                added(&place(""), &fixed),
                [format!("{what} https://dav.good.example, in the setting place")]
            );
            let operators = place(", operator = true");
            let named = [format!("{what} that the operator names in the setting place")];
            assert_eq!(added(&place(""), &operators), named);
            assert_eq!(added(&fixed, &operators), named);
            assert_eq!(added(&operators, &place("")), free);
            assert_eq!(added(&operators, &operators), Vec::<String>::new());
        }
    }

    #[test]
    fn another_title_is_told() {
        let old = manifest(OLD);
        let new = Manifest { title: "Google Workspace (official)".to_owned(), ..old.clone() };
        assert_eq!(added(&old, &new), ["another title: \"Google Workspace (official)\", it was \"Notes\""]);
    }

    #[test]
    fn notifications_are_told() {
        let push = "surfaces = [\"tasks\", \"watch\"]\n[push]\nauth = \"hmac\"\nalgorithm = \"sha256\"\nsecret = \"header:x-signature\"\nwatch = \"/id\"\n";
        let (old, new) = (manifest("surfaces = [\"tasks\", \"watch\"]"), manifest(push));
        assert_eq!(added(&old, &new), ["notifications that the provider posts: [push]"]);
        let other = manifest(&push.replace("x-signature", "x-other"));
        assert_eq!(added(&new, &other), ["another proof or form of notifications: [push] was changed"]);
        assert_eq!(added(&new, &old), Vec::<String>::new());
    }
}
