//! `/apps/{a}/events`: the event log, newest first, and new events while the page is open.

use base::error::{Code, Result};
use http::StatusCode;
use serde::Serialize;
use service::locale::html::Html;
use service::manage::acting;
use service::manage::actor::Act;
use service::manage::operators::sessions;
use service::webhooks::events::EventRequest;
use service::webhooks::live_list::{CheckFuture, LiveList, ReaderCheck};
use service::webhooks::recent::{self, RecentEvents};
use storage::webhooks::replay_lines::TimedLine;
use url::form_urlencoded::Serializer;

use crate::admin::live::LiveRows;
use crate::admin::pages::event_rows::EventRows;
use crate::admin::parts::field::{FormFaults, SelectField};
use crate::admin::parts::head::head;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::RowTable;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const KIND: &str = "type";
const ACCOUNT: &str = "account";
const INITIAL: &str = "initial";
/// The parameter with the sequence after which a live list continues.
const AFTER: &str = "after";
/// Maximum characters of the type and of the account in a filter.
const MAX_FILTER: usize = 300;

/// The filter of a list of events.
#[derive(Debug, Serialize)]
struct EventListFilter {
    /// Types and patterns, comma-separated; empty: all.
    kind: String,
    /// The id of an account; empty: all.
    account: String,
    /// Whether events of initial syncs are shown too.
    has_initial: bool,
}

impl EventListFilter {
    fn read(visit: &Visit) -> EventListFilter {
        let text = |name| visit.query.first(name).trim().chars().take(MAX_FILTER).collect();
        let has_initial = visit.query.first(INITIAL) == "shown";
        EventListFilter { kind: text(KIND), account: text(ACCOUNT), has_initial }
    }

    fn request(&self) -> Result<EventRequest> {
        EventRequest::read(Some(&self.kind), Some(&self.account), self.has_initial)
    }

    /// Whether it is the default filter.
    fn is_open(&self) -> bool {
        self.kind.is_empty() && self.account.is_empty() && !self.has_initial
    }

    /// Returns the query string of the list, or, with a sequence, of the events after it.
    fn query(&self, after: Option<i64>) -> String {
        let mut query = Serializer::new(String::new());
        let initial = if self.has_initial { "shown" } else { "" };
        for (name, value) in
            [(KIND, self.kind.as_str()), (ACCOUNT, self.account.as_str()), (INITIAL, initial)]
        {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(after) = after {
            query.append_pair(AFTER, &after.to_string());
        }
        query.finish()
    }
}

/// Shows the list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.events, visit.tenant()?);
    let filter = EventListFilter::read(visit);
    let about = serde_json::to_string(&(&tenant.application_id, &filter))?;
    let binding = visit.binding("events", &about);
    let place: Option<i64> = visit.list_place(&binding)?;
    let key = acting::key(visit.actor()?, tenant);
    let rows = usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX);
    let found = match filter.request() {
        Ok(wish) => recent::page(&visit.app, &key, &wish, place, rows).await,
        Err(e) => Err(e),
    };
    let (found, status) = match found {
        Ok(found) => (Some(found), StatusCode::OK),
        Err(e) => match e.code() {
            // The account is not of this application.
            Some(Code::NotFound) => (None, StatusCode::OK),
            Some(Code::InvalidParameter) => (None, StatusCode::BAD_REQUEST),
            _ => return Err(e),
        },
    };
    let mut body = Html::default();
    head(&mut body, t.title, None);
    match found {
        Some(found) => {
            let next = found.next.map(|next| binding.cursor(&visit.app.keyring, &next));
            add_list(visit, &filter, &found, &mut body)?;
            visit.add_pager(&mut body, &address(visit, &filter)?, next.as_deref());
        }
        None => {
            add_filter(visit, &filter, &mut body)?;
            let all = visit.link(&list_path(visit)?);
            let button = Some((all.as_str(), t.show_all));
            empty(&mut body, PanelIcon::Search, [t.none_found, t.none_found_text], button);
        }
    }
    Ok(PanelPage::new(t.title, Some(MenuEntry::Events), body).with_status(status).into())
}

/// Returns the path of the list below `/admin/`.
fn list_path(visit: &Visit) -> Result<String> {
    Ok(format!("apps/{}/events", visit.tenant()?.application_id))
}

/// Returns the URL of the list with its filter.
fn address(visit: &Visit, filter: &EventListFilter) -> Result<String> {
    let link = visit.link(&list_path(visit)?);
    Ok(match filter.query(None) {
        query if query.is_empty() => link,
        query => format!("{link}?{query}"),
    })
}

/// Adds the rows, or the text for an empty list.
fn add_list(visit: &Visit, filter: &EventListFilter, found: &RecentEvents, html: &mut Html) -> Result<()> {
    let (t, tenant) = (visit.texts.events, visit.tenant()?);
    let is_first = visit.query.first("cursor").is_empty();
    let has_none = found.lines.is_empty() && found.next.is_none() && is_first;
    if !(has_none && filter.is_open()) {
        add_filter(visit, filter, html)?;
    }
    if is_first {
        add_live(visit, filter, found.newest, html)?;
    }
    if has_none {
        let all = visit.link(&list_path(visit)?);
        let accounts = visit.link(&format!("apps/{}/accounts/new", tenant.application_id));
        match filter.is_open() {
            true => {
                let button = (accounts.as_str(), t.connect);
                let button = visit.may(Act::ManageAccounts).then_some(button);
                empty(html, PanelIcon::Clock, [t.none, t.none_text], button);
            }
            false => {
                let button = Some((all.as_str(), t.show_all));
                empty(html, PanelIcon::Search, [t.none_found, t.none_found_text], button);
            }
        }
        return Ok(());
    }
    if found.lines.is_empty() {
        let text = if found.next.is_some() { t.none_here } else { t.none_found };
        html.raw("<p class=\"soft\">").text(text).raw("</p>\n");
        return Ok(());
    }
    let rows = EventRows::new(visit, &tenant.application_id);
    let mut table = RowTable::new(t.caption, &rows.columns());
    for timed in &found.lines {
        let (heading, cells) = rows.cells(timed);
        table.row(&heading, cells);
    }
    table.add_to(html);
    Ok(())
}

