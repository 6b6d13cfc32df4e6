//! `/apps/{a}/accounts`: the accounts of an application, those in trouble first.

use base::error::Result;
use service::locale::html::Html;
use service::manage::accounts::{self, AccountFilter, AccountPosition, ListedAccount};
use service::manage::actor::Act;
use url::form_urlencoded::Serializer;

use crate::admin::pages::accounts_words::{account_name, add_address, add_state, provider_title, reason};
use crate::admin::parts::field::{FormFaults, SelectField};
use crate::admin::parts::head::head;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, name_cell};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const STATE: &str = "state";
const PROVIDER: &str = "provider";
const ADDRESS: &str = "address";

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.accounts, visit.tenant()?);
    let asked = |name| visit.query.first(name);
    let filter = AccountFilter::new(asked(STATE), asked(PROVIDER), asked(ADDRESS));
    let about = serde_json::to_string(&(&tenant.application_id, &filter))?;
    let binding = visit.binding("accounts", &about);
    let place: Option<AccountPosition> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let after = place.unwrap_or_default();
    let mut found = accounts::list(&visit.app, tenant, &filter, &after, PAGE_ROWS + 1).await?;
    let path = format!("apps/{}/accounts", tenant.application_id);
    let new = visit.link(&format!("{path}/new"));
    let button = visit.may(Act::ManageAccounts).then_some((new.as_str(), t.connect));
    let page = |body| View::from(PanelPage::new(t.title, Some(MenuEntry::Accounts), body));
    let mut body = Html::default();
    if found.is_empty() && is_first && filter.is_open() {
        head(&mut body, t.title, None);
        empty(&mut body, PanelIcon::Person, [t.none, t.none_text], button);
        return Ok(page(body));
    }
    head(&mut body, t.title, button);
    add_filter(visit, &filter, &path, &mut body);
    if found.is_empty() {
        let all = visit.link(&path);
        empty(
            &mut body,
            PanelIcon::Search,
            [t.none_found, t.none_found_text],
            Some((all.as_str(), t.show_all)),
        );
        return Ok(page(body));
    }
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let mut table = RowTable::new(t.caption, &[t.account, t.state, t.provider, t.last_success, ""]);
    for account in &found {
        add_row(visit, account, &path, &mut table);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| {
        binding.cursor(&visit.app.keyring, &AccountPosition::from_connection(&filter, &last.connection))
    });
    visit.add_pager(&mut body, &filtered(visit, &path, &filter), next.as_deref());
    Ok(page(body))
}

/// The address of the list with its filter.
fn filtered(visit: &Visit, path: &str, filter: &AccountFilter) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in [(STATE, &filter.status), (PROVIDER, &filter.provider), (ADDRESS, &filter.address)] {
        if !value.is_empty() {
            query.append_pair(name, value);
        }
    }
    match query.finish() {
        query if query.is_empty() => visit.link(path),
        query => format!("{}?{query}", visit.link(path)),
    }
}

fn add_filter(visit: &Visit, filter: &AccountFilter, path: &str, html: &mut Html) {
    let (t, frame) = (visit.texts.accounts, visit.texts.frame);
    html.raw(if filter.is_open() { "<details>" } else { "<details open>" });
    html.raw("<summary>").text(t.filter).raw("</summary>\n<form class=\"inline\" method=\"get\" action=\"");
    html.text(&visit.link(path)).raw("\"><div class=\"field\"><label for=\"address\">").text(t.address);
    html.raw("</label><input id=\"address\" name=\"address\" type=\"search\" autocomplete=\"off\" dir=\"ltr\" value=\"");
    html.text(&filter.address).raw("\"></div>\n");
    let none = FormFaults::default();
    let states =
        [("", t.all_states), ("reauth_required", t.reauth), ("degraded", t.degraded), ("active", t.active)];
    SelectField { id: STATE, label: t.state, options: &states, chosen: &filter.status }
        .add_to(html, frame, &none);
    let mut titles: Vec<(String, String)> = visit
        .app
        .runtime
        .list()
        .iter()
        .map(|connector| (connector.manifest.name.clone(), connector.manifest.title.clone()))
        .collect();
    titles.sort_by(|a, b| a.1.cmp(&b.1));
    let is_known = titles.iter().any(|(name, _)| *name == filter.provider);
    if !filter.provider.is_empty() && !is_known {
        titles.push((filter.provider.clone(), filter.provider.clone()));
    }
    let mut options = vec![("", t.all_providers)];
    options.extend(titles.iter().map(|(name, title)| (name.as_str(), title.as_str())));
    let field = SelectField { id: PROVIDER, label: t.provider, options: &options, chosen: &filter.provider };
    field.add_to(html, frame, &none);
    html.raw("<button class=\"plain\">").text(t.apply).raw("</button></form></details>\n");
}

fn add_row(visit: &Visit, account: &ListedAccount, path: &str, table: &mut RowTable) {
    let (t, connection) = (visit.texts.accounts, &account.connection);
    let href = visit.link(&format!("{path}/{}", connection.id));
    let mut heading = Html::default();
    heading.raw("<a href=\"").text(&href).raw("\">");
    add_address(&mut heading, &account_name(connection));
    heading.raw("</a>");
    let failing = account.failing_surface();
    if let Some(reason) = reason(visit, connection, failing) {
        heading.raw("<p dir=\"auto\">").text(&reason).raw("</p>");
    }
    let mut state = Html::default();
    add_state(visit, &connection.status, failing.is_some(), &mut state);
    let mut end = Html::default();
    if connection.status == "reauth_required" && visit.may(Act::ManageAccounts) {
        end.raw("<a class=\"button plain small\" href=\"")
            .text(&href)
            .raw("/reconnect\">")
            .text(t.reauth)
            .raw("</a>");
    }
    let cells = vec![
        TableCell::State(state),
        name_cell(&provider_title(visit, &connection.provider)),
        TableCell::Plain(visit.moment_or_never(account.last_success_at())),
        TableCell::End(end),
    ];
    table.row(&heading, cells);
}
