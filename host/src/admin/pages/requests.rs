//! `/apps/{a}/requests`: the logged requests of an application, newest first, by status and key.

use std::collections::HashMap;

use base::error::Result;
use base::ids;
use http::StatusCode;
use service::locale::html::Html;
use service::manage::actor::Act;
use service::manage::request_log;
use storage::key_relatives;
use storage::request_log::{RequestEntry, RequestFilter, RequestLogMode, StatusClass};

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::field::{FormFaults, InputField, SelectField};
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::{empty, note};
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, linked_name};
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const STATUS: &str = "status";
const KEY: &str = "key";

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.requests, visit.tenant()?);
    let (filter, faults) = chosen_filter(visit);
    let mut body = Html::default();
    head(&mut body, t.title, None);
    if !faults.is_empty() {
        faults.summary(&mut body, visit.texts.frame);
        add_filters(visit, &filter, &faults, &mut body)?;
        let page = PanelPage::new(t.title, Some(MenuEntry::Requests), body);
        return Ok(page.with_status(StatusCode::BAD_REQUEST).into());
    }
    let path = address(visit, &filter)?;
    let binding = visit.binding("requests", &path);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let (before, rows) = (place.as_deref(), PAGE_ROWS + 1);
    let mut found = request_log::list(&visit.app, tenant, &filter, before, rows).await?;
    add_off(visit, &mut body)?;
    let is_filtered = filter != RequestFilter::default();
    if !found.is_empty() || is_filtered {
        add_filters(visit, &filter, &faults, &mut body)?;
    }
    if found.is_empty() && is_first {
        add_empty(visit, is_filtered, &mut body)?;
        return Ok(PanelPage::new(t.title, Some(MenuEntry::Requests), body).into());
    }
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let caption = fill(t.caption, &[("period", &period_text(visit))]);
    add_table(visit, &found, &key_names(visit, &found).await?, &caption, &mut body)?;
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.id));
    visit.add_pager(&mut body, &path, next.as_deref());
    Ok(PanelPage::new(t.title, Some(MenuEntry::Requests), body).into())
}

/// The time for which requests are kept.
pub fn period_text(visit: &Visit) -> String {
    let t = visit.texts.requests;
    match visit.app.config.request_log_days {
        1 => t.period_one.to_owned(),
        days => fill(t.period, &[("n", &days.to_string())]),
    }
}

/// The filter of the address, with what is wrong with it.
fn chosen_filter(visit: &Visit) -> (RequestFilter, FormFaults) {
    let mut faults = FormFaults::default();
    let status = StatusClass::parse(visit.query.first(STATUS));
    let key_id = visit.query.filled(KEY);
    if key_id.as_deref().is_some_and(|id| !ids::is_plausible(id)) {
        faults.add(KEY, visit.texts.requests.bad_key);
    }
    (RequestFilter { status, key_id }, faults)
}

/// The address of the list with this filter.
fn address(visit: &Visit, filter: &RequestFilter) -> Result<String> {
    let mut address = visit.link(&format!("apps/{}/requests", visit.tenant()?.application_id));
    let status = filter.status.map(StatusClass::as_str);
    let chosen = [(STATUS, status), (KEY, filter.key_id.as_deref())];
    let mut mark = '?';
    for (name, value) in chosen.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        address.push_str(&format!("{mark}{name}={value}"));
        mark = '&';
    }
    Ok(address)
}

/// Adds the filters, folded while none is set.
fn add_filters(visit: &Visit, filter: &RequestFilter, faults: &FormFaults, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    let list = visit.link(&format!("apps/{}/requests", visit.tenant()?.application_id));
    let is_set = *filter != RequestFilter::default();
    html.raw(if is_set { "<details open><summary>" } else { "<details><summary>" }).text(t.filters);
    html.raw("</summary>\n<form class=\"inline\" method=\"get\" action=\"").text(&list).raw("\">");
    let options = [
        ("", t.all),
        (StatusClass::Error.as_str(), t.errors),
        (StatusClass::Success.as_str(), t.success),
        (StatusClass::ClientError.as_str(), t.client_error),
        (StatusClass::ServerError.as_str(), t.server_error),
    ];
    let chosen = filter.status.map(StatusClass::as_str).unwrap_or_default();
    let status = SelectField { id: STATUS, label: t.filter_status, options: &options, chosen };
    status.add_to(html, visit.texts.frame, faults);
    let typed = visit.query.filled(KEY).map(|typed| short_name(&typed)).unwrap_or_default();
    let key = InputField::text(KEY, t.filter_key, &typed).optional().ltr();
    key.add_to(html, visit.texts.frame, faults);
    html.raw("<button class=\"plain\">").text(t.show).raw("</button>");
    if is_set {
        html.raw("<a class=\"button plain\" href=\"").text(&list).raw("\">").text(t.show_all).raw("</a>");
    }
    html.raw("</form></details>\n");
    Ok(())
}

