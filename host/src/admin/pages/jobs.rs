//! `/system/jobs`: jobs in the background, a tab for each state.

use base::error::Result;
use service::jobs::KINDS;
use service::locale::html::Html;
use service::manage::job_lists::{self, JobFilter, JobState, ListedJob, last_error};
use service::manage::jobs::host_name;
use storage::hosts::Host;
use storage::job_lists::JobPosition;
use url::form_urlencoded::Serializer;

use crate::admin::pages::job_words::{add_state, caption, none, path_of, state_word};
use crate::admin::parts::field::{FormFaults, SelectField};
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, name_cell};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The path of the list below `/admin/`.
pub const PATH: &str = "system/jobs";

const STATE: &str = "state";
const KIND: &str = "kind";
const APPLICATION: &str = "application";

/// Longest text of a filter, in bytes.
const MAX_FILTER: usize = 64;
/// Characters of an error that a list shows.
const MAX_ERROR: usize = 160;

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, filter) = (visit.texts.jobs, filter(visit));
    let binding = visit.binding("jobs", &serde_json::to_string(&filter)?);
    let place: Option<JobPosition> = visit.list_place(&binding)?;
    let rows = usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX);
    let found = job_lists::list(&visit.app, &filter, place.as_ref(), rows).await?;
    let mut body = Html::default();
    head(&mut body, t.title, None);
    add_tabs(visit, filter.state, &mut body);
    add_filter(visit, &filter, &mut body);
    let is_open = filter.kind.is_none() && filter.application_id.is_none();
    match (found.jobs.is_empty(), &found.next) {
        (false, _) => add_table(visit, filter.state, &found.jobs, &found.hosts, &mut body),
        (true, None) if is_open && place.is_none() => {
            empty(&mut body, PanelIcon::Check, none(t, filter.state), None);
        }
        (true, None) => {
            let all = visit.link(&path(&JobFilter::of_state(filter.state)));
            let words = none(t, filter.state);
            empty(&mut body, PanelIcon::Search, words, Some((all.as_str(), t.show_all)));
        }
        (true, Some(_)) => empty(&mut body, PanelIcon::Search, [t.none_here, t.none_here_text], None),
    }
    let next = found.next.map(|next| binding.cursor(&visit.app.keyring, &next));
    visit.add_pager(&mut body, &visit.link(&path(&filter)), next.as_deref());
    Ok(PanelPage::new(t.title, Some(MenuEntry::Jobs), body).into())
}

/// The filter that the query asks for: failed jobs where it names no state.
fn filter(visit: &Visit) -> JobFilter {
    let asked = |name: &str| {
        let text = visit.query.first(name).trim();
        (!text.is_empty() && text.len() <= MAX_FILTER && !text.contains('\0')).then(|| text.to_owned())
    };
    let state = JobState::parse(visit.query.first(STATE)).unwrap_or(JobState::Failed);
    JobFilter { state, kind: asked(KIND), application_id: asked(APPLICATION) }
}

/// The path of the list with its filter, below `/admin/`.
fn path(filter: &JobFilter) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair(STATE, filter.state.as_str());
    for (name, value) in [(KIND, &filter.kind), (APPLICATION, &filter.application_id)] {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    format!("{PATH}?{}", query.finish())
}

fn add_tabs(visit: &Visit, chosen: JobState, html: &mut Html) {
    let t = visit.texts.jobs;
    html.raw("<nav aria-label=\"").text(t.states).raw("\"><ul class=\"switch\">");
    for state in JobState::ALL {
        let href = visit.link(&path(&JobFilter::of_state(state)));
        html.raw("<li><a href=\"").text(&href);
        html.raw(if state == chosen { "\" aria-current=\"true\">" } else { "\">" });
        html.text(state_word(t, state)).raw("</a></li>");
    }
    html.raw("</ul></nav>\n");
}

fn add_filter(visit: &Visit, filter: &JobFilter, html: &mut Html) {
    let (t, frame) = (visit.texts.jobs, visit.texts.frame);
    let is_open = filter.kind.is_none() && filter.application_id.is_none();
    html.raw(if is_open { "<details>" } else { "<details open>" });
    html.raw("<summary>").text(t.filter).raw("</summary>\n<form class=\"inline\" method=\"get\" action=\"");
    html.text(&visit.link(PATH)).raw("\"><input type=\"hidden\" name=\"state\" value=\"");
    html.text(filter.state.as_str()).raw("\">");
    let chosen = filter.kind.as_deref().unwrap_or_default();
    let mut options = vec![("", t.all_kinds)];
    let mut kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    if !chosen.is_empty() && !kinds.contains(&chosen) {
        kinds.push(chosen);
    }
    kinds.sort_unstable();
    options.extend(kinds.iter().map(|kind| (*kind, *kind)));
    let field = SelectField { id: KIND, label: t.kind, options: &options, chosen };
    field.add_to(html, frame, &FormFaults::default());
    html.raw("<div class=\"field\"><label for=\"application\">").text(t.application);
    html.raw("</label><input id=\"application\" name=\"application\" type=\"search\" autocomplete=\"off\" dir=\"ltr\" value=\"");
    html.text(filter.application_id.as_deref().unwrap_or_default()).raw("\"></div>\n");
    html.raw("<button class=\"plain\">").text(t.apply).raw("</button></form></details>\n");
}

fn add_table(visit: &Visit, state: JobState, jobs: &[ListedJob], hosts: &[Host], html: &mut Html) {
    let t = visit.texts.jobs;
    let at = match state {
        JobState::Queued | JobState::Running => t.due,
        JobState::Failed | JobState::Cancelled => t.ended,
    };
    let mut table =
        RowTable::new(caption(t, state), &[t.job, t.state, t.kind, at, t.attempts, t.host, t.error]);
    for listed in jobs {
        add_row(visit, listed, hosts, &mut table);
    }
    table.add_to(html);
}

fn add_row(visit: &Visit, listed: &ListedJob, hosts: &[Host], table: &mut RowTable) {
    let (t, job) = (visit.texts.jobs, &listed.job);
    let mut heading = Html::default();
    heading.raw("<a class=\"id\" dir=\"ltr\" href=\"").text(&visit.link(&path_of(&job.id))).raw("\">");
    heading.text(&job.id).raw("</a>");
    let mut state = Html::default();
    add_state(t, job, &mut state);
    let mut at = Html::default();
    match listed.at {
        // What is yet to come is said exactly.
        Some(at_ms) if at_ms > visit.time.now => {
            at.text(&visit.time.exact(at_ms));
        }
        Some(at_ms) => visit.moment(&mut at, at_ms),
        None => {}
    }
    let host = if job.owner.is_some() { short_name(host_name(job, hosts)) } else { String::new() };
    let cells = vec![
        TableCell::State(state),
        id_cell(&job.kind),
        TableCell::Plain(at),
        id_cell(&job.attempts.to_string()),
        name_cell(&host),
        name_cell(&last_error(job).map(|error| error_line(&error.code, &error.message)).unwrap_or_default()),
    ];
    table.row(&heading, cells);
}

/// An error in a line.
fn error_line(code: &str, message: &str) -> String {
    let line = format!("{code}: {message}");
    match line.char_indices().nth(MAX_ERROR) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::error_line;

    #[test]
    fn an_error_is_cut_between_characters() {
        assert_eq!(error_line("a", "b"), "a: b");
        assert_eq!(error_line("", &"é".repeat(200)).chars().count(), 161);
    }
}
