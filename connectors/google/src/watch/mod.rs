//! Notifications: Google posts to the host when a calendar changes, and publishes to a topic of the operator's when a mailbox does.

mod calendar;
mod mail;

use connector_sdk::{Context, Failure, Outcome, Watch};
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};

use crate::connector::Google;

impl Watch for Google {
    fn start(context: &Context, args: WatchStart) -> Outcome<Watching> {
        match (args.surface.as_str(), &args.scope) {
            ("calendar", _) => calendar::open(context, args),
            ("email", None) => mail::publish(context, args.channel, None),
            (surface, _) => Err(Failure::unsupported(&format!("notifications of {surface}"))),
        }
    }

    fn renew(context: &Context, args: WatchRenew) -> Outcome<Watching> {
        match args.surface.as_str() {
            "email" => mail::publish(context, args.channel, args.resource.as_deref()),
            surface => Err(Failure::unsupported(&format!("prolonging notifications of {surface}"))),
        }
    }

    fn stop(context: &Context, args: WatchStop) -> Outcome<()> {
        if args.resource.as_deref().is_some_and(mail::is_topic) {
            mail::stop(context)
        } else {
            calendar::close(context, &args)
        }
    }
}