/// Says that nothing new is logged, where that is so.
fn add_off(visit: &Visit, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    if visit.app.config.request_log_days == 0 {
        note(html, BadgeTone::Neutral, t.off_everywhere);
    } else if visit.application()?.request_log == RequestLogMode::Off {
        note(html, BadgeTone::Neutral, &format!("{}. {}", t.off, t.off_text));
    }
    Ok(())
}

fn add_empty(visit: &Visit, is_filtered: bool, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    if is_filtered {
        empty(html, PanelIcon::Search, [t.none_found, t.none_found_text], None);
        return Ok(());
    }
    let settings = visit.link(&format!("apps/{}/settings", visit.tenant()?.application_id));
    let is_off = visit.application()?.request_log == RequestLogMode::Off;
    let button = (is_off && visit.may(Act::ManageApplication)).then_some((settings.as_str(), t.to_settings));
    empty(html, PanelIcon::List, [t.none, t.none_text], button);
    Ok(())
}

/// The names of the keys of these requests, by their ids.
///
/// # Errors
/// Those of the database.
pub async fn key_names(visit: &Visit, entries: &[RequestEntry]) -> Result<HashMap<String, String>> {
    let mut ids: Vec<&str> = entries.iter().map(|entry| entry.key_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(key_relatives::names_of(visit.app.db.reader(), visit.tenant()?, &ids).await?)
}

/// Adds a table of requests; `names` are those of their keys.
///
/// # Errors
/// `not_found` on a page that is about no application.
pub fn add_table(
    visit: &Visit,
    entries: &[RequestEntry],
    names: &HashMap<String, String>,
    caption: &str,
    html: &mut Html,
) -> Result<()> {
    let (t, base) = (visit.texts.requests, format!("apps/{}", visit.tenant()?.application_id));
    let mut table = RowTable::new(caption, &[t.request, t.status, t.duration, t.key, t.at]);
    for entry in entries {
        let mut heading = Html::default();
        let href = visit.link(&format!("{base}/requests/{}", entry.id));
        heading.raw("<a href=\"").text(&href).raw("\"><span dir=\"ltr\">").text(&route_text(visit, entry));
        heading.raw("</span></a>");
        if let Some(code) = &entry.error_code {
            heading.raw("<p><span class=\"id\" dir=\"ltr\">").text(code);
            if let Some(param) = &entry.error_param {
                heading.raw(" ").text(&short_name(param));
            }
            heading.raw("</span></p>");
        }
        let mut status = Html::default();
        add_status(entry.status, &mut status);
        let name = names.get(&entry.key_id).unwrap_or(&entry.key_id);
        let key = linked_name(&visit.link(&format!("{base}/keys/{}", entry.key_id)), &short_name(name));
        let cells = vec![
            TableCell::State(status),
            id_cell(&fill(t.ms, &[("n", &entry.ms.to_string())])),
            TableCell::Plain(key),
            TableCell::Plain(visit.moment_or_never(Some(entry.at))),
        ];
        table.row(&heading, cells);
    }
    table.add_to(html);
    Ok(())
}

/// The method and the route of a request; the path where no route is known.
pub fn route_text(visit: &Visit, entry: &RequestEntry) -> String {
    match entry.route.as_str() {
        "" => format!("{} {} ({})", entry.method, short_name(&entry.path), visit.texts.requests.no_route),
        route => format!("{} {route}", entry.method),
    }
}

/// Adds a status as a badge.
pub fn add_status(status: i64, html: &mut Html) {
    let (tone, shape) = match status {
        ..400 => (BadgeTone::Good, PanelIcon::Dot),
        400..500 => (BadgeTone::Warn, PanelIcon::Half),
        _ => (BadgeTone::Bad, PanelIcon::Cross),
    };
    badge(html, tone, shape, &status.to_string());
}
