//! A request on its way through the panel: budget of the address, session, budget of the operator, same site, token, act; then the page; then the
//! headers that every page has.

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

/// Pages and forms of one operator a minute.
const PAGES_PER_MINUTE: u64 = 600;
const FORMS_PER_MINUTE: u64 = 120;
/// The same of an address, for visitors who are not signed in, and for the forms that anybody may send.
const OPEN_PAGES_PER_MINUTE: u64 = 300;
const OPEN_FORMS_PER_MINUTE: u64 = 10;
/// Requests of an address a minute, whoever sends them: room for several operators, and an end to a flood of cookies that nobody has.
const REQUESTS_PER_MINUTE: u64 = 1_800;
/// Largest form in bytes, most fields of one, and how long one may take to arrive.
const MAX_FORM: usize = 256 << 10;
const MAX_FIELDS: usize = 200;
const FORM_DEADLINE: Duration = Duration::from_secs(30);
/// Bytes of forms that arrive at one moment, and those of one address.
const ROOM_BYTES: usize = 16 << 20;
const ROOM_BYTES_OF_ADDRESS: usize = 2 << 20;
/// Longest name of a browser that is kept, in characters.
const MAX_USER_AGENT: usize = 256;

/// The budgets and the memory that all requests to the panel share.
pub struct Panel {
    limiters: Limiters,
    room: BodyRoom,
    uploads: UploadRoom,
    /// The sandbox provider that this process plays.
    sandbox: Option<Router>,
}

impl Panel {
    /// Budgets that nothing has used yet. `sandbox`: the routes of the provider that this process plays.
    pub fn new(sandbox: Option<Router>) -> Panel {
        let room = BodyRoom::new(ROOM_BYTES, ROOM_BYTES_OF_ADDRESS);
        Panel { limiters: Limiters::default(), room, uploads: UploadRoom::default(), sandbox }
    }
}

/// The parameters of a path.
pub type PanelParams = std::result::Result<Path<HashMap<String, String>>, PathRejection>;

/// The result of the checks of a form before its page sees it.
enum FormCheck {
    /// It is good.
    Sent(SentForm),
    /// Its token is not: the bytes are kept, to be sent again.
    WrongToken(Vec<u8>),
    /// Its token is not, and its files are not kept.
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

/// The request's line in the log: no path, because paths of links are secrets.
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

/// The page, or the page that says why there is none.
async fn run(
    app: &App,
    panel: &Panel,
    route: &'static PanelRoute,
    params: PanelParams,
    request: Request,
) -> (Visit, View) {
    let mut visit = new_visit(app, &request);
    visit.sandbox.clone_from(&panel.sandbox);
    // No id has a NUL, which PostgreSQL takes in no text.
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

/// The visit of a request, as far as its head tells.
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

/// Everything that is decided before the page. Returns a view in place of the page where there is one.
async fn admit(
    panel: &Panel,
    route: &'static PanelRoute,
    visit: &mut Visit,
    request: Request,
) -> Result<Option<View>> {
    // Before the session, which may have to be read.
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
    // Files are received from those alone who may do something with them.
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

/// Finds who is signed in, and how they read.
async fn find_session(visit: &mut Visit, route: &PanelRoute, headers: &HeaderMap) -> Result<()> {
    let is_secure = visit.is_secure();
    let cookie = CookieKind::Session.read(headers, is_secure);
    let found = match &cookie {
        // A page that is left open asks for it by itself.
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

/// Pages are written as the operator chose.
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
    // Passwords and codes are no more quickly guessed by somebody who is signed in.
    let is_open = route.access == PageAccess::Open && is_form;
    let (who, limit) = match visit.signed.as_ref().filter(|_| !is_open) {
        Some(signed) if is_form => (format!("form {}", signed.actor.id), FORMS_PER_MINUTE),
        Some(signed) => (format!("page {}", signed.actor.id), PAGES_PER_MINUTE),
        None if is_form => (format!("form {}", address(visit.origin.ip)), OPEN_FORMS_PER_MINUTE),
        None => (format!("page {}", address(visit.origin.ip)), OPEN_PAGES_PER_MINUTE),
    };
    take(panel, visit, &who, limit)
}

/// Counts a request within a budget.
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
        return Err(refuse(Code::UnsupportedMediaType, "the panel takes forms alone"));
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

/// Finds what the path names, and refuses what the visitor may not see or do: as if it were not there.
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
    // Known to be the visitor's: what is refused from here on stands beside its menu.
    visit.place = place;
    if route.needs_fresh {
        visit.actor()?.check_fresh(visit.app.now())?;
    }
    Ok(())
}

/// The one organization of an operator who has no other.
async fn home(visit: &Visit) -> Result<PanelPlace> {
    let actor = visit.actor()?;
    let mut own = actor.roles.keys();
    let (Some(id), None, false) = (own.next(), own.next(), actor.is_admin) else {
        return Ok(PanelPlace::Nowhere);
    };
    let found = organizations::find(&visit.app, id).await?;
    Ok(found.map_or(PanelPlace::Nowhere, PanelPlace::Organization))
}
