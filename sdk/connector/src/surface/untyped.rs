//! Surfaces whose operations are not typed yet: the operation's name and JSON, as they cross the boundary.

use serde_json::Value;

use crate::context::{Answer, Context};
use crate::error::{Failure, Outcome};

macro_rules! untyped {
    ($(#[$doc:meta])* $surface:ident, $module:ident) => {
        $(#[$doc])*
        pub trait $surface {
            /// Reads; changes nothing at the provider.
            fn fetch(context: &Context, op: &str, args: Value) -> Outcome<Answer<Value>> {
                let _ = (context, args);
                Err(Failure::unsupported(&format!("the operation {op:?}")))
            }

            /// Changes one thing at the provider.
            fn mutate(context: &Context, op: &str, args: Value) -> Outcome<Answer<Value>> {
                let _ = (context, args);
                Err(Failure::unsupported(&format!("the operation {op:?}")))
            }

            /// What changed since the context's cursor; from none, everything there is.
            fn changes(context: &Context, op: &str, args: Value) -> Outcome<Answer<Value>> {
                let _ = (context, args);
                Err(Failure::unsupported(&format!("the operation {op:?}")))
            }
        }

        /// The three verbs of this surface.
        pub mod $module {
            use crate::surface::untyped::$surface;
            use crate::context::Host;
            use crate::dispatch::{Request, Response, run};
            use crate::error::Outcome;

            pub fn fetch<C: $surface>(host: &dyn Host, request: Request) -> Outcome<Response> {
                let op = request.op.clone();
                run(host, request, |cx, args| C::fetch(cx, &op, args))
            }

            pub fn mutate<C: $surface>(host: &dyn Host, request: Request) -> Outcome<Response> {
                let op = request.op.clone();
                run(host, request, |cx, args| C::mutate(cx, &op, args))
            }

            pub fn changes<C: $surface>(host: &dyn Host, request: Request) -> Outcome<Response> {
                let op = request.op.clone();
                run(host, request, |cx, args| C::changes(cx, &op, args))
            }
        }
    };
}

untyped! {
    /// Mail.
    Email, email
}
