//! A month: its days with free times, the times of one of them, and the links to other months, zones and durations.

use std::collections::BTreeMap;

use base::error::{Code, Error};
use http::StatusCode;
use jiff::civil::Date;
use service::app::App;
use service::locale::dates;
use service::locale::html::Html;

use crate::api::book::bounds::Bounds;
use crate::api::book::choice::Choice;
use crate::api::book::free::{self, DAY_MS, NextTime};
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::{HtmlPage, SheetShape};
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::texts;
use crate::api::book::time_list::{Time, time_list};
use crate::api::book::zone_picker::zone_picker;
use crate::api::book::{about, hosts};
use crate::web::error;

/// The times of each day of a month, in the visitor's zone.
type Days = BTreeMap<Date, Vec<Time>>;

/// The list of times.
pub async fn page(app: &App, visit: &PageRequest, subject: &BookableEventType) -> HtmlPage {
    let (language, choice) = (visit.language, &visit.choice);
    let event_type = &subject.bookable.body;
    let today = subject.zone.date(app.now());
    let bounds = Bounds::for_window(&event_type.booking_window, today);
    let month = bounds.month(choice.month.or(choice.day));
    let days = match days(app, subject, month).await {
        Ok(days) => days,
        Err(e) if subject.moved.is_some() => return unreadable(visit, e),
        Err(e) => return unreadable(visit, e).with_event_type(event_type),
    };
    let mut html = Html::default();
    html.raw("<section class=\"who tight\">\n").html(&head(visit, subject)).html(&durations(visit, subject));
    html.raw("</section>\n<section>\n");
    let mut said = dates::month(month, language);
    let chosen = choice.day.filter(|day| days.contains_key(day)).or_else(|| days.keys().next().copied());
    let shape = match chosen.and_then(|day| days.get_key_value(&day)) {
        None => {
            let next = next(app, subject, &bounds, month).await;
            let (part, sentence) = empty(visit, subject, &bounds, month, next);
            html.html(&part).html(&zone_picker(visit, subject, app.now())).raw("</section>\n");
            said = format!("{said}. {sentence}");
            SheetShape::Two
        }
        Some((day, times)) => {
            html.html(&pager(visit, month, bounds.before(month), bounds.after(month)));
            html.html(&grid(visit, today, month, &days, *day));
            html.html(&zone_picker(visit, subject, app.now()));
            html.raw("</section>\n<section class=\"slots\">\n").html(&time_list(visit, subject, *day, times));
            html.raw("</section>\n");
            said = format!("{said}. {}", name_of(*day, times, visit));
            SheetShape::Three
        }
    };
    let is_unknown = choice.zone.is_some() && !subject.has_own_zone;
    let zone = match (subject.has_own_zone, is_unknown) {
        (true, _) => "own",
        (false, true) => "unknown",
        (false, false) => "none",
    };
    let month = month.strftime("%Y-%m").to_string();
    let mut page = titled_page(visit, subject, html).shaped(shape);
    if shape == SheetShape::Three {
        page = page.with_skip_link(controls(language).skip_to_times);
    }
    let page = page.with_status(if is_unknown { StatusCode::BAD_REQUEST } else { StatusCode::OK });
    let page = page.with_fact("page", "month").with_fact("month", month).with_fact("said", said);
    page.with_fact("zone", zone).with_fact("shown-zone", subject.zone.name.clone())
}

/// The page with its title and its images; without framing if a booking is rescheduled.
fn titled_page(visit: &PageRequest, subject: &BookableEventType, html: Html) -> HtmlPage {
    let event_type = &subject.bookable.body;
    let title = match &subject.moved {
        None => event_type.title.clone(),
        Some(_) => texts(visit.language).move_booking.to_owned(),
    };
    let page =
        HtmlPage::new(title, html).with_event_type(event_type).with_pictures(hosts::pictures(event_type));
    if subject.moved.is_some() { page.unframed() } else { page }
}

/// The event type, or the booking that is rescheduled with the link back to it.
fn head(visit: &PageRequest, subject: &BookableEventType) -> Html {
    let (language, event_type) = (visit.language, &subject.bookable.body);
    let mut html = Html::default();
    let Some(moved) = &subject.moved else {
        html.html(&about::logo(event_type)).html(&about::title(event_type, language));
        html.html(&about::facts(event_type, language)).html(&about::description(event_type, language));
        return html;
    };
    let texts = texts(language);
    let back = format!("../{}{}", moved.token, visit.choice.spoken().query());
    html.raw("<p><a href=\"").text(&back).raw("\" class=\"button plain small\">").html(&icon(PageIcon::Back));
    html.text(texts.to_booking).raw("</a></p>\n");
    html.html(&about::title_of_deed(event_type, language, texts.move_booking));
    html.html(&about::present_time(visit, subject, moved));
    html
}

