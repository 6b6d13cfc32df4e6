//! Rows of events: in the list, and as they come while it is watched. They name what an event is about, and hold nothing of it.

use service::locale::html::Html;
use storage::webhooks::replay_lines::TimedLine;

use crate::admin::parts::moment::{TimeFormat, stamp};
use crate::admin::parts::table::{TableCell, add_row};
use crate::admin::texts::EventListTexts;
use crate::admin::visit::{Visit, up_and_path};

/// Most accounts that a row names.
const MAX_ACCOUNTS: usize = 3;

/// The rows of events of one application, as a reader reads them.
pub struct EventRows {
    texts: &'static EventListTexts,
    time: TimeFormat,
    /// The path of the application's pages, relative to the list.
    base: String,
}

impl EventRows {
    /// Rows for the list of an application's events.
    pub fn new(visit: &Visit, application_id: &str) -> EventRows {
        // Relative to the list, also where rows are sent to it later.
        let (up, _) = up_and_path(&format!("/admin/apps/{application_id}/events"));
        let base = format!("{up}apps/{application_id}");
        EventRows { texts: visit.texts.events, time: visit.time.clone(), base }
    }

    /// The names of the columns.
    pub fn columns(&self) -> [&'static str; 4] {
        let t = self.texts;
        [t.kind, t.at, t.account, t.origin]
    }

    /// The heading and the cells of an event.
    pub fn cells(&self, timed: &TimedLine) -> (Html, Vec<TableCell>) {
        let line = &timed.line;
        let mut heading = Html::default();
        heading.raw("<a class=\"id\" dir=\"ltr\" href=\"").text(&self.base).raw("/events/").text(&line.id);
        heading.raw("\">").text(&line.entry_type).raw("</a><p class=\"id\" dir=\"ltr\">");
        heading.text(&line.resource_id).raw("</p>");
        let mut at = Html::default();
        stamp(&mut at, &self.time, timed.at);
        let mut accounts = Html::default();
        add_accounts(&mut accounts, &self.base, line.connection_id.as_ref(), line.account_ids.as_deref());
        let mut origin = Html::default();
        origin.text(origin_word(self.texts, &line.origin));
        (heading, vec![TableCell::Plain(at), TableCell::Plain(accounts), TableCell::Plain(origin)])
    }

    /// The row of an event.
    pub fn row(&self, timed: &TimedLine) -> Html {
        let (heading, cells) = self.cells(timed);
        let mut html = Html::default();
        add_row(&mut html, &self.columns(), &heading, cells);
        html
    }
}

/// Adds links to the accounts of an event. `base` is the path of the application's pages, relative to this one.
pub fn add_accounts(html: &mut Html, base: &str, connection_id: Option<&String>, others: Option<&[String]>) {
    let others = others.unwrap_or_default().iter().filter(|id| Some(*id) != connection_id);
    for (place, id) in connection_id.into_iter().chain(others).take(MAX_ACCOUNTS).enumerate() {
        html.raw(if place == 0 { "" } else { " " });
        html.raw("<a dir=\"ltr\" href=\"").text(base).raw("/accounts/").text(id).raw("\">");
        html.text(id).raw("</a>");
    }
}

/// The word for the party that made a change.
pub fn origin_word<'w>(t: &EventListTexts, origin: &'w str) -> &'w str {
    match origin {
        "provider" => t.by_provider,
        "api" => t.by_api,
        "system" => t.by_system,
        "backfill" => t.by_backfill,
        other => other,
    }
}
