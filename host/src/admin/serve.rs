//! The processing of a request to the panel: rate limit of the address, session, rate limit of the operator, same-site check, form token,
//! permission; then the page, and the headers of every page.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant as Stopwatch};

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::response::Response;
use base::error::{Code, Refusal, Result, not_found, refuse};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use scheduling::hours::Zone;
use service::app::App;
use service::locale::Language;
use service::locale::dates::Hours;
use service::manage::operators::sessions::{self, Session, SignInOrigin};
use service::manage::{applications, organizations};
use storage::lane::Lane;
use storage::statement_counts::StatementCounts;

use crate::admin::cookies::CookieKind;
use crate::admin::notices::pass_flash;
use crate::admin::parts::moment::TimeFormat;
use crate::admin::routes::{PageAccess, PanelRoute, RouteMethod};
use crate::admin::scheme::BrowserScheme;
use crate::admin::texts::texts;
use crate::admin::upload::{self, UploadRoom};
use crate::admin::view::View;
use crate::admin::visit::{LiveRequest, PanelPlace, SentForm, SignedIn, Visit, up_and_path};
use crate::admin::{failure, form_token, layout};
use crate::web::client_ip::{client_ip, peer};
use crate::web::fingerprint::of_bytes;
use crate::web::form::FormFields;
use crate::web::rate_limit::{Limiters, site};
use crate::web::same_site::fetch_site_is_foreign;
use crate::web::small_body::BodyRoom;
use crate::web::{request_id, unread_body};

/// Pages and forms per minute of one operator.
const PAGES_PER_MINUTE: u64 = 600;
const FORMS_PER_MINUTE: u64 = 120;
/// Pages and forms per minute of one address, for visitors who are not signed in, and for forms that need no sign-in.
const OPEN_PAGES_PER_MINUTE: u64 = 300;
const OPEN_FORMS_PER_MINUTE: u64 = 10;
/// Requests per minute of one address, whoever sends them: enough for several operators, and a limit for floods of invented cookies.
const REQUESTS_PER_MINUTE: u64 = 1_800;
/// Maximum bytes of a form, its fields, and the time for it to arrive.
const MAX_FORM: usize = 256 << 10;
const MAX_FIELDS: usize = 200;
const FORM_DEADLINE: Duration = Duration::from_secs(30);
/// Maximum bytes of forms being received, in total and of one address.
const ROOM_BYTES: usize = 16 << 20;
const ROOM_BYTES_OF_ADDRESS: usize = 2 << 20;
/// Maximum characters of a `User-Agent` that are stored.
const MAX_USER_AGENT: usize = 256;

/// The rate limits and the memory that all requests to the panel share.
pub struct Panel {
    limiters: Limiters,
    room: BodyRoom,
    uploads: UploadRoom,
    /// The sandbox provider that this process serves.
    sandbox: Option<Router>,
}

impl Panel {
    /// Creates unused limits. `sandbox`: the routes of the provider that this process serves.
    pub fn new(sandbox: Option<Router>) -> Panel {
        let room = BodyRoom::new(ROOM_BYTES, ROOM_BYTES_OF_ADDRESS);
        Panel { limiters: Limiters::default(), room, uploads: UploadRoom::default(), sandbox }
    }
}

/// The parameters of a path.
pub type PanelParams = std::result::Result<Path<HashMap<String, String>>, PathRejection>;

/// The result of checking a form before the page sees it.
enum FormCheck {
    /// The form is valid.
    Sent(SentForm),
    /// The token is invalid: the bytes are kept, so that the form can be sent again.
    WrongToken(Vec<u8>),
    /// The token is invalid, and the files are not kept.
    WrongTokenOfFiles,
}

