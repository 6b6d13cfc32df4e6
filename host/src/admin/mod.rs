//! `/admin`: the administration panel, for the people who run an installation and the developers of its applications. Everything works by links
//! and forms, and is quicker with a script. Only a POST from a page's own form changes anything. What a page shows and does is decided below,
//! in `manage`, where the command line and the API call the same functions.

pub mod addresses;
pub mod assets;
pub mod claim;
pub mod cookies;
pub mod failure;
pub mod form_token;
pub mod layout;
pub mod live;
pub mod notices;
pub mod pages;
pub mod parts;
pub mod received_files;
pub mod routes;
pub mod sandbox_calls;
pub mod scheme;
pub mod serve;
pub mod texts;
pub mod upload;
pub mod view;
pub mod visit;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{MethodFilter, MethodRouter, any, get, on};
use http::{Extensions, HeaderMap, StatusCode, Version};
use service::app::App;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};

use crate::admin::layout::SecretPage;
use crate::admin::routes::{NO_PAGE, OTHER_METHOD, PanelRoute, RouteMethod, TABLE};
use crate::admin::serve::{Panel, PanelParams, serve};

/// The routes of the panel, with budgets of their own. `sandbox`: the routes of the provider that this process plays, which the panel's page of
/// the sandbox asks.
pub fn routes(_app: &App, sandbox: Option<Router>) -> Router<App> {
    let panel = Arc::new(Panel::new(sandbox));
    let mut router = Router::new();
    for route in TABLE {
        router = router.route(route.path, handler(&panel, route));
    }
    let may_compress = |_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions| {
        extensions.get::<SecretPage>().is_none()
    };
    let compression = CompressionLayer::new().compress_when(DefaultPredicate::new().and(may_compress));
    let other_method = panel.clone();
    router
        .method_not_allowed_fallback(move |State(app): State<App>, params: PanelParams, request: Request| {
            serve(app, other_method.clone(), &OTHER_METHOD, params, request)
        })
        .route(
            NO_PAGE.path,
            any(move |State(app): State<App>, params: PanelParams, request: Request| {
                serve(app, panel.clone(), &NO_PAGE, params, request)
            }),
        )
        .route("/admin/assets/{hash}/panel.css", get(assets::style))
        .route("/admin/assets/{hash}/panel.js", get(assets::script))
        .layer(compression)
}

/// The handler of a route.
fn handler(panel: &Arc<Panel>, route: &'static PanelRoute) -> MethodRouter<App> {
    let panel = panel.clone();
    let filter = match route.method {
        RouteMethod::Get | RouteMethod::Live => MethodFilter::GET,
        RouteMethod::Post | RouteMethod::Upload => MethodFilter::POST,
    };
    on(filter, move |State(app): State<App>, params: PanelParams, request: Request| {
        serve(app, panel.clone(), route, params, request)
    })
}
