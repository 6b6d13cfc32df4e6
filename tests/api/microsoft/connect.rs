//! Opening accounts: the scopes that are requested, what the account has, administrators, and grants that end.

use fakes::graph::{AccountKind, TokenError};
use harness::browser::parameter;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::microsoft::{ALICE, REDIRECT, World};

/// The scopes that every request has.
const BASE: [&str; 5] = ["User.Read", "email", "offline_access", "openid", "profile"];
const ALL: [&str; 9] = [
    "email.read",
    "email.write",
    "email.send",
    "calendar.read",
    "calendar.write",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];

/// Users see the fewest and narrowest of Microsoft's scopes that suffice: none that another one covers.
#[tokio::test]
async fn the_least_scopes_are_asked_for() {
    let Some(world) = World::start().await else { return };
    let rows: [(&[&str], &[&str]); 9] = [
        (&["email.read"], &["Mail.Read", "MailboxSettings.Read"]),
        (&["email.send"], &["Mail.Send"]),
        (
            &["email.read", "email.write", "email.send"],
            &["Mail.ReadWrite", "Mail.Send", "MailboxSettings.Read"],
        ),
        (&["calendar.read"], &["Calendars.Read", "MailboxSettings.Read"]),
        (
            &["calendar.read", "calendar.write", "calendar.freebusy"],
            &["Calendars.ReadWrite", "MailboxSettings.Read"],
        ),
        (&["calendar.freebusy"], &["Calendars.ReadBasic"]),
        (&["contacts.read"], &["Contacts.Read"]),
        (&["contacts.read", "contacts.write"], &["Contacts.ReadWrite"]),
        (&["tasks.read", "tasks.write"], &["MailboxSettings.Read", "Tasks.ReadWrite"]),
    ];
    for (scopes, expected) in rows {
        let page = world.consent_page(scopes, json!({})).await;
        let scope = parameter(&page, "scope").expect("scopes");
        let (mut base, mut of_graph): (Vec<&str>, Vec<&str>) =
            scope.split(' ').partition(|one| BASE.contains(one));
        base.sort_unstable();
        of_graph.sort_unstable();
        assert_eq!((of_graph.as_slice(), base.as_slice()), (expected, &BASE[..]), "{scopes:?}");
        let value = |name: &str| parameter(&page, name);
        assert_eq!(value("prompt").as_deref(), Some("select_account"));
        assert_eq!(value("code_challenge_method").as_deref(), Some("S256"));
    }
    world.assert_allowed();
}

/// The account is opened by the identity of Graph and one batch of small reads.
#[tokio::test]
async fn check_is_one_batch() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    world.fake.with(|state| {
        state.account_mut(ALICE).mail = None;
        state.account_mut(ALICE).aliases = vec!["sales@contoso.example".to_owned()];
    });
    let connection = world.connect_for(&ALL).await;
    let batches: Vec<Vec<String>> = world
        .fake
        .requests()
        .into_iter()
        .filter(|request| request.parts.iter().any(|part| part.path == "/v1.0/me"))
        .map(|request| request.parts.into_iter().map(|part| part.path).collect())
        .collect();
    let expected = [
        "/v1.0/me",
        "/v1.0/me/mailboxSettings",
        "/v1.0/me/mailFolders/inbox",
        "/v1.0/me/calendar",
        "/v1.0/me/contacts",
        "/v1.0/me/todo/lists",
        "/v1.0/me/messages/AAAA",
    ];
    assert_eq!(batches, [expected]);
    // `mail` may be null: the user principal name is an address too.
    assert_eq!((&connection["email"], &connection["displayName"]), (&json!(ALICE), &json!("Alice Example")));
    assert_eq!(connection["timeZone"], "Europe/Berlin", "{connection:#}");
    assert_eq!(connection["surfaces"], json!(["email", "calendar", "contacts", "tasks"]), "{connection:#}");
    let id = world.fake.with(|state| state.account_mut(ALICE).id.clone());
    assert_eq!(connection["externalAccountId"], id);
    world.assert_allowed();
}

