//! `/system/jobs/{j}`: one job, why it failed, and the buttons to run it now or to cancel it.

use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::job_lists::{JobState, last_error};
use service::manage::jobs::{self, HostedJob, cancel_refusal};
use storage::jobs::Job;

use crate::admin::claim::once;
use crate::admin::pages::job_words::{add_state, no_cancel_reason, path_of};
use crate::admin::pages::jobs::PATH;
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::note::{alert, note};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The job that the path names.
async fn found(visit: &Visit) -> Result<HostedJob> {
    jobs::find(&visit.app.db, visit.param("j")).await?.ok_or_else(|| not_found("job"))
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, &found(visit).await?, &Html::default()).into())
}

/// The page of a job, with what an act on it led to.
fn page(visit: &Visit, found: &HostedJob, said: &Html) -> PanelPage {
    let (t, job) = (visit.texts.jobs, &found.job);
    let name = short_name(&job.id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title)], &name);
    head(&mut body, &name, None);
    body.html(said).raw("<p>");
    add_state(t, job, &mut body);
    body.raw("</p>\n");
    add_error(visit, job, &mut body);
    body.raw("<section class=\"stack\">").element("h2", t.facts);
    facts(visit, found).add_to(&mut body);
    body.raw("</section>\n");
    add_acts(visit, job, &mut body);
    PanelPage::new(name, Some(MenuEntry::Jobs), body)
}

/// Adds the error of the last run. Its message may be that of a provider.
fn add_error(visit: &Visit, job: &Job, html: &mut Html) {
    let t = visit.texts.jobs;
    let Some(error) = last_error(job) else { return };
    html.raw("<section class=\"stack\">").element("h2", t.error);
    let mut facts = Facts::default();
    facts.id(t.code, &error.code);
    if let Some(at) = error.at {
        facts.html(None, t.error_at, &visit.moment_or_never(Some(at)));
    }
    facts.add_to(html);
    html.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"auto\">").text(&error.message);
    html.raw("</pre></div></section>\n");
}

fn facts(visit: &Visit, found: &HostedJob) -> Facts {
    let (t, job) = (visit.texts.jobs, &found.job);
    let mut facts = Facts::default();
    facts.id(t.id, &job.id).id(t.kind, &job.kind);
    if let Some(at) = job.due_at {
        facts.text(None, t.due, &visit.time.exact(at));
    } else if job.state == "queued" {
        facts.text(None, t.due, t.when_woken);
    }
    if let Some(at) = job.again_at {
        facts.text(None, t.again, &visit.time.exact(at));
    }
    facts.id(t.attempts, &job.attempts.to_string()).id(t.crashes, &job.crashes.to_string());
    let host = if job.owner.is_some() { short_name(found.host()) } else { t.no_host.to_owned() };
    facts.text(None, t.host, &host);
    facts.html(None, t.last_success, &visit.moment_or_never(job.done_at));
    let application = &job.tenant.application_id;
    if application.is_empty() {
        facts.text(None, t.application, t.installation);
        return facts;
    }
    let path = format!("apps/{application}");
    facts.html(None, t.application, &linked_id(&visit.link(&path), application));
    if let Some(connection) = &job.connection_id {
        let href = visit.link(&format!("{path}/accounts/{connection}"));
        facts.html(None, t.account, &linked_id(&href, connection));
    }
    facts
}

fn linked_id(href: &str, id: &str) -> Html {
    let mut html = Html::default();
    html.raw("<a class=\"id\" dir=\"ltr\" href=\"").text(href).raw("\">").text(id).raw("</a>");
    html
}

/// Adds the buttons for what can be done with the job as it stands, or why nothing can be.
fn add_acts(visit: &Visit, job: &Job, html: &mut Html) {
    let (t, path) = (visit.texts.jobs, path_of(&job.id));
    let state = JobState::parse(&job.state);
    if state == Some(JobState::Running) {
        note(html, BadgeTone::Neutral, t.runs);
        return;
    }
    html.raw("<section class=\"stack\">").element("h2", t.retry).element("p", t.retry_text);
    visit.button_form(html, &format!("{path}/retry"), "", t.retry);
    html.raw("</section>\n");
    if state == Some(JobState::Cancelled) {
        return;
    }
    html.raw("<section class=\"zone-of-danger stack\">").element("h2", t.cancel);
    match cancel_refusal(&job.kind) {
        Some(refusal) => {
            html.element("p", &fill(t.no_cancel, &[("why", no_cancel_reason(t, refusal))]));
        }
        None => {
            html.element("p", t.cancel_text).raw("<p><a class=\"button danger\" href=\"");
            html.text(&visit.link(&format!("{path}/cancel"))).raw("\">").text(t.cancel).raw("</a></p>");
        }
    }
    html.raw("</section>\n");
}

/// Makes the job due now. It may be done, and gone, before its page is opened again: so the list follows.
pub async fn retry(visit: &Visit) -> Result<View> {
    let (app, actor, id) = (visit.app.clone(), visit.actor()?.clone(), visit.param("j").to_owned());
    let changed = once(visit, |claimed| async move {
        let target = Target::installation(id.as_str());
        let attempt = acting::attempt(&app, &actor, "job_retried", &target, Some(&claimed));
        jobs::retry(&app, &id, &attempt).await
    });
    match changed.await {
        Ok(_) => Ok(View::done(PATH, FlashCode::JobRetried)),
        Err(e) => refused(visit, e).await,
    }
}

/// Cancels the job.
pub async fn cancel(visit: &Visit) -> Result<View> {
    let (app, actor, id) = (visit.app.clone(), visit.actor()?.clone(), visit.param("j").to_owned());
    let path = path_of(&id);
    let changed = once(visit, |claimed| async move {
        let target = Target::installation(id.as_str());
        let attempt = acting::attempt(&app, &actor, "job_cancelled", &target, Some(&claimed));
        jobs::cancel(&app, &id, &attempt).await
    });
    match changed.await {
        Ok(_) => Ok(View::done(path, FlashCode::JobCancelled)),
        Err(e) => refused(visit, e).await,
    }
}

/// The question whether to cancel a job.
pub async fn show_cancel(visit: &Visit) -> Result<View> {
    let (t, found) = (visit.texts.jobs, found(visit).await?);
    let (id, path) = (found.job.id.as_str(), path_of(&found.job.id));
    if found.job.state == "running" || cancel_refusal(&found.job.kind).is_some() {
        return Ok(View::see_other(path));
    }
    let own = visit.link(&path);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title), (&own, &short_name(id))], t.cancel);
    let mut fields = Html::default();
    fields.raw("<p><span class=\"id\" dir=\"ltr\">").text(id).raw("</span></p>\n");
    let part = ConfirmPart {
        title: t.cancel_title,
        text: t.cancel_text,
        action: &visit.link(&format!("{path}/cancel")),
        token: &visit.token(),
        button: t.cancel,
        is_danger: true,
        back: (&own, t.keep),
        fields,
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(t.cancel, Some(MenuEntry::Jobs), body).into())
}

/// The page of the job after an act that it does not allow. Other errors are handed on.
async fn refused(visit: &Visit, e: Error) -> Result<View> {
    if e.code() != Some(Code::InvalidState) {
        return Err(e);
    }
    let mut said = Html::default();
    alert(&mut said, visit.texts.jobs.not_changed);
    Ok(page(visit, &found(visit).await?, &said).with_status(StatusCode::CONFLICT).into())
}
