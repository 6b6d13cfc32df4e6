//! Lists of jobs by state, page by page, and the errors that jobs keep.

use std::collections::HashMap;

use base::error::Result;
use model::Instant;
use serde::Serialize;
use serde_json::Value;
use storage::hosts::{self, Host};
use storage::job_lists::{self, JobEntry, JobPosition};
use storage::jobs::Job;
use storage::sql::Reader;
use storage::wakes::JobClass;

use crate::app::App;

/// Most jobs of a page.
const MAX_ROWS: usize = 200;
/// Jobs that are looked at for a page of a list that leaves some of them out.
const LOOKED_AT: usize = 1_000;

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Queued,
    Running,
    Failed,
    Cancelled,
}

impl JobState {
    /// All states, in the order in which they need attention.
    pub const ALL: [JobState; 4] =
        [JobState::Failed, JobState::Running, JobState::Queued, JobState::Cancelled];

    /// The state as it is stored and sent.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        }
    }

    /// The state of a word.
    pub fn parse(word: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.as_str() == word)
    }

    fn has_ended(self) -> bool {
        matches!(self, JobState::Failed | JobState::Cancelled)
    }
}

/// The jobs that a list has; a field that is `None` leaves its column open.
#[derive(Clone, Debug, Serialize)]
pub struct JobFilter {
    pub state: JobState,
    pub kind: Option<String>,
    pub application_id: Option<String>,
}

impl JobFilter {
    /// All jobs in a state.
    pub fn of_state(state: JobState) -> JobFilter {
        JobFilter { state, kind: None, application_id: None }
    }

    fn fits(&self, entry: &JobEntry) -> bool {
        entry.state == self.state.as_str()
            && self.kind.as_ref().is_none_or(|kind| *kind == entry.kind)
            && self.application_id.as_ref().is_none_or(|id| *id == entry.application_id)
    }

    /// How many jobs are looked at for a page of `limit` rows.
    fn window(&self, limit: usize) -> usize {
        // Queued jobs of one application have an index.
        let of_application = self.application_id.is_some() && self.state != JobState::Queued;
        let leaves_out = self.kind.is_some() || of_application || self.state.has_ended();
        if leaves_out { LOOKED_AT } else { limit + 1 }
    }
}

/// A job of a list.
#[derive(Clone, Debug)]
pub struct ListedJob {
    pub job: Job,
    /// When a queued job is due, or when one that has ended did, in milliseconds since 1970; none of one that runs.
    pub at: Option<i64>,
}

/// A page of a list. It may have fewer jobs than were asked for, even none, and another page after it: only so many are looked at.
#[derive(Clone, Debug)]
pub struct JobPage {
    pub jobs: Vec<ListedJob>,
    /// The hosts of the installation.
    pub hosts: Vec<Host>,
    /// The place after which the next page begins; none after the last page.
    pub next: Option<JobPosition>,
}

/// A page of the jobs in a state: queued ones with a time by that time, ended ones the last first, running ones by their hosts. `limit` is 200
/// at most.
///
/// # Errors
/// Errors of the database.
pub async fn list(
    app: &App,
    filter: &JobFilter,
    after: Option<&JobPosition>,
    limit: usize,
) -> Result<JobPage> {
    let (reader, limit) = (app.db.reader(), limit.min(MAX_ROWS));
    let window = filter.window(limit);
    let entries = match filter.state {
        JobState::Queued => list_queued(reader, filter, after, window).await?,
        JobState::Running => {
            let start = JobPosition::default();
            job_lists::running(reader, after.unwrap_or(&start), count(window)).await?
        }
        JobState::Failed | JobState::Cancelled => {
            let newest = JobPosition { at: i64::MAX, ..JobPosition::default() };
            job_lists::ended(reader, after.unwrap_or(&newest), count(window)).await?
        }
    };
    let (shown, next) = select(&entries, filter, limit, window);
    let ids: Vec<&str> = shown.iter().map(|entry| entry.position.id.as_str()).collect();
    let found = if ids.is_empty() { Vec::new() } else { job_lists::find_all(reader, &ids).await? };
    let mut by_id: HashMap<String, Job> = found.into_iter().map(|job| (job.id.clone(), job)).collect();
    let jobs = shown.iter().filter_map(|entry| {
        // It may have gone on since.
        let job = by_id.remove(&entry.position.id).filter(|job| job.state == filter.state.as_str())?;
        let at = (filter.state != JobState::Running).then_some(entry.position.at);
        Some(ListedJob { job, at })
    });
    Ok(JobPage { jobs: jobs.collect(), hosts: hosts::list(reader).await?, next: next.cloned() })
}

