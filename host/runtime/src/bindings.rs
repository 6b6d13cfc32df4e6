//! The bindings that `bindgen!` generates from `wit/`: the envelope types and the traits of the imports. Generated names stop
//! here; exports need none, because every surface has the same three signatures (`loaded.rs`).

mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "switchboard:connector/imports",
        imports: {
            "switchboard:connector/http": async | trappable,
            "switchboard:connector/tcp": async | trappable,
            "switchboard:connector/progress": async | trappable,
            default: trappable,
        },
        with: {
            "switchboard:connector/tcp.session": crate::outbound::tcp::Session,
        },
        require_store_data_send: true,
    });
}

pub(crate) use generated::switchboard::connector::types::{Failure, Request, Response};
pub(crate) use generated::switchboard::connector::{
    blob, clock, http, log, progress, random, tcp, time_zones, types,
};

/// The common signature of all exported functions.
pub(crate) type CallFn = wasmtime::component::TypedFunc<(Request,), (Result<Response, Failure>,)>;
