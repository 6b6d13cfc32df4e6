//! A user of the administration panel: opens pages and sends forms with their tokens, like a browser without scripts.

use std::net::IpAddr;

use anyhow::Result;
use base::ids::Kind;
use base::tenant::Tenant;
use service::app::App;
use service::manage::actor::Role;
use service::manage::operators::address::address_key;
use service::manage::operators::links::FIRST_OPERATOR;
use service::manage::operators::sessions::{self, SignInOrigin};
use storage::operators::{self, Operator, OperatorRole};
use storage::{api_keys, installation};

use crate::Actor;
use crate::Ask;
use crate::Exchange;
use crate::TestServer;
use crate::http_client;

/// The name of the field that holds a form's token.
const TOKEN: &str = "name=\"token\" value=\"";

/// The stored form of an unknown password: operators of tests have one, but are already signed in.
const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The boundary of forms with files.
const BOUNDARY: &str = "----a-form-of-a-test";

/// A browser at the panel, with its cookies.
#[derive(Clone)]
pub struct PanelUser {
    browser: Actor,
    /// The value of the header `cookie`; empty before the first page.
    pub cookies: String,
    /// The operator's id and address; empty without a session.
    pub id: String,
    pub email: String,
}

impl TestServer {
    /// Creates a signed-in operator: with a role in the organization of the application "test", or, without a role, an admin of the
    /// installation.
    pub async fn operator(&self, role: Option<Role>) -> PanelUser {
        let name = role.map_or("admin", Role::as_str);
        let id = self.app.new_id(Kind::Operator);
        let email = format!("{name}.{}@example.test", id.to_lowercase());
        let tenant = self.test_application().await;
        let cookie = sign_in(&self.app, new_operator(&self.app, &id, &email, role), tenant, role).await;
        let cookie = cookie.expect("the operator is stored");
        let is_secure = self.app.config.admin_address().starts_with("https://");
        let prefix = if is_secure { "__Host-" } else { "" };
        PanelUser { cookies: format!("{prefix}sb_session={cookie}"), id, email, ..self.visitor() }
    }

    /// Creates a browser at the panel without a session.
    pub fn visitor(&self) -> PanelUser {
        let http = http_client().redirect(reqwest::redirect::Policy::none()).build();
        let address = self.panel_address.unwrap_or(self.address);
        let anonymous = self.anonymous();
        // A panel with a separate address belongs to the first host.
        let pair = anonymous.pair.clone().filter(|_| self.panel_address.is_none());
        let undeclared = self.declared.answers.clone();
        let browser = Actor { http: http.expect("an HTTP client"), address, pair, key: None, undeclared };
        PanelUser { browser, cookies: String::new(), id: String::new(), email: String::new() }
    }

    /// Returns the tenant of the application "test", which is created if missing.
    pub async fn test_application(&self) -> Tenant {
        let app = &self.app;
        let ids = (app.new_id(Kind::Organization), app.new_id(Kind::Application));
        let now = app.now();
        let made: Result<Tenant> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    api_keys::ensure_application(tx, ("tests", "test"), (&ids.0, &ids.1), now).await
                })
            })
            .await;
        made.expect("the application is stored")
    }
}

fn new_operator(app: &App, id: &str, email: &str, role: Option<Role>) -> Operator {
    Operator {
        id: id.to_owned(),
        email: email.to_owned(),
        email_key: address_key(email),
        name: role.map_or("Ada Admin", |_| "Grace Member").to_owned(),
        is_admin: role.is_none(),
        password_hash: Some(NO_PASSWORD.to_owned()),
        totp_secret: None,
        totp_step: 0,
        recovery: Vec::new(),
        language: None,
        time_zone: None,
        theme: None,
        sessions_from: 0,
        last_sign_in_at: None,
        last_sign_in_ip: None,
        disabled_at: None,
        created_at: app.now(),
        updated_at: app.now(),
    }
}

