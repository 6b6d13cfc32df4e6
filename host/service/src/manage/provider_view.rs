//! A provider as the API shows it: its manifest, and JSON Schemas of the settings and credentials that connect an account.

use model::bounds::connection::{MAX_SECRET, MAX_SETTING, MAX_USERNAME};
use model::connection::ACCOUNT_SCOPES;
use model::provider::{Provider, ProviderAuthKind, SandboxAddress, SandboxGuide};
use model::sync::Surface as AccountSurface;
use runtime::{AuthKind, Manifest, Setting, Surface};
use sandbox_provider::guide::{ACCOUNTS, NotableAddress, SPECIAL_ADDRESSES};
use serde_json::{Map, Value, json};

use crate::manage::account_providers::{AccountProvider, OAuthStanding};

/// The dialect of the schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Servers that are given with the credentials; others are among the settings.
const MAIL_SERVERS: [&str; 2] = ["imap", "smtp"];

/// Describes a provider.
pub fn view(provider: &AccountProvider) -> Provider {
    let manifest = &*provider.connector.manifest;
    let surfaces = &provider.connector.surfaces;
    Provider {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        description: manifest.description.clone(),
        version: manifest.version.clone(),
        surfaces: surfaces.iter().filter_map(|surface| account_surface(*surface)).collect(),
        push_surfaces: surfaces
            .iter()
            .filter(|surface| announces(provider, **surface))
            .filter_map(|surface| account_surface(*surface))
            .collect(),
        auth_kinds: manifest.auth.kinds.iter().map(|kind| auth_kind(*kind)).collect(),
        oauth_registered: provider.oauth == OAuthStanding::Ready,
        scopes: scopes(provider),
        provider_scopes: manifest.auth.scopes.clone(),
        settings: settings(provider),
        credentials: credentials(provider),
        sandbox: provider.is_sandbox.then(sandbox_guide),
    }
}

/// The part of an account that a surface is; none for the interfaces without data.
fn account_surface(surface: Surface) -> Option<AccountSurface> {
    match surface {
        Surface::Email => Some(AccountSurface::Email),
        Surface::Calendar => Some(AccountSurface::Calendar),
        Surface::Contacts => Some(AccountSurface::Contacts),
        Surface::Tasks => Some(AccountSurface::Tasks),
        Surface::Lifecycle | Surface::Watch => None,
    }
}

/// Whether the provider can announce changes of the surface: by notifications that it posts, or on a connection that the host keeps open to a
/// mail server.
fn announces(provider: &AccountProvider, surface: Surface) -> bool {
    let manifest = &provider.connector.manifest;
    let posts = provider.connector.surfaces.contains(&Surface::Watch);
    let listens = manifest.idle_server.is_some() || manifest.event_source.is_some();
    (posts && manifest.push_of(surface.as_str()).is_some()) || (listens && surface == Surface::Email)
}

fn auth_kind(kind: AuthKind) -> ProviderAuthKind {
    match kind {
        AuthKind::Basic => ProviderAuthKind::Basic,
        AuthKind::Bearer => ProviderAuthKind::Bearer,
        AuthKind::Oauth => ProviderAuthKind::Oauth,
    }
}

/// The scopes that a connection can have. With credentials they are those of all surfaces; OAuth alone needs a scope of the provider for each.
fn scopes(provider: &AccountProvider) -> Vec<String> {
    let mapped = &provider.connector.manifest.auth.scopes;
    let with_credentials = provider.takes_password || provider.takes_token;
    let of_surfaces = provider.scopes();
    let can_have =
        |scope: &&str| of_surfaces.contains(scope) && (with_credentials || mapped.contains_key(*scope));
    ACCOUNT_SCOPES.into_iter().filter(can_have).map(str::to_owned).collect()
}

/// The JSON Schema of the settings that users give.
fn settings(provider: &AccountProvider) -> Map<String, Value> {
    let manifest = &provider.connector.manifest;
    let given: Vec<&Setting> =
        provider.settings().filter(|setting| !is_mail_server(manifest, setting)).collect();
    let mut schema = object(manifest, &given);
    schema.insert("$schema".to_owned(), json!(DIALECT));
    schema
}

