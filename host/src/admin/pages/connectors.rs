//! `/system/connectors`: the connectors in service on this host, and how others are installed.

use base::error::Result;
use runtime::Source;
use service::locale::html::Html;
use service::manage::connectors::{self, ConnectorHealth};

use crate::admin::parts::code::code;
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::table::{RowTable, id_cell, linked_name, name_cell};
use crate::admin::texts::ConnectorTexts;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The path of the list below `/admin/`.
pub const PATH: &str = "system/connectors";
/// The path of the form that a connector is uploaded with, below `/admin/`.
pub const UPLOADS: &str = "system/connector-uploads";

/// The command that installs a connector.
pub const INSTALL: &str = "switchboard connector install build/NAME";

/// The list. An installation has a few connectors: they stand on one page.
pub async fn list(visit: &Visit) -> Result<View> {
    let t = visit.texts.connectors;
    let found = connectors::list(&visit.app);
    let mut body = Html::default();
    let may_change = connectors::may_change(&visit.app);
    let upload = visit.link(UPLOADS);
    head(&mut body, t.title, may_change.then_some((upload.as_str(), t.upload)));
    if found.is_empty() {
        empty(&mut body, PanelIcon::Server, [t.none, t.none_text], None);
    } else {
        let mut table = RowTable::new(t.caption, &[t.connector, t.version, t.source, t.calls, t.errors]);
        for connector in &found {
            add_row(visit, connector, &mut table);
        }
        table.add_to(&mut body);
    }
    body.raw("<section class=\"stack\">").element("h2", t.install).element("p", t.install_text);
    code(&mut body, visit.texts.frame, INSTALL, t.copy);
    if !may_change {
        body.raw("<p class=\"hint\">").text(t.install_why).raw("</p>");
    }
    body.raw("</section>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Connectors), body).into())
}

fn add_row(visit: &Visit, connector: &ConnectorHealth, table: &mut RowTable) {
    let manifest = &connector.loaded.manifest;
    let href = visit.link(&format!("{PATH}/{}", manifest.name));
    let mut heading = linked_name(&href, &short_name(&manifest.title));
    heading.raw("<p class=\"id\" dir=\"ltr\">").text(&manifest.name).raw("</p>");
    let cells = vec![
        id_cell(&manifest.version),
        name_cell(source_word(visit.texts.connectors, connector.loaded.source)),
        id_cell(&connector.calls().to_string()),
        id_cell(&connector.errors().to_string()),
    ];
    table.row(&heading, cells);
}

/// The place that a connector came from, in words.
pub fn source_word(t: &ConnectorTexts, source: Source) -> &'static str {
    match source {
        Source::Bundle => t.bundled,
        Source::Installed => t.installed,
        Source::Watched => t.watched,
    }
}
