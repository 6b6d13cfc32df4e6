//! The frame and the headers of every page. A page loads only the panel's style and script.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode, header};
use service::locale::html::Html;
use service::manage::actor::Act;

use crate::admin::assets;
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::icon::{PanelIcon, icon, sprite};
use crate::admin::parts::note::note;
use crate::admin::texts::fill;
use crate::admin::view::{FrameKind, MenuEntry, PanelFile, PanelPage, View, ViewKind};
use crate::admin::visit::{PanelPlace, Visit};
use crate::web::request_id::X_REQUEST_ID;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Marks a response that contains a secret and is therefore not compressed.
#[derive(Clone, Copy, Debug)]
pub struct SecretPage;

/// Returns the response for a view.
pub fn response(visit: &Visit, view: View) -> Response {
    let mut response = match view.kind {
        ViewKind::Page(page) => document(visit, &page),
        ViewKind::SeeOther(path) => see_other(visit, &path),
        ViewKind::Live(rows) => rows.response(),
        ViewKind::File(file) => download(file),
    };
    for (kind, value) in &view.cookies {
        if let Some(cookie) = kind.set(value.as_deref(), visit.is_secure()) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    with_headers(visit, response)
}

/// Adds the headers of every page to a response.
fn with_headers(visit: &Visit, mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "private, no-store"),
        (PERMISSIONS_POLICY, "camera=(), geolocation=(), microphone=(), payment=()"),
        (X_ROBOTS_TAG, "noindex, nofollow"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(&visit.request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    response
}

fn see_other(visit: &Visit, path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(location) = HeaderValue::try_from(visit.link(path)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Returns a file for download, never for display: others have chosen its content.
fn download(file: PanelFile) -> Response {
    let mut response = Response::new(Body::from(file.text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    let disposition = format!("attachment; filename=\"{}\"", file.name);
    if let Ok(value) = HeaderValue::try_from(disposition) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

fn document(visit: &Visit, page: &PanelPage) -> Response {
    let mut response = Response::new(Body::from(html(visit, page).as_str().to_owned()));
    *response.status_mut() = page.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(visit.language.tag()));
    if let Some(seconds) = page.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(seconds) = page.refresh_s {
        headers.insert(header::REFRESH, HeaderValue::from(seconds));
    }
    if let Some(url) = &page.leave_for
        && let Ok(value) = HeaderValue::try_from(format!("0; url={url}"))
    {
        headers.insert(header::REFRESH, value);
    }
    if page.shows_secret {
        response.extensions_mut().insert(SecretPage);
    }
    response
}

fn html(visit: &Visit, page: &PanelPage) -> Html {
    let texts = visit.texts.frame;
    let mut frame = Html::default();
    match page.frame {
        FrameKind::Panel => panel(visit, page, &mut frame),
        FrameKind::Gate => gate(visit, page, &mut frame),
    }
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"").text(visit.language.tag()).raw("\"");
    if visit.language.is_right_to_left() {
        html.raw(" dir=\"rtl\"");
    }
    if let Some(theme) = visit.theme {
        html.raw(" data-theme=\"").raw(theme).raw("\"");
    }
    html.raw(">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html.text(&page.title).raw(" – ").text(texts.product).raw("</title>\n<link rel=\"stylesheet\" href=\"");
    html.text(&visit.link(assets::style_path())).raw("\">\n<script defer src=\"");
    html.text(&visit.link(assets::script_path())).raw("\"></script>\n</head>\n");
    html.raw(match page.frame {
        FrameKind::Panel => "<body class=\"panel\">\n",
        FrameKind::Gate => "<body>\n",
    });
    html.html(&sprite(&[&frame])).html(&frame).raw("</body>\n</html>\n");
    html
}

/// Renders a page without the menu.
fn gate(visit: &Visit, page: &PanelPage, html: &mut Html) {
    html.raw("<main class=\"gate\" id=\"main\"><div class=\"sheet\"><div class=\"stack wide\">\n<p class=\"mark\">");
    icon(html, PanelIcon::Logo);
    html.text(visit.texts.frame.product).raw("</p>\n").html(&page.body).raw("</div></div></main>\n");
}

/// Renders a page beside the menu.
fn panel(visit: &Visit, page: &PanelPage, html: &mut Html) {
    let texts = visit.texts.frame;
    html.raw("<a class=\"skip\" href=\"#main\">").text(texts.skip).raw("</a>\n<header class=\"side\">\n");
    html.raw("<details class=\"only-narrow\"><summary><span class=\"row\">");
    icon(html, PanelIcon::Logo);
    html.raw("<span>").text(&page.title).raw("</span></span>");
    icon(html, PanelIcon::Menu);
    html.raw("<span class=\"sr\">").text(texts.menu).raw("</span></summary>");
    menu(visit, page.entry, html, "findshort");
    html.raw("</details>\n<div class=\"only-wide\"><p class=\"menu\"><a class=\"mark\" href=\"");
    html.text(&visit.link("")).raw("\">");
    icon(html, PanelIcon::Logo);
    html.text(texts.product).raw("</a></p>");
    menu(visit, page.entry, html, "find");
    html.raw("</div>\n</header>\n<main class=\"body stack wide\" id=\"main\">\n");
    if let Some(flash) = visit.flash {
        note(html, BadgeTone::Good, flash.text(visit.texts));
    }
    full_bodies(visit, html);
    html.html(&page.body).raw("</main>\n");
}

/// Shows on each page of an application that the bodies of its requests are recorded in full.
fn full_bodies(visit: &Visit, html: &mut Html) {
    let PanelPlace::Application(application) = &visit.place else { return };
    let Some(until) = application.full_bodies_until.filter(|until| *until > visit.time.now) else { return };
    let texts = visit.texts.frame;
    let said = fill(texts.full_bodies, &[("until", &visit.time.exact(until))]);
    html.raw("<div class=\"note warn\">");
    icon(html, PanelIcon::Alert);
    html.raw("<div><p>").text(&said);
    if visit.may(Act::ManageApplication) {
        let path = format!("apps/{}/settings", application.tenant.application_id);
        html.raw(" ").link(&visit.link(&path), texts.full_bodies_stop);
    }
    html.raw("</p></div></div>\n");
}

/// Renders the menu: the subject of the page, the search, and the entries that the reader may open.
fn menu(visit: &Visit, entry: Option<MenuEntry>, html: &mut Html, find_id: &'static str) {
    let texts = visit.texts.frame;
    let title = match &visit.place {
        PanelPlace::Application(_) => texts.menu_application,
        PanelPlace::Organization(_) => texts.menu_organization,
        PanelPlace::System => texts.menu_system,
        PanelPlace::Nowhere => texts.menu,
    };
    let label = match find_id {
        "find" => title.to_owned(),
        _ => fill(texts.menu_short, &[("name", title)]),
    };
    html.raw("<nav class=\"menu\" aria-label=\"").text(&label).raw("\">");
    place(visit, html);
    html.raw("<form class=\"find\" role=\"search\" method=\"get\" action=\"").text(&visit.link("search"));
    html.raw("\"><label class=\"sr\" for=\"").raw(find_id).raw("\">").text(texts.find);
    html.raw("</label><input id=\"")
        .raw(find_id)
        .raw("\" name=\"q\" type=\"search\" autocomplete=\"off\" placeholder=\"");
    html.text(texts.find).raw("\"></form><ul>");
    for item in entries(visit) {
        add_item(visit, html, &item, entry);
    }
    html.raw("</ul><hr><ul>");
    let may_see_system = visit.signed.as_ref().is_some_and(|signed| signed.actor.may(Act::ManageJobs, ""));
    if may_see_system && !matches!(visit.place, PanelPlace::System) {
        let (path, word) = ("system".to_owned(), texts.menu_system);
        let system = MenuItem { entry: MenuEntry::System, path, shape: PanelIcon::Server, word };
        add_item(visit, html, &system, None);
    }
    if let Some(signed) = &visit.signed {
        let (path, word) = ("account".to_owned(), signed.session.name.as_str());
        let own = MenuItem { entry: MenuEntry::Account, path, shape: PanelIcon::Person, word };
        add_item(visit, html, &own, entry);
    }
    html.raw("</ul></nav>");
}

/// Adds the application or organization that the page is about, and the link to others.
fn place(visit: &Visit, html: &mut Html) {
    let texts = visit.texts.frame;
    let (name, above, path) = match &visit.place {
        PanelPlace::Application(application) => {
            let path = format!("orgs/{}", application.tenant.organization_id);
            (application.name.as_str(), Some(application.organization.as_str()), path)
        }
        PanelPlace::Organization(organization) => (organization.name.as_str(), None, String::new()),
        PanelPlace::System => (texts.menu_system, None, String::new()),
        PanelPlace::Nowhere => return,
    };
    html.raw("<p class=\"app\"><bdi>").text(name).raw("</bdi>");
    if matches!(&visit.place, PanelPlace::Application(application) if application.is_test) {
        html.raw(" ");
        badge(html, BadgeTone::Neutral, PanelIcon::Half, visit.texts.applications.test);
    }
    html.raw("<small>");
    if let Some(above) = above {
        html.raw("<bdi>").text(above).raw("</bdi> · ");
    }
    html.link(&visit.link(&path), texts.switch).raw("</small></p>");
}

/// Returns the menu entries that the reader may open here.
fn entries(visit: &Visit) -> Vec<MenuItem<'static>> {
    let texts = visit.texts.frame;
    let mut entries = Vec::new();
    let mut add = |is_open: bool, entry, path: String, shape, word| {
        if is_open {
            entries.push(MenuItem { entry, path, shape, word });
        }
    };
    match &visit.place {
        PanelPlace::Application(application) => {
            let base = format!("apps/{}", application.tenant.application_id);
            let keys = format!("{base}/keys");
            let accounts = format!("{base}/accounts");
            let providers = format!("{base}/providers");
            let webhooks = format!("{base}/webhooks");
            let events = format!("{base}/events");
            let (requests, usage) = (format!("{base}/requests"), format!("{base}/usage"));
            let settings = format!("{base}/settings");
            add(true, MenuEntry::Overview, base, PanelIcon::Home, texts.overview);
            add(true, MenuEntry::Keys, keys, PanelIcon::Key, texts.keys);
            add(true, MenuEntry::Accounts, accounts, PanelIcon::Person, texts.accounts);
            add(true, MenuEntry::Providers, providers, PanelIcon::Server, texts.providers);
            add(true, MenuEntry::Webhooks, webhooks, PanelIcon::Globe, texts.webhooks);
            add(true, MenuEntry::Events, events, PanelIcon::Clock, texts.events);
            add(true, MenuEntry::Requests, requests, PanelIcon::List, texts.requests);
            add(true, MenuEntry::Usage, usage, PanelIcon::Chart, texts.usage);
            let may = visit.may(Act::ManageApplication);
            add(may, MenuEntry::Settings, settings, PanelIcon::Gear, texts.settings);
        }
        PanelPlace::Organization(organization) => {
            let base = format!("orgs/{}", organization.id);
            let (members, audit) = (format!("{base}/members"), format!("{base}/audit"));
            add(true, MenuEntry::Applications, base, PanelIcon::Home, texts.applications);
            let may = visit.may(Act::ManageMembers);
            add(may, MenuEntry::Members, members, PanelIcon::Person, texts.members);
            let may = visit.may(Act::SeeAudit);
            add(may, MenuEntry::OrganizationAudit, audit, PanelIcon::List, texts.audit);
        }
        PanelPlace::System => {
            let installation = "system".to_owned();
            let (jobs, connectors) = ("system/jobs".to_owned(), "system/connectors".to_owned());
            let operators = "system/operators".to_owned();
            add(true, MenuEntry::System, installation, PanelIcon::Server, texts.installation);
            add(true, MenuEntry::Jobs, jobs, PanelIcon::Clock, texts.jobs);
            add(true, MenuEntry::Connectors, connectors, PanelIcon::Globe, texts.connectors);
            add(true, MenuEntry::Operators, operators, PanelIcon::Person, texts.operators);
            add(true, MenuEntry::SystemKeys, "system/keys".to_owned(), PanelIcon::Key, texts.admin_keys);
            add(true, MenuEntry::SystemAudit, "system/audit".to_owned(), PanelIcon::List, texts.audit);
            let plays = visit.sandbox.is_some();
            add(plays, MenuEntry::Sandbox, "sandbox".to_owned(), PanelIcon::Half, texts.sandbox);
        }
        PanelPlace::Nowhere => {
            add(true, MenuEntry::Applications, String::new(), PanelIcon::Home, texts.organizations);
        }
    }
    entries
}

/// A link in the menu.
struct MenuItem<'m> {
    entry: MenuEntry,
    path: String,
    shape: PanelIcon,
    word: &'m str,
}

/// Adds a link in the menu; `current` is the entry of the page shown.
fn add_item(visit: &Visit, html: &mut Html, item: &MenuItem<'_>, current: Option<MenuEntry>) {
    html.raw("<li><a href=\"").text(&visit.link(&item.path)).raw("\"");
    html.raw(if current == Some(item.entry) { " aria-current=\"page\">" } else { ">" });
    icon(html, item.shape);
    html.raw("<bdi>").text(item.word).raw("</bdi></a></li>");
}
