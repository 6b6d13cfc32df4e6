//! Connecting accounts by OAuth, with the sandbox provider's authorization server in the place of a real one.

mod admin_consent;
mod answers;
mod apps;
mod attacks;
mod gmail_imap;
mod operator;
mod pending;
mod process;
mod refresh;
mod round_trip;
mod token;

use base::ids::Kind;
use base::tenant::Tenant;
use harness::browser::{Browser, Consent, Page, parameter};
use harness::{Actor, Exchange, TestServer, bundle};
use serde_json::{Map, Value, json};
use storage::oauth_clients::OAuthClient;
use storage::{api_keys, oauth_clients};
use tempfile::TempDir;

/// The registered address to which users of the tests' application return.
const REDIRECT: &str = "https://app.example.test/cb";

const AUTHORIZE: &str = "/v1/auth/connectors/sandbox/authorize";

/// The `state` that the tests' application sends along and expects back.
const STATE: &str = "of-this-session";

/// A service, a client of an application that has `REDIRECT`, and a user's browser.
struct Flow {
    server: TestServer,
    api: Actor,
    browser: Browser,
}

impl Flow {
    async fn start() -> Flow {
        // A table of attacks makes more requests without a key than one address usually may.
        Flow::on(TestServer::builder().config(|c| c.anonymous_per_minute = 100_000).start().await).await
    }

    async fn on(server: TestServer) -> Flow {
        let api = server.client().await;
        register(&server, &api, REDIRECT).await;
        Flow { server, api, browser: Browser::default() }
    }

    /// Asks for an authorization of the sandbox provider; `change` overrides fields of a valid request.
    async fn authorize(&self, change: Value) -> Exchange {
        self.authorize_as(&self.api, change).await
    }

    /// `allow_duplicate` is a parameter of the query, and no field.
    async fn authorize_as(&self, api: &Actor, mut change: Value) -> Exchange {
        let fields = change.as_object_mut().expect("an object");
        let path = match fields.remove("allow_duplicate") {
            Some(value) => format!("{AUTHORIZE}?allow_duplicate={value}"),
            None => AUTHORIZE.to_owned(),
        };
        api.post(path, request(change)).send().await
    }

    /// An authorization that `account` was sent through: the address of the callback to which the provider sends the browser back.
    async fn returned(&self, change: Value, account: &str, consent: Consent<'_>) -> String {
        let authorization = self.authorize(change).await.expect(201);
        let url = authorization["authorizationUrl"].as_str().expect("a URL");
        self.browser.consent(url, account, consent).await
    }

    /// Connects an account; the connection's id.
    async fn connect(&self, change: Value, account: &str) -> String {
        let page = self.browser.open(&self.returned(change, account, Consent::Allow).await).await;
        let location = page.location();
        assert_eq!(parameter(&location, "status").as_deref(), Some("active"), "{page:#?}");
        parameter(&location, "connection_id").expect("a connection")
    }

    async fn connection(&self, id: &str) -> Value {
        self.api.get(format!("/v1/connections/{id}")).send().await.expect(200)
    }

    async fn count_connections(&self) -> usize {
        self.api.all("/v1/connections").await.len()
    }

    /// The path and the query of an address of this service.
    fn path<'a>(&self, url: &'a str) -> &'a str {
        url.strip_prefix(&format!("http://{}", self.server.address)).expect("an address of the service")
    }
}

/// Returns a request for an authorization, with the fields of `change`; null removes a field.
fn request(change: Value) -> Value {
    let mut body =
        json!({ "scopes": ["email.read", "calendar.read"], "redirectUri": REDIRECT, "state": STATE });
    for (name, value) in change.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    body
}

/// The tenant that an actor's key belongs to.
pub async fn tenant(server: &TestServer, api: &Actor) -> Tenant {
    let hash = server.app.keyring.api_key_hash(api.key.as_deref().expect("a key"));
    let key = api_keys::by_hash(server.app.db.reader(), &hash).await.expect("the store answers");
    key.expect("the key exists").tenant
}

