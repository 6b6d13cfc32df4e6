//! `ResponseFacts`: what the shared promises know of a request when its answer leaves.

use std::net::IpAddr;
use std::sync::Arc;

use storage::api_keys::ApiKey;

use crate::api::access::api_key::Caller;
use crate::api::request::body_recorder::BodyRecorder;
use crate::web::rate_limit::RateLimitState;

/// The facts.
pub struct ResponseFacts {
    pub request_id: String,
    pub ip: IpAddr,
    /// When it came, in milliseconds.
    pub started: i64,
    pub standing: RateLimitState,
    /// The request's key, if it is valid; also where it may not be used from there.
    pub key: Option<Arc<ApiKey>>,
    pub caller: Option<Caller>,
    /// The place for a copy of its body, if the request log keeps bodies.
    pub recorder: Option<BodyRecorder>,
}

impl ResponseFacts {
    /// The facts of a request whose key was not looked at yet.
    pub fn new(request_id: String, ip: IpAddr, started: i64, standing: RateLimitState) -> Self {
        ResponseFacts { request_id, ip, started, standing, key: None, caller: None, recorder: None }
    }
}