/// Answers a request for a route.
pub async fn serve(
    app: App,
    panel: Arc<Panel>,
    route: &'static PanelRoute,
    params: PanelParams,
    request: Request,
) -> Response {
    let (started, arrived) = (app.now(), Stopwatch::now());
    let method = request.method().clone();
    let counts = StatementCounts::default();
    let lane = Lane::requests().for_application("panel").counted(&counts);
    let (request, rest) = unread_body::lend(request);
    let (mut visit, view) = lane.scope(run(&app, &panel, route, params, request)).await;
    let lane = Lane::requests().for_application("panel").counted(&counts);
    lane.scope(pass_flash(&app, &mut visit, &view, &method)).await;
    let response = layout::response(&visit, view);
    let status = response.status().as_u16();
    app.metrics.observe(route.path, &method, status, arrived.elapsed());
    app.metrics.count_request_statements(route.path, &method, &counts);
    log_request(&visit, &method, route.path, status, app.now() - started);
    if response.status() != StatusCode::REQUEST_TIMEOUT {
        rest.take().await;
    }
    response
}

/// Logs the request without its path, because paths of links are secrets.
fn log_request(visit: &Visit, method: &Method, route: &str, status: u16, ms: i64) {
    let operator = visit.signed.as_ref().map(|signed| signed.actor.id.as_str());
    let request_id = &visit.request_id;
    match (status, method) {
        (500.., _) => tracing::warn!(request_id, %method, route, status, ms, operator, "request"),
        (..400, &Method::GET) => {
            tracing::debug!(request_id, %method, route, status, ms, operator, "request");
        }
        _ => tracing::info!(request_id, %method, route, status, ms, operator, "request"),
    }
}

/// Returns the page, or the page that says why there is none.
async fn run(
    app: &App,
    panel: &Panel,
    route: &'static PanelRoute,
    params: PanelParams,
    request: Request,
) -> (Visit, View) {
    let mut visit = new_visit(app, &request);
    visit.sandbox.clone_from(&panel.sandbox);
    // No id contains NUL, which PostgreSQL stores in no text.
    let params = params.ok().map(|Path(params)| params);
    let named = params.filter(|params| !params.values().any(|value| value.contains('\0')));
    visit.params = named.unwrap_or_default();
    let view = match admit(panel, route, &mut visit, request).await {
        Ok(None) => (route.page)(&visit).await,
        Ok(Some(view)) => Ok(view),
        Err(e) => Err(e),
    };
    let view = match view {
        Ok(view) => view,
        Err(e) => failure::view(&visit, route.path, e),
    };
    // Forms of visitors who are not signed in are bound to a cookie of their own.
    let view = match &visit.form_cookie {
        Some(value) => view.with_cookie(CookieKind::Form, Some(value.clone())),
        None => view,
    };
    (visit, view)
}

/// Creates the visit from the head of a request.
fn new_visit(app: &App, request: &Request) -> Visit {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let scheme = BrowserScheme::of(&app.config, headers, peer(request));
    let is_secure = scheme == BrowserScheme::Https;
    let language = Language::preferred(text(header::ACCEPT_LANGUAGE).unwrap_or_default());
    let (up, path) = up_and_path(request.uri().path());
    Visit {
        app: app.clone(),
        request_id: request_id::new(&app.clock, &app.entropy),
        origin: SignInOrigin {
            ip: client_ip(peer(request), headers, &app.config.trusted_proxies),
            user_agent: user_agent(headers),
        },
        scheme,
        path,
        up,
        params: HashMap::new(),
        query: FormFields::read_at_most(request.uri().query().unwrap_or_default().as_bytes(), MAX_FIELDS),
        fields: FormFields::default(),
        is_own_form: text(HeaderName::from_static("sec-fetch-site")) == Some("same-origin"),
        form: None,
        files: None,
        live: LiveRequest::from_headers(headers),
        texts: texts(language),
        language,
        time: TimeFormat { zone: Zone::utc(), language, hours: Hours::default(), now: app.now() },
        theme: None,
        signed: None,
        cookie: String::new(),
        form_cookie: None,
        half_session: CookieKind::HalfSession.read(headers, is_secure),
        device: CookieKind::Device.read(headers, is_secure),
        provider_cookie: CookieKind::Provider.read(headers, is_secure),
        place: PanelPlace::Nowhere,
        flash: None,
        sandbox: None,
    }
}

