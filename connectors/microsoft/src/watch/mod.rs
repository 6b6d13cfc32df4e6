//! Notifications: Graph posts to the host when something in a mailbox changes (Microsoft Graph, "Receive change notifications through
//! webhooks"). What changed is read by deltas as always.

mod resource;
mod subscription;

use connector_sdk::{Context, Outcome, Watch};
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};

use crate::connector::Microsoft;

impl Watch for Microsoft {
    fn start(context: &Context, args: WatchStart) -> Outcome<Watching> {
        let resources = resource::resources(context, &args.surface, args.scope.as_deref())?;
        subscription::create(context, &resources, &args)
    }

    fn renew(context: &Context, args: WatchRenew) -> Outcome<Watching> {
        subscription::renew(context, &args)
    }

    fn stop(context: &Context, args: WatchStop) -> Outcome<()> {
        subscription::delete(context, &args.external_id)
    }
}
