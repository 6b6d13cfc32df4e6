//! `/v1/admin/jobs`

use base::error::not_found;
use model::Instant;
use model::admin_operations::{AdminJob, AdminJobError};
use model::{bounds, formats};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::acting::Target;
use service::manage::job_lists::{self, JobFilter, JobState};
use service::manage::jobs;
use storage::hosts::Host;
use storage::job_lists::JobPosition;
use storage::jobs::Job;

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};

/// The query string of a list of jobs. The state is required, so that no list walks through all jobs.
#[derive(Debug, Deserialize, JsonSchema)]
struct JobListQuery {
    /// The state of the jobs that the list has.
    state: JobStateFilter,
    /// Returns only jobs of this kind, such as `deliver`.
    #[schemars(length(max = bounds::list::MAX_FILTER))]
    kind: Option<String>,
    /// Returns only jobs of this application.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::list::MAX_FILTER))]
    application_id: Option<String>,
}

/// The states of a job to filter by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum JobStateFilter {
    Queued,
    Running,
    Failed,
    Cancelled,
}

impl From<JobStateFilter> for JobState {
    fn from(filter: JobStateFilter) -> JobState {
        match filter {
            JobStateFilter::Queued => JobState::Queued,
            JobStateFilter::Running => JobState::Running,
            JobStateFilter::Failed => JobState::Failed,
            JobStateFilter::Cancelled => JobState::Cancelled,
        }
    }
}

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/jobs", "admin.read", Additive, list)
        .summary("List background jobs")
        .description("Jobs that wait for a time are sorted by that time; jobs that ended are listed with the last one first. Jobs that succeeded are removed, and jobs that wait to be woken are in no list. With `kind` or `application_id` a page can have fewer jobs than `limit`, or none, while `next_cursor` is set.")
        .query::<JobListQuery>()
        .lists::<AdminJob>()
        .get("/v1/admin/jobs/{jobId}", "admin.read", Additive, get)
        .summary("Read a job")
        .returns::<AdminJob>()
        .post("/v1/admin/jobs/{jobId}/retry", "admin.write", Additive, retry)
        .summary("Run a job now")
        .description("The job is due at once, whether it waits, failed or was cancelled, and its earlier attempts no longer count. 409 `invalid_state` while it runs.")
        .status(204)
        .post("/v1/admin/jobs/{jobId}/cancel", "admin.write", Additive, cancel)
        .summary("Cancel a job")
        .description("For a job that waits or has failed. 409 `invalid_state` while it runs, if it is already cancelled, and for kinds that cannot be cancelled by themselves: the message says what to do instead.")
        .status(204)
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: JobListQuery = params.read()?;
    let filter =
        JobFilter { state: query.state.into(), kind: query.kind, application_id: query.application_id };
    let binding = admin.binding("admin.jobs.list", &filter);
    let after: Option<JobPosition> = binding.place(&admin.app.keyring, params.get("cursor"))?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = job_lists::list(&admin.app, &filter, after.as_ref(), limit).await?;
    let mut items = Vec::with_capacity(page.jobs.len());
    for listed in &page.jobs {
        items.push(serde_json::to_string(&render_job(&listed.job, &page.hosts))?);
    }
    let next = page.next.as_ref().map(|next| binding.cursor(&admin.app.keyring, next));
    Ok(ApiResponse(StoredResponse::ok(pagination::page(&items, next.as_deref()))))
}

async fn get(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let found = jobs::find(&admin.app.db, &id).await?.ok_or_else(|| not_found("job"))?;
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&render_job(&found.job, &found.hosts))?)))
}

async fn retry(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let attempt = admin.attempt("job_retried", &Target::installation(id.as_str()));
    Ok(ApiResponse(jobs::retry(&admin.app, &id, &attempt).await?))
}

async fn cancel(admin: AdminRequest, Path(id): Path<String>) -> ApiResult {
    let attempt = admin.attempt("job_cancelled", &Target::installation(id.as_str()));
    Ok(ApiResponse(jobs::cancel(&admin.app, &id, &attempt).await?))
}

/// A job without its arguments and its progress, which are of no use outside this version.
fn render_job(job: &Job, hosts: &[Host]) -> AdminJob {
    let of_tenant = |id: &str| Some(id.to_owned()).filter(|id| !id.is_empty());
    let error = job_lists::last_error(job);
    AdminJob {
        id: job.id.clone(),
        kind: job.kind.clone(),
        state: job.state.clone(),
        due_at: job.due_at.map(Instant::from_millis),
        again_at: job.again_at.map(Instant::from_millis),
        attempts: job.attempts,
        crashes: job.crashes,
        organization_id: of_tenant(&job.tenant.organization_id),
        application_id: of_tenant(&job.tenant.application_id),
        connection_id: job.connection_id.clone(),
        host_id: job.owner.clone(),
        host: job.owner.is_some().then(|| jobs::host_name(job, hosts).to_owned()),
        last_error: error.map(|error| AdminJobError {
            code: error.code,
            message: error.message,
            at: error.at.map(Instant::from_millis),
        }),
    }
}
