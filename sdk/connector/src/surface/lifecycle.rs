//! The account itself.

use model::wire::Account;
use serde_json::Value;

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run};
use crate::error::{Failure, Outcome};

/// Operations of `lifecycle`.
pub trait Lifecycle {
    /// Tries the credentials and returns the account that they open. Values that it puts into `Account.settings` come back in
    /// `Context.connection.settings` of every later call.
    fn check(context: &Context) -> Outcome<Account> {
        let _ = context;
        Err(Failure::unsupported("checking an account"))
    }
}

/// `lifecycle.check`; there is one operation, so its name does not matter.
pub fn check<C: Lifecycle>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    run(host, request, |cx, _: Value| C::check(cx).map(Answer::whole))
}
