//! Rights on pages: every route, with every role, in one's own organization and in others.

use base::tenant::Tenant;
use harness::TestServer;
use harness::panel_user::PanelUser;
use service::manage::actor::{Act, Role};
use switchboard::admin::routes::{PageAccess, PanelRoute, TABLE};

use crate::admin::client::{key_of, other_application, path_of, token};

/// Every user of a test: roles in the organization of its application, and an administrator.
const USERS: [Option<Role>; 4] = [Some(Role::Viewer), Some(Role::Developer), Some(Role::Owner), None];

/// Asks for a route by its method, with a good token and no other field.
async fn ask(user: &PanelUser, route: &PanelRoute, path: &str, form: &str) -> u16 {
    let asked = match route.is_form() {
        true if route.takes_files() => user.upload(path, form, &[]).send().await,
        true => user.post(path, form, &[]).send().await,
        false => user.get(path).send().await,
    };
    assert!(asked.status < 500 && ![403, 405, 415].contains(&asked.status), "{path}: {asked}");
    asked.status
}

/// Whether a user with this role may do it.
fn may(act: Act, role: Option<Role>) -> bool {
    match (role, act.least_role()) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(role), Some(least)) => role >= least,
    }
}

/// A page or form for which a role is too low answers 404, and every other one does not.
#[tokio::test]
async fn roles_by_acts() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    for role in USERS {
        let user = server.operator(role).await;
        let form = token(&user).await;
        for route in TABLE {
            let Some(act) = route.act() else { continue };
            let path = path_of(&server, route.path, &tenant).await;
            let is_there = ask(&user, route, &path, &form).await != 404;
            assert_eq!(is_there, may(act, role), "{role:?} {path}");
        }
    }
}

/// Buttons and entries of the menu lead to what the reader may open.
#[tokio::test]
async fn pages_offer_what_may_be_done() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let key = key_of(&server, &tenant).await;
    let application = format!("/admin/apps/{}", tenant.application_id);
    for role in USERS {
        let user = server.operator(role).await;
        let keys = user.get(format!("{application}/keys")).send().await;
        assert_eq!(keys.text.contains("keys/new\""), may(Act::ManageKeys, role), "{role:?}: {keys}");
        let settings = format!("apps/{}/settings\"", tenant.application_id);
        assert_eq!(keys.text.contains(&settings), may(Act::ManageApplication, role), "{role:?}: {keys}");
        assert_eq!(keys.text.contains("/system\""), role.is_none(), "{role:?}: {keys}");
        let page = user.get(format!("{application}/keys/{key}")).send().await;
        assert_eq!(page.text.contains("/revoke\""), may(Act::ManageKeys, role), "{role:?}: {page}");
        let home = user.get(format!("/admin/orgs/{}", tenant.organization_id)).send().await;
        assert_eq!(home.text.contains("/members\""), may(Act::ManageMembers, role), "{role:?}: {home}");
        assert_eq!(home.text.contains("apps/new\""), may(Act::ManageApplication, role), "{role:?}: {home}");
    }
}

/// A thing of another organization answers 404: in the path, behind one's own application, in the search, by a cursor.
#[tokio::test]
async fn other_organizations_are_not_there() {
    let server = TestServer::start().await;
    let (own, other) = (server.test_application().await, other_application(&server).await);
    let owner = server.operator(Some(Role::Owner)).await;
    let form = token(&owner).await;
    for route in TABLE {
        if !matches!(route.access, PageAccess::Organization(_) | PageAccess::Application(_)) {
            continue;
        }
        let path = path_of(&server, route.path, &other).await;
        assert_eq!(ask(&owner, route, &path, &form).await, 404, "{path}");
    }
    let key = key_of(&server, &other).await;
    for path in ["", "/revoke", "/end-old"] {
        let path = format!("/admin/apps/{}/keys/{key}{path}", own.application_id);
        assert_eq!(owner.get(&path).send().await.status, 404, "{path}");
    }
    for id in [&other.organization_id, &other.application_id, &key, &owner.id, &owner.email] {
        let found = owner.get(format!("/admin/search?q={id}")).send().await;
        assert_eq!(found.status, 404, "{id}: {found}");
    }
    let home = owner.get("/admin/").send().await;
    assert!(!home.text.contains(&other.organization_id), "{home}");
}

