//! A request for a page of the panel: its sender, its subject, and its input.

use std::collections::HashMap;

use axum::Router;
use base::error::{Code, Result, not_found, refuse};
use base::tenant::Tenant;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use service::app::App;
use service::locale::Language;
use service::locale::html::Html;
use service::manage::actor::{Act, Actor};
use service::manage::operators::sessions::{Session, SignInOrigin};
use storage::api_keys::Application;
use storage::organizations::Organization;

use crate::admin::form_token::{self, TOKEN};
use crate::admin::parts::amounts;
use crate::admin::parts::field::hidden;
use crate::admin::parts::moment::{self, TimeFormat};
use crate::admin::parts::pager::ListPager;
use crate::admin::received_files::ReceivedFiles;
use crate::admin::scheme::BrowserScheme;
use crate::admin::texts::PanelTexts;
use crate::admin::view::FlashCode;

use crate::web::cursor::Binding;
use crate::web::form::FormFields;

/// A request for a page of the panel.
pub struct Visit {
    pub app: App,
    pub request_id: String,
    pub origin: SignInOrigin,
    /// How the browser reaches the panel.
    pub scheme: BrowserScheme,
    /// The path below `/admin/`, without the query; empty for the start page.
    pub path: String,
    /// The relative path from the request's address to `/admin/`.
    pub up: String,
    pub params: HashMap<String, String>,
    pub query: FormFields,
    /// The fields of the form; empty for a GET.
    pub fields: FormFields,
    /// Whether the browser reports that a page of the panel sent it.
    pub is_own_form: bool,
    pub form: Option<SentForm>,
    /// The files of a form with files.
    pub files: Option<ReceivedFiles>,
    /// A request for server-sent events, if it is one.
    pub live: Option<LiveRequest>,
    pub texts: &'static PanelTexts,
    pub language: Language,
    pub time: TimeFormat,
    /// `light` or `dark`, if the reader chose one.
    pub theme: Option<&'static str>,
    pub signed: Option<SignedIn>,
    /// The cookie that forms are bound to.
    pub cookie: String,
    /// A new cookie for forms, which the browser gets with this page.
    pub form_cookie: Option<String>,
    /// The browser's own cookies beside that.
    pub half_session: Option<String>,
    pub device: Option<String>,
    pub provider_cookie: Option<String>,
    pub place: PanelPlace,
    /// The notice that the previous page left.
    pub flash: Option<FlashCode>,
    /// The sandbox provider that this process serves.
    pub sandbox: Option<Router>,
}

/// A signed-in operator.
pub struct SignedIn {
    pub actor: Actor,
    pub session: Session,
}

/// A request for server-sent events.
pub struct LiveRequest {
    /// The id of the last event that the browser received.
    pub last_id: Option<i64>,
}

impl LiveRequest {
    /// Returns the request for server-sent events in these headers; none for other requests (WHATWG HTML, section 9.2.4), and for another
    /// site's: it could read nothing, and would use up the operator's own streams.
    pub fn from_headers(headers: &HeaderMap) -> Option<LiveRequest> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_own = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
        let is_live = is_own && text("accept").is_some_and(|accept| accept.contains("text/event-stream"));
        let last_id = text("last-event-id").and_then(|id| id.parse().ok());
        is_live.then_some(LiveRequest { last_id })
    }
}

/// A received form with a valid token.
pub struct SentForm {
    /// The random part of its token.
    pub nonce: String,
    /// The fingerprint of its body.
    pub fingerprint: String,
}

/// The subject of a page.
pub enum PanelPlace {
    /// No organization.
    Nowhere,
    Organization(Organization),
    Application(Application),
    /// The installation.
    System,
}

impl Visit {
    /// Whether the browser uses TLS: then cookies are restricted to TLS.
    pub fn is_secure(&self) -> bool {
        self.scheme == BrowserScheme::Https
    }

    /// Returns the URL of a page, given its path below `/admin/`, relative to this page, so that it works behind any proxy path.
    pub fn link(&self, path: &str) -> String {
        match (self.up.as_str(), path) {
            ("", "") => "./".to_owned(),
            (up, path) => format!("{up}{path}"),
        }
    }

