//! The routes of the panel: a table with the visitors who may open each. Nothing without a row is served.

use std::future::{Future, ready};
use std::pin::Pin;

use base::error::{Code, Result, not_found, refuse};
use service::manage::actor::Act;

use crate::admin::pages::oidc;
use crate::admin::pages::{
    account, accounts, accounts_changes, accounts_detail, accounts_new, accounts_return, applications, audit,
    confirm, connector, connector_review, connector_upload, connectors, event, events, job, jobs, key,
    key_changes, keys, members, membership, new_key, new_webhook, operator, operators, organizations,
    overview, providers, replays, request, request_bodies, request_log_switch, requests, search,
    second_factor, settings, sign_in, system, usage, webhook, webhook_changes, webhook_delivery, webhooks,
    welcome,
};
use crate::admin::pages::{new_admin_key, provider_changes, sandbox, sandbox_changes};
use crate::admin::view::View;
use crate::admin::visit::Visit;

/// The handler of a page.
pub type PageFn = for<'v> fn(&'v Visit) -> Pin<Box<dyn Future<Output = Result<View>> + Send + 'v>>;

/// Whether a route shows a page, or takes a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteMethod {
    Get,
    Post,
    /// Takes a form with files.
    Upload,
    /// A GET of an event stream, which does not extend the session.
    Live,
}

/// The visitors who may open a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// Anyone.
    Open,
    /// Everyone who is signed in.
    SignedIn,
    /// Everyone who is signed in. If the operator has only one organization, the page is about it.
    Home,
    /// Operators who may do this in the organization `{o}`.
    Organization(Act),
    /// Operators who may do this in the organization of the application `{a}`.
    Application(Act),
    /// Operators who may do this in the installation.
    Installation(Act),
}

/// A page, or a form that a page sends.
#[derive(Clone, Copy)]
pub struct PanelRoute {
    pub method: RouteMethod,
    /// The path pattern in axum's syntax.
    pub path: &'static str,
    pub access: PageAccess,
    /// Whether the session must have authenticated within the last 15 minutes.
    pub needs_fresh: bool,
    pub page: PageFn,
}

impl PanelRoute {
    /// The act that the route requires.
    pub fn act(&self) -> Option<Act> {
        match self.access {
            PageAccess::Open | PageAccess::SignedIn | PageAccess::Home => None,
            PageAccess::Organization(act) | PageAccess::Application(act) | PageAccess::Installation(act) => {
                Some(act)
            }
        }
    }

    /// Whether it is an event stream.
    pub fn is_live(&self) -> bool {
        self.method == RouteMethod::Live
    }

    /// Whether it takes a form.
    pub fn is_form(&self) -> bool {
        matches!(self.method, RouteMethod::Post | RouteMethod::Upload)
    }

    /// Whether its form has files.
    pub fn takes_files(&self) -> bool {
        self.method == RouteMethod::Upload
    }
}

const fn get(path: &'static str, access: PageAccess, page: PageFn) -> PanelRoute {
    PanelRoute { method: RouteMethod::Get, path, access, needs_fresh: false, page }
}

const fn live(path: &'static str, access: PageAccess, page: PageFn) -> PanelRoute {
    PanelRoute { method: RouteMethod::Live, path, access, needs_fresh: false, page }
}

const fn post(path: &'static str, access: PageAccess, page: PageFn) -> PanelRoute {
    PanelRoute { method: RouteMethod::Post, path, access, needs_fresh: false, page }
}

const fn upload(path: &'static str, access: PageAccess, page: PageFn) -> PanelRoute {
    PanelRoute { method: RouteMethod::Upload, path, access, needs_fresh: false, page }
}

/// Restricts a route to recently authenticated sessions.
const fn fresh(route: PanelRoute) -> PanelRoute {
    PanelRoute { needs_fresh: true, ..route }
}

