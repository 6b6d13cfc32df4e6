//! `/apps/{a}/settings`: the forms of the request log.

use base::error::Result;
use service::locale::html::Html;
use service::manage::request_log::FULL_MINUTES;
use storage::request_log::RequestLogMode;

use crate::admin::form_token::TOKEN;
use crate::admin::pages::requests::period_text;
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::field::{FormFaults, SelectField, hidden, radios};
use crate::admin::parts::note::note;
use crate::admin::texts::fill;
use crate::admin::visit::Visit;

/// The field for what is kept, and the one for minutes of full bodies.
pub const MODE: &str = "mode";
pub const MINUTES: &str = "minutes";

/// Adds the forms of the request log to the settings of an application, which are at `path`.
///
/// # Errors
/// `not_found` on a page that is about no application.
pub fn add_forms(visit: &Visit, path: &str, faults: &FormFaults, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    html.raw("<section class=\"stack\" id=\"request-log\">").element("h2", t.log);
    if visit.app.config.request_log_days == 0 {
        note(html, BadgeTone::Neutral, t.off_everywhere);
        html.raw("</section>\n");
        return Ok(());
    }
    html.element("p", &fill(t.log_text, &[("period", &period_text(visit))]));
    visit.open_form(html, &format!("{path}/request-log"));
    let options = [
        (RequestLogMode::Off.as_str(), t.mode_off, t.mode_off_text),
        (RequestLogMode::On.as_str(), t.mode_on, t.mode_on_text),
        (RequestLogMode::Shapes.as_str(), t.mode_shapes, t.mode_shapes_text),
    ];
    radios(html, MODE, t.mode, &options, visit.application()?.request_log.as_str(), faults);
    html.raw("<button class=\"plain\">").text(visit.texts.frame.save).raw("</button></form></section>\n");
    html.raw("<section class=\"stack\">").element("h2", t.full).element("p", t.full_text);
    add_window(visit, &format!("{path}/full-bodies"), faults, html)?;
    html.raw("</section>\n");
    Ok(())
}

/// Adds the form that begins the time of full bodies, or the one that ends it.
fn add_window(visit: &Visit, path: &str, faults: &FormFaults, html: &mut Html) -> Result<()> {
    let (t, application) = (visit.texts.requests, visit.application()?);
    if application.request_log == RequestLogMode::Off {
        html.raw("<p class=\"soft\">").text(t.full_off).raw("</p>");
        return Ok(());
    }
    if let Some(until) = application.full_bodies_until.filter(|until| *until > visit.time.now) {
        html.element("p", &fill(t.full_until, &[("until", &visit.time.exact(until))]));
        html.raw("<form method=\"post\" action=\"").text(&visit.link(path)).raw("\">");
        hidden(html, TOKEN, &visit.token());
        hidden(html, MINUTES, "0");
        html.raw("<button class=\"plain\">").text(t.full_stop).raw("</button></form>");
        return Ok(());
    }
    let words = FULL_MINUTES.map(|minutes| (minutes.to_string(), minutes_text(visit, minutes)));
    let options: Vec<(&str, &str)> =
        words.iter().map(|(value, word)| (value.as_str(), word.as_str())).collect();
    let chosen = options.first().map_or("", |(value, _)| *value);
    visit.open_form(html, path);
    let field = SelectField { id: MINUTES, label: t.full_minutes, options: &options, chosen };
    field.add_to(html, visit.texts.frame, faults);
    html.raw("<button class=\"plain\">").text(t.full_start).raw("</button></form>");
    Ok(())
}

fn minutes_text(visit: &Visit, minutes: i64) -> String {
    let t = visit.texts.requests;
    match (minutes % 60, minutes / 60) {
        (0, 1) => t.one_hour.to_owned(),
        (0, hours) => fill(t.hours, &[("n", &hours.to_string())]),
        _ => fill(t.minutes, &[("n", &minutes.to_string())]),
    }
}
