//! The current time zone, and the form to choose another one.

use model::Instant;
use service::locale::html::Html;
use service::locale::{dates, zones};

use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::texts;

/// Zones that the field suggests; every other IANA name can be typed.
const ZONES: [&str; 40] = [
    "UTC",
    "Africa/Cairo",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Africa/Nairobi",
    "America/Anchorage",
    "America/Argentina/Buenos_Aires",
    "America/Bogota",
    "America/Chicago",
    "America/Denver",
    "America/Halifax",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/New_York",
    "America/Phoenix",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "America/Toronto",
    "Asia/Bangkok",
    "Asia/Dhaka",
    "Asia/Dubai",
    "Asia/Hong_Kong",
    "Asia/Jakarta",
    "Asia/Karachi",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Seoul",
    "Asia/Shanghai",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "Australia/Sydney",
    "Europe/Athens",
    "Europe/Berlin",
    "Europe/Istanbul",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Paris",
    "Pacific/Auckland",
    "Pacific/Honolulu",
];

/// The zone with its current time, and the form for another one. `now`: Unix ms.
pub fn zone_picker(visit: &PageRequest, subject: &BookableEventType, now: i64) -> Html {
    let (texts, controls) = (texts(visit.language), controls(visit.language));
    let local = dates::local(Instant::from_millis(now), &subject.zone);
    let clock = dates::clock(&local, visit.language, visit.hours);
    let mut html = Html::default();
    html.raw("<div class=\"zone\"><p>").html(&icon(PageIcon::Globe));
    html.raw("<span><span class=\"sr\">").text(texts.times_in).raw(" </span><strong>");
    html.text(&zones::zone_name(&subject.zone.name, visit.language)).raw("</strong>");
    if !subject.has_own_zone {
        html.raw(" ").text(texts.host_zone);
    }
    html.raw("<br>").text(&controls.now.replace("{time}", &clock)).raw("</span></p>\n");
    let is_unknown = visit.choice.zone.is_some() && !subject.has_own_zone;
    html.raw("<details data-found=\"").text(controls.zones_found);
    html.raw("\" data-none=\"").text(controls.no_zone_found);
    html.raw(if is_unknown { "\" open>" } else { "\">" });
    html.raw("<summary aria-label=\"").text(texts.change_zone).raw("\">").text(controls.change);
    html.raw("</summary>\n").html(&form(visit, subject)).raw("</details></div>\n");
    html
}

/// The field for the name of a zone.
fn form(visit: &PageRequest, subject: &BookableEventType) -> Html {
    let texts = texts(visit.language);
    let typed = visit.choice.zone.as_deref();
    let unknown = typed.filter(|_| !subject.has_own_zone);
    let mut html = Html::default();
    html.raw("<form class=\"stack\" method=\"get\">\n");
    for (name, value) in visit.choice.without_start().fields().into_iter().filter(|(name, _)| *name != "tz") {
        html.raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").text(&value).raw("\">\n");
    }
    html.raw("<div class=\"field\"><label for=\"tz\">").text(texts.zone).raw("</label>\n");
    if let Some(typed) = unknown {
        html.raw("<p class=\"error\" id=\"tz-error\" role=\"alert\">").html(&icon(PageIcon::Alert));
        html.raw("<span>").text(texts.unknown_zone).raw(": <bdi>").text(typed).raw("</bdi></span></p>\n");
    }
    html.raw("<input id=\"tz\" name=\"tz\" list=\"zones\" dir=\"ltr\" maxlength=\"64\" autocomplete=\"off\" required");
    html.raw(match unknown {
        Some(_) => " aria-invalid=\"true\" aria-describedby=\"tz-error tz-hint\"",
        None => " aria-describedby=\"tz-hint\"",
    });
    html.raw(" value=\"").text(typed.unwrap_or(&subject.zone.name)).raw("\">\n");
    html.raw("<p class=\"hint\" id=\"tz-hint\">")
        .text(texts.zone_example)
        .raw("</p>\n<datalist id=\"zones\">\n");
    for name in ZONES {
        html.raw("<option value=\"").raw(name).raw("\"></option>\n");
    }
    html.raw("</datalist></div>\n<button class=\"plain\">").text(texts.show).raw("</button>\n</form>\n");
    html
}
