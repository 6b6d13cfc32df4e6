//! Consent at Google: the requested scopes, the granted ones, and the connection when the grant changes or ends.

use harness::browser::parameter;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::google::{ALICE, REDIRECT, World, event};

/// The beginning of Google's names of scopes.
const ROOT: &str = "https://www.googleapis.com/auth/";

/// Grants everything that is asked for. Returns the connection.
async fn connect(world: &World, scopes: &[&str], more: Value) -> Value {
    world.consent(&world.consent_page(scopes, more).await).await
}

/// The ids of the calendars and of the events of Alice's primary one.
async fn ids(world: &World, connection: &Value) -> Vec<String> {
    let calendar = world.calendar(connection, ALICE).await;
    let page = world.get(&format!("{}?limit=200", calendar.events)).await;
    let events = page["data"].as_array().expect("a list").iter().map(|event| text(&event["id"]));
    let mut ids: Vec<String> = events.collect();
    ids.sort();
    ids.push(calendar.id);
    ids
}

/// Users see the fewest and narrowest of Google's scopes that suffice: none that another one covers.
#[tokio::test]
async fn the_least_scopes_are_asked_for() {
    let Some(world) = World::start().await else { return };
    let calendar =
        ["calendar.calendarlist", "calendar.calendars", "calendar.events", "calendar.events.freebusy"];
    let rows: [(&[&str], &[&str]); 11] = [
        (&["email.read"], &["gmail.readonly"]),
        (&["email.send"], &["gmail.send"]),
        (&["email.read", "email.send"], &["gmail.readonly", "gmail.send"]),
        (&["email.read", "email.write", "email.send"], &["gmail.modify"]),
        (
            &["calendar.read"],
            &["calendar.calendarlist.readonly", "calendar.events.freebusy", "calendar.events.readonly"],
        ),
        (&["calendar.read", "calendar.write"], &calendar),
        (&["calendar.freebusy"], &["calendar.events.freebusy"]),
        (&["contacts.read"], &["contacts.other.readonly", "contacts.readonly"]),
        (&["contacts.read", "contacts.write"], &["contacts", "contacts.other.readonly"]),
        (&["tasks.read"], &["tasks.readonly"]),
        (&["tasks.read", "tasks.write"], &["tasks"]),
    ];
    for (scopes, expected) in rows {
        let page = world.consent_page(scopes, json!({})).await;
        let scope = parameter(&page, "scope").expect("scopes");
        let (of_apis, mut identity): (Vec<&str>, Vec<&str>) =
            scope.split(' ').partition(|one| one.contains('/'));
        let mut of_apis: Vec<&str> =
            of_apis.into_iter().map(|one| one.strip_prefix(ROOT).unwrap_or(one)).collect();
        of_apis.sort_unstable();
        identity.sort_unstable();
        assert_eq!(
            (of_apis.as_slice(), identity.as_slice()),
            (expected, &["email", "openid", "profile"][..])
        );
        // Without these two a second consent has no refresh token. Earlier grants are requested only for a new authorization.
        let value = |name: &str| parameter(&page, name);
        assert_eq!(
            (value("access_type").as_deref(), value("prompt").as_deref()),
            (Some("offline"), Some("consent"))
        );
        assert_eq!(
            (value("include_granted_scopes"), value("code_challenge_method").as_deref()),
            (None, Some("S256"))
        );
    }
    world.assert_allowed();
}

/// Each scope has its own checkbox, and only the answer says which were ticked. Unticked ones are missing and refused; ticked ones work.
#[tokio::test]
async fn fewer_granted_than_asked_is_told_and_the_rest_works() {
    let Some(world) = World::start().await else { return };
    let asked = ["calendar.read", "calendar.write", "email.read", "tasks.read"];
    let is_ticked = |scope: &str| scope.contains("/auth/calendar") || scope.ends_with("/auth/tasks.readonly");
    let connection = world.connect_ticking(&asked, is_ticked).await;
    assert_eq!(connection["missingScopes"], json!(["email.read"]), "{connection:#}");
    assert_eq!(connection["grantedScopes"], json!(["calendar.read", "calendar.write", "tasks.read"]));
    assert_eq!(connection["status"], "active");
    let calendar = world.calendar(&connection, ALICE).await;
    let tea = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z", "timeZone": "UTC" });
    world.api.post(&calendar.events, tea).send().await.expect(201);
    let id = text(&connection["id"]);
    world.get(&format!("/v1/task-lists?connection_id={id}")).await;
    let mail = world.api.get(format!("/v1/email/messages?connection_id={id}")).send().await;
    mail.refused(403, "scope_not_granted");

    // A user who ticks no box grants nothing.
    let page = world.consent_page(&["calendar.read"], json!({})).await;
    world.fake.with(|state| state.authority.ticked = Some(Vec::new()));
    let location = world.arrive(&page).await;
    assert_eq!(parameter(&location, "error").as_deref(), Some("scope_missing"), "{location}");
    assert_eq!(parameter(&location, "connection_id"), None);
    assert_eq!(world.api.all("/v1/connections").await.len(), 1);
    world.assert_allowed();
}