/// Registers an address to which users of the actor's application may return; what `switchboard apps redirects` does.
pub async fn register(server: &TestServer, api: &Actor, uri: &'static str) {
    let (tenant, now) = (tenant(server, api).await, server.app.now());
    let write = server
        .app
        .db
        .write(move |tx| Box::pin(async move { oauth_clients::add_redirect(tx, &tenant, uri, now).await }));
    write.await.expect("the redirect is registered");
}

/// Writes the registration of a provider for the actor's application, as `switchboard apps provider set` does: the stored one, or a new one
/// of the sandbox provider's public client, with `change`. A host that has called the provider follows a second later.
pub async fn register_client(
    server: &TestServer,
    api: &Actor,
    provider: &str,
    change: impl FnOnce(&mut OAuthClient),
) {
    let (app, tenant, now) = (&server.app, tenant(server, api).await, server.app.now());
    let found = oauth_clients::find(app.db.reader(), &tenant, provider).await.expect("the store answers");
    let is_new = found.is_none();
    let new = || OAuthClient {
        id: app.new_id(Kind::OAuthClient),
        tenant,
        provider: provider.to_owned(),
        client_id: "switchboard".to_owned(),
        client_secret: None,
        client_auth: None,
        settings: Map::new(),
        endpoints: Map::new(),
        scopes: Map::new(),
        version: 1,
        disabled_at: None,
        created_at: now,
        updated_at: now,
    };
    let mut client = found.unwrap_or_else(new);
    change(&mut client);
    let write = app.db.write(move |tx| {
        Box::pin(async move {
            match is_new {
                true => oauth_clients::insert(tx, &client).await,
                false => oauth_clients::update(tx, &client).await,
            }
        })
    });
    let written: anyhow::Result<bool> = write.await;
    assert!(written.expect("the provider is registered"), "another test changed it meanwhile");
}

/// Puts a server in the place of an origin of the provider's, as `--origin` does.
pub fn replace_origin(client: &mut OAuthClient, origin: &str, server: &str) {
    let origins = client.endpoints.entry("origins").or_insert_with(|| json!({}));
    origins[origin] = json!(server);
}

/// A folder of connectors with one: the sandbox's component under `name`, its manifest changed by `edit`.
pub fn connector(name: &str, edit: impl FnOnce(String) -> String) -> TempDir {
    let from = bundle().join("sandbox");
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join(name);
    std::fs::create_dir(&to).expect("a folder");
    let manifest =
        std::fs::read_to_string(from.join("connector.toml")).expect("`cargo xtask connectors` was run");
    let manifest = manifest.replacen("name = \"sandbox\"", &format!("name = \"{name}\""), 1);
    std::fs::write(to.join("connector.toml"), edit(manifest)).expect("written");
    std::fs::copy(from.join("sandbox.wasm"), to.join(format!("{name}.wasm"))).expect("copied");
    dir
}

/// A redirect to the application with this error, and nothing of the request but the client's `state`.
#[track_caller]
fn assert_error(page: &Page, error: &str) {
    assert_eq!(page.status, 302, "{page:#?}");
    let location = page.location();
    assert!(location.starts_with(&format!("{REDIRECT}?")), "{page:#?}");
    assert_eq!(parameter(&location, "error").as_deref(), Some(error), "{page:#?}");
    assert_eq!(parameter(&location, "state").as_deref(), Some(STATE), "{page:#?}");
    assert!(parameter(&location, "error_description").is_some_and(|text| !text.is_empty()), "{page:#?}");
    assert!(parameter(&location, "connection_id").is_none(), "{page:#?}");
}

/// The service's own page for a return that leads nowhere.
#[track_caller]
fn assert_page(page: &Page, status: u16) {
    assert_eq!(page.status, status, "{page:#?}");
    assert!(page.header("content-type").starts_with("text/html"), "{page:#?}");
    assert!(page.text.contains("req_") && !page.text.contains("<script"), "{page:#?}");
}