/// The JSON Schema of the credentials that users give; none where there is OAuth alone.
fn credentials(provider: &AccountProvider) -> Option<Map<String, Value>> {
    let manifest = &provider.connector.manifest;
    let servers: Vec<&Setting> =
        provider.settings().filter(|setting| is_mail_server(manifest, setting)).collect();
    let mut forms = Vec::new();
    if provider.takes_password {
        let own = [required("username", username()), required("password", secret("The password."))];
        forms.push(with_fields(object(manifest, &servers), own));
    }
    if provider.takes_token {
        let expires_at = json!({
            "type": ["string", "null"], "format": "date-time",
            "description": "The time at which the access token expires. Null: unknown.",
        });
        let own = [
            required("accessToken", secret("An access token.")),
            optional("expiresAt", expires_at),
            optional("username", username()),
        ];
        forms.push(with_fields(object(manifest, &servers), own));
    }
    let mut schema = match forms.len() {
        0 => return None,
        1 => forms.remove(0),
        _ => Map::from_iter([("oneOf".to_owned(), json!(forms))]),
    };
    schema.insert("$schema".to_owned(), json!(DIALECT));
    Some(schema)
}

/// Whether a setting is a server that is given with the credentials.
fn is_mail_server(manifest: &Manifest, setting: &Setting) -> bool {
    manifest.servers_from_settings.contains(&setting.name) && MAIL_SERVERS.contains(&setting.name.as_str())
}

fn username() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": MAX_USERNAME, "pattern": "^[^:]+$",
        "description": "The user name, without a colon.",
    })
}

fn secret(description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": MAX_SECRET, "writeOnly": true, "description": description,
    })
}

/// The schema of an object that has these settings and nothing else.
fn object(manifest: &Manifest, given: &[&Setting]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        given.iter().map(|setting| (setting.name.clone(), property(manifest, setting))).collect();
    let required: Vec<&str> =
        given.iter().filter(|setting| setting.required).map(|setting| setting.name.as_str()).collect();
    let members = [
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", json!(required)),
        ("additionalProperties", json!(false)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A field of credentials.
struct CredentialField {
    name: &'static str,
    schema: Value,
    is_required: bool,
}

fn required(name: &'static str, schema: Value) -> CredentialField {
    CredentialField { name, schema, is_required: true }
}

fn optional(name: &'static str, schema: Value) -> CredentialField {
    CredentialField { name, schema, is_required: false }
}

/// Adds fields to the schema of an object.
fn with_fields<const N: usize>(
    mut object: Map<String, Value>,
    fields: [CredentialField; N],
) -> Map<String, Value> {
    for CredentialField { name, schema, is_required } in fields {
        if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(name.to_owned(), schema);
        }
        let names = object.get_mut("required").and_then(Value::as_array_mut);
        if let Some(names) = names.filter(|_| is_required) {
            names.push(json!(name));
        }
    }
    object
}

/// The schema of a setting. The manifest states a type for servers and their addresses alone.
fn property(manifest: &Manifest, setting: &Setting) -> Value {
    let mut schema = if manifest.servers_from_settings.contains(&setting.name) {
        json!({
            "type": "object",
            "properties": {
                "host": { "type": "string", "minLength": 1, "description": "The host name, without scheme and port." },
                "port": { "type": "integer", "minimum": 1, "maximum": 65_535, "description": "The TCP port." },
                "tls": {
                    "enum": ["implicit", "starttls", "none", null], "default": "implicit",
                    "description": "The encryption of the connection.",
                },
            },
            "required": ["host", "port"],
            "additionalProperties": false,
        })
    } else if manifest.hosts_from_settings.contains(&setting.name) {
        json!({ "type": "string", "format": "uri", "maxLength": MAX_SETTING })
    } else {
        json!({})
    };
    schema["description"] = json!(setting.description);
    if let Some(default) = &setting.default {
        schema["default"] = default.clone();
    }
    schema
}

fn sandbox_guide() -> SandboxGuide {
    let address = |notable: &NotableAddress| SandboxAddress {
        email: notable.email(),
        description: notable.description.to_owned(),
    };
    SandboxGuide {
        password: sandbox_provider::PASSWORD.to_owned(),
        accounts: ACCOUNTS.iter().map(address).collect(),
        special_addresses: SPECIAL_ADDRESSES.iter().map(address).collect(),
    }
}
