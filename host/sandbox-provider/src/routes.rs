//! The provider's paths, and its authentication.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as AxumState};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, patch, post};
use model::email::folders::{Folder, Label};
use model::tasks::Task;

use crate::account;
use crate::applications::with_applications;
use crate::auth::Login;
use crate::authorization_server;
use crate::authorization_server::{login, revoke};
use crate::calendar::types::Event;
use crate::calendar::{busy, events, instances, invitations, listing};
use crate::collections;
use crate::collections::Collection;
use crate::contacts::{Card, CardBody, cards};
use crate::document::Document;
use crate::fault_routes;
use crate::mail::folders::{self as mail_folders, Container};
use crate::mail::upload::MAX_MESSAGE_BYTES;
use crate::mail::{messages, send, upload, write};
use crate::problem::Problem;
use crate::push::routes as watches;
use crate::records;
use crate::resource::Resource;
use crate::sandbox::Sandbox;
use crate::seed;
use crate::tasks::{Todo, parts};
use crate::walk;

/// The largest request body.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Bytes of a request to send a message: the message and its copy in base64, and the recipients.
const MAX_ORDER_BYTES: usize = 2 * (MAX_MESSAGE_BYTES / 3 * 4 + 4) + MAX_BODY_BYTES;

/// The service, with its whole paths (`/sandbox/…`): merge it into the host's router.
pub fn router(state: Sandbox) -> Router {
    let event = "/sandbox/v1/calendars/{calendar}/events/{event}";
    let path = |rest: &str| format!("{event}{rest}");
    let api = Router::new()
        .route("/sandbox/v1/me", get(account::me))
        .merge(folders::<Event>())
        .merge(folders::<Card>())
        .merge(folders::<Todo>())
        .merge(documents::<CardBody>())
        .merge(documents::<Task>())
        .route("/sandbox/v1/books/{folder}/cards/{record}/picture", get(cards::picture))
        .merge(parts())
        .merge(mail(&state))
        .route("/sandbox/v1/calendars/{calendar}/events", get(listing::list).post(events::create))
        .route(event, get(events::get).patch(events::update).delete(events::delete))
        .route(&path("/instances"), get(instances::list))
        .route(
            &path("/instances/{original}"),
            get(instances::get).patch(instances::update).delete(instances::delete),
        )
        .route(&path("/answer"), post(invitations::answer))
        .route(&path("/video"), post(events::video))
        .route("/sandbox/v1/busy", post(busy::query))
        .route("/sandbox/v1/watches", get(watches::list).post(watches::create))
        .route("/sandbox/v1/watches/{watch}", delete(watches::delete))
        .route("/sandbox/v1/watches/{watch}/renew", post(watches::renew))
        .route("/sandbox/reset", post(account::reset))
        .layer(from_fn_with_state(state.clone(), fault_routes::layer));
    let provider = Router::new()
        .route(
            "/sandbox/faults",
            get(fault_routes::list).post(fault_routes::create).delete(fault_routes::clear),
        )
        .route("/sandbox/oauth/grants", delete(revoke::withdraw))
        .merge(api)
        .layer(from_fn_with_state(state.clone(), log_in))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(state.clone())
        .merge(authorization_server::routes(state));
    with_applications(provider)
}

/// The folders of one kind themselves.
fn folders<R: Collection>() -> Router<Sandbox> {
    let all = format!("/sandbox/v1/{}", R::KIND.folders());
    Router::new().route(&all, get(collections::list::<R>).post(collections::create::<R>)).route(
        &format!("{all}/{{folder}}"),
        get(collections::get::<R>).patch(collections::update::<R>).delete(collections::delete::<R>),
    )
}

/// The documents of one kind.
fn documents<B: Resource>() -> Router<Sandbox> {
    let all = format!("/sandbox/v1/{}/{{folder}}/{}", B::KIND.folders(), B::KIND.records());
    Router::new().route(&all, get(walk::list::<Document<B>>).post(records::create::<B>)).route(
        &format!("{all}/{{record}}"),
        get(records::get::<B>).patch(records::update::<B>).delete(records::delete::<B>),
    )
}

/// The parts of tasks.
fn parts() -> Router<Sandbox> {
    let path = |rest: &str| format!("/sandbox/v1/lists/{{folder}}/todos/{{record}}{rest}");
    Router::new()
        .route(&path("/steps"), post(parts::add_step))
        .route(&path("/steps/{step}"), patch(parts::update_step).delete(parts::delete_step))
        .route(&path("/links"), post(parts::add_link))
        .route(&path("/links/{link}"), delete(parts::delete_link))
}

fn mail(state: &Sandbox) -> Router<Sandbox> {
    let message = "/sandbox/v1/mail/messages/{message}";
    let path = |rest: &str| format!("{message}{rest}");
    let large = Router::new()
        .route("/sandbox/v1/mail/messages", post(upload::import))
        .route("/sandbox/v1/mail/drafts", post(upload::draft))
        .layer(DefaultBodyLimit::max(MAX_MESSAGE_BYTES + 1));
    let order = Router::new()
        .route("/sandbox/v1/mail/send", post(send::send))
        .layer(DefaultBodyLimit::max(MAX_ORDER_BYTES));
    let large = large.merge(order).layer(from_fn_with_state(state.clone(), one_of_few));
    Router::new()
        .merge(containers::<Folder>())
        .merge(containers::<Label>())
        .merge(large)
        .route("/sandbox/v1/mail/changes", get(messages::changes))
        .route("/sandbox/v1/mail/messages", get(messages::list))
        .route("/sandbox/v1/mail/batch", post(messages::batch))
        .route(message, get(messages::get).patch(write::update).delete(write::delete))
        .route(&path("/raw"), get(messages::raw))
        .route(&path("/files/{part}"), get(messages::file))
}

/// The folders or the labels themselves.
fn containers<C: Container>() -> Router<Sandbox> {
    let all = format!("/sandbox/v1/mail/{}", C::MANY);
    Router::new().route(&all, get(mail_folders::list::<C>).post(mail_folders::create::<C>)).route(
        &format!("{all}/{{id}}"),
        get(mail_folders::get::<C>).patch(mail_folders::update::<C>).delete(mail_folders::delete::<C>),
    )
}

/// Limits large bodies, which are read into memory: only a few at the same time, more wait.
async fn one_of_few(AxumState(sandbox): AxumState<Sandbox>, request: Request, next: Next) -> Response {
    let _permit = sandbox.0.large_bodies.acquire().await;
    next.run(request).await
}

/// The outermost layer: refuses requests without a valid login, and creates the account of a new one.
async fn log_in(AxumState(sandbox): AxumState<Sandbox>, mut request: Request, next: Next) -> Response {
    let login = match Login::from_headers(request.headers(), |token| login::by_token(&sandbox, token)) {
        Ok(login) => enter(&sandbox, login).await,
        Err(problem) => Err(problem),
    };
    match login {
        Ok(login) => {
            if let Some(refusal) = login::refuse(&login, request.method(), request.uri().path()) {
                return refusal;
            }
            request.extensions_mut().insert(login);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

async fn enter(sandbox: &Sandbox, login: Login) -> Result<Login, Problem> {
    let is_known = seed::is_complete(&sandbox.store().state, &login.mail);
    if !is_known {
        let now_ms = sandbox.now_ms();
        let wanted: Vec<String> =
            seed::PEOPLE.iter().map(|p| p.mail.to_owned()).chain([login.mail.clone()]).collect();
        sandbox.write(|state| seed::accounts(state, &wanted, now_ms)).await?;
    }
    Ok(login)
}
