//! Subscriptions of Graph (reference, resource type `subscription`): created, prolonged and deleted.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::wire::watch::{WatchRenew, WatchStart, Watching};
use serde::Deserialize;
use serde_json::json;

use crate::api::{accepted, ask, exchange, execute, object};
use crate::odata::failures::has_code;
use crate::odata::root;
use crate::odata::stamp::stamp;

/// Longest life of a subscription to a mailbox, minutes: by the newer guide, and by the older one, which some tenants still keep to.
const MAX_LIFE_MINUTES: i64 = 10_080;
const OLD_MAX_LIFE_MINUTES: i64 = 4_230;
const MINUTE_MS: i64 = 60_000;

/// The reason in the detail of a failure where Graph gets no answer at the address.
const UNREACHED: &str = "notificationUrlValidationFailed";

const STARTING: &str = "starting the notifications";
const RENEWING: &str = "prolonging the notifications";

/// A subscription as Graph has it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Subscription {
    id: String,
    expiration_date_time: String,
}

/// Subscribes to the first of the resources that Graph takes. It calls the address within the request, to see that somebody answers there.
pub fn create(context: &Context, resources: &[String], args: &WatchStart) -> Outcome<Watching> {
    let mut refusal = Failure::unsupported("notifications of this collection");
    for resource in resources {
        let created = with_shorter_life(context, args.wanted_until, |until| {
            let body = json!({
                "changeType": "created,updated,deleted",
                "notificationUrl": args.address,
                "lifecycleNotificationUrl": args.address,
                "resource": resource,
                "expirationDateTime": until.to_string(),
                "clientState": args.token,
            });
            let response =
                exchange(context, Request::post(root::graph(&["subscriptions"], &[])?).json(&body))?;
            ensure_reached(&response)?;
            object::<Subscription>(&accepted(context, response, STARTING)?)
        });
        match created {
            Ok(created) => return watching(created, None),
            Err(failure) if is_refusal(&failure) => refusal = failure,
            Err(failure) => return Err(failure),
        }
    }
    let message = "the provider posts no notifications of this collection".to_owned();
    Err(Failure { message, ..refusal.with_code(code::UNSUPPORTED) })
}

/// Prolongs a subscription, which also authorizes it again.
pub fn renew(context: &Context, args: &WatchRenew) -> Outcome<Watching> {
    let address = root::graph(&["subscriptions", &args.external_id], &[])?;
    let renewed = with_shorter_life(context, args.wanted_until, |until| {
        let body = json!({ "expirationDateTime": until.to_string() });
        ask::<Subscription>(context, Request::patch(&address).json(&body), RENEWING)
    })?;
    watching(renewed, Some(&args.external_id))
}

/// Deletes a subscription. Fails with `not-found` for one that is over.
pub fn delete(context: &Context, id: &str) -> Outcome<()> {
    let request = Request::delete(root::graph(&["subscriptions", id], &[])?);
    execute(context, request, "stopping the notifications")
}

/// Asks for the wanted end, and where that is refused for the one that older guides allow.
fn with_shorter_life(
    context: &Context,
    wanted: Instant,
    ask_for: impl Fn(Instant) -> Outcome<Subscription>,
) -> Outcome<Subscription> {
    let latest = |minutes: i64| {
        // Graph's clock may be ahead: a minute less is never too long.
        let end = context.now_ms().saturating_add((minutes - 1).saturating_mul(MINUTE_MS));
        Instant::from_millis(end.min(wanted.as_millis()))
    };
    let (first, second) = (latest(MAX_LIFE_MINUTES), latest(OLD_MAX_LIFE_MINUTES));
    match ask_for(first) {
        Err(failure) if is_refusal(&failure) && failure.http_status == Some(400) && second < first => {
            ask_for(second)
        }
        answer => answer,
    }
}

/// `id`: that of a subscription which was there before.
fn watching(subscription: Subscription, id: Option<&str>) -> Outcome<Watching> {
    let given = Some(subscription.id).filter(|id| !id.is_empty());
    let external_id = given.or_else(|| id.map(str::to_owned));
    let external_id =
        external_id.ok_or_else(|| Failure::unavailable("the provider's subscription has no id"))?;
    let end = stamp(&subscription.expiration_date_time)?;
    let expires_at =
        end.ok_or_else(|| Failure::unavailable("the provider does not tell when its notifications end"))?;
    Ok(Watching { external_id, resource: None, expires_at })
}

/// Whether Graph refuses this resource, and may take another one.
fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.http_status, Some(400 | 403 | 404 | 405)) && !is_unreached(failure)
}

/// Fails where Graph has called the address and got no answer: that says nothing of the resource, and is for the operator to fix.
fn ensure_reached(response: &Response) -> Outcome<()> {
    let text = response.text().to_ascii_lowercase();
    if response.status != 400 || !text.contains("validation request") {
        return Ok(());
    }
    let message = "Microsoft does not reach this service at its public address: it has to answer there over HTTPS within ten seconds";
    let failure = Failure { http_status: Some(400), ..Failure::new(code::FORBIDDEN, message) };
    Err(failure.with_detail(json!({ "providerReason": UNREACHED })))
}

fn is_unreached(failure: &Failure) -> bool {
    has_code(failure, UNREACHED)
}