async fn days(app: &App, subject: &BookableEventType, month: Date) -> Result<Days, Error> {
    let zone = &subject.zone;
    let from_ms = zone.instant_ms(month, 0).unwrap_or(i64::MAX);
    let next = month.last_of_month().tomorrow().unwrap_or(month);
    let to_ms = zone.instant_ms(next, 0).unwrap_or(from_ms);
    let mut days = Days::new();
    for start in free::starts(app, subject, from_ms.max(app.now()), to_ms).await? {
        let local = dates::local(start.at, zone);
        let time = Time { start: start.at, seats_left: start.seats_left, local };
        days.entry(time.local.date).or_default().push(time);
    }
    Ok(days)
}

/// The page if the search failed: never a month without times.
fn unreadable(visit: &PageRequest, e: Error) -> HtmlPage {
    let texts = texts(visit.language);
    let is_unknown = e.code() == Some(Code::AvailabilityUnknown);
    let refusal = error::public(e, &visit.request_id);
    if !is_unknown {
        return HtmlPage::broken(visit.language).for_refusal(&refusal);
    }
    let retry_after_s = refusal.retry_after_s.unwrap_or(5);
    let [title, text] = texts.unreadable;
    let mut html = Html::default();
    html.raw("<div class=\"stack wide\"><div class=\"outcome\"><span class=\"seal warn\">");
    html.html(&icon(PageIcon::Alert))
        .raw("</span><h1>")
        .text(title)
        .raw("</h1><p class=\"soft\">")
        .text(text);
    html.raw("</p></div>\n<p class=\"actions\"><a href=\"").text(&visit.choice.link());
    html.raw("\" class=\"button\">").text(texts.try_again).raw("</a></p></div>\n");
    let page = HtmlPage::new(title, html).shaped(SheetShape::One);
    page.with_status(StatusCode::SERVICE_UNAVAILABLE).retry_after_s(retry_after_s)
}

/// The durations that can be chosen.
fn durations(visit: &PageRequest, subject: &BookableEventType) -> Html {
    let texts = texts(visit.language);
    let event_type = &subject.bookable.body;
    let mut html = Html::default();
    if event_type.duration_options.is_empty() {
        return html;
    }
    let mut all = vec![event_type.duration_minutes];
    all.extend(&event_type.duration_options);
    all.sort_unstable();
    all.dedup();
    html.raw("<nav aria-label=\"").text(texts.duration).raw("\"><ul class=\"switch full\">\n");
    for minutes in all {
        let link = Choice { minutes: Some(minutes), ..visit.choice.without_start() }.link();
        html.raw("<li><a href=\"").text(&link).raw("\" data-keep=\"").text(&minutes.to_string()).raw("\"");
        html.raw(if minutes == subject.minutes { " aria-current=\"true\">" } else { ">" });
        html.text(&about::minutes(minutes, texts)).raw("</a></li>\n");
    }
    html.raw("</ul></nav>\n");
    html
}

/// The name of the month, and arrows to the months beside it. If only one of them leads somewhere, the other one keeps its place.
fn pager(visit: &PageRequest, month: Date, before: Option<Date>, after: Option<Date>) -> Html {
    let (texts, language) = (texts(visit.language), visit.language);
    let mut html = Html::default();
    html.raw("<div class=\"month\"><h2 id=\"month\">").text(&dates::month(month, language)).raw("</h2>\n");
    if before.is_none() && after.is_none() {
        html.raw("</div>\n");
        return html;
    }
    html.raw("<nav aria-label=\"").text(texts.months).raw("\"><ul>\n");
    let ways = [
        (before, "prev", texts.previous_month, PageIcon::Back),
        (after, "next", texts.next_month, PageIcon::Next),
    ];
    for (month, relation, name, arrow) in ways {
        match month {
            Some(month) => {
                html.raw("<li><a href=\"").text(&to_month(visit, month)).raw("\" rel=\"").raw(relation);
                html.raw("\" class=\"button icon\" aria-label=\"").text(name);
                html.raw(controls(language).comma).text(&dates::month(month, language));
                html.raw("\">").html(&icon(arrow)).raw("</a></li>\n");
            }
            None => {
                html.raw(
                    "<li><span class=\"button icon\" role=\"link\" aria-disabled=\"true\" aria-label=\"",
                );
                html.text(name).raw("\">").html(&icon(arrow)).raw("</span></li>\n");
            }
        }
    }
    html.raw("</ul></nav></div>\n");
    html
}