const OPEN: PageAccess = PageAccess::Open;
const SIGNED_IN: PageAccess = PageAccess::SignedIn;
const HOME: PageAccess = PageAccess::Home;
const SEE_ORG: PageAccess = PageAccess::Organization(Act::SeeApplication);
const NEW_APP: PageAccess = PageAccess::Organization(Act::ManageApplication);
const ORG: PageAccess = PageAccess::Organization(Act::ManageOrganizations);
const MEMBERS: PageAccess = PageAccess::Organization(Act::ManageMembers);
const ORG_AUDIT: PageAccess = PageAccess::Organization(Act::SeeAudit);
const ORGS: PageAccess = PageAccess::Installation(Act::ManageOrganizations);
const SYSTEM: PageAccess = PageAccess::Installation(Act::ManageOperators);
const JOBS: PageAccess = PageAccess::Installation(Act::ManageJobs);
const CONNECTORS: PageAccess = PageAccess::Installation(Act::ManageConnectors);
/// The sandbox is shared by the whole process, so its page is for administrators. It holds no real data, so no recent authentication is
/// required.
const SANDBOX: PageAccess = PageAccess::Installation(Act::ManageJobs);
const ADMIN_KEYS: PageAccess = PageAccess::Installation(Act::ManageAdminKeys);
const SEE_APP: PageAccess = PageAccess::Application(Act::SeeApplication);
const CONTENT: PageAccess = PageAccess::Application(Act::SeeContent);
const KEYS: PageAccess = PageAccess::Application(Act::ManageKeys);
const ACCOUNTS: PageAccess = PageAccess::Application(Act::ManageAccounts);
const DISCONNECT: PageAccess = PageAccess::Application(Act::Disconnect);
const PROVIDERS: PageAccess = PageAccess::Application(Act::ManageProviders);
const WEBHOOKS: PageAccess = PageAccess::Application(Act::ManageWebhooks);
const APP: PageAccess = PageAccess::Application(Act::ManageApplication);

/// The page of an invitation.
const JOIN: &str = "/admin/join/{t}";
/// The form for uploading a connector.
const UPLOADS: &str = "/admin/system/connector-uploads";
/// The page that asks whether to disconnect an account.
const DISCONNECT_PAGE: &str = "/admin/apps/{a}/accounts/{c}/disconnect";

