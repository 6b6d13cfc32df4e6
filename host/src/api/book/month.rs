//! A month: its days with free times, the times of one of them, and the ways to other months, zones and durations.

use std::collections::BTreeMap;

use base::error::{Code, Error};
use http::StatusCode;
use jiff::civil::Date;
use model::Instant;

use crate::api::book::bounds::Bounds;
use crate::api::book::choice::Choice;
use crate::api::book::free::{self, DAY_MS};
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::texts;
use crate::api::book::{about, hosts};
use crate::api::response::error;
use crate::app::App;
use crate::locale::dates::{self, Hours, Local};
use crate::locale::html::Html;
use crate::locale::zones;

/// Zones that the field for one suggests; every other IANA name can be typed.
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

/// A start with its local time in the visitor's zone.
struct Time {
    start: Instant,
    local: Local,
}

/// The times of each day of a month, in the visitor's zone.
type Days = BTreeMap<Date, Vec<Time>>;

/// The list of times.
pub async fn page(app: &App, visit: &PageRequest, subject: &BookableEventType) -> HtmlPage {
    let (language, choice) = (visit.language, &visit.choice);
    let event_type = &subject.bookable.body;
    let bounds = Bounds::of(&event_type.booking_window, subject.zone.date(app.now()));
    let month = bounds.month(choice.month.or(choice.day));
    let days = match days(app, subject, month).await {
        Ok(days) => days,
        Err(e) if subject.moved.is_some() => return unreadable(visit, e),
        Err(e) => return unreadable(visit, e).of(event_type),
    };
    let texts = texts(language);
    let mut html = Html::default();
    if !days.is_empty() {
        // People who go from control to control need not pass durations, months and days.
        html.raw("<a class=\"skip\" href=\"#times\">").text(controls(language).skip_to_times).raw("</a>\n");
    }
    html.html(&head(visit, subject)).html(&zone(visit, subject)).html(&durations(visit, subject));
    html.raw("<div class=\"pick\">\n<div>\n").html(&pager(visit, &bounds, month));
    let mut said = dates::month(month, language);
    if days.is_empty() {
        let next = next(app, subject, &bounds, month).await;
        let none = texts.none_in_month.replace("{month}", &dates::month_alone(month, language));
        html.element("p", &none).html(&onward(visit, subject, next));
        said = format!("{said}. {none}");
    } else {
        let chosen = choice.day.filter(|day| days.contains_key(day)).or_else(|| days.keys().next().copied());
        html.html(&grid(visit, subject.zone.date(app.now()), month, &days, chosen));
        if let Some((day, times)) = chosen.and_then(|day| days.get_key_value(&day)) {
            html.raw("</div>\n<div>\n").html(&list(visit, subject, *day, times));
            said = format!("{said}. {}", name_of(*day, times, visit));
        }
    }
    html.raw("</div>\n</div>\n");
    let is_unknown = choice.zone.is_some() && !subject.has_own_zone;
    let status = if is_unknown { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let page = match &subject.moved {
        None => {
            let page = HtmlPage::new(event_type.title.clone(), html).with_status(status).of(event_type);
            page.with_pictures(hosts::pictures(event_type))
        }
        Some(_) => HtmlPage::new(texts.move_booking, html).with_status(status).of(event_type).unframed(),
    };
    let zone = match (subject.has_own_zone, is_unknown) {
        (true, _) => "own",
        (false, true) => "unknown",
        (false, false) => "none",
    };
    let month = month.strftime("%Y-%m").to_string();
    let page = page.with_fact("page", "month").with_fact("month", month).with_fact("said", said);
    page.with_fact("zone", zone).with_fact("shown-zone", subject.zone.name.clone())
}

/// What the times are for: the event type, or the booking that is to be moved, with the way back to it.
fn head(visit: &PageRequest, subject: &BookableEventType) -> Html {
    let texts = texts(visit.language);
    let Some(moved) = &subject.moved else {
        return about::event_type(&subject.bookable.body, visit.language);
    };
    let mut html = Html::default();
    html.raw("<dl>\n").html(&about::moved(visit, subject, moved)).raw("</dl>\n");
    let back = format!("../{}{}", moved.token, visit.choice.spoken().query());
    html.raw("<p>").link(&back, texts.to_booking).raw("</p>\n");
    html
}

async fn days(app: &App, subject: &BookableEventType, month: Date) -> Result<Days, Error> {
    let zone = &subject.zone;
    let from_ms = zone.instant_ms(month, 0).unwrap_or(i64::MAX);
    let next = month.last_of_month().tomorrow().unwrap_or(month);
    let to_ms = zone.instant_ms(next, 0).unwrap_or(from_ms);
    let mut days = Days::new();
    for start in free::starts(app, subject, from_ms.max(app.now()), to_ms).await? {
        let local = dates::local(start, zone);
        days.entry(local.date).or_default().push(Time { start, local });
    }
    Ok(days)
}

/// The page where it is not known what is free: never a month without times.
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
    html.element("p", text).raw("<p>").link(&visit.choice.link(), texts.try_again).raw("</p>\n");
    HtmlPage::new(title, html).with_status(StatusCode::SERVICE_UNAVAILABLE).retry_after_s(retry_after_s)
}

