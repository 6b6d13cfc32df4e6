//! Calls of a connector's optional interface `watch`: a provider is asked to post to this host when something of an account changes. The
//! caller decides which watches exist, their secrets and their renewals; nothing is stored here.
//!
//! `target` is `CallTarget::for_connection(app, &connection)`. A connector without the interface fails with `Code::UnsupportedSurface`, one that cannot
//! renew with `Code::Unsupported`.

use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use runtime::{Code, Error, LoadedConnector, Surface, Verb};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::app::App;
use crate::connections::call::{self, CallOptions, Op};
use crate::connections::call_target::CallTarget;

/// Most bytes of a provider's id of a watch.
const MAX_EXTERNAL_ID_BYTES: usize = 512;
/// Most bytes of the resource that a provider requires to stop a watch.
const MAX_RESOURCE_BYTES: usize = 2_048;

/// Whether the connector exports the interface.
pub fn has_watch(connector: &LoadedConnector) -> bool {
    connector.surfaces.contains(&Surface::Watch)
}

/// Starts a watch. The provider may post to `args.address` before this returns. A repeated start needs a new `args.channel`.
pub async fn start(app: &App, target: &CallTarget<'_>, args: &WatchStart) -> Result<Watching, Error> {
    let key = format!("{}:start", args.channel);
    checked(mutate(app, target, "watch.start", key, args).await?)
}

/// Renews a watch. Fails with `Code::Unsupported` if the provider cannot, and another one has to be started, and with `Code::NotFound` if
/// the provider no longer knows the watch.
pub async fn renew(app: &App, target: &CallTarget<'_>, args: &WatchRenew) -> Result<Watching, Error> {
    let key = format!("{}:renew:{}", args.channel, args.wanted_until);
    checked(mutate(app, target, "watch.renew", key, args).await?)
}

/// Ends a watch. One that the provider does not know, or whose connector cannot stop it, counts as ended.
pub async fn stop(app: &App, target: &CallTarget<'_>, args: &WatchStop) -> Result<(), Error> {
    let key = format!("{}:stop", args.channel);
    let stopped: Result<IgnoredAny, Error> = mutate(app, target, "watch.stop", key, args).await;
    match stopped {
        Err(e) if !matches!(e.code, Code::NotFound | Code::Unsupported) => Err(e),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Runs one operation of `watch.mutate`; no API request waits for it.
async fn mutate<A: Serialize + Sync, R: DeserializeOwned + Send>(
    app: &App,
    target: &CallTarget<'_>,
    name: &'static str,
    idempotency_key: String,
    args: &A,
) -> Result<R, Error> {
    let op = Op { surface: Surface::Watch, verb: Verb::Mutate, name };
    let options =
        CallOptions { idempotency_key: Some(idempotency_key), background: true, ..CallOptions::default() };
    let reply: call::Reply<R> = call::run(app, target, op, args, options).await?;
    Ok(reply.body)
}

/// Refuses an answer that cannot be stored, as a fault of the connector.
fn checked(watching: Watching) -> Result<Watching, Error> {
    let external_id = watching.external_id.len();
    if !(1..=MAX_EXTERNAL_ID_BYTES).contains(&external_id) {
        let detail = format!("externalId has {external_id} bytes: 1 to {MAX_EXTERNAL_ID_BYTES} are possible");
        return Err(Error::bad_output(detail));
    }
    let resource = watching.resource.as_ref().map_or(0, String::len);
    if resource > MAX_RESOURCE_BYTES {
        let detail = format!("resource has {resource} bytes: at most {MAX_RESOURCE_BYTES} are possible");
        return Err(Error::bad_output(detail));
    }
    // PostgreSQL stores no NUL in text.
    let has_nul = |text: &String| text.contains('\0');
    if has_nul(&watching.external_id) || watching.resource.as_ref().is_some_and(has_nul) {
        return Err(Error::bad_output("externalId and resource must not hold NUL"));
    }
    if watching.expires_at.as_millis() <= 0 {
        let detail = "expiresAt is missing: it is the time at which the provider ends the watch";
        return Err(Error::bad_output(detail));
    }
    Ok(watching)
}

#[cfg(test)]
mod tests {
    use model::Instant;
    use model::wire::watch::Watching;
    use runtime::Code;

    use super::checked;

    #[test]
    fn an_answer_that_cannot_be_stored_is_the_connectors_fault() {
        let good = Watching {
            external_id: "wat_1".to_owned(),
            resource: Some("r".repeat(2_048)),
            expires_at: Instant::from_millis(1),
        };
        assert_eq!(checked(good.clone()).expect("a watch"), good);
        let bad = [
            Watching { external_id: String::new(), ..good.clone() },
            Watching { external_id: "x".repeat(513), ..good.clone() },
            Watching { external_id: "a\0b".to_owned(), ..good.clone() },
            Watching { resource: Some("r".repeat(2_049)), ..good.clone() },
            Watching { expires_at: Instant::default(), ..good },
        ];
        for watching in bad {
            let error = checked(watching.clone()).expect_err("a refusal");
            assert_eq!(error.code, Code::BadOutput, "{watching:?}");
        }
    }
}
