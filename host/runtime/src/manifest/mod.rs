//! `connector.toml`: the description of a connector, beside its component. Policy comes from this file alone, never from running the
//! component; the component's type must agree with it. [`Manifest`] documents every field.
//!
//! ```toml
//! name = "example"
//! version = "1.2.0"
//! title = "Example Mail and Calendar"
//! surfaces = ["calendar@1.0.0", "lifecycle@1.0.0"]
//! memory = "standard"
//!
//! [[hosts]]
//! host = "api.example.com"
//! path_prefix = "/calendar/v3"
//! inject = "default"
//!
//! [auth]
//! kinds = ["oauth"]
//! authorize_url = "https://accounts.example.com/authorize"
//! token_url = "https://accounts.example.com/token"
//! [auth.scopes]
//! "calendar.read" = ["https://api.example.com/calendar.readonly"]
//! ```

mod auth;
mod auth_checks;
mod endpoints;
mod event_source;
mod hosts;
mod limits;
mod names;
mod push;
mod push_checks;
mod setup;
mod source;
mod url_template;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::manifest::limits::LimitsTable;
use crate::manifest::push_checks::PushTables;
use crate::surface::Surface;

pub use auth::{
    Auth, AuthKind, ClientAuth, Discovery, ErrorClass, ErrorPlace, ErrorRule, IdentitySource, IssParameter,
    LoginName, Pkce, Rotation, ScopeCase, UserinfoPointers,
};
pub use endpoints::{EndpointOverrides, Endpoints};
pub use event_source::EventSource;
pub use hosts::{HostRule, RelatedHosts};
pub use limits::{AccountLimits, LIMITS_SETTING, RateLimit, WaitScope};
pub use push::{Push, PushAlgorithm, PushAuth, PushJwt, PushPlace, WithoutSecret};
pub use setup::{SetupCopy, SetupStep};
pub use source::ManifestSyntaxError;
pub use url_template::{UrlSetting, UrlSettingKind, UrlTemplate};

/// The setting in which the host keeps the origins that `check` discovered and the host accepted. It is reserved: no connector declares it,
/// no user sets it, and no `check` writes it.
pub const DISCOVERED: &str = "discoveredOrigins";

/// Maximum characters of texts that people read.
const MAX_VERSION: usize = 40;
const MAX_TITLE: usize = 100;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_SETTING_NAME: usize = 64;

/// A connector's manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The connector's name, as connections and URLs have it: lower-case letters, digits and `-`, 1 to 40 of them. The
    /// component beside the manifest is `<name>.wasm`.
    pub name: String,
    /// The connector's own version, `major.minor.patch`.
    pub version: String,
    /// The name shown to users, for example "Google Calendar".
    pub title: String,
    /// One or two sentences for users.
    #[serde(default)]
    pub description: String,
    /// The exported interfaces, with the version of `wit/` that they were built against: `"calendar@1.0.0"`. Must be exactly those of the
    /// component's type.
    pub surfaces: Vec<SurfaceVersion>,
    /// The set of interfaces that the component may import. Default `compat`.
    #[serde(default)]
    pub level: Level,
    /// Memory limit of a call. Default `standard`.
    #[serde(default)]
    pub memory: MemoryClass,
    /// The hosts that the connector may send requests to. Any other request is refused.
    #[serde(default)]
    pub hosts: Vec<HostRule>,
    /// For self-hosted providers: names of settings whose value is a URL or a list of URLs. Exactly their origins are allowed too, http or
    /// https, with the slot "default" injected; private addresses only where the operator allows them.
    #[serde(default)]
    pub hosts_from_settings: Vec<String>,
    /// Names of settings whose value is a server `{host, port, tls}`: the connector may open connections to exactly those (`tcp`),
    /// authenticated with the connection's credentials; private addresses only where the operator allows them.
    #[serde(default)]
    pub servers_from_settings: Vec<String>,
    /// Hosts of other domains on which a provider keeps part of an account, by the domain of the server that the user named. Other hosts
    /// that a connector discovers must be in the domain of that server or be named here (`discoveredOrigins` of `wire::Account`).
    #[serde(default)]
    pub related_hosts: Vec<RelatedHosts>,
    /// The IMAP server among them at whose inbox the host waits for changes (IDLE, RFC 2177) while a mailbox is subscribed. The changes
    /// themselves are read by calls, as always. Default: none, the mailbox is polled.
    #[serde(default)]
    pub idle_server: Option<String>,
    /// The event source of a JMAP server at which the host waits for changes while a mailbox is subscribed. Default: none. Excludes
    /// `idle_server`.
    #[serde(default)]
    pub event_source: Option<EventSource>,
    /// Authentication of an account.
    #[serde(default)]
    pub auth: Auth,
    /// How notifications that the provider posts to the host are read: a table `[push]`, or a table `[[push]]` for each kind. Default: the
    /// provider posts none.
    #[serde(default, deserialize_with = "push::one_or_many")]
    pub push: Vec<Push>,
    /// The provider's limits for one account, to which the host keeps. Default: none.
    #[serde(default)]
    pub limits: AccountLimits,
    /// Values that a user enters to connect an account, besides credentials. No secrets.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// The steps with which an operator prepares the provider: texts, links, and the address to enter there. Default: none. Older hosts
    /// refuse this key as unknown.
    #[serde(default)]
    pub setup: Vec<SetupStep>,
    /// The oldest version of this host that the connector works with, `major.minor.patch`.
    #[serde(default)]
    pub min_host: Option<String>,
}

