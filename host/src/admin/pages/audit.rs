//! The audit logs of an organization and of the installation.

use base::error::Result;
use service::locale::html::Html;
use storage::audit_log::{self, AuditEntry};

use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The log of an organization.
pub async fn of_organization(visit: &Visit) -> Result<View> {
    let id = &visit.organization()?.id;
    let binding = visit.binding("audit", id);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let before = place.unwrap_or_else(|| audit_log::NEWEST.to_owned());
    let found = audit_log::list(visit.app.db.reader(), id, &before, PAGE_ROWS + 1).await?;
    let page = AuditPage {
        path: format!("orgs/{id}/audit"),
        caption: visit.texts.audit.caption,
        entry: MenuEntry::OrganizationAudit,
        is_first,
    };
    Ok(page.shown(visit, found, |last| binding.cursor(&visit.app.keyring, &last.id)).into())
}

/// The log of the whole installation.
pub async fn of_installation(visit: &Visit) -> Result<View> {
    let binding = visit.binding("audit", "");
    let place: Option<(i64, String)> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let (before, before_id) = place.unwrap_or_else(|| (i64::MAX, String::new()));
    let found = audit_log::list_all(visit.app.db.reader(), before, &before_id, PAGE_ROWS + 1).await?;
    let page = AuditPage {
        path: "system/audit".to_owned(),
        caption: visit.texts.audit.caption_system,
        entry: MenuEntry::SystemAudit,
        is_first,
    };
    Ok(page.shown(visit, found, |last| binding.cursor(&visit.app.keyring, &(last.at, &last.id))).into())
}

/// A page of an audit log.
struct AuditPage {
    path: String,
    caption: &'static str,
    entry: MenuEntry,
    is_first: bool,
}

impl AuditPage {
    fn shown(
        self,
        visit: &Visit,
        mut found: Vec<AuditEntry>,
        cursor: impl FnOnce(&AuditEntry) -> String,
    ) -> PanelPage {
        let t = visit.texts.audit;
        let mut body = Html::default();
        head(&mut body, t.title, None);
        if found.is_empty() && self.is_first {
            empty(&mut body, PanelIcon::List, [t.none, t.none_text], None);
            return PanelPage::new(t.title, Some(self.entry), body);
        }
        let has_more = found.len() > PAGE_ROWS as usize;
        found.truncate(PAGE_ROWS as usize);
        let mut table = RowTable::new(self.caption, &[t.action, t.who, t.on, t.at, t.from]);
        for entry in &found {
            let mut heading = Html::default();
            heading.raw("<span class=\"id\" dir=\"ltr\">").text(&entry.act).raw("</span>");
            let cells = vec![
                who(visit, entry),
                id_cell(&entry.target),
                TableCell::Plain(visit.moment_or_never(Some(entry.at))),
                id_cell(entry.actor.ip.as_deref().unwrap_or_default()),
            ];
            table.row(&heading, cells);
        }
        table.add_to(&mut body);
        let next = found.last().filter(|_| has_more).map(cursor);
        visit.add_pager(&mut body, &visit.link(&self.path), next.as_deref());
        PanelPage::new(t.title, Some(self.entry), body)
    }
}

/// The one who acted.
fn who(visit: &Visit, entry: &AuditEntry) -> TableCell {
    let t = visit.texts.audit;
    let mut html = Html::default();
    html.raw("<bdi>").text(&short_name(&entry.actor.name)).raw("</bdi>");
    let kind = match entry.actor.kind.as_str() {
        "command" => t.by_command,
        "key" => t.by_key,
        _ => return TableCell::Plain(html),
    };
    html.raw(" <span class=\"soft\">").text(kind).raw("</span>");
    TableCell::Plain(html)
}