fn user_agent(headers: &HeaderMap) -> String {
    let text = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.chars().take(MAX_USER_AGENT).collect()
}

/// Makes all checks before the page. Returns the view to show instead of the page, if there is one.
async fn admit(
    panel: &Panel,
    route: &'static PanelRoute,
    visit: &mut Visit,
    request: Request,
) -> Result<Option<View>> {
    // Before the session, which may need a database read.
    take(panel, visit, &format!("all {}", address(visit.origin.ip)), REQUESTS_PER_MINUTE)?;
    find_session(visit, route, request.headers()).await?;
    within_budget(panel, visit, route)?;
    if route.is_form() && fetch_site_is_foreign(request.headers()).unwrap_or(false) {
        return Err(refuse(Code::Forbidden, "another site sent this form"));
    }
    let (check, request) = match route.method {
        RouteMethod::Post => (Some(read_form(panel, visit, request).await?), None),
        RouteMethod::Upload => (None, Some(request)),
        RouteMethod::Get | RouteMethod::Live => (None, None),
    };
    if visit.signed.is_none() && route.access != PageAccess::Open {
        return Ok(Some(failure::sign_in_first(visit, route.path).await?));
    }
    authorize(route, visit).await?;
    // Files are only received from those who may use them.
    let check = match request {
        Some(request) => match upload::receive(visit, &panel.uploads, request).await? {
            true => None,
            false => Some(FormCheck::WrongTokenOfFiles),
        },
        None => check,
    };
    match check {
        Some(FormCheck::WrongTokenOfFiles) => Ok(Some(failure::expired_files(visit))),
        Some(FormCheck::WrongToken(body)) => Ok(Some(failure::expired(visit, &body))),
        Some(FormCheck::Sent(form)) => {
            visit.form = Some(form);
            Ok(None)
        }
        None => Ok(None),
    }
}

/// Finds the signed-in operator, with their language and time zone.
async fn find_session(visit: &mut Visit, route: &PanelRoute, headers: &HeaderMap) -> Result<()> {
    let is_secure = visit.is_secure();
    let cookie = CookieKind::Session.read(headers, is_secure);
    let found = match &cookie {
        // A page that stays open requests it by itself, which must not extend the session.
        Some(cookie) if route.is_live() => sessions::session_without_use(&visit.app, cookie).await?,
        Some(cookie) => sessions::session(&visit.app, cookie).await?,
        None => None,
    };
    if let Some((mut actor, session)) = found {
        actor.ip = Some(visit.origin.ip);
        read_as(visit, &session);
        visit.signed = Some(SignedIn { actor, session });
        visit.cookie = cookie.unwrap_or_default();
        return Ok(());
    }
    match CookieKind::Form.read(headers, is_secure) {
        Some(cookie) => visit.cookie = cookie,
        None => {
            let cookie = hex::encode(visit.app.entropy.bytes::<16>());
            visit.form_cookie = Some(cookie.clone());
            visit.cookie = cookie;
        }
    }
    Ok(())
}

/// Applies the operator's display settings.
fn read_as(visit: &mut Visit, session: &Session) {
    if let Some(language) = session.language.as_deref().and_then(Language::of_tag) {
        visit.language = language;
        visit.texts = texts(language);
        visit.time.language = language;
    }
    if let Some(zone) = session.time_zone.as_deref().and_then(Zone::named) {
        visit.time.zone = zone;
    }
    visit.theme = match session.theme.as_deref() {
        Some("light") => Some("light"),
        Some("dark") => Some("dark"),
        _ => None,
    };
}

fn within_budget(panel: &Panel, visit: &Visit, route: &PanelRoute) -> Result<()> {
    let is_form = route.is_form();
    // A signed-in visitor must not guess passwords and codes any faster.
    let is_open = route.access == PageAccess::Open && is_form;
    let (who, limit) = match visit.signed.as_ref().filter(|_| !is_open) {
        Some(signed) if is_form => (format!("form {}", signed.actor.id), FORMS_PER_MINUTE),
        Some(signed) => (format!("page {}", signed.actor.id), PAGES_PER_MINUTE),
        None if is_form => (format!("form {}", address(visit.origin.ip)), OPEN_FORMS_PER_MINUTE),
        None => (format!("page {}", address(visit.origin.ip)), OPEN_PAGES_PER_MINUTE),
    };
    take(panel, visit, &who, limit)
}

