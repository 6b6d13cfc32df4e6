//! The API key and the connection of `connector dev`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use authoring::{AccountLogin, Fault, Project};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use base::ids::Kind;
use runtime::{Manifest, ProviderRedirect};
use serde_json::{Map, Value, json};
use service::app::App;
use service::connections::GRANTABLE;
use service::manage::keys::unsaved;
use service::manage::providers::inputs::Setting;
use storage::api_keys;
use tower::ServiceExt;

use crate::cli::connector::dev::operator_settings::OperatorSettings;
use crate::cli::connector::test::settings;

/// The account at Paper.
const PAPER_TOKEN: &str = "paper-alice";
/// The setting with the address of a user's own server.
const SERVER: &str = "serverUrl";
/// The application of the key.
const NAMES: (&str, &str) = ("default", "connector dev");
/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The path of a first request for each surface.
const PATHS: [(&str, &str); 4] = [
    ("tasks", "/v1/task-lists"),
    ("calendar", "/v1/calendars"),
    ("contacts", "/v1/contact-books"),
    ("email", "/v1/email/messages"),
];

/// An account at the provider, and its credentials and settings.
pub struct DevAccount {
    provider: String,
    surfaces: Vec<String>,
    settings: Map<String, Value>,
    operator: OperatorSettings,
    login: AccountLogin,
    /// Names of the settings that users give.
    setting_names: Vec<String>,
    /// Whether the manifest names hosts, which are redirected to the provider.
    has_hosts: bool,
}

impl DevAccount {
    /// `given`: values of the operator's settings, from the command line.
    pub fn from_project(project: &Project, given: &[Setting]) -> Result<DevAccount> {
        let path = project.folder.join("connector.toml");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest = Manifest::parse(&text)?;
        let surfaces = manifest.surfaces.iter().map(|version| version.surface.to_string()).collect();
        let of_users = manifest.settings.iter().filter(|setting| !setting.operator);
        let setting_names = of_users.map(|setting| setting.name.clone()).collect();
        let mut settings = settings(project)?;
        let operator = OperatorSettings::take(&manifest, &mut settings, given)?;
        let login = match &project.provider {
            authoring::Provider::BuiltIn(_) => AccountLogin::Token(PAPER_TOKEN.to_owned()),
            authoring::Provider::Local(local) => local.login()?,
        };
        Ok(DevAccount {
            provider: project.name.clone(),
            surfaces,
            settings,
            operator,
            login,
            setting_names,
            has_hosts: !manifest.hosts.is_empty(),
        })
    }

    /// Sets the provider's address, unless the project sets it.
    pub fn has_server(&mut self, url: &str) {
        if self.setting_names.iter().any(|name| name == SERVER) {
            self.settings.entry(SERVER).or_insert_with(|| json!(url));
        }
        self.operator.set_default(SERVER, url);
    }

    /// Registers the values of the operator's settings for the application of this key.
    pub async fn register(&self, app: &App, key: &str) -> Result<()> {
        self.operator.register(app, key, &self.provider).await
    }

    /// Redirects requests to the hosts of the manifest to the provider at this address; none if the manifest names no hosts.
    pub fn redirect_to(&self, url: &str) -> Result<Option<ProviderRedirect>, Fault> {
        if !self.has_hosts {
            return Ok(None);
        }
        ProviderRedirect::new(&self.provider, url).map(Some).map_err(|why| {
            let said = format!("provider.url of project.toml is \"{url}\": {why}");
            Fault::new(said, "write url = \"http://127.0.0.1:9000\", or an https URL")
        })
    }

    /// The path of a first request.
    pub fn path(&self) -> &'static str {
        let of_surface = PATHS.iter().find(|(surface, _)| self.surfaces.iter().any(|s| s == surface));
        of_surface.map_or("/v1/connections", |(_, path)| path)
    }

    /// The id of the account's connection, existing or new; or the API's error.
    pub async fn connect(&self, service: &Router, key: &str) -> Result<Result<String, String>> {
        let list = Request::get(format!("/v1/connections?provider={}", self.provider)).body(Body::empty())?;
        let (_, listed) = call(service, key, list).await?;
        let is_this = |connection: &&Value| {
            connection["status"] == "active"
                && self.settings.iter().all(|(name, value)| connection["settings"][name] == *value)
        };
        let (known, others): (Vec<_>, Vec<_>) =
            listed["data"].as_array().into_iter().flatten().partition(is_this);
        if let Some(id) = known.first().and_then(|connection| connection["id"].as_str()) {
            return Ok(Ok(id.to_owned()));
        }
        // Their provider had another address, and is no longer there.
        for id in others.iter().filter_map(|connection| connection["id"].as_str()) {
            let delete = Request::delete(format!("/v1/connections/{id}")).body(Body::empty())?;
            call(service, key, delete).await?;
        }
        let scopes: Vec<&str> = GRANTABLE.into_iter().filter(|scope| self.has(scope)).collect();
        let credentials = match &self.login {
            AccountLogin::Token(token) => json!({ "accessToken": token }),
            AccountLogin::Password { username, password } => {
                json!({ "username": username, "password": password })
            }
        };
        let new = json!({ "provider": self.provider, "scopes": scopes, "settings": self.settings,
            "credentials": credentials });
        let request = Request::post("/v1/connections").header(header::CONTENT_TYPE, "application/json");
        let (status, made) = call(service, key, request.body(Body::from(new.to_string()))?).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(match status {
            201 => Ok(text(&made["id"])),
            _ => Err(format!("{}: {}", text(&made["error"]["code"]), text(&made["error"]["message"]))),
        })
    }

    fn has(&self, scope: &str) -> bool {
        self.surfaces.iter().any(|surface| scope.split('.').next() == Some(surface))
    }
}

async fn call(service: &Router, key: &str, mut request: Request<Body>) -> Result<(u16, Value)> {
    request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {key}").parse()?);
    let answer = service.clone().oneshot(request).await?;
    let status = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), MAX_ANSWER_BYTES).await?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

/// The key in the project's `.switchboard/key`, created the first time, so that it stays the same across starts.
pub async fn key(app: &App, project: &Project) -> Result<String> {
    let path = project.folder.join(".switchboard/key");
    if let Some(key) = find_key(app, &path).await? {
        return Ok(key);
    }
    let new = app.keyring.new_api_key();
    let mut key = unsaved(&app.clock, &app.entropy, &new, NAMES.1.to_owned());
    key.scopes = base::scopes::ALL.map(str::to_owned).to_vec();
    let (hash, now) = (new.hash.clone(), app.now());
    let ids = (app.new_id(Kind::Organization), app.new_id(Kind::Application));
    let written: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                key.tenant = api_keys::ensure_application(tx, NAMES, (&ids.0, &ids.1), now).await?;
                api_keys::insert(tx, &key, &hash).await
            })
        })
        .await;
    written?;
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| file.write_all(new.key.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(new.key.to_string())
}

async fn find_key(app: &App, path: &PathBuf) -> Result<Option<String>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let found = api_keys::by_hash(app.db.reader(), &app.keyring.api_key_hash(&text)).await?;
    Ok(found.filter(|key| key.revoked_at.is_none()).map(|_| text))
}
