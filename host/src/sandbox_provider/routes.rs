//! The provider's paths, and who gets in.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as AxumState};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::sandbox_provider::auth::Login;
use crate::sandbox_provider::calendar::types::Event;
use crate::sandbox_provider::calendar::{busy, events, instances, invitations, listing};
use crate::sandbox_provider::collections::Collection;
use crate::sandbox_provider::problem::Problem;
use crate::sandbox_provider::{Sandbox, account, collections, faults, seed};

/// The largest request body.
const MAX_BODY_BYTES: usize = 1 << 20;

/// The service, with its whole paths (`/sandbox/…`): merge it into the host's router.
pub fn router(state: Sandbox) -> Router {
    let event = "/sandbox/v1/calendars/{calendar}/events/{event}";
    let path = |rest: &str| format!("{event}{rest}");
    let api = Router::new()
        .route("/sandbox/v1/me", get(account::me))
        .merge(folders::<Event>())
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
        .route("/sandbox/reset", post(account::reset))
        .layer(from_fn_with_state(state.clone(), faults::layer));
    Router::new()
        .route("/sandbox/faults", get(faults::list).post(faults::create).delete(faults::clear))
        .merge(api)
        .layer(from_fn_with_state(state.clone(), log_in))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(state)
}

/// The folders of one kind themselves.
fn folders<R: Collection>() -> Router<Sandbox> {
    let all = format!("/sandbox/v1/{}", R::KIND.folders());
    Router::new().route(&all, get(collections::list::<R>).post(collections::create::<R>)).route(
        &format!("{all}/{{folder}}"),
        get(collections::get::<R>).patch(collections::update::<R>).delete(collections::delete::<R>),
    )
}

/// The outermost layer: nobody without an account gets further, and everybody with one finds it made.
async fn log_in(AxumState(sandbox): AxumState<Sandbox>, mut request: Request, next: Next) -> Response {
    let login = match Login::from_headers(request.headers()) {
        Ok(login) => enter(&sandbox, login).await,
        Err(problem) => Err(problem),
    };
    match login {
        Ok(login) => {
            request.extensions_mut().insert(login);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

async fn enter(sandbox: &Sandbox, login: Login) -> Result<Login, Problem> {
    let is_known = sandbox.store().state.accounts.contains_key(&login.mail);
    if !is_known {
        let now_ms = sandbox.now_ms();
        let wanted: Vec<String> =
            seed::PEOPLE.iter().map(|p| p.mail.to_owned()).chain([login.mail.clone()]).collect();
        sandbox.write(|state| seed::accounts(state, &wanted, now_ms)).await?;
    }
    Ok(login)
}