/// An exported interface and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SurfaceVersion {
    pub surface: Surface,
    /// Major, minor, patch of the package `switchboard:connector`.
    pub version: (u64, u64, u64),
}

/// The set of interfaces that a component may import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The interfaces of `switchboard:connector` alone.
    Strict,
    /// In addition WASI 0.2 cli, clocks, filesystem, io and random with no capabilities: no files, no environment, no arguments, no
    /// sockets; output goes to the log. A `wasm32-wasip2` component needs these. `wasi:http` 0.2 is available too, as another form of the
    /// `http` interface.
    #[default]
    Compat,
}

/// Limit of the linear memory of one call, summed over a component's memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryClass {
    /// 32 MiB by default.
    Small,
    /// 64 MiB by default.
    #[default]
    Standard,
    /// 256 MiB by default.
    Large,
}

/// A value that a user enters to connect an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The field's name in `settings`, camelCase.
    pub name: String,
    /// Default false.
    #[serde(default)]
    pub required: bool,
    /// Whether only the operator sets the value, with the application's registration at the provider; a change applies to all connections
    /// of the application. Default false: the user enters it.
    #[serde(default)]
    pub operator: bool,
    /// The text shown to users beside the field.
    pub description: String,
    /// The value if the user enters none.
    #[serde(default)]
    pub default: Option<Value>,
    /// The value, if users cannot change it.
    #[serde(default)]
    pub fixed: Option<Value>,
}

impl TryFrom<String> for SurfaceVersion {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        let (name, version) = text.split_once('@').unwrap_or((&text, "1.0.0"));
        let surface =
            Surface::parse(name).with_context(|| format!("surfaces: no surface is called \"{name}\""))?;
        let version = parse_version(version).with_context(|| format!("surfaces: \"{text}\""))?;
        Ok(SurfaceVersion { surface, version })
    }
}

impl From<SurfaceVersion> for String {
    fn from(s: SurfaceVersion) -> String {
        let (major, minor, patch) = s.version;
        format!("{}@{major}.{minor}.{patch}", s.surface)
    }
}

/// Parses `major.minor.patch` to numbers; missing parts are 0.
pub(crate) fn parse_version(text: &str) -> anyhow::Result<(u64, u64, u64)> {
    let mut parts = text.split('.').map(str::parse::<u64>);
    let mut next = || parts.next().unwrap_or(Ok(0)).ok();
    let version = (|| Some((next()?, next()?, next()?)))();
    let version = version.with_context(|| format!("\"{text}\" is not a version, write major.minor.patch"))?;
    ensure!(text.split('.').count() <= 3, "\"{text}\" is not a version, write major.minor.patch");
    Ok(version)
}

