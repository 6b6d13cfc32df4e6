//! `/v1/admin/jobs`

use base::error::{Code, Result, invalid, not_found};
use model::Instant;
use model::admin_operations::{AdminJob, AdminJobError};
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

/// Characters of a kind, and of an application's id, in a filter.
const MAX_FILTER: usize = 100;

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .get("/v1/admin/jobs", "admin.read", Additive, list)
        .summary("List jobs in the background")
        .description("Jobs that wait for a time come first by that time, jobs that ended come last first. Jobs that are done are removed, and jobs that wait to be woken are in no list. With `kind` or `application_id` a page can have fewer jobs than `limit`, even none, while `next_cursor` leads on.")
        .param("state", "string", "`queued`, `running`, `failed` or `cancelled`")
        .required()
        .param("kind", "string", "Only jobs of this kind, such as `deliver`")
        .param("application_id", "string", "Only jobs of this application")
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
        .description("For a job that waits or has failed. 409 `invalid_state` while it runs, when it is cancelled already, and for kinds that cannot be cancelled by themselves: the message says what to do instead.")
        .status(204)
}

async fn list(admin: AdminRequest, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let filter = filter(&params)?;
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

/// The filter of a query: the state is required, so that no list walks through all jobs.
fn filter(params: &Params) -> Result<JobFilter> {
    let words = JobState::ALL.map(JobState::as_str);
    let state = params.word("state", &words)?.and_then(|word| JobState::parse(&word));
    let state = state.ok_or_else(|| {
        invalid(Code::MissingField, "state", format!("state is required: one of {}", words.join(", ")))
    })?;
    Ok(JobFilter {
        state,
        kind: params.text("kind", MAX_FILTER)?,
        application_id: params.text("application_id", MAX_FILTER)?,
    })
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