fn add_filter(visit: &Visit, filter: &EventListFilter, html: &mut Html) -> Result<()> {
    let (t, frame) = (visit.texts.events, visit.texts.frame);
    html.raw(if filter.is_open() { "<details>" } else { "<details open>" });
    html.raw("<summary>").text(t.filter).raw("</summary>\n<form class=\"inline\" method=\"get\" action=\"");
    html.text(&visit.link(&list_path(visit)?)).raw("\">");
    let mut kinds = vec![
        ("", t.all_types),
        ("email.*", t.mail),
        ("calendar.*", t.calendars),
        ("contact.*,contact_book.*,contact_group.*", t.contacts),
        ("task.*,task_list.*", t.tasks),
        ("booking.*,event_type.*", t.bookings),
        ("connection.*,sync.*", t.accounts),
    ];
    if kinds.iter().all(|(kind, _)| *kind != filter.kind) {
        kinds.push((filter.kind.as_str(), filter.kind.as_str()));
    }
    let none = FormFaults::default();
    let field = SelectField { id: KIND, label: t.kind, options: &kinds, chosen: &filter.kind };
    field.add_to(html, frame, &none);
    html.raw("<div class=\"field\"><label for=\"account\">").text(t.account_id).raw("</label>");
    html.raw(
        "<input id=\"account\" name=\"account\" type=\"search\" autocomplete=\"off\" dir=\"ltr\" value=\"",
    );
    html.text(&filter.account).raw("\"></div>\n");
    let initial = [("", t.initial_hidden), ("shown", t.initial_shown)];
    let chosen = if filter.has_initial { "shown" } else { "" };
    SelectField { id: INITIAL, label: t.initial, options: &initial, chosen }.add_to(html, frame, &none);
    html.raw("<button class=\"plain\">").text(t.apply).raw("</button></form></details>\n");
    Ok(())
}

/// Adds the line with which the page's script shows events after a sequence. Without a script it is a link that reloads the page.
fn add_live(visit: &Visit, filter: &EventListFilter, newest: i64, html: &mut Html) -> Result<()> {
    let t = visit.texts.events;
    let source = format!("{}/live?{}", visit.link(&list_path(visit)?), filter.query(Some(newest)));
    html.raw("<div class=\"row\" data-live=\"").text(&source).raw("\" data-news=\"").text(t.news);
    html.raw("\"><button type=\"button\" class=\"plain small\" hidden data-pause=\"").text(t.pause);
    html.raw("\" data-resume=\"").text(t.resume).raw("\">").text(t.pause).raw("</button>");
    html.raw("<span class=\"soft\" hidden data-on=\"").text(t.live).raw("\" data-paused=\"").text(t.paused);
    html.raw("\" data-ended=\"").text(t.ended).raw("\"></span>");
    html.link(&address(visit, filter)?, t.reload).raw("</div>\n");
    Ok(())
}

/// Streams events after a sequence to the script of the list. A browser that opens the URL as a page is redirected to the list.
pub async fn watch(visit: &Visit) -> Result<View> {
    let Some(live) = &visit.live else { return Ok(View::see_other(list_path(visit)?)) };
    let (tenant, filter) = (visit.tenant()?, EventListFilter::read(visit));
    let wish = filter.request()?;
    // A browser that lost the connection continues where it was.
    let after = live.last_id.or_else(|| visit.query.first(AFTER).parse().ok());
    let key = acting::key(visit.actor()?, tenant);
    let check = reader_check(visit, &tenant.organization_id);
    let list = LiveList::open(&visit.app, &key, &wish, after, check).await?;
    let rows = EventRows::new(visit, &tenant.application_id);
    Ok(LiveRows { list, row: Box::new(move |timed: &TimedLine| rows.row(timed)) }.into())
}

/// Returns the check whether the session is still valid and its operator still has a role in the organization.
fn reader_check(visit: &Visit, organization_id: &str) -> ReaderCheck {
    let (app, cookie, organization_id) =
        (visit.app.clone(), visit.cookie.clone(), organization_id.to_owned());
    Box::new(move || -> CheckFuture {
        let (app, cookie, organization_id) = (app.clone(), cookie.clone(), organization_id.clone());
        Box::pin(async move {
            let found = sessions::session_without_use(&app, &cookie).await?;
            Ok(found.is_some_and(|(actor, _)| actor.may(Act::SeeApplication, &organization_id)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_its_query() {
        let open = EventListFilter { kind: String::new(), account: String::new(), has_initial: false };
        assert!(open.is_open() && open.query(None).is_empty());
        assert_eq!(open.query(Some(7)), "after=7");
        let narrow = EventListFilter { kind: "task.*".into(), account: "conn_1&x".into(), has_initial: true };
        assert_eq!(narrow.query(Some(7)), "type=task.*&account=conn_1%26x&initial=shown&after=7");
        assert!(!narrow.is_open() && narrow.request().is_ok());
        let wrong = EventListFilter { kind: "%".into(), ..open };
        assert!(wrong.request().is_err());
    }
}
