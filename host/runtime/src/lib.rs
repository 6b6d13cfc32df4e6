//! Connectors: WebAssembly components, loaded at run time, each call in its own sandbox. The only part of the host that
//! knows wasmtime. A call is a function of its arguments: credentials and settings are handed in, nothing is looked up here.
//!
//! [`Runtime::call`] is the only door. Behind it, in this order: `registry` finds the version in service, `admission` finds
//! room, `sandbox` makes a store and an instance and calls, `outbound` is the guest's only way out, `traps`, `code` and
//! `error` say what went wrong and whose fault it was.

mod admission;
mod artefacts;
mod bench;
mod bindings;
mod blobs;
mod call;
mod candidate;
mod code;
mod compile;
mod contents;
mod engine;
mod error;
pub mod event_stream;
mod extra;
mod files;
mod frames;
mod guests;
mod http_url;
mod imports;
mod limits;
mod listening;
mod loaded;
mod log;
mod manifest;
mod observer;
mod outbound;
mod packages;
mod registry;
mod runtime;
mod sandbox;
mod shared;
mod spawned;
mod state;
mod stats;
mod surface;
mod time_zones;
mod traps;
mod wasi;
mod wasi_io;
mod watch;

pub use crate::admission::Occupancy;
pub use crate::bench::{NoopBench, Percentiles};
pub use crate::blobs::{Blob, Blobs};
pub use crate::call::{Answer, Call, CallContext};
pub use crate::candidate::{InstallCandidate, InstalledVersion};
pub use crate::code::{Blame, Code};
pub use crate::compile::{CHILD_COMMAND, LINES_FLAG, compile_child_main};
pub use crate::contents::has_debug_info;
pub use crate::engine::Allocation;
pub use crate::error::{AuthorReport, Error};
pub use crate::files::read_regular;
pub use crate::frames::Frame;
pub use crate::http_url::parse_discovered;
pub use crate::limits::Limits;
pub use crate::listening::ListenTarget;
pub use crate::loaded::{LoadedConnector, TRIAL_CPU};
pub use crate::log::{LogLevel, LogLine};
pub use crate::manifest::{
    AccountLimits, Auth, AuthKind, ClientAuth, DISCOVERED, Discovery, EndpointOverrides, Endpoints,
    ErrorClass, ErrorPlace, ErrorRule, EventSource, HostRule, IdentitySource, IssParameter, LIMITS_SETTING,
    Level, LoginName, Manifest, ManifestSyntaxError, MemoryClass, Pkce, Push, PushAlgorithm, PushAuth,
    PushJwt, PushPlace, RateLimit, RelatedHosts, Rotation, ScopeCase, Setting, SetupCopy, SetupStep,
    SurfaceVersion, UrlSetting, UrlSettingKind, UrlTemplate, UserinfoPointers, WaitScope, WithoutSecret,
};
pub use crate::observer::{CallObserver, ObservedCall};
pub use crate::outbound::{
    BadOrigin, CarriedBody, Credentials, CredentialsError, DirectError, DirectRequest, DirectResponse,
    HttpSettings, Listener, Login, LoginSecret, Lookup, Network, News, NoCredentials, OperatorAnswer,
    OperatorClient, OriginOverrides, OwnProvider, Post, PostError, PostResponse, ProviderRedirect, Secret,
    SystemLookup, Transport, TransportError, UrlCheck, check_origins, check_server, parse_origin,
    parse_webhook_url,
};
pub use crate::packages::{Index, Installed, Previous, Source, Store, manifest_text};
pub use crate::runtime::{Config, PoolStatus, Runtime, Status, install_candidate, install_offline};
pub use crate::shared::SharedCode;
pub use crate::state::Progress;
pub use crate::stats::{BucketStats, CallStats, ProviderWait, Stats, StatsSnapshot};
pub use crate::surface::{Surface, Verb};
pub use crate::watch::Watch;