/// Which zone the times are in, and the form to change it.
fn zone(visit: &PageRequest, subject: &BookableEventType) -> Html {
    let texts = texts(visit.language);
    let mut html = Html::default();
    html.raw("<p>").text(texts.times_in).raw(" <strong>");
    html.text(&zones::zone_name(&subject.zone.name, visit.language)).raw("</strong>");
    if !subject.has_own_zone {
        html.raw(" ").text(texts.host_zone);
    }
    html.raw("</p>\n").html(&clocks(visit));
    let typed = visit.choice.zone.as_deref();
    let unknown = typed.filter(|_| !subject.has_own_zone);
    let controls = controls(visit.language);
    html.raw("<details class=\"zone\" data-found=\"").text(controls.zones_found);
    html.raw("\" data-none=\"").text(controls.no_zone_found);
    html.raw(if unknown.is_some() { "\" open>" } else { "\">" });
    html.raw("<summary>").text(texts.change_zone).raw("</summary>\n<form method=\"get\">\n");
    for (name, value) in visit.choice.without_start().fields().into_iter().filter(|(name, _)| *name != "tz") {
        html.raw("<input type=\"hidden\" name=\"").raw(name).raw("\" value=\"").text(&value).raw("\">\n");
    }
    html.raw("<div class=\"field\"><label for=\"tz\">").text(texts.zone).raw("</label>\n");
    if let Some(typed) = unknown {
        html.raw("<p class=\"error\" id=\"tz-error\" role=\"alert\">").text(texts.unknown_zone).raw(": ");
        html.text(typed).raw("</p>\n");
    }
    html.raw("<p class=\"hint\" id=\"tz-hint\">").text(texts.zone_example).raw("</p>\n");
    html.raw("<input id=\"tz\" name=\"tz\" list=\"zones\" maxlength=\"64\" autocomplete=\"off\" required");
    html.raw(match unknown {
        Some(_) => " aria-invalid=\"true\" aria-describedby=\"tz-error tz-hint\"",
        None => " aria-describedby=\"tz-hint\"",
    });
    html.raw(" value=\"").text(typed.unwrap_or(&subject.zone.name)).raw("\">\n<datalist id=\"zones\">\n");
    for name in ZONES {
        html.raw("<option value=\"").raw(name).raw("\"></option>\n");
    }
    html.raw("</datalist></div>\n<button>").text(texts.show).raw("</button>\n</form>\n</details>\n");
    html
}

/// Both clocks: the one that is shown, and the way to the other one.
fn clocks(visit: &PageRequest) -> Html {
    let controls = controls(visit.language);
    let mut html = Html::default();
    html.raw("<p>");
    for (hours, name) in
        [(Hours::Twelve, controls.twelve_hours), (Hours::TwentyFour, controls.twenty_four_hours)]
    {
        if hours == Hours::TwentyFour {
            html.raw(" / ");
        }
        if hours == visit.hours {
            html.raw("<strong>").text(name).raw("</strong>");
        } else {
            let link = Choice { hours: Some(hours), ..visit.choice.without_start() }.link();
            html.raw("<a href=\"").text(&link).raw("\" data-keep=\"hours\">").text(name).raw("</a>");
        }
    }
    html.raw("</p>\n");
    html
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
    html.raw("<nav aria-label=\"").text(texts.duration).raw("\">\n<ul>\n");
    for minutes in all {
        let link = Choice { minutes: Some(minutes), ..visit.choice.without_start() }.link();
        html.raw("<li><a href=\"").text(&link).raw("\" data-keep=\"").text(&minutes.to_string()).raw("\"");
        html.raw(if minutes == subject.minutes { " aria-current=\"true\">" } else { ">" });
        html.text(&about::minutes(minutes, texts)).raw("</a></li>\n");
    }
    html.raw("</ul>\n</nav>\n");
    html
}

