//! The whole service: the API, the administration panel, and the sandbox provider where this process plays it.

use axum::Router;
use service::app::App;

use crate::admin;
use crate::api;

/// Routes by the address at which they are served.
pub struct ServiceRoutes {
    /// At the address of the API.
    pub main: Router,
    /// At the panel's own address; none where the panel has none.
    pub panel: Option<Router>,
}

/// Puts the routes of a service together. `sandbox`: those of the provider that this process plays.
pub fn assemble(app: &App, sandbox: Option<Router>) -> ServiceRoutes {
    let mut routes = ServiceRoutes { main: api::service(app.clone()), panel: None };
    if app.config.admin {
        let pages = admin::routes(app, sandbox.clone()).with_state(app.clone());
        match app.config.admin_listen {
            Some(_) => routes.panel = Some(pages),
            None => routes.main = routes.main.merge(pages),
        }
    }
    if let Some(sandbox) = sandbox {
        routes.main = routes.main.merge(sandbox);
    }
    routes
}
