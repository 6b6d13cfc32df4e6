//! Pages for what went wrong, each with a way on.

use base::error::{Code, Error, Refusal, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::connector_uploads::NO_ROOM;
use service::manage::operators::links;
use url::form_urlencoded;

use crate::admin::addresses;
use crate::admin::claim::FORM_USED;
use crate::admin::form_token::TOKEN;
use crate::admin::parts::icon::{PanelIcon, icon};
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;
use crate::web::error;
use crate::web::multipart::FILES_TOO_LARGE;

/// Seconds after which the page of an outage asks again.
const RETRY_S: u64 = 10;
/// Parts of names of fields whose values are never written into a page.
const SECRET_NAMES: [&str; 4] = ["password", "code", "proof", "secret"];

/// The page of an error.
pub fn view(visit: &Visit, route: &str, e: Error) -> View {
    if e.code() == Some(Code::ReauthenticationRequired) {
        return View::see_other(format!("confirm?next={}", next_of(visit, route)));
    }
    // It is logged on its way.
    let refusal = error::public(e, &visit.request_id);
    let t = visit.texts.frame;
    let page = |title: &str, text: &str| notice_view(visit, [title, text], error::status(refusal.code));
    match refusal.code {
        Code::NotFound => not_found(visit),
        Code::RateLimited => too_many(visit, &refusal),
        Code::Forbidden => page(t.foreign, t.foreign_text),
        Code::UnsupportedMediaType => page(t.not_a_form, t.not_a_form_text),
        Code::PayloadTooLarge if refusal.message == FILES_TOO_LARGE => page(t.too_large, t.files_too_large),
        Code::PayloadTooLarge => page(t.too_large, t.too_large_text),
        Code::StorageFull if refusal.message == NO_ROOM => page(t.no_room, t.no_room_text),
        Code::RequestTimeout => page(t.late, t.late_text),
        Code::MethodNotAllowed => page(t.not_allowed, t.not_allowed_text),
        Code::InvalidCursor => page(t.not_found, t.wrong_place),
        Code::InvalidState | Code::AlreadyExists => page(t.no_such_state, t.not_allowed_text),
        Code::IdempotencyKeyReused if refusal.message == FORM_USED => page(t.used, t.used_text),
        Code::IdempotencyKeyReused => page(t.used, t.used_differently),
        Code::IdempotencyInProgress => page(t.busy, t.in_progress),
        Code::DatabaseUnavailable | Code::StorageFull => outage(visit),
        Code::Overloaded => page(t.busy, t.busy_text),
        _ => page(t.broken, t.broken_text),
    }
}

/// The one page for what does not exist and for what the visitor may not see.
pub fn not_found(visit: &Visit) -> View {
    let t = visit.texts.frame;
    notice_view(visit, [t.not_found, t.not_found_text], StatusCode::NOT_FOUND)
}

fn too_many(visit: &Visit, refusal: &Refusal) -> View {
    let t = visit.texts.frame;
    let seconds = refusal.retry_after_s.unwrap_or(1);
    let text = fill(t.too_many_text, &[("n", &seconds.to_string())]);
    let mut page = notice_page(visit, [t.too_many, &text], StatusCode::TOO_MANY_REQUESTS);
    page.retry_after_s = Some(seconds);
    page.into()
}

fn outage(visit: &Visit) -> View {
    let t = visit.texts.frame;
    let mut page = notice_page(visit, [t.outage, t.outage_text], StatusCode::SERVICE_UNAVAILABLE);
    page.retry_after_s = Some(RETRY_S);
    // A form is not sent again by itself.
    page.refresh_s = visit.form.is_none().then_some(RETRY_S);
    page.into()
}

fn notice_view(visit: &Visit, said: [&str; 2], status: StatusCode) -> View {
    notice_page(visit, said, status).into()
}

/// A page that says one thing.
fn notice_page(visit: &Visit, [title, text]: [&str; 2], status: StatusCode) -> PanelPage {
    let t = visit.texts.frame;
    let mut body = Html::default();
    body.raw("<div class=\"box\"><div class=\"empty\"><span class=\"seal bad\">");
    icon(&mut body, PanelIcon::Alert);
    body.raw("</span>").element("h1", title).element("p", text);
    body.raw("<a class=\"button plain\" href=\"").text(&visit.link("")).raw("\">").text(t.home).raw("</a>");
    body.raw("<p class=\"hint\">").text(t.request).raw(" <span class=\"id\" dir=\"ltr\">");
    body.text(&visit.request_id).raw("</span></p></div></div>\n");
    let page = match visit.signed {
        Some(_) => PanelPage::new(title, None, body),
        None => PanelPage::gate(title, body),
    };
    page.with_status(status)
}

/// The page for a form whose token is not good any more: what was typed is kept. It is offered to be sent again only where the browser says
/// that the panel's own page sent it, and where it holds no secret.
pub fn expired(visit: &Visit, body: &[u8]) -> View {
    let t = visit.texts.frame;
    let fields: Vec<(String, String)> = form_urlencoded::parse(body)
        .filter(|(name, _)| name != TOKEN)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let is_secret = |name: &str| SECRET_NAMES.iter().any(|part| name.contains(part));
    if !visit.is_own_form || fields.iter().any(|(name, _)| is_secret(name)) {
        return notice_view(visit, [t.expired, t.expired_short], StatusCode::FORBIDDEN);
    }
    let mut html = Html::default();
    html.raw("<div class=\"head\"><h1>").text(t.expired).raw("</h1></div>\n").element("p", t.expired_text);
    visit.open_form(&mut html, &visit.path);
    for (name, value) in &fields {
        html.raw("<input type=\"hidden\" name=\"").text(name).raw("\" value=\"").text(value).raw("\">");
    }
    html.raw("<button>").text(t.send_again).raw("</button></form>\n");
    let page = match visit.signed {
        Some(_) => PanelPage::new(t.expired, None, html),
        None => PanelPage::gate(t.expired, html),
    };
    page.with_status(StatusCode::FORBIDDEN).into()
}

/// The page for files whose form's token is not good any more. They are sent again from the form.
pub fn expired_files(visit: &Visit) -> View {
    let t = visit.texts.frame;
    notice_view(visit, [t.expired, t.expired_short], StatusCode::FORBIDDEN)
}

/// The way on for a visitor who is not signed in: to sign in, or, without operators, to the page that says how to make one.
///
/// # Errors
/// Those of the database.
pub async fn sign_in_first(visit: &Visit, route: &str) -> Result<View> {
    if links::is_empty(&visit.app).await? {
        return Ok(nobody(visit));
    }
    Ok(match next_of(visit, route).as_str() {
        "" => View::see_other("sign-in"),
        next => View::see_other(format!("sign-in?next={next}")),
    })
}

/// The page of an installation without operators.
pub fn nobody(visit: &Visit) -> View {
    let t = visit.texts.sign_in;
    let mut body = Html::default();
    body.element("h1", t.nobody).element("p", t.nobody_text);
    body.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"ltr\">switchboard admin link</pre></div>\n");
    PanelPage::gate(t.nobody, body).into()
}

/// The page to which a visitor returns after proving who they are: the one of the request, or, of a form without a page of its own, the nearest
/// one above it.
fn next_of(visit: &Visit, route: &str) -> String {
    let above = addresses::page_above(route);
    let segments = above.split('/').filter(|segment| !segment.is_empty()).count().saturating_sub(1);
    let path: Vec<&str> = visit.path.split('/').take(segments).collect();
    let path = path.join("/");
    if addresses::is_page(&path) { path } else { String::new() }
}