/// Queued jobs of all classes, merged by their times. Within one class and time they are in the order in which the database sorts ids.
async fn list_queued(
    reader: &Reader,
    filter: &JobFilter,
    after: Option<&JobPosition>,
    window: usize,
) -> Result<Vec<JobEntry>> {
    let mut merged = Vec::new();
    let mut is_after_class = false;
    for class in JobClass::ALL {
        let is_own_class = after.is_some_and(|place| place.group == class.as_str());
        let place = match after {
            None => JobPosition::default(),
            Some(place) if is_own_class => place.clone(),
            // Classes are merged in their order: of an earlier one the page before had all jobs of that time, of a later one none.
            Some(place) if is_after_class => JobPosition { at: place.at, ..JobPosition::default() },
            Some(place) => JobPosition { at: place.at.saturating_add(1), ..JobPosition::default() },
        };
        is_after_class |= is_own_class;
        let found = match &filter.application_id {
            Some(id) => job_lists::queued_of_application(reader, class, id, &place, count(window)).await?,
            None => job_lists::queued(reader, class, &place, count(window)).await?,
        };
        merged.extend(found);
    }
    // Stable: those of one time stay in the order of their classes.
    merged.sort_by_key(|entry| entry.position.at);
    merged.truncate(window);
    Ok(merged)
}

/// The entries of a page, and the place after which the next one begins.
fn select<'e>(
    entries: &'e [JobEntry],
    filter: &JobFilter,
    limit: usize,
    window: usize,
) -> (Vec<&'e JobEntry>, Option<&'e JobPosition>) {
    let (mut shown, mut last) = (Vec::new(), None);
    let mut has_more = entries.len() >= window;
    for entry in entries {
        if shown.len() == limit {
            has_more = true;
            break;
        }
        last = Some(&entry.position);
        if filter.fits(entry) {
            shown.push(entry);
        }
    }
    (shown, last.filter(|_| has_more))
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// The error of the last run of a job that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    pub code: String,
    pub message: String,
    /// Milliseconds since 1970.
    pub at: Option<i64>,
}

/// The error that a job keeps; none where its last run was a success.
pub fn last_error(job: &Job) -> Option<JobError> {
    let error: Value = serde_json::from_str(job.last_error.as_deref()?).ok()?;
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let at = error["at"].as_str().and_then(|at| at.parse::<Instant>().ok());
    Some(JobError { code: text("code"), message: text("message"), at: at.map(Instant::as_millis) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: i64, kind: &str, state: &str) -> JobEntry {
        JobEntry {
            kind: kind.to_owned(),
            state: state.to_owned(),
            application_id: "app_1".to_owned(),
            position: JobPosition { group: String::new(), at: number, id: format!("{kind}:{number}") },
        }
    }

    fn selected(entries: &[JobEntry], filter: &JobFilter, limit: usize) -> (Vec<i64>, Option<i64>) {
        let (shown, next) = select(entries, filter, limit, filter.window(limit).min(6));
        (shown.iter().map(|entry| entry.position.at).collect(), next.map(|next| next.at))
    }

    #[test]
    fn a_page_ends_with_its_rows_or_with_what_is_looked_at() {
        let failed = JobFilter::of_state(JobState::Failed);
        let states = ["failed", "cancelled", "failed", "failed", "cancelled", "cancelled"];
        let entries: Vec<JobEntry> =
            states.iter().zip(1..).map(|(state, number)| entry(number, "report", state)).collect();
        assert_eq!(selected(&entries, &failed, 2), (vec![1, 3], Some(3)));
        assert_eq!(selected(&entries, &failed, 3), (vec![1, 3, 4], Some(4)));
        assert_eq!(selected(&entries, &failed, 5), (vec![1, 3, 4], Some(6)), "there may be more");
        assert_eq!(selected(&entries[..5], &failed, 5), (vec![1, 3, 4], None), "there is no more");
        let deliver = JobFilter { kind: Some("deliver".to_owned()), ..failed };
        assert_eq!(selected(&entries, &deliver, 5), (Vec::new(), Some(6)));
        assert_eq!(selected(&[], &deliver, 5), (Vec::new(), None));
    }

    #[test]
    fn states_are_known_by_their_words() {
        for state in JobState::ALL {
            assert_eq!(JobState::parse(state.as_str()), Some(state));
        }
        assert_eq!((JobState::parse("broken"), JobState::parse("")), (None, None));
    }
}