    /// Returns a path parameter; empty if the route has none of this name.
    pub fn param(&self, name: &str) -> &str {
        self.params.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the signed-in operator.
    ///
    /// # Errors
    /// `not_found` on a route that needs no sign-in.
    pub fn actor(&self) -> Result<&Actor> {
        self.signed.as_ref().map(|signed| &signed.actor).ok_or_else(|| not_found("page"))
    }

    /// Returns the session of the signed-in operator.
    ///
    /// # Errors
    /// As `actor`.
    pub fn session(&self) -> Result<&Session> {
        self.signed.as_ref().map(|signed| &signed.session).ok_or_else(|| not_found("page"))
    }

    /// Returns the organization that the page is about.
    ///
    /// # Errors
    /// `not_found` on a page without an organization.
    pub fn organization(&self) -> Result<&Organization> {
        match &self.place {
            PanelPlace::Organization(organization) => Ok(organization),
            _ => Err(not_found("organization")),
        }
    }

    /// Returns the application that the page is about.
    ///
    /// # Errors
    /// `not_found` on a page without an application.
    pub fn application(&self) -> Result<&Application> {
        match &self.place {
            PanelPlace::Application(application) => Ok(application),
            _ => Err(not_found("application")),
        }
    }

    /// Returns the tenant of the application that the page is about.
    ///
    /// # Errors
    /// As `application`.
    pub fn tenant(&self) -> Result<&Tenant> {
        Ok(&self.application()?.tenant)
    }

    /// Whether the reader may do this here.
    pub fn may(&self, act: Act) -> bool {
        let organization_id = match &self.place {
            PanelPlace::Organization(organization) => organization.id.as_str(),
            PanelPlace::Application(application) => application.tenant.organization_id.as_str(),
            PanelPlace::Nowhere | PanelPlace::System => "",
        };
        self.signed.as_ref().is_some_and(|signed| signed.actor.may(act, organization_id))
    }

    /// Creates a token for a form of this page.
    pub fn token(&self) -> String {
        form_token::new_token(&self.app, &self.cookie)
    }

    /// Begins a form that posts to a page, given its path below `/admin/`. The caller ends it with `</form>`.
    pub fn open_form(&self, html: &mut Html, path: &str) {
        html.raw("<form class=\"form stack\" method=\"post\" action=\"").text(&self.link(path)).raw("\">");
        hidden(html, TOKEN, &self.token());
    }

    /// Adds a form with a single button.
    pub fn button_form(&self, html: &mut Html, path: &str, class: &'static str, word: &str) {
        html.raw("<form method=\"post\" action=\"").text(&self.link(path)).raw("\">");
        hidden(html, TOKEN, &self.token());
        html.raw("<button class=\"").raw(class).raw("\">").text(word).raw("</button></form>");
    }

    /// Adds a moment as people say it.
    pub fn moment(&self, html: &mut Html, at_ms: i64) {
        moment::moment(html, self.texts.frame, &self.time, at_ms);
    }

    /// Formats a number in the reader's language.
    pub fn amount(&self, amount: i64) -> String {
        amounts::grouped(amount, self.language)
    }

    /// Formats a number of bytes in the largest unit that fits.
    pub fn bytes(&self, bytes: i64) -> String {
        amounts::bytes_text(bytes, self.language)
    }

    /// Formats a part of a whole as a percentage.
    pub fn share(&self, part: i64, whole: i64) -> String {
        amounts::share_text(part, whole, self.language)
    }

    /// A moment as people say it, or the word for none.
    pub fn moment_or_never(&self, at_ms: Option<i64>) -> Html {
        let mut html = Html::default();
        match at_ms {
            Some(at_ms) => self.moment(&mut html, at_ms),
            None => {
                html.text(self.texts.frame.never);
            }
        }
        html
    }

    /// Returns the received form.
    ///
    /// # Errors
    /// `invalid_request` for a request without a form.
    pub fn form(&self) -> Result<&SentForm> {
        self.form.as_ref().ok_or_else(|| refuse(Code::InvalidRequest, "the request has no form"))
    }
}

impl Visit {
    /// Returns the binding of the cursors of a list: to the list, its subject, and its reader.
    pub fn binding(&self, list: &'static str, about: &str) -> Binding {
        let panel = Tenant { organization_id: String::new(), application_id: "panel".to_owned() };
        let reader = self.signed.as_ref().map_or("", |signed| signed.actor.id.as_str());
        Binding::new(&panel, list, &(about, reader))
    }

    /// Returns the position after which a page of a list begins; none for the first page.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub fn list_place<P: DeserializeOwned>(&self, binding: &Binding) -> Result<Option<P>> {
        let cursor = Some(self.query.first("cursor")).filter(|cursor| !cursor.is_empty());
        binding.place(&self.app.keyring, cursor)
    }

    /// Adds the links to the previous and the next page of a list. `path` is the list's own path, with its filters; `next` is the cursor of
    /// the next page.
    pub fn add_pager(&self, html: &mut Html, path: &str, next: Option<&str>) {
        let (cursor, trail) = (self.query.first("cursor"), self.query.first("trail"));
        ListPager { path, cursor, trail, next }.add_to(html, self.texts.frame);
    }
}

/// Splits a path of the panel into the relative path up to `/admin/`, and the path below it.
pub fn up_and_path(path: &str) -> (String, String) {
    match path.strip_prefix("/admin/") {
        Some(below) => ("../".repeat(below.matches('/').count()), below.to_owned()),
        None => ("admin/".to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::up_and_path;

    #[test]
    fn a_page_finds_the_others_wherever_it_is() {
        for (path, up, below) in [
            ("/admin", "admin/", ""),
            ("/admin/", "", ""),
            ("/admin/account", "", "account"),
            ("/admin/apps/app_1/keys", "../../", "apps/app_1/keys"),
        ] {
            assert_eq!(up_and_path(path), (up.to_owned(), below.to_owned()), "{path}");
        }
    }
}
