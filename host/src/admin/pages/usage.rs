//! `/apps/{a}/usage`: requests by day, outcome, key and surface, and the totals of all else that is counted.

use base::error::Result;
use service::locale::dates;
use service::locale::html::Html;
use service::manage::usage_report::{self, MAX_EXPORT_ROWS, OutcomeCounts, UsageDay, UsageReport, added_up};

use crate::admin::parts::amounts::AmountTable;
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::csv::add_line;
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::{empty, note};
use crate::admin::parts::plot::{BarPlot, PlotBar};
use crate::admin::parts::table::linked_name;
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelFile, PanelPage, View};
use crate::admin::visit::Visit;

/// The periods that can be chosen, in days.
const PERIODS: [usize; 3] = [7, 30, 90];
/// The period of plots, in days, where none is chosen.
pub const USUAL_DAYS: usize = 30;
/// The parameter that chooses one.
const DAYS: &str = "days";

/// The chosen period in days.
fn chosen_days(visit: &Visit) -> usize {
    let chosen = visit.query.first(DAYS).parse::<usize>().ok();
    chosen.filter(|days| PERIODS.contains(days)).unwrap_or(USUAL_DAYS)
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let (t, days, tenant) = (visit.texts.usage, chosen_days(visit), visit.tenant()?);
    let report = usage_report::load(&visit.app, tenant, days).await?;
    let path = visit.link(&format!("apps/{}/usage", tenant.application_id));
    let mut body = Html::default();
    head(&mut body, t.title, None);
    add_periods(visit, &path, days, &mut body);
    if report.is_cut {
        note(&mut body, BadgeTone::Warn, t.cut);
    }
    if report.requests().total() == 0 {
        let title = fill(t.none, &[("n", &days.to_string())]);
        empty(&mut body, PanelIcon::Chart, [&title, t.none_text], None);
    } else {
        body.raw("<section class=\"stack\">").element("h2", t.requests);
        add_plot(visit, &report.days, &mut body);
        add_outcomes(visit, report.requests(), &mut body);
        add_days(visit, &report.days, &mut body);
        body.raw("</section>\n");
        add_keys(visit, &report, &mut body)?;
        add_surfaces(visit, &report, &mut body);
    }
    add_totals(visit, &report, &mut body);
    body.raw("<section class=\"stack\"><p><a class=\"button plain\" download href=\"");
    body.text(&format!("{path}/csv?days={days}"))
        .raw("\">")
        .text(t.download)
        .raw("</a></p><p class=\"hint\">");
    body.text(&fill(t.download_note, &[("n", &visit.amount(MAX_EXPORT_ROWS))])).raw("</p></section>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Usage), body).into())
}

/// Adds the periods that can be chosen.
fn add_periods(visit: &Visit, path: &str, chosen: usize, html: &mut Html) {
    let t = visit.texts.usage;
    html.raw("<nav aria-label=\"").text(t.period).raw("\"><ul class=\"switch\">");
    for days in PERIODS {
        html.raw("<li><a href=\"").text(&format!("{path}?days={days}"));
        html.raw(if days == chosen { "\" aria-current=\"true\">" } else { "\">" });
        html.text(&fill(t.days, &[("n", &days.to_string())])).raw("</a></li>");
    }
    html.raw("</ul></nav>\n");
}

/// Adds a plot of requests by day. A page has one at most.
pub fn add_plot(visit: &Visit, days: &[UsageDay], html: &mut Html) {
    let t = visit.texts.usage;
    let bar = |day: &UsageDay| PlotBar {
        label: dates::day_of_month(day.date, visit.language),
        parts: [
            day.requests.success,
            day.requests.client_error,
            day.requests.rate_limited,
            day.requests.server_error,
        ],
    };
    let bars: Vec<PlotBar> = days.iter().map(bar).collect();
    let legend = [t.success, t.client_error, t.rate_limited, t.hatched];
    BarPlot { sentence: &sentence(visit, days), bars: &bars, legend }.add_to(html);
}

/// The plot as a sentence.
fn sentence(visit: &Visit, days: &[UsageDay]) -> String {
    let (t, all) = (visit.texts.usage, added_up(days));
    let name = |day: &UsageDay| dates::day_of_month(day.date, visit.language);
    let from = days.first().map(name).unwrap_or_default();
    let to = days.last().map(name).unwrap_or_default();
    let Some(largest) = days.iter().max_by_key(|day| day.requests.total()).filter(|_| all.total() > 0) else {
        return fill(t.sentence_none, &[("from", &from), ("to", &to)]);
    };
    let (total, failed) = (visit.amount(all.total()), visit.amount(all.failed()));
    let (most, day) = (visit.amount(largest.requests.total()), name(largest));
    let values = [
        ("from", from.as_str()),
        ("to", to.as_str()),
        ("total", total.as_str()),
        ("failed", failed.as_str()),
        ("most", most.as_str()),
        ("day", day.as_str()),
    ];
    fill(t.sentence, &values)
}

fn text_heading(text: &str) -> Html {
    let mut html = Html::default();
    html.text(text);
    html
}

fn add_outcomes(visit: &Visit, all: OutcomeCounts, html: &mut Html) {
    let t = visit.texts.usage;
    let mut table = AmountTable::new(t.by_outcome, &[t.outcome, t.requests, t.share]);
    for (word, amount) in [
        (t.success, all.success),
        (t.client_error, all.client_error),
        (t.rate_limited, all.rate_limited),
        (t.server_error, all.server_error),
    ] {
        table.row(&text_heading(word), &[visit.amount(amount), visit.share(amount, all.total())]);
    }
    table.add_to(html);
}

/// Adds a table of requests by day, the newest first, folded.
pub fn add_days(visit: &Visit, days: &[UsageDay], html: &mut Html) {
    let t = visit.texts.usage;
    let mut table = AmountTable::new(t.by_day, &[t.day, t.requests, t.not_succeeded]);
    for day in days.iter().rev() {
        let amounts = [visit.amount(day.requests.total()), visit.amount(day.requests.failed())];
        table.row(&text_heading(&dates::short_day(day.date, visit.language)), &amounts);
    }
    html.raw("<details><summary>").text(t.by_day).raw("</summary>\n");
    table.add_to(html);
    html.raw("</details>\n");
}

fn add_keys(visit: &Visit, report: &UsageReport, html: &mut Html) -> Result<()> {
    let t = visit.texts.usage;
    let base = format!("apps/{}/keys", visit.tenant()?.application_id);
    html.raw("<section class=\"stack\">").element("h2", t.by_key);
    let mut table = AmountTable::new(t.by_key_caption, &[t.key, t.requests, t.not_succeeded]);
    for key in &report.keys {
        let name = if key.name.is_empty() { &key.id } else { &key.name };
        let heading = linked_name(&visit.link(&format!("{base}/{}", key.id)), &short_name(name));
        table.row(&heading, &[visit.amount(key.requests), visit.share(key.failed, key.requests)]);
    }
    table.add_to(html);
    html.raw("</section>\n");
    Ok(())
}

fn add_surfaces(visit: &Visit, report: &UsageReport, html: &mut Html) {
    let t = visit.texts.usage;
    html.raw("<section class=\"stack\">").element("h2", t.by_surface);
    let mut table = AmountTable::new(t.by_surface_caption, &[t.surface, t.requests, t.not_succeeded]);
    for (surface, requests) in &report.by_surface {
        let amounts = [visit.amount(requests.total()), visit.share(requests.failed(), requests.total())];
        table.row(&text_heading(surface), &amounts);
    }
    table.add_to(html);
    html.raw("</section>\n");
}

/// Adds the totals of all but requests.
fn add_totals(visit: &Visit, report: &UsageReport, html: &mut Html) {
    let t = visit.texts.usage;
    let failed = visit.amount(report.deliveries.failed());
    let deliveries = match report.deliveries.p95_ms() {
        Some(ms) => fill(t.deliveries_note_p95, &[("n", &failed), ("ms", &visit.amount(ms))]),
        None => fill(t.deliveries_note, &[("n", &failed)]),
    };
    let bounced = fill(t.emails_note, &[("n", &visit.amount(report.emails_bounced))]);
    let cancelled = fill(t.bookings_note, &[("n", &visit.amount(report.bookings_cancelled))]);
    html.raw("<section class=\"stack\">").element("h2", t.totals).raw("<dl class=\"tiles\">");
    for (term, figure, note) in [
        (t.deliveries, visit.amount(report.deliveries.attempts()), deliveries.as_str()),
        (t.emails, visit.amount(report.emails_sent), bounced.as_str()),
        (t.bookings, visit.amount(report.bookings_created), cancelled.as_str()),
        (t.changes, visit.amount(report.changes), t.changes_note),
        (t.provider_calls, visit.amount(report.provider_calls), t.provider_calls_note),
        (t.stored, visit.bytes(report.stored_bytes), t.stored_note),
    ] {
        html.raw("<div><dt>").text(term).raw("</dt><dd>").text(&figure).raw("<small>").text(note);
        html.raw("</small></dd></div>");
    }
    html.raw("</dl></section>\n");
}

/// The counts of the chosen period as a file.
pub async fn download(visit: &Visit) -> Result<View> {
    let lines = usage_report::export(&visit.app, visit.tenant()?, chosen_days(visit)).await?;
    let mut text = String::new();
    add_line(&mut text, &["day", "keyId", "keyName", "surface", "outcome", "count"]);
    for line in lines {
        let count = line.count.to_string();
        let cells = [&line.day, &line.key_id, &line.key_name, &line.surface, &line.outcome, &count]
            .map(String::as_str);
        add_line(&mut text, &cells);
    }
    Ok(PanelFile { name: "usage.csv", media_type: "text/csv; charset=utf-8", text }.into())
}