/// An account that is authorized again for one surface more keeps the ids of its connection, calendars and events. Google answers with all
/// that it ever granted this client; a connection has no more of that than was asked for.
#[tokio::test]
async fn one_surface_more_keeps_all_ids() {
    let Some(world) = World::start().await else { return };
    world.put(event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({})));
    world.fake.with(|state| state.put_task(ALICE, json!({ "title": "Pay" })));
    let first = connect(&world, &["calendar.read"], json!({})).await;
    let before = ids(&world, &first).await;
    let again = json!({ "connectionId": first["id"], "loginHint": ALICE });
    let page = world.consent_page(&["calendar.read", "tasks.read"], again.clone()).await;
    assert_eq!(parameter(&page, "include_granted_scopes").as_deref(), Some("true"));
    assert_eq!(parameter(&page, "login_hint").as_deref(), Some(ALICE));

    let both = connect(&world, &["calendar.read", "tasks.read"], again.clone()).await;
    assert_eq!((&both["id"], &both["createdAt"]), (&first["id"], &first["createdAt"]));
    assert_eq!(both["grantedScopes"], json!(["calendar.read", "tasks.read"]), "{both:#}");
    assert_eq!(ids(&world, &both).await, before);
    let lists = world.get(&format!("/v1/task-lists?connection_id={}", text(&first["id"]))).await;
    assert_eq!(lists["data"].as_array().map(Vec::len), Some(1), "{lists:#}");

    let fewer = connect(&world, &["tasks.read"], again).await;
    assert_eq!((&fewer["id"], &fewer["grantedScopes"]), (&first["id"], &json!(["tasks.read"])), "{fewer:#}");
    assert_eq!(world.api.all("/v1/connections").await.len(), 1);
    world.assert_allowed();
}

/// A grant that the user ended in the account's settings shows once a token is renewed: the connection says so, nothing of it is lost, and
/// consent brings it back.
#[tokio::test]
async fn a_grant_that_is_revoked_at_google_asks_for_consent() {
    let Some(world) = World::start().await else { return };
    world.put(event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({})));
    let connection = connect(&world, &["calendar.read", "calendar.write"], json!({})).await;
    let before = ids(&world, &connection).await;
    let calendar = world.calendar(&connection, ALICE).await;
    world.fake.with(|state| state.authority.revoke_user(ALICE));
    let tea = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z", "timeZone": "UTC" });
    world.api.post(&calendar.events, tea.clone()).send().await.refused(409, "reauth_required");
    let path = format!("/v1/connections/{}", text(&connection["id"]));
    let ended = world.api.get(&path).send().await.expect(200);
    assert_eq!(
        (&ended["status"], &ended["statusReason"]),
        (&json!("reauth_required"), &json!("token_revoked")),
        "{ended:#}"
    );
    let again = json!({ "connectionId": connection["id"] });
    let back = connect(&world, &["calendar.read", "calendar.write"], again).await;
    assert_eq!((&back["id"], &back["status"]), (&connection["id"], &json!("active")), "{back:#}");
    assert_eq!(ids(&world, &back).await, before);
    world.api.post(&calendar.events, tea).send().await.expect(201);
    world.assert_allowed();
}

/// An administrator who forbids the application, a user who denies, and a project that other organizations' users cannot use: each has
/// its own error, and makes no connection.
#[tokio::test]
async fn a_refusal_of_consent_says_whose_it_is() {
    let Some(world) = World::start().await else { return };
    for (refusal, error) in [
        ("admin_policy_enforced", "admin_blocked"),
        ("org_internal", "server_error"),
        ("access_denied", "access_denied"),
    ] {
        let page = world.consent_page(&["email.read"], json!({})).await;
        world.fake.with(|state| state.authority.refusal = Some(refusal.to_owned()));
        let location = world.arrive(&page).await;
        assert!(location.starts_with(REDIRECT), "{location}");
        assert_eq!(parameter(&location, "error").as_deref(), Some(error), "{location}");
        assert!(parameter(&location, "error_description").is_some_and(|text| !text.is_empty()), "{location}");
    }
    assert_eq!(world.api.all("/v1/connections").await, Vec::<Value>::new());
    world.fake.with(|state| state.authority.refusal = None);
    let connection = connect(&world, &["email.read"], json!({})).await;
    assert_eq!(connection["status"], "active", "the administrator allows it");
    world.assert_allowed();
}
