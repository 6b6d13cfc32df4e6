//! Notifications that the provider posts to the host. The operations, their arguments and answers are tabled in `model::wire::watch`.

use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run, unknown};
use crate::error::{Failure, Outcome};

/// Operations of `watch`. A connector without this trait is polled by the host. How the provider's notifications
/// are read is defined by `[push]` of the manifest, or by one table `[[push]]` for each kind.
pub trait Watch {
    /// Asks the provider to post to `args.address` when something in `args.scope` changes. The provider may post before this returns.
    fn start(context: &Context, args: WatchStart) -> Outcome<Watching> {
        let _ = (context, args);
        Err(Failure::unsupported("notifications of changes"))
    }

    /// Asks the provider to go on with a watch. Where this is unsupported, the host starts another watch and stops this one.
    fn renew(context: &Context, args: WatchRenew) -> Outcome<Watching> {
        let _ = (context, args);
        Err(Failure::unsupported("prolonging notifications of changes"))
    }

    /// Asks the provider to post no more. A watch that the provider does not know is a success, or failure "not-found".
    fn stop(context: &Context, args: WatchStop) -> Outcome<()> {
        let _ = (context, args);
        Err(Failure::unsupported("stopping notifications of changes"))
    }
}

/// Runs an operation of `watch` by its name; an unknown one is unsupported.
pub fn mutate<C: Watch>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "watch.start" => run(host, request, |cx, args| C::start(cx, args).map(Answer::whole)),
        "watch.renew" => run(host, request, |cx, args| C::renew(cx, args).map(Answer::whole)),
        "watch.stop" => run(host, request, |cx, args| C::stop(cx, args).map(|()| Answer::whole(()))),
        op => unknown(op),
    }
}