/// The name of the month, and the ways to those beside it.
fn pager(visit: &PageRequest, bounds: &Bounds, month: Date) -> Html {
    let texts = texts(visit.language);
    let mut html = Html::default();
    html.raw("<h2 id=\"month\">").text(&dates::month(month, visit.language)).raw("</h2>\n");
    html.raw("<nav aria-label=\"").text(texts.months).raw("\">\n<ul>\n");
    let ways = [
        (bounds.before(month), "prev", texts.previous_month),
        (bounds.after(month), "next", texts.next_month),
    ];
    for (month, relation, name) in ways {
        if let Some(month) = month {
            let link = to_month(visit, month);
            html.raw("<li><a href=\"").text(&link).raw("\" rel=\"").raw(relation).raw("\">").text(name);
            html.raw("</a></li>\n");
        }
    }
    html.raw("</ul>\n</nav>\n");
    html
}

fn to_month(visit: &PageRequest, month: Date) -> String {
    Choice { month: Some(month.first_of_month()), ..visit.choice.standing() }.link()
}

/// The days of the month; those with free times are links.
fn grid(visit: &PageRequest, today: Date, month: Date, days: &Days, chosen: Option<Date>) -> Html {
    let language = visit.language;
    let mut html = Html::default();
    html.raw("<table class=\"days\">\n<thead><tr>");
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
        let link = Choice { month: Some(month), day: Some(day), ..visit.choice.standing() }.link();
        let name = name_of(day, times, visit);
        html.raw("<a href=\"").text(&link).raw("\" aria-label=\"").text(&name).raw("\"");
        html.raw(if chosen == Some(day) { " aria-current=\"true\">" } else { ">" });
        html.text(&number).raw("</a></td>");
    }
    html.raw("</tr></tbody>\n</table>\n");
    html
}

/// A day with the number of its times.
fn name_of(day: Date, times: &[Time], visit: &PageRequest) -> String {
    format!("{}, {}: {}", dates::day(day, visit.language), texts(visit.language).free_times, times.len())
}

/// The part of the day in which a time is: until noon, until five in the afternoon, later.
fn part_of(time: &Time) -> usize {
    match time.local.hour {
        ..12 => 0,
        12..17 => 1,
        _ => 2,
    }
}

/// The times of a day, by its parts where they are in several. Where the clocks change on it, each tells its offset: a time of day can come
/// twice.
fn list(visit: &PageRequest, subject: &BookableEventType, day: Date, times: &[Time]) -> Html {
    let mut html = Html::default();
    html.raw("<h2 id=\"times\" tabindex=\"-1\">").text(&dates::day(day, visit.language)).raw("</h2>\n");
    let has_one_offset =
        times.windows(2).all(|two| matches!(two, [a, b] if a.local.offset == b.local.offset));
    let parts: Vec<&[Time]> = times.chunk_by(|a, b| part_of(a) == part_of(b)).collect();
    for (n, part) in parts.iter().enumerate() {
        let names = controls(visit.language).parts_of_day;
        match part.first().and_then(|first| names.get(part_of(first))).filter(|_| parts.len() > 1) {
            None => html.raw("<ul class=\"times\" aria-labelledby=\"times\">\n"),
            Some(name) => {
                let id = format!("part-{n}");
                html.raw("<h3 id=\"").text(&id).raw("\">").text(name);
                html.raw("</h3>\n<ul class=\"times\" aria-labelledby=\"times ").text(&id).raw("\">\n")
            }
        };
        for Time { start, local } in *part {
            let link = match &subject.moved {
                None => Choice { start: Some(*start), ..visit.choice.standing() }.link(),
                Some(_) => format!("move/at/{start}{}", visit.choice.standing().query()),
            };
            let clock = dates::clock(local, visit.language, visit.hours);
            let name = if has_one_offset { clock } else { format!("{clock} (UTC{})", local.offset) };
            html.raw("<li>").link(&link, &name).raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
    html
}

/// The next time after a month without one; none where there is none, or where it cannot be found out.
async fn next(app: &App, subject: &BookableEventType, bounds: &Bounds, month: Date) -> Option<Instant> {
    let from = month.last_of_month().tomorrow().ok()?;
    let from_ms = subject.zone.instant_ms(from, 0)?.max(app.now());
    let to_ms = subject.zone.instant_ms(bounds.last, 0)?.saturating_add(DAY_MS);
    free::first(app, subject, from_ms, to_ms).await.ok().flatten()
}

fn onward(visit: &PageRequest, subject: &BookableEventType, next: Option<Instant>) -> Html {
    let texts = texts(visit.language);
    let mut html = Html::default();
    match next {
        Some(start) => {
            let month = dates::local(start, &subject.zone).date;
            let name = format!("{}: {}", texts.next_free, dates::month(month, visit.language));
            html.raw("<p>").link(&to_month(visit, month), &name).raw("</p>\n");
        }
        None => {
            html.element("p", texts.none_ahead);
        }
    }
    html
}
