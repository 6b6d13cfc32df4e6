//! The times of a day, and the clock in which they are written.

use jiff::civil::Date;
use model::Instant;
use service::locale::dates::{self, Hours, Local};
use service::locale::html::Html;

use crate::api::book::choice::Choice;
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::controls::controls;

/// A start with its local time in the visitor's zone.
pub struct Time {
    pub start: Instant,
    pub local: Local,
    /// Free seats, if the event type shows them.
    pub seats_left: Option<u32>,
}

/// The part of the day of a time: until noon, until five in the afternoon, later.
fn part_of(time: &Time) -> usize {
    match time.local.hour {
        ..12 => 0,
        12..17 => 1,
        _ => 2,
    }
}

/// The times of a day, grouped by part of the day if there are several. On a day with a clock change each shows its offset, because a local
/// time can come twice.
pub fn time_list(visit: &PageRequest, subject: &BookableEventType, day: Date, times: &[Time]) -> Html {
    let mut html = Html::default();
    // The clocks follow the heading visually, but precede it in reading order: a reader whose focus is on the heading continues with the
    // times.
    html.raw("<div class=\"row between\">").html(&clocks(visit));
    html.raw("<h2 id=\"times\" tabindex=\"-1\" aria-label=\"")
        .text(&dates::day(day, visit.language))
        .raw("\">");
    html.text(&dates::short_day(day, visit.language)).raw("</h2></div>\n");
    let has_one_offset =
        times.windows(2).all(|two| matches!(two, [a, b] if a.local.offset == b.local.offset));
    let parts: Vec<&[Time]> = times.chunk_by(|a, b| part_of(a) == part_of(b)).collect();
    for (n, part) in parts.iter().enumerate() {
        let names = controls(visit.language).parts_of_day;
        html.raw("<div class=\"part\">");
        match part.first().and_then(|first| names.get(part_of(first))).filter(|_| parts.len() > 1) {
            None => html.raw("<ul class=\"times\" aria-labelledby=\"times\">\n"),
            Some(name) => {
                let id = format!("part-{n}");
                html.raw("<h3 id=\"").text(&id).raw("\">").text(name);
                html.raw("</h3>\n<ul class=\"times\" aria-labelledby=\"times ").text(&id).raw("\">\n")
            }
        };
        for time in *part {
            html.raw("<li>").html(&link(visit, subject, time, has_one_offset)).raw("</li>\n");
        }
        html.raw("</ul></div>\n");
    }
    html
}

/// The link to the form for a time, with its offset and its seats if they are shown.
fn link(visit: &PageRequest, subject: &BookableEventType, time: &Time, has_one_offset: bool) -> Html {
    let (start, standing) = (time.start, visit.choice.standing());
    let link = match &subject.moved {
        None => Choice { start: Some(start), ..standing }.link(),
        Some(_) => format!("move/at/{start}{}", standing.query()),
    };
    let mut html = Html::default();
    html.raw("<a href=\"").text(&link).raw("\">");
    html.text(&dates::clock(&time.local, visit.language, visit.hours));
    if !has_one_offset {
        html.raw(" <small>(UTC").text(&time.local.offset).raw(")</small>");
    }
    if let Some(seats) = time.seats_left {
        html.raw(" <small>").text(controls(visit.language).seats_left).raw(": ").text(&seats.to_string());
        html.raw("</small>");
    }
    html.raw("</a>");
    html
}

/// Both clocks, with the current one marked.
fn clocks(visit: &PageRequest) -> Html {
    let controls = controls(visit.language);
    let mut html = Html::default();
    html.raw("<nav aria-label=\"").text(controls.clock).raw("\"><ul class=\"switch\">");
    let clocks = [
        (Hours::Twelve, "hc-12", controls.twelve_hours),
        (Hours::TwentyFour, "hc-24", controls.twenty_four_hours),
    ];
    for (hours, keep, name) in clocks {
        let link = Choice { hours: Some(hours), ..visit.choice.without_start() }.link();
        html.raw("<li><a href=\"").text(&link).raw("\" data-keep=\"").raw(keep).raw("\"");
        html.raw(if hours == visit.hours { " aria-current=\"true\">" } else { ">" });
        html.text(name).raw("</a></li>");
    }
    html.raw("</ul></nav>");
    html
}