impl Manifest {
    /// Parses and checks a manifest. The error names the field; if a line is at fault, it is a [`ManifestSyntaxError`]. Invisible
    /// characters are refused, so that the texts are safe to display.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let manifest: Manifest = source::read(text).context("connector.toml")?;
        manifest.check().context("connector.toml")?;
        Ok(manifest)
    }

    /// Whether `name` can be a connector's name. Names become file names, so the form is strict.
    pub fn is_name(name: &str) -> bool {
        names::is_name(name)
    }

    /// Returns the kind of notifications that watches of a surface post; none: the surface is polled.
    pub fn push_of(&self, surface: &str) -> Option<&Push> {
        self.push.iter().find(|push| push.covers(surface))
    }

    /// Returns the kind of notifications whose address ends with this name.
    pub fn push_named(&self, name: Option<&str>) -> Option<&Push> {
        self.push.iter().find(|push| push.name.as_deref() == name)
    }

    fn limits_table(&self) -> LimitsTable<'_> {
        let settings = self.settings.iter().map(|setting| setting.name.as_str());
        let of_urls = self.auth.settings.iter().map(|setting| setting.name.as_str());
        LimitsTable {
            limits: &self.limits,
            hosts: &self.hosts,
            has_hosts_from_settings: !self.hosts_from_settings.is_empty(),
            surfaces: self.surfaces.iter().map(|exported| exported.surface).collect(),
            settings: settings.chain(of_urls).collect(),
        }
    }

    fn push_tables(&self) -> PushTables<'_> {
        let settings = self.settings.iter().filter(|setting| setting.operator);
        PushTables {
            push: &self.push,
            surfaces: self.surfaces.iter().map(|version| version.surface).collect(),
            operator_settings: settings.map(|s| (s.name.as_str(), s.default.is_some())).collect(),
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            Manifest::is_name(&self.name),
            "name: \"{}\" must be 1 to 40 of a-z, 0-9 and -, not starting with -",
            self.name
        );
        parse_version(&self.version).context("version")?;
        ensure!(self.title.contains(char::is_alphanumeric), "title: must have a letter or a digit");
        self.check_lengths()?;
        ensure!(!self.surfaces.is_empty(), "surfaces: name at least one, for example \"calendar@1.0.0\"");
        for (n, s) in self.surfaces.iter().enumerate() {
            ensure!(
                s.version.0 == 1,
                "surfaces: this host speaks version 1 of {}, not {}",
                s.surface,
                s.version.0
            );
            let again = self.surfaces[..n].iter().any(|earlier| earlier.surface == s.surface);
            ensure!(!again, "surfaces: {} is named twice", s.surface);
        }
        if let Some(wanted) = &self.min_host {
            let wanted_version = parse_version(wanted).context("min_host")?;
            let here = parse_version(env!("CARGO_PKG_VERSION")).expect("cargo checks the package version");
            ensure!(
                wanted_version <= here,
                "min_host: needs host {wanted}, this is {}",
                env!("CARGO_PKG_VERSION")
            );
        }
        for rule in &self.hosts {
            rule.check().with_context(|| format!("hosts: {}", rule.host))?;
        }
        for related in &self.related_hosts {
            related.check().with_context(|| format!("related_hosts: {}", related.domain))?;
        }
        self.check_settings()?;
        auth_checks::check(&self.auth)?;
        push_checks::check(&self.push_tables())?;
        limits::check(&self.limits_table())?;
        setup::check(&self.setup, self.auth.kinds.contains(&AuthKind::Oauth))?;
        if let Some(source) = &self.event_source {
            ensure!(self.idle_server.is_none(), "event_source: idle_server is there too, name one of them");
            event_source::check(source, self.surfaces.iter().any(|s| s.surface == Surface::Email))?;
        }
        if let Some(warning) = auth_checks::warning(&self.auth) {
            tracing::warn!(connector = &*self.name, "{warning}");
        }
        Ok(())
    }

    fn check_lengths(&self) -> anyhow::Result<()> {
        let is_within = |field: &str, text: &str, max: usize| -> anyhow::Result<()> {
            let length = text.chars().count();
            ensure!(length <= max, "{field}: has {length} characters, at most {max} are allowed");
            Ok(())
        };
        is_within("version", &self.version, MAX_VERSION)?;
        is_within("min_host", self.min_host.as_deref().unwrap_or_default(), MAX_VERSION)?;
        is_within("title", &self.title, MAX_TITLE)?;
        is_within("description", &self.description, MAX_DESCRIPTION)?;
        for (at, setting) in self.settings.iter().enumerate() {
            is_within(&format!("settings[{at}].name"), &setting.name, MAX_SETTING_NAME)?;
            is_within(&format!("settings[{at}].description"), &setting.description, MAX_DESCRIPTION)?;
        }
        Ok(())
    }

    fn check_settings(&self) -> anyhow::Result<()> {
        for (n, s) in self.settings.iter().enumerate() {
            ensure!(!s.name.is_empty(), "settings: name must not be empty");
            ensure!(
                s.name != DISCOVERED,
                "settings: {DISCOVERED} is the host's own: it keeps there what `check` found and it accepted"
            );
            ensure!(
                self.settings[..n].iter().all(|e| e.name != s.name),
                "settings: {} is named twice",
                s.name
            );
            ensure!(
                s.default.is_none() || s.fixed.is_none(),
                "settings: {} has a default and is fixed: give one of them",
                s.name
            );
            ensure!(
                !s.required || (s.default.is_none() && s.fixed.is_none()),
                "settings: {} has a value already, so it need not be entered: leave out required",
                s.name
            );
            ensure!(
                !s.operator || s.fixed.is_none(),
                "settings: {} is fixed, so the operator cannot give it: leave out operator",
                s.name
            );
            ensure!(
                self.auth.settings.iter().all(|of_urls| of_urls.name != s.name),
                "settings: {} is one of auth.settings too: the operator's values of both are in one place",
                s.name
            );
        }
        let lists = [
            ("hosts_from_settings", &self.hosts_from_settings),
            ("servers_from_settings", &self.servers_from_settings),
        ];
        for (list, names) in lists {
            for name in names {
                ensure!(
                    self.settings.iter().any(|s| s.name == *name),
                    "{list}: \"{name}\" is not one of the settings, add it under [[settings]]"
                );
            }
        }
        if let Some(name) = &self.idle_server {
            ensure!(
                self.servers_from_settings.contains(name),
                "idle_server: \"{name}\" is not one of servers_from_settings"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        name = "dav"
        version = "1.0.0"
        title = "CalDAV"
        surfaces = ["calendar@1.0.0", "lifecycle"]
        hosts_from_settings = ["serverUrl"]
        auth = { kind = "basic" }
        [[settings]]
        name = "serverUrl"
        required = true
        description = "where the server is"
        [[hosts]]
        host = "*.example.com"
    "#;

    #[test]
    fn a_manifest_is_read() {
        let m = Manifest::parse(GOOD).unwrap();
        assert_eq!(m.auth.kinds, [AuthKind::Basic]);
        assert_eq!(m.surfaces[1].surface, Surface::Lifecycle);
        assert_eq!((m.level, m.memory), (Level::Compat, MemoryClass::Standard));
    }

    #[test]
    fn a_fault_names_the_field() {
        for (from, to, said) in [
            ("name = \"dav\"", "name = \"Dav/..\"", "name:"),
            ("version = \"1.0.0\"", "version = \"one\"", "version"),
            ("\"lifecycle\"", "\"mail\"", "no surface is called"),
            ("\"lifecycle\"", "\"calendar\"", "twice"),
            ("\"lifecycle\"", "\"tasks@2.0.0\"", "version 1 of tasks"),
            ("*.example.com", "10.0.0.1", "not an address"),
            ("*.example.com", "Example.com", "lower case"),
            ("host = \"*.example.com\"", "host = \"*.example.com\"\ninject = \"default\"", "inject:"),
            ("[\"serverUrl\"]", "[\"url\"]", "hosts_from_settings:"),
            (
                "kind = \"basic\"",
                "kind = \"oauth\", authorize_url = \"http://a.test\"",
                "auth.authorize_url:",
            ),
            ("required = true", "required = true\ndefault = \"x\"", "leave out required"),
            ("required = true", "fixed = \"x\"\ndefault = \"x\"", "give one of them"),
            ("required = true", "fixed = \"x\"\noperator = true", "leave out operator"),
            ("title = ", "titel = ", "titel"),
            ("CalDAV", "\u{3000} \u{a0}.", "title: must have a letter or a digit"),
            ("CalDAV", "\u{2800}", "the character U+2800"),
            ("name = \"dav\"", "name = \"dav\"\nmin_host = \"99.0.0\"", "min_host:"),
        ] {
            let error = format!("{:#}", Manifest::parse(&GOOD.replace(from, to)).unwrap_err());
            assert!(error.contains(said), "{to}: {error}");
        }
    }

    #[test]
    fn a_text_for_people_has_a_longest_length() {
        for (from, max, field) in [
            ("CalDAV", 100, "title:"),
            ("where the server is", 1_000, "settings[0].description:"),
            ("serverUrl", 64, "settings[0].name:"),
            ("1.0.0\"\n        title", 40, "version:"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let text = |length: usize| match field {
                "version:" => GOOD.replacen(
                    from,
                    &format!("{}1{}", "0".repeat(length - 1), from.trim_start_matches("1.0.0")),
                    1,
                ),
                _ => GOOD.replace(from, &"ü".repeat(length)),
            };
            assert!(Manifest::parse(&text(max)).is_ok(), "{field}");
            let error = format!("{:#}", Manifest::parse(&text(max + 1)).unwrap_err());
            assert!(error.contains(&format!("{field} has {} characters, at most {max}", max + 1)), "{error}");
        }
    }
}
