//! `/apps/{a}/keys` and `/system/keys`: the keys of an application, and those of the administration.

use base::error::Result;
use service::locale::html::Html;
use service::manage::actor::Act;
use storage::api_keys::{self, ApiKey, KeyKind};

use crate::admin::pages::key_area;
use crate::admin::pages::key_words::{add_state, can};
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, linked_name, name_cell};
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, title) = (visit.texts.keys, key_area::title(visit));
    let path = key_area::list_path(visit);
    let binding = visit.binding("keys", &path);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let reader = visit.app.db.reader();
    let mut found = match key_area::known_tenant(visit).await? {
        Some(tenant) => {
            api_keys::list_newest(reader, &tenant, KeyKind::Key, place.as_deref(), PAGE_ROWS + 1).await?
        }
        None => Vec::new(),
    };
    let new = visit.link(&format!("{path}/new"));
    let button = visit.may(Act::ManageKeys).then_some((new.as_str(), t.create));
    let mut body = Html::default();
    if found.is_empty() && is_first {
        head(&mut body, title, None);
        let none_text =
            if key_area::is_of_admin(visit) { visit.texts.admin_keys.none_text } else { t.none_text };
        empty(&mut body, PanelIcon::Key, [t.none, none_text], button);
        return Ok(PanelPage::new(title, Some(key_area::entry(visit)), body).into());
    }
    head(&mut body, title, button);
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let mut table = RowTable::new(t.caption, &[t.name, t.key, t.can, t.state, t.last_used]);
    for key in &found {
        let href = visit.link(&format!("{path}/{}", key.id));
        let mut state = Html::default();
        add_state(visit, key, &mut state);
        let cells = vec![
            id_cell(&format!("{}…{}", key.prefix, key.last4)),
            name_cell(&can(visit.texts.scopes, &key.scopes)),
            TableCell::State(state),
            TableCell::Plain(last_used(visit, key)),
        ];
        table.row(&linked_name(&href, &short_name(&key.name)), cells);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.id));
    visit.add_pager(&mut body, &visit.link(&path), next.as_deref());
    Ok(PanelPage::new(title, Some(key_area::entry(visit)), body).into())
}

/// When a key was last used, and from where.
pub fn last_used(visit: &Visit, key: &ApiKey) -> Html {
    let mut html = visit.moment_or_never(key.last_used_at);
    if let Some(ip) = key.last_used_ip.as_deref().filter(|_| key.last_used_at.is_some()) {
        html.raw("<br><span class=\"soft\" dir=\"ltr\">").text(ip).raw("</span>");
    }
    html
}