/// A mailbox without a licence, or on a server of the organization's own, has a calendar no more than mail; a personal account has all.
#[tokio::test]
async fn a_surface_that_the_account_lacks_is_off() {
    let Some(world) = World::of(builder().without_pulls(), AccountKind::Personal).await else { return };
    let connection = world.connect_for(&ALL).await;
    assert_eq!(connection["surfaces"], json!(["email", "calendar", "contacts", "tasks"]), "{connection:#}");
    let id = text(&connection["externalAccountId"]);
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");

    let Some(world) = World::on(builder().without_pulls()).await else { return };
    world.fake.with(|state| {
        let absent = ["mail", "calendar"].map(str::to_owned);
        state.account_mut(ALICE).absent.extend(absent);
    });
    let connection = world.authorize(&["calendar.read", "contacts.read", "email.read", "tasks.read"]).await;
    assert_eq!(connection["surfaces"], json!(["contacts", "tasks"]), "{connection:#}");
    assert_eq!(connection["missingScopes"], json!(["calendar.read", "email.read"]), "{connection:#}");
    world.assert_allowed();
}

/// Most organizations let an administrator alone approve access to mail and calendars: the user is sent back with the administrator's
/// page, and can connect once that is done. Where fewer scopes are granted, the others are missing and refused.
#[tokio::test]
async fn an_administrator_comes_first() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    world.fake.with(|state| state.authority.admin_wall = true);
    let location = world.arrive(&world.consent_page(&["email.read"], json!({})).await).await;
    assert!(location.starts_with(REDIRECT), "{location}");
    assert_eq!(parameter(&location, "error").as_deref(), Some("admin_blocked"), "{location}");
    let description = parameter(&location, "error_description").expect("a description");
    assert!(
        description.contains("https://login.microsoftonline.com/organizations/v2.0/adminconsent"),
        "{description}"
    );
    let (_, page) = description.split_once(": ").expect("the administrator's page");
    let page = page.replacen("https://login.microsoftonline.com", world.fake.url(), 1);
    let returned = world.browser.open(&page).await.location();
    assert_eq!(parameter(&returned, "scope").as_deref().map(|scope| scope.contains("Mail.Read")), Some(true));
    let page = world.browser.open(&returned).await;
    assert!(page.status == 200 && page.text.contains("The application is approved"), "{page:#?}");
    assert_eq!(world.api.all("/v1/connections").await, Vec::<Value>::new());

    world.fake.with(|state| {
        state.authority.consented = Some(vec!["Contacts.Read".to_owned()]);
    });
    let connection = world.authorize(&["email.read", "contacts.read"]).await;
    assert_eq!(connection["missingScopes"], json!(["email.read"]), "{connection:#}");
    let path = format!("/v1/email/messages?connection_id={}", text(&connection["id"]));
    world.api.get(path).send().await.refused(403, "scope_not_granted");
    world.assert_allowed();
}

/// Errors of the token endpoint count by their numbers: some pass, some are the administrator's, and a grant that has ended asks for
/// consent again.
#[tokio::test]
async fn a_grant_ends_by_its_number() {
    let Some(world) = World::on(builder().without_pulls()).await else { return };
    let connection = world.connect_for(&["calendar.read"]).await;
    let id = text(&connection["id"]);
    // A token lives for about an hour.
    let refresh_with = async |error: &str, code: u32| {
        let error = TokenError { error: error.to_owned(), code, status: 400 };
        world.fake.with(|state| state.authority.token_errors.push_back(error));
        world.advance(2 * 60 * 60 * 1_000);
        world.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await;
        world.connection(&id).await
    };
    // The request goes in circles (50196), though the answer is called an invalid grant.
    let passing = refresh_with("invalid_grant", 50_196).await;
    assert_eq!(passing["status"], "active", "{passing:#}");
    let ended = refresh_with("invalid_grant", 50_173).await;
    assert_eq!(ended["status"], "reauth_required", "{ended:#}");
    let again = json!({ "connectionId": id, "loginHint": ALICE });
    let page = world.consent_page(&["calendar.read"], again).await;
    assert_eq!((parameter(&page, "prompt"), parameter(&page, "login_hint").as_deref()), (None, Some(ALICE)));
    let location = world.arrive(&page).await;
    assert_eq!(parameter(&location, "connection_id").as_deref(), Some(id.as_str()), "{location}");
    // Conditional access (53003) is for the administrator to lift.
    let blocked = refresh_with("invalid_grant", 53_003).await;
    assert_eq!(blocked["statusReason"], "admin_blocked", "{blocked:#}");
    world.assert_allowed();
}