/// Counts a request against a rate limit.
fn take(panel: &Panel, visit: &Visit, who: &str, limit: u64) -> Result<()> {
    match panel.limiters.take_of_name(who, limit, visit.app.now()).retry_after_s {
        None => Ok(()),
        Some(seconds) => {
            let message = format!("the budget of {limit} a minute is used up");
            Err(Refusal::new(Code::RateLimited, message).retry_after_s(seconds).into())
        }
    }
}

fn address(ip: IpAddr) -> String {
    site(ip).to_string()
}

/// Reads a form that the panel's own page sent.
async fn read_form(panel: &Panel, visit: &mut Visit, request: Request) -> Result<FormCheck> {
    if !is_form_type(request.headers()) {
        return Err(refuse(Code::UnsupportedMediaType, "send a form: application/x-www-form-urlencoded"));
    }
    let body = panel.room.read(request.into_body(), visit.origin.ip, MAX_FORM, FORM_DEADLINE).await?;
    if body.bytes().split(|byte| *byte == b'&').count() > MAX_FIELDS {
        return Err(refuse(Code::PayloadTooLarge, "a form has at most 200 fields"));
    }
    visit.fields = FormFields::read_at_most(body.bytes(), MAX_FIELDS);
    let nonce = form_token::nonce(&visit.app, &visit.cookie, visit.fields.first(form_token::TOKEN));
    Ok(match nonce {
        Some(nonce) => FormCheck::Sent(SentForm { nonce, fingerprint: of_bytes(body.bytes()) }),
        None => FormCheck::WrongToken(body.bytes().to_vec()),
    })
}

fn is_form_type(headers: &HeaderMap) -> bool {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Loads what the path names, and refuses what the visitor may not see or do, as if it did not exist.
async fn authorize(route: &PanelRoute, visit: &mut Visit) -> Result<()> {
    let place = match route.access {
        PageAccess::Open | PageAccess::SignedIn => PanelPlace::Nowhere,
        PageAccess::Home => home(visit).await?,
        PageAccess::Installation(_) => PanelPlace::System,
        PageAccess::Organization(_) => {
            let found = organizations::find(&visit.app, visit.param("o")).await?;
            PanelPlace::Organization(found.ok_or_else(|| not_found("organization"))?)
        }
        PageAccess::Application(_) => {
            let found = applications::find(&visit.app, visit.param("a")).await?;
            PanelPlace::Application(found.ok_or_else(|| not_found("application"))?)
        }
    };
    let organization_id = match &place {
        PanelPlace::Organization(organization) => organization.id.clone(),
        PanelPlace::Application(application) => application.tenant.organization_id.clone(),
        PanelPlace::Nowhere | PanelPlace::System => String::new(),
    };
    if let Some(act) = route.act() {
        let (actor, now) = (visit.actor()?, visit.app.now());
        match route.is_form() {
            true => actor.check(act, &organization_id, now)?,
            false if !actor.may(act, &organization_id) => return Err(not_found("page")),
            false => {}
        }
    }
    // The visitor may see it: refusals from here on are shown with its menu.
    visit.place = place;
    if route.needs_fresh {
        visit.actor()?.check_fresh(visit.app.now())?;
    }
    Ok(())
}

/// Returns the organization of an operator who has only one.
async fn home(visit: &Visit) -> Result<PanelPlace> {
    let actor = visit.actor()?;
    let mut own = actor.roles.keys();
    let (Some(id), None, false) = (own.next(), own.next(), actor.is_admin) else {
        return Ok(PanelPlace::Nowhere);
    };
    let found = organizations::find(&visit.app, id).await?;
    Ok(found.map_or(PanelPlace::Nowhere, PanelPlace::Organization))
}