/// All routes.
pub static TABLE: &[PanelRoute] = &[
    get("/admin", HOME, |v| Box::pin(organizations::home(v))),
    get("/admin/", HOME, |v| Box::pin(organizations::home(v))),
    get("/admin/sign-in", OPEN, |v| Box::pin(sign_in::show(v))),
    post("/admin/sign-in", OPEN, |v| Box::pin(sign_in::send(v))),
    get("/admin/sign-in/code", OPEN, |v| Box::pin(sign_in::show_code(v))),
    post("/admin/sign-in/code", OPEN, |v| Box::pin(sign_in::send_code(v))),
    get("/admin/first/{t}", OPEN, |v| Box::pin(welcome::show(v))),
    post("/admin/first/{t}", OPEN, |v| Box::pin(welcome::send(v))),
    get(JOIN, OPEN, |v| Box::pin(welcome::show(v))),
    post(JOIN, OPEN, |v| Box::pin(welcome::send(v))),
    get("/admin/confirm", SIGNED_IN, |v| Box::pin(confirm::show(v))),
    post("/admin/confirm", SIGNED_IN, |v| Box::pin(confirm::send(v))),
    post("/admin/confirm/provider", SIGNED_IN, |v| Box::pin(oidc::confirm(v))),
    post("/admin/oidc/start", OPEN, |v| Box::pin(oidc::start(v))),
    get("/admin/oidc/return", OPEN, |v| Box::pin(oidc::show_return(v))),
    post("/admin/sign-out", SIGNED_IN, |v| Box::pin(sign_in::sign_out(v))),
    get("/admin/search", SIGNED_IN, |v| Box::pin(search::show(v))),
    get("/admin/account", SIGNED_IN, |v| Box::pin(account::show(v))),
    post("/admin/account", SIGNED_IN, |v| Box::pin(account::save(v))),
    fresh(get("/admin/account/password", SIGNED_IN, |v| Box::pin(account::show_password(v)))),
    fresh(post("/admin/account/password", SIGNED_IN, |v| Box::pin(account::save_password(v)))),
    fresh(post("/admin/account/identity/connect", SIGNED_IN, |v| Box::pin(oidc::connect(v)))),
    fresh(post("/admin/account/identity/disconnect", SIGNED_IN, |v| Box::pin(oidc::disconnect(v)))),
    post("/admin/account/sessions/end-others", SIGNED_IN, |v| Box::pin(account::end_others(v))),
    post("/admin/account/sessions/{s}/end", SIGNED_IN, |v| Box::pin(account::end_session(v))),
    fresh(get("/admin/account/second-factor", SIGNED_IN, |v| Box::pin(second_factor::show(v)))),
    fresh(post("/admin/account/second-factor", SIGNED_IN, |v| Box::pin(second_factor::turn_on(v)))),
    fresh(get("/admin/account/second-factor/off", SIGNED_IN, |v| Box::pin(second_factor::show_off(v)))),
    fresh(post("/admin/account/second-factor/off", SIGNED_IN, |v| Box::pin(second_factor::turn_off(v)))),
    fresh(get("/admin/account/recovery-codes", SIGNED_IN, |v| Box::pin(second_factor::show_codes(v)))),
    fresh(post("/admin/account/recovery-codes", SIGNED_IN, |v| Box::pin(second_factor::new_codes(v)))),
    fresh(get("/admin/orgs/new", ORGS, |v| Box::pin(organizations::show_new(v)))),
    post("/admin/orgs/new", ORGS, |v| Box::pin(organizations::create(v))),
    get("/admin/orgs/{o}", SEE_ORG, |v| Box::pin(applications::list(v))),
    fresh(get("/admin/orgs/{o}/rename", ORG, |v| Box::pin(organizations::show_rename(v)))),
    post("/admin/orgs/{o}/rename", ORG, |v| Box::pin(organizations::rename(v))),
    get("/admin/orgs/{o}/apps/new", NEW_APP, |v| Box::pin(applications::show_new(v))),
    post("/admin/orgs/{o}/apps/new", NEW_APP, |v| Box::pin(applications::create(v))),
    get("/admin/orgs/{o}/members", MEMBERS, |v| Box::pin(members::list(v))),
    fresh(get("/admin/orgs/{o}/members/invite", MEMBERS, |v| Box::pin(members::show_invite(v)))),
    post("/admin/orgs/{o}/members/invite", MEMBERS, |v| Box::pin(members::invite(v))),
    fresh(get("/admin/orgs/{o}/members/{m}/role", MEMBERS, |v| Box::pin(membership::show_role(v)))),
    post("/admin/orgs/{o}/members/{m}/role", MEMBERS, |v| Box::pin(membership::set_role(v))),
    fresh(get("/admin/orgs/{o}/members/{m}/remove", MEMBERS, |v| Box::pin(membership::show_remove(v)))),
    post("/admin/orgs/{o}/members/{m}/remove", MEMBERS, |v| Box::pin(membership::remove(v))),
    post("/admin/orgs/{o}/invitations/{i}/end", MEMBERS, |v| Box::pin(membership::end_invitation(v))),
    get("/admin/orgs/{o}/audit", ORG_AUDIT, |v| Box::pin(audit::of_organization(v))),
    get("/admin/system", JOBS, |v| Box::pin(system::show(v))),
    post("/admin/system/check-integrity", JOBS, |v| Box::pin(system::check_integrity(v))),
    get("/admin/system/jobs", JOBS, |v| Box::pin(jobs::list(v))),
    get("/admin/system/jobs/{j}", JOBS, |v| Box::pin(job::show(v))),
    post("/admin/system/jobs/{j}/retry", JOBS, |v| Box::pin(job::retry(v))),
    get("/admin/system/jobs/{j}/cancel", JOBS, |v| Box::pin(job::show_cancel(v))),
    post("/admin/system/jobs/{j}/cancel", JOBS, |v| Box::pin(job::cancel(v))),
    get("/admin/system/connectors", CONNECTORS, |v| Box::pin(connectors::list(v))),
    get("/admin/system/connectors/{n}", CONNECTORS, |v| Box::pin(connector::show(v))),
    fresh(get("/admin/system/connectors/{n}/roll-back", CONNECTORS, |v| {
        Box::pin(connector::show_roll_back(v))
    })),
    post("/admin/system/connectors/{n}/roll-back", CONNECTORS, |v| Box::pin(connector::roll_back(v))),
    fresh(get("/admin/system/connectors/{n}/remove", CONNECTORS, |v| Box::pin(connector::show_remove(v)))),
    post("/admin/system/connectors/{n}/remove", CONNECTORS, |v| Box::pin(connector::remove(v))),
    fresh(get(UPLOADS, CONNECTORS, |v| Box::pin(connector_upload::show(v)))),
    upload(UPLOADS, CONNECTORS, |v| Box::pin(connector_upload::receive(v))),
    fresh(get("/admin/system/connector-uploads/{u}", CONNECTORS, |v| Box::pin(connector_review::show(v)))),
    post("/admin/system/connector-uploads/{u}", CONNECTORS, |v| Box::pin(connector_review::install(v))),
    get("/admin/system/operators", SYSTEM, |v| Box::pin(operators::list(v))),
    fresh(get("/admin/system/operators/invite", SYSTEM, |v| Box::pin(operators::show_invite(v)))),
    post("/admin/system/operators/invite", SYSTEM, |v| Box::pin(operators::invite(v))),
    post("/admin/system/invitations/{i}/end", SYSTEM, |v| Box::pin(operators::end_invitation(v))),
    get("/admin/system/operators/{m}", SYSTEM, |v| Box::pin(operators::show(v))),
    fresh(get("/admin/system/operators/{m}/{change}", SYSTEM, |v| Box::pin(operator::confirm(v)))),
    post("/admin/system/operators/{m}/{change}", SYSTEM, |v| Box::pin(operator::change(v))),
    get("/admin/system/keys", ADMIN_KEYS, |v| Box::pin(keys::list(v))),
    fresh(get("/admin/system/keys/new", ADMIN_KEYS, |v| Box::pin(new_admin_key::show(v)))),
    fresh(post("/admin/system/keys/new", ADMIN_KEYS, |v| Box::pin(new_admin_key::create(v)))),
    get("/admin/system/keys/{k}", ADMIN_KEYS, |v| Box::pin(key::show(v))),
    fresh(post("/admin/system/keys/{k}/rotate", ADMIN_KEYS, |v| Box::pin(key_changes::rotate(v)))),
    fresh(get("/admin/system/keys/{k}/end-old", ADMIN_KEYS, |v| Box::pin(key_changes::show_end_old(v)))),
    fresh(post("/admin/system/keys/{k}/end-old", ADMIN_KEYS, |v| Box::pin(key_changes::end_old(v)))),
    fresh(get("/admin/system/keys/{k}/revoke", ADMIN_KEYS, |v| Box::pin(key_changes::show_revoke(v)))),
    fresh(post("/admin/system/keys/{k}/revoke", ADMIN_KEYS, |v| Box::pin(key_changes::revoke(v)))),
    get("/admin/system/audit", SYSTEM, |v| Box::pin(audit::of_installation(v))),
    get("/admin/sandbox", SANDBOX, |v| Box::pin(sandbox::show(v))),
    post("/admin/sandbox/mail", SANDBOX, |v| Box::pin(sandbox_changes::receive(v))),
    post("/admin/sandbox/events", SANDBOX, |v| Box::pin(sandbox_changes::invite(v))),
    post("/admin/sandbox/faults", SANDBOX, |v| Box::pin(sandbox_changes::add_fault(v))),
    post("/admin/sandbox/faults/clear", SANDBOX, |v| Box::pin(sandbox_changes::clear_faults(v))),
    post("/admin/sandbox/reset", SANDBOX, |v| Box::pin(sandbox_changes::reset(v))),
    get("/admin/apps/{a}", SEE_APP, |v| Box::pin(overview::show(v))),
    get("/admin/apps/{a}/keys", SEE_APP, |v| Box::pin(keys::list(v))),
    get("/admin/apps/{a}/keys/new", KEYS, |v| Box::pin(new_key::show(v))),
    post("/admin/apps/{a}/keys/new", KEYS, |v| Box::pin(new_key::create(v))),
    get("/admin/apps/{a}/keys/{k}", SEE_APP, |v| Box::pin(key::show(v))),
    post("/admin/apps/{a}/keys/{k}/rotate", KEYS, |v| Box::pin(key_changes::rotate(v))),
    get("/admin/apps/{a}/keys/{k}/end-old", KEYS, |v| Box::pin(key_changes::show_end_old(v))),
    post("/admin/apps/{a}/keys/{k}/end-old", KEYS, |v| Box::pin(key_changes::end_old(v))),
    get("/admin/apps/{a}/keys/{k}/revoke", KEYS, |v| Box::pin(key_changes::show_revoke(v))),
    post("/admin/apps/{a}/keys/{k}/revoke", KEYS, |v| Box::pin(key_changes::revoke(v))),
    get("/admin/apps/{a}/accounts", SEE_APP, |v| Box::pin(accounts::list(v))),
    get("/admin/apps/{a}/accounts/new", ACCOUNTS, |v| Box::pin(accounts_new::show(v))),
    get("/admin/apps/{a}/accounts/new/{p}", ACCOUNTS, |v| Box::pin(accounts_new::show_provider(v))),
    post("/admin/apps/{a}/accounts/new/{p}", ACCOUNTS, |v| Box::pin(accounts_new::connect(v))),
    get("/admin/apps/{a}/accounts/{c}", SEE_APP, |v| Box::pin(accounts_detail::show(v))),
    post("/admin/apps/{a}/accounts/{c}/refresh", ACCOUNTS, |v| Box::pin(accounts_changes::try_again(v))),
    get("/admin/apps/{a}/accounts/{c}/reconnect", ACCOUNTS, |v| {
        Box::pin(accounts_changes::show_reconnect(v))
    }),
    post("/admin/apps/{a}/accounts/{c}/reconnect", ACCOUNTS, |v| Box::pin(accounts_changes::reconnect(v))),
    fresh(get(DISCONNECT_PAGE, DISCONNECT, |v| Box::pin(accounts_changes::show_disconnect(v)))),
    fresh(post(DISCONNECT_PAGE, DISCONNECT, |v| Box::pin(accounts_changes::disconnect(v)))),
    get("/admin/apps/{a}/providers", SEE_APP, |v| Box::pin(providers::list(v))),
    get("/admin/apps/{a}/providers/{p}", PROVIDERS, |v| Box::pin(providers::show(v))),
    post("/admin/apps/{a}/providers/{p}", PROVIDERS, |v| Box::pin(providers::save(v))),
    post("/admin/apps/{a}/providers/{p}/check", PROVIDERS, |v| Box::pin(provider_changes::check(v))),
    get("/admin/apps/{a}/providers/{p}/remove", PROVIDERS, |v| Box::pin(provider_changes::show_remove(v))),
    post("/admin/apps/{a}/providers/{p}/remove", PROVIDERS, |v| Box::pin(provider_changes::remove(v))),
    post("/admin/apps/{a}/providers/{p}/disable", PROVIDERS, |v| Box::pin(providers::disable(v))),
    post("/admin/apps/{a}/providers/{p}/enable", PROVIDERS, |v| Box::pin(providers::enable(v))),
    get("/admin/connected", OPEN, |v| Box::pin(accounts_return::show(v))),
    get("/admin/apps/{a}/webhooks", SEE_APP, |v| Box::pin(webhooks::list(v))),
    get("/admin/apps/{a}/webhooks/new", WEBHOOKS, |v| Box::pin(new_webhook::show(v))),
    post("/admin/apps/{a}/webhooks/new", WEBHOOKS, |v| Box::pin(new_webhook::create(v))),
    get("/admin/apps/{a}/webhooks/{w}", SEE_APP, |v| Box::pin(webhook::show(v))),
    post("/admin/apps/{a}/webhooks/{w}/test", WEBHOOKS, |v| Box::pin(webhook_changes::test(v))),
    post("/admin/apps/{a}/webhooks/{w}/pause", WEBHOOKS, |v| Box::pin(webhook_changes::pause(v))),
    post("/admin/apps/{a}/webhooks/{w}/resume", WEBHOOKS, |v| Box::pin(webhook_changes::resume(v))),
    post("/admin/apps/{a}/webhooks/{w}/rotate", WEBHOOKS, |v| Box::pin(webhook_changes::rotate(v))),
    get("/admin/apps/{a}/webhooks/{w}/delete", WEBHOOKS, |v| Box::pin(webhook_changes::show_delete(v))),
    post("/admin/apps/{a}/webhooks/{w}/delete", WEBHOOKS, |v| Box::pin(webhook_changes::delete(v))),
    get("/admin/apps/{a}/webhooks/{w}/replays", SEE_APP, |v| Box::pin(replays::list(v))),
    post("/admin/apps/{a}/webhooks/{w}/replays", WEBHOOKS, |v| Box::pin(replays::start(v))),
    get("/admin/apps/{a}/webhooks/{w}/{d}", SEE_APP, |v| Box::pin(webhook_delivery::show(v))),
    post("/admin/apps/{a}/webhooks/{w}/{d}/send-again", WEBHOOKS, |v| {
        Box::pin(webhook_delivery::send_again(v))
    }),
    get("/admin/apps/{a}/events", SEE_APP, |v| Box::pin(events::list(v))),
    live("/admin/apps/{a}/events/live", SEE_APP, |v| Box::pin(events::watch(v))),
    get("/admin/apps/{a}/events/{e}", SEE_APP, |v| Box::pin(event::show(v))),
    get("/admin/apps/{a}/requests", SEE_APP, |v| Box::pin(requests::list(v))),
    get("/admin/apps/{a}/requests/{r}", SEE_APP, |v| Box::pin(request::show(v))),
    post("/admin/apps/{a}/requests/{r}/bodies", CONTENT, |v| Box::pin(request_bodies::show(v))),
    get("/admin/apps/{a}/usage", SEE_APP, |v| Box::pin(usage::show(v))),
    get("/admin/apps/{a}/usage/csv", SEE_APP, |v| Box::pin(usage::download(v))),
    get("/admin/apps/{a}/settings", APP, |v| Box::pin(settings::show(v))),
    post("/admin/apps/{a}/settings", APP, |v| Box::pin(settings::save(v))),
    post("/admin/apps/{a}/settings/request-log", APP, |v| Box::pin(request_log_switch::set_mode(v))),
    post("/admin/apps/{a}/settings/full-bodies", APP, |v| Box::pin(request_log_switch::set_full_bodies(v))),
    post("/admin/apps/{a}/settings/redirects", APP, |v| Box::pin(settings::add_redirect(v))),
    post("/admin/apps/{a}/settings/redirects/remove", APP, |v| Box::pin(settings::remove_redirect(v))),
];

/// The route of paths without a row in the table.
pub static NO_PAGE: PanelRoute =
    get("/admin/{*rest}", OPEN, |_| Box::pin(ready(Err::<View, _>(not_found("page")))));

/// The route of methods that a path does not have.
pub static OTHER_METHOD: PanelRoute = get("/admin", OPEN, |_| {
    Box::pin(ready(Err::<View, _>(refuse(Code::MethodNotAllowed, "this path does not have this method"))))
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::addresses::PAGES;

    #[test]
    fn no_two_rows_are_one() {
        let mut rows: Vec<_> = TABLE.iter().map(|route| (route.path, route.is_form())).collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), TABLE.len());
    }

    #[test]
    fn every_page_for_who_is_signed_in_is_a_way_back() {
        let is_way_back = |route: &&PanelRoute| route.access != PageAccess::Open || route.path == JOIN;
        let pages =
            TABLE.iter().filter(|route| !route.is_form() && route.path != "/admin").filter(is_way_back);
        let mut paths: Vec<&str> = pages.map(|route| route.path).collect();
        let mut known = PAGES.to_vec();
        paths.sort_unstable();
        known.sort_unstable();
        assert_eq!(paths, known);
    }
}
