//! Times to choose from in place of one that is taken, grouped by day.

use jiff::civil::Date;
use model::Instant;
use service::locale::dates::{self, Local};
use service::locale::html::Html;

use crate::api::book::subject::{BookableEventType, PageRequest};

/// A time to choose, with the content of its cell.
pub struct OtherTime {
    pub start: Instant,
    pub label: Html,
}

/// Lists times by day. `cell` returns the content of a time's cell.
pub fn by_day(
    visit: &PageRequest,
    subject: &BookableEventType,
    others: &[Instant],
    cell: impl Fn(&OtherTime) -> Html,
) -> Html {
    let locals: Vec<(Instant, Local)> =
        others.iter().map(|start| (*start, dates::local(*start, &subject.zone))).collect();
    let has_one_offset = locals.windows(2).all(|two| matches!(two, [a, b] if a.1.offset == b.1.offset));
    let mut html = Html::default();
    for (number, day) in locals.chunk_by(|a, b| a.1.date == b.1.date).enumerate() {
        let Some((_, first)) = day.first() else { continue };
        html.html(&heading(visit, first.date, number));
        for (start, local) in day {
            let mut label = Html::default();
            label.text(&dates::clock(local, visit.language, visit.hours));
            if !has_one_offset {
                label.raw(" <small>(UTC").text(&local.offset).raw(")</small>");
            }
            html.raw("<li>").html(&cell(&OtherTime { start: *start, label })).raw("</li>\n");
        }
        html.raw("</ul></div>\n");
    }
    html
}

/// Begins the list of a day.
fn heading(visit: &PageRequest, day: Date, number: usize) -> Html {
    let id = format!("day-{number}");
    let mut html = Html::default();
    html.raw("<div class=\"part\"><h3 id=\"").text(&id).raw("\">").text(&dates::day(day, visit.language));
    html.raw("</h3>\n<ul class=\"times\" aria-labelledby=\"").text(&id).raw("\">\n");
    html
}