/// Stores an operator with a session that begins now; returns the session's cookie.
async fn sign_in(app: &App, operator: Operator, tenant: Tenant, role: Option<Role>) -> Result<String> {
    let from = SignInOrigin { ip: IpAddr::from([127, 0, 0, 1]), user_agent: "a test".to_owned() };
    let session = sessions::start(app, &operator.id, "password", &from);
    let (row, now) = (session.row, app.now());
    let written: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                installation::settle(tx, FIRST_OPERATOR, &operator.id).await?;
                operators::insert(tx, &operator).await?;
                if let Some(role) = role {
                    let role = OperatorRole {
                        operator_id: operator.id.clone(),
                        organization_id: tenant.organization_id,
                        role: role.as_str().to_owned(),
                    };
                    operators::set_role(tx, &role, now).await?;
                }
                sessions::write(tx, &row).await
            })
        })
        .await;
    written?;
    Ok(session.new.cookie)
}

impl PanelUser {
    /// Requests a page.
    pub fn get(&self, path: impl Into<String>) -> Ask {
        self.browser.get(path).header("cookie", &self.cookies)
    }

    /// Sends a form with this token.
    pub fn post(&self, path: impl Into<String>, token: &str, fields: &[(&str, &str)]) -> Ask {
        let all = [("token", token)].into_iter().chain(fields.iter().copied());
        let encoded = reqwest::Url::parse_with_params("http://form.test/", all).expect("a query");
        let body = encoded.query().unwrap_or_default().to_owned();
        let ask = self.browser.ask(reqwest::Method::POST, path.into(), None);
        ask.header("cookie", &self.cookies).raw("application/x-www-form-urlencoded", body)
    }

    /// Sends a form with files, given by field name, with this token.
    pub fn upload(&self, path: impl Into<String>, token: &str, files: &[(&str, &[u8])]) -> Ask {
        let begin = |name: &str, rest: &str| {
            format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"{rest}\r\n\r\n")
                .into_bytes()
        };
        let mut body = begin("token", "");
        body.extend_from_slice(token.as_bytes());
        for (name, content) in files {
            body.extend_from_slice(b"\r\n");
            // Browsers send the file's name on the user's machine, which the panel must not trust.
            body.extend_from_slice(&begin(name, "; filename=\"../../x\""));
            body.extend_from_slice(content);
        }
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let ask = self.browser.ask(reqwest::Method::POST, path.into(), None);
        ask.header("cookie", &self.cookies).raw(&format!("multipart/form-data; boundary={BOUNDARY}"), body)
    }

    /// Opens a page and posts a form to `path` with the page's token and cookies. Keeps the cookies of both responses.
    pub async fn submit(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Exchange {
        let shown = self.get(page).send().await;
        assert_eq!(shown.status, 200, "{shown}");
        self.take_cookies(&shown);
        let token = form_token(&shown.text).to_owned();
        let answer = self.post(path, &token, fields).send().await;
        self.take_cookies(&answer);
        answer
    }

    /// Stores the cookies of a response, replacing those of the same name.
    pub fn take_cookies(&mut self, answer: &Exchange) {
        let mut kept: Vec<String> =
            self.cookies.split("; ").filter(|cookie| !cookie.is_empty()).map(str::to_owned).collect();
        for set in answer.headers.get_all("set-cookie") {
            let set = set.to_str().expect("a text");
            let cookie = set.split(';').next().unwrap_or_default().trim();
            let (name, value) = cookie.split_once('=').expect("a name and a value");
            kept.retain(|kept| kept.split('=').next() != Some(name));
            if !value.is_empty() && !set.to_ascii_lowercase().contains("max-age=0") {
                kept.push(cookie.to_owned());
            }
        }
        self.cookies = kept.join("; ");
    }
}

/// Returns the token of the first form of a page.
#[track_caller]
pub fn form_token(html: &str) -> &str {
    let (_, rest) = html.split_once(TOKEN).unwrap_or_else(|| panic!("the page has no form: {html}"));
    rest.split('"').next().unwrap_or_default()
}