#[tokio::test]
async fn the_installation_is_admins() {
    let server = TestServer::start().await;
    let tenant: Tenant = server.test_application().await;
    for role in [Role::Viewer, Role::Developer, Role::Owner] {
        let user = server.operator(Some(role)).await;
        let form = token(&user).await;
        for route in TABLE.iter().filter(|route| matches!(route.access, PageAccess::Installation(_))) {
            let path = path_of(&server, route.path, &tenant).await;
            assert_eq!(ask(&user, route, &path, &form).await, 404, "{role:?} {path}");
        }
    }
}

/// A key has no scope that its maker could not give, whatever the form says.
#[tokio::test]
async fn keys_follow_roles() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let developer = server.operator(Some(Role::Developer)).await;
    let new = format!("/admin/apps/{}/keys/new", tenant.application_id);
    for scope in ["admin.read", "admin.operators", "all", "email.read\n", ""] {
        let fields = [("name", "Robot"), ("preset", "own"), ("scope", "usage.read"), ("scope", scope)];
        let sent = developer.post(&new, &token(&developer).await, &fields).send().await;
        assert_eq!(sent.status, 400, "{scope:?}: {sent}");
    }
    for (field, value) in [
        ("accounts", "con_01JQ8Z6V9C4T7R2M5N8P3K1W0X"),
        ("addresses", "everywhere"),
        ("domains", "https://x.example"),
        ("rate", "0"),
        ("expires", "yesterday"),
    ] {
        let fields = [("name", "Robot"), ("preset", "read"), (field, value)];
        let sent = developer.post(&new, &token(&developer).await, &fields).send().await;
        assert_eq!(sent.status, 400, "{field}: {sent}");
        assert!(sent.text.contains("Please check the marked fields"), "{field}: {sent}");
    }
    let keys = developer.get(format!("/admin/apps/{}/keys", tenant.application_id)).send().await;
    assert!(keys.text.contains("No API keys yet"), "{keys}");
}

/// An invitation of an administrator is open until it is used or withdrawn.
#[tokio::test]
async fn an_administrators_invitation_is_withdrawn() {
    let server = TestServer::start().await;
    let mut admin = server.operator(None).await;
    let (list, invite) = ("/admin/system/operators", "/admin/system/operators/invite");
    let made = admin.submit(invite, invite, &[("email", "bo@example.com")]).await;
    assert_eq!(made.status, 200, "{made}");
    let (_, link) = made.text.split_once("/admin/join/").expect("a link");
    let link = format!("/admin/join/{}", link.split('<').next().unwrap_or_default());
    assert_eq!(server.visitor().get(&link).send().await.status, 200);
    let shown = admin.get(list).send().await;
    assert!(shown.text.contains("bo@example.com"), "{shown}");
    let (_, rest) = shown.text.split_once("system/invitations/").expect("a way to withdraw it");
    let path = format!("/admin/system/invitations/{}/end", rest.split('/').next().unwrap_or_default());
    assert_eq!(admin.submit(list, &path, &[]).await.status, 303);
    assert_eq!(server.visitor().get(&link).send().await.status, 404);
}

/// Members: invited by a link that is copied, given another role, removed; an owner is left.
#[tokio::test]
async fn members_come_and_go() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let mut owner = server.operator(Some(Role::Owner)).await;
    let members = format!("/admin/orgs/{}/members", tenant.organization_id);
    let invite = format!("{members}/invite");
    let made = owner.submit(&invite, &invite, &[("email", "bo@example.com"), ("role", "viewer")]).await;
    assert_eq!(made.status, 200, "{made}");
    let (_, link) = made.text.split_once("/admin/join/").expect("a link");
    let link = format!("/admin/join/{}", link.split('<').next().unwrap_or_default());
    assert!(owner.get(&members).send().await.text.contains("bo@example.com"), "the invitation is open");

    let mut bo = server.visitor();
    let fields = [("name", "Bo"), ("password", crate::admin::PASSWORD), ("role", "owner")];
    let joined = bo.submit(&link, &link, &fields).await;
    assert_eq!(joined.status, 303, "{joined}");
    let seen = bo.get(format!("/admin/apps/{}", tenant.application_id)).send().await;
    assert_eq!(seen.status, 200, "{seen}");
    assert_eq!(bo.get(&members).send().await.status, 404, "the role is that of the invitation");

    let last = format!("{members}/{}/role", owner.id);
    let refused = owner.submit(&last, &last, &[("role", "viewer")]).await;
    assert_eq!(refused.status, 409, "{refused}");
    assert!(refused.text.contains("The last owner"), "{refused}");
    let last = format!("{members}/{}/remove", owner.id);
    assert_eq!(owner.submit(&last, &last, &[]).await.status, 409);
}