fn to_month(visit: &PageRequest, month: Date) -> String {
    Choice { month: Some(month.first_of_month()), ..visit.choice.standing() }.link()
}

fn to_day(visit: &PageRequest, day: Date) -> String {
    Choice { month: Some(day.first_of_month()), day: Some(day), ..visit.choice.standing() }.link()
}

/// The days of the month; those with free times are links.
fn grid(visit: &PageRequest, today: Date, month: Date, days: &Days, chosen: Date) -> Html {
    let language = visit.language;
    let mut html = Html::default();
    html.raw("<table class=\"days\" aria-labelledby=\"month\">\n<thead><tr>");
    for (name, short) in dates::weekdays(language).into_iter().zip(dates::short_weekdays(language)) {
        html.raw("<th scope=\"col\" abbr=\"").text(name).raw("\">").text(&short).raw("</th>");
    }
    html.raw("</tr></thead>\n<tbody><tr>");
    let before = dates::place_in_week(month, language);
    (0..before).for_each(|_| {
        html.raw("<td></td>");
    });
    let each = std::iter::successors(Some(month), |day| day.tomorrow().ok());
    for (n, day) in each.take_while(|day| day.first_of_month() == month).enumerate() {
        if n > 0 && (before + n).is_multiple_of(7) {
            html.raw("</tr>\n<tr>");
        }
        let number = day.day().to_string();
        html.raw(if day == today { "<td aria-current=\"date\">" } else { "<td>" });
        let Some(times) = days.get(&day) else {
            html.text(&number).raw("</td>");
            continue;
        };
        let name = name_of(day, times, visit);
        html.raw("<a href=\"").text(&to_day(visit, day)).raw("#times\" aria-label=\"").text(&name).raw("\"");
        html.raw(if chosen == day { " aria-current=\"true\">" } else { ">" });
        html.text(&number).raw("</a></td>");
    }
    html.raw("</tr></tbody>\n</table>\n");
    html
}

/// The label of a day with the number of its times.
fn name_of(day: Date, times: &[Time], visit: &PageRequest) -> String {
    format!("{}, {}: {}", dates::day(day, visit.language), texts(visit.language).free_times, times.len())
}

/// The first free time after a month without one.
async fn next(app: &App, subject: &BookableEventType, bounds: &Bounds, month: Date) -> NextTime {
    let zone = &subject.zone;
    let from = month.last_of_month().tomorrow().ok().and_then(|from| zone.instant_ms(from, 0));
    let (Some(from_ms), Some(last_ms)) = (from, zone.instant_ms(bounds.last, 0)) else {
        return NextTime::Unknown;
    };
    let (from_ms, to_ms) = (from_ms.max(app.now()), last_ms.saturating_add(DAY_MS));
    free::first(app, subject, from_ms, to_ms).await.unwrap_or(NextTime::Unknown)
}

/// A month without times: the message, what is known of later months, and the link to the next time; and the sentence for screen readers.
fn empty(
    visit: &PageRequest,
    subject: &BookableEventType,
    bounds: &Bounds,
    month: Date,
    next: NextTime,
) -> (Html, String) {
    let (texts, controls, language) = (texts(visit.language), controls(visit.language), visit.language);
    let before = bounds.before(month);
    let after = bounds.after(month).filter(|_| next != NextTime::None);
    let is_last_word = next == NextTime::None && before.is_none();
    let [nothing, look_later] = texts.none_at_all;
    let sentence = match is_last_word {
        true => nothing.to_owned(),
        false => texts.none_in_month.replace("{month}", &dates::month_alone(month, language)),
    };
    let mut html = Html::default();
    if !is_last_word {
        html.html(&pager(visit, month, before, after));
    }
    html.raw("<div class=\"empty\"><span class=\"seal\">").html(&icon(PageIcon::Calendar)).raw("</span>");
    html.element("h2", &sentence);
    match next {
        NextTime::At(start) => {
            let day = dates::local(start, &subject.zone).date;
            html.element("p", &controls.next_day.replace("{day}", &dates::day(day, language)));
            html.raw("<a href=\"").text(&to_day(visit, day)).raw("#times\" class=\"button\">");
            html.text(&controls.show_day.replace("{day}", &dates::day_of_month(day, language))).raw("</a>");
        }
        NextTime::None if is_last_word => {
            html.element("p", look_later);
        }
        NextTime::None => {
            html.element("p", texts.none_ahead);
        }
        NextTime::Unknown => {}
    }
    html.raw("</div>\n");
    (html, sentence)
}
