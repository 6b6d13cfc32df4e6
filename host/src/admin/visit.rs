//! A request for a page: who sends it, what it is about, and what came with it.

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
    /// The fields of the form; none of a GET.
    pub fields: FormFields,
    /// The browser says that a page of the panel sent it.
    pub is_own_form: bool,
    pub form: Option<SentForm>,
    /// The files of a form that has some.
    pub files: Option<ReceivedFiles>,
    /// The browser asks for server-sent events.
    pub live: Option<LiveRequest>,
    pub texts: &'static PanelTexts,
    pub language: Language,
    pub time: TimeFormat,
    /// `light` or `dark`, where the reader chose one.
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
    /// The notice that the page before left.
    pub flash: Option<FlashCode>,
    /// The sandbox provider that this process plays.
    pub sandbox: Option<Router>,
}

/// An operator who is signed in.
pub struct SignedIn {
    pub actor: Actor,
    pub session: Session,
}

/// A request for server-sent events.
pub struct LiveRequest {
    /// The id of the last event that the browser received before.
    pub last_id: Option<i64>,
}

impl LiveRequest {
    /// The request of these headers; none where they ask for something else (WHATWG HTML, section 9.2.4), and where another site asks: it could
    /// read nothing, and would take the room of the operator's own lists.
    pub fn from_headers(headers: &HeaderMap) -> Option<LiveRequest> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_own = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
        let is_live = is_own && text("accept").is_some_and(|accept| accept.contains("text/event-stream"));
        let last_id = text("last-event-id").and_then(|id| id.parse().ok());
        is_live.then_some(LiveRequest { last_id })
    }
}

/// A form that came with a good token.
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
    /// Whether the browser came by TLS: cookies are for TLS alone then.
    pub fn is_secure(&self) -> bool {
        self.scheme == BrowserScheme::Https
    }

    /// The address of a page by its path below `/admin/`, relative to this one, wherever a proxy put it.
    pub fn link(&self, path: &str) -> String {
        match (self.up.as_str(), path) {
            ("", "") => "./".to_owned(),
            (up, path) => format!("{up}{path}"),
        }
    }

    /// A part of the path; empty where the route has none of this name.
    pub fn param(&self, name: &str) -> &str {
        self.params.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The operator who is signed in.
    ///
    /// # Errors
    /// `not_found` on a route that anybody may open.
    pub fn actor(&self) -> Result<&Actor> {
        self.signed.as_ref().map(|signed| &signed.actor).ok_or_else(|| not_found("page"))
    }

    /// The session of who is signed in.
    ///
    /// # Errors
    /// As `actor`.
    pub fn session(&self) -> Result<&Session> {
        self.signed.as_ref().map(|signed| &signed.session).ok_or_else(|| not_found("page"))
    }

    /// The organization that the page is about.
    ///
    /// # Errors
    /// `not_found` on a page that is about none.
    pub fn organization(&self) -> Result<&Organization> {
        match &self.place {
            PanelPlace::Organization(organization) => Ok(organization),
            _ => Err(not_found("organization")),
        }
    }

    /// The application that the page is about.
    ///
    /// # Errors
    /// `not_found` on a page that is about none.
    pub fn application(&self) -> Result<&Application> {
        match &self.place {
            PanelPlace::Application(application) => Ok(application),
            _ => Err(not_found("application")),
        }
    }

    /// The tenant of the application that the page is about.
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

    /// A new token for a form of this page.
    pub fn token(&self) -> String {
        form_token::new_token(&self.app, &self.cookie)
    }

    /// Begins a form that is sent to a page, by its path below `/admin/`. The caller ends it by `</form>`.
    pub fn open_form(&self, html: &mut Html, path: &str) {
        html.raw("<form class=\"form stack\" method=\"post\" action=\"").text(&self.link(path)).raw("\">");
        hidden(html, TOKEN, &self.token());
    }

    /// Adds a form that is one button.
    pub fn button_form(&self, html: &mut Html, path: &str, class: &'static str, word: &str) {
        html.raw("<form method=\"post\" action=\"").text(&self.link(path)).raw("\">");
        hidden(html, TOKEN, &self.token());
        html.raw("<button class=\"").raw(class).raw("\">").text(word).raw("</button></form>");
    }

    /// Adds a moment as people say it.
    pub fn moment(&self, html: &mut Html, at_ms: i64) {
        moment::moment(html, self.texts.frame, &self.time, at_ms);
    }

    /// An amount as the reader's language writes it.
    pub fn amount(&self, amount: i64) -> String {
        amounts::grouped(amount, self.language)
    }

    /// A number of bytes in the largest unit that fits.
    pub fn bytes(&self, bytes: i64) -> String {
        amounts::bytes_text(bytes, self.language)
    }

    /// A part of a whole in percent.
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

    /// The form that came.
    ///
    /// # Errors
    /// `invalid_request` of a request without one.
    pub fn form(&self) -> Result<&SentForm> {
        self.form.as_ref().ok_or_else(|| refuse(Code::InvalidRequest, "there is no form"))
    }
}

impl Visit {
    /// The binding of cursors of a list: to the list, its subject, and its reader.
    pub fn binding(&self, list: &'static str, about: &str) -> Binding {
        let panel = Tenant { organization_id: String::new(), application_id: "panel".to_owned() };
        let reader = self.signed.as_ref().map_or("", |signed| signed.actor.id.as_str());
        Binding::new(&panel, list, &(about, reader))
    }

    /// The place after which a page of a list begins; none for its beginning.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub fn list_place<P: DeserializeOwned>(&self, binding: &Binding) -> Result<Option<P>> {
        let cursor = Some(self.query.first("cursor")).filter(|cursor| !cursor.is_empty());
        binding.place(&self.app.keyring, cursor)
    }

    /// Adds the ways to the pages of a list before and after this one. `path` is the list's own address, with its filters; `next` is the cursor of
    /// the page after this one.
    pub fn add_pager(&self, html: &mut Html, path: &str, next: Option<&str>) {
        let (cursor, trail) = (self.query.first("cursor"), self.query.first("trail"));
        ListPager { path, cursor, trail, next }.add_to(html, self.texts.frame);
    }
}

/// The relative path from a page of the panel to `/admin/`, and the path below it.
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
