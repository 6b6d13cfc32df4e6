//! Runs every statement on operators, their sessions and links, tries to sign in, and the audit log.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;

use crate::Db;
use crate::Tx;
use crate::audit_log::{self, AuditActor, AuditEntry, INSTALLATION, NEWEST};
use crate::operator_identities::{self, OperatorIdentity};
use crate::operator_links::{self, OperatorLink};
use crate::operator_sessions::{self, HALF, OperatorSession};
use crate::operators::{self, Operator, OperatorProfile, OperatorRole, SecondFactor};
use crate::sign_in_failures::{self, SignInTries};

const NEW: &str = "opr_new";

/// Rows of a step of the clean-up.
const ROWS_PER_STEP: i64 = 50;

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    read(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_operators(tx).await?;
            write_factors(tx).await?;
            write_identities(tx).await?;
            write_sessions(tx).await?;
            write_links(tx).await?;
            write_tries(tx).await?;
            write_audit_log(tx).await
        })
    })
    .await?;
    read_new(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            forget(tx).await
        })
    })
    .await
}

async fn read(db: &Db) -> Result<()> {
    let reader = db.reader();
    let operator = operators::find(reader, "opr_100100").await?.expect("it is in the seed");
    assert_eq!((operator.is_admin, operator.disabled_at), (true, None));
    assert!(operators::by_email(reader, "ada7@example.com").await?.is_some());
    assert!(operators::by_email(reader, "nobody@example.com").await?.is_none());
    let page = operators::list(reader, "opr_110000", ROWS_PER_STEP).await?;
    assert_eq!((page.len(), page[0].id.as_str()), (50, "opr_110001"));
    let roles = operators::roles(reader, "opr_100000").await?;
    assert_eq!(roles, BTreeMap::from([("org_0".to_owned(), "owner".to_owned())]));
    let ids = ["opr_100000", "opr_100001", "opr_none"].map(str::to_owned);
    assert_eq!(operators::roles_of_all(reader, &ids).await?.len(), 2);
    for after in ["", "opr_110000"] {
        let members = operators::members(reader, "org_0", after, ROWS_PER_STEP).await?;
        assert_eq!(members.len(), 50, "{after}");
        assert!(members.iter().all(|(operator, role)| operator.id.as_str() > after && !role.is_empty()));
    }
    let addresses = ["ada7@example.com", "nobody@example.com"].map(str::to_owned);
    assert_eq!(operators::known_addresses(reader, &addresses).await?, ["ada7@example.com"]);
    let organizations = ["org_0", "org_none"].map(str::to_owned);
    let names = operators::organization_names(reader, &organizations).await?;
    assert_eq!(names, BTreeMap::from([("org_0".to_owned(), "organization 0".to_owned())]));

    let session = operator_sessions::find(reader, "cookie 9").await?.expect("it is in the seed");
    assert!(session.is_half());
    let newest = operator_sessions::list(reader, "opr_100000", 2).await?;
    assert_eq!(newest.iter().map(|s| s.created_at).collect::<Vec<_>>(), [80_000, 60_000]);

    assert_eq!(operator_links::list(reader, 10_000, ROWS_PER_STEP).await?.len(), 50);
    assert!(operator_links::list_of_organization(reader, "org_7", 10_000, ROWS_PER_STEP).await?.is_empty());
    assert!(operator_links::find(reader, "token 17").await?.is_some());
    assert!(operator_links::by_id(reader, "opl_17").await?.is_some());

    let page = audit_log::list(reader, "org_3", NEWEST, ROWS_PER_STEP).await?;
    assert!(page.len() == 50 && page.is_sorted_by(|one, next| one.id > next.id));
    let before = page[49].id.clone();
    assert!(audit_log::list(reader, "org_3", &before, ROWS_PER_STEP).await?[0].id < before);
    let page = audit_log::list_all(reader, i64::MAX, "", ROWS_PER_STEP).await?;
    assert_eq!((page.len(), page[0].at), (50, 99_999));
    assert_eq!(audit_log::list_all(reader, 99_999, &page[0].id, ROWS_PER_STEP).await?[0].at, 99_998);
    assert_eq!(audit_log::list_of_actor(reader, "opr_100007", NEWEST, ROWS_PER_STEP).await?.len(), 5);
    Ok(())
}

fn new() -> Operator {
    Operator {
        id: NEW.into(),
        email: "Grace@example.com".into(),
        email_key: "grace@example.com".into(),
        name: "Grace".into(),
        is_admin: false,
        password_hash: Some("hash".into()),
        totp_secret: None,
        totp_step: 0,
        recovery: Vec::new(),
        language: None,
        time_zone: None,
        theme: None,
        sessions_from: 0,
        last_sign_in_at: None,
        last_sign_in_ip: None,
        disabled_at: None,
        created_at: 1,
        updated_at: 1,
    }
}

async fn found(tx: &mut Tx) -> Result<Operator> {
    Ok(operators::find(tx, NEW).await?.expect("it was written"))
}

async fn write_operators(tx: &mut Tx) -> Result<()> {
    operators::lock_all(tx).await?;
    operators::lock_all(tx).await?;
    assert!(operators::insert(tx, &new()).await?);
    let again = Operator { id: "opr_newer".into(), ..new() };
    assert!(!operators::insert(tx, &again).await?, "somebody has the address");
    assert!(operators::lock(tx, NEW).await?.is_some() && operators::lock(tx, "opr_newer").await?.is_none());
    assert!(operators::has_other_admin(tx, "opr_100000").await?);
    assert!(operators::has_other_owner(tx, "org_0", "opr_100000").await?);
    let role =
        OperatorRole { operator_id: NEW.into(), organization_id: "org_7".into(), role: "developer".into() };
    operators::set_role(tx, &role, 2).await?;
    operators::set_role(tx, &OperatorRole { role: "owner".into(), ..role }, 3).await?;
    assert_eq!(operators::roles(&mut *tx, NEW).await?["org_7"], "owner");
    operators::set_admin(tx, NEW, true, 4).await?;
    operators::set_password(tx, NEW, "other", 5).await?;
    let profile = OperatorProfile {
        name: "Grace Hopper".into(),
        language: Some("en".into()),
        time_zone: Some("UTC".into()),
        theme: Some("dark".into()),
    };
    operators::set_profile(tx, NEW, &profile, 6).await?;
    operators::note_sign_in(tx, NEW, 7, "::1").await?;
    operators::set_sessions_from(tx, NEW, 8).await?;
    operators::set_disabled(tx, NEW, Some(9), 9).await?;
    let now = found(tx).await?;
    assert!(now.is_admin && now.password_hash.as_deref() == Some("other") && now.disabled_at == Some(9));
    assert_eq!((now.name.as_str(), now.theme.as_deref()), ("Grace Hopper", Some("dark")));
    assert_eq!((now.last_sign_in_at, now.sessions_from, now.updated_at), (Some(7), 8, 9));
    operators::set_disabled(tx, NEW, None, 10).await?;
    assert!(
        operators::remove_role(tx, NEW, "org_7").await? && !operators::remove_role(tx, NEW, "org_7").await?
    );
    Ok(())
}

/// A code works once: the database compares steps, and lists of recovery codes.
async fn write_factors(tx: &mut Tx) -> Result<()> {
    let codes = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
    let factor =
        SecondFactor { totp_secret: Some("sealed".into()), totp_step: 10, recovery: codes(&["one", "two"]) };
    operators::set_second_factor(tx, NEW, &factor, 11).await?;
    assert!(!operators::use_step(tx, NEW, 10).await?, "it set the factor up");
    assert!(operators::use_step(tx, NEW, 11).await? && !operators::use_step(tx, NEW, 11).await?);
    let (both, left) = (codes(&["one", "two"]), codes(&["two"]));
    assert!(operators::use_recovery(tx, NEW, &both, &left).await?);
    assert!(!operators::use_recovery(tx, NEW, &both, &left).await?, "it was used");
    let now = found(tx).await?;
    assert_eq!((now.totp_step, now.recovery), (11, left));
    operators::set_second_factor(tx, NEW, &SecondFactor::default(), 12).await
}

/// An identity is of one operator, and an operator has one.
async fn write_identities(tx: &mut Tx) -> Result<()> {
    let grace = OperatorIdentity { issuer: "https://id.example.com".into(), subject: "248289761001".into() };
    let other = OperatorIdentity { subject: "1".into(), ..grace.clone() };
    assert!(operator_identities::find_operator(&mut *tx, &grace).await?.is_none());
    assert!(operator_identities::insert(tx, NEW, &grace, 13).await?);
    assert!(!operator_identities::insert(tx, NEW, &other, 14).await?, "they have one");
    assert!(!operator_identities::insert(tx, "opr_100000", &grace, 14).await?, "somebody has it");
    let found = operator_identities::find_operator(&mut *tx, &grace).await?;
    assert_eq!(found.map(|operator| operator.id).as_deref(), Some(NEW));
    assert_eq!(operator_identities::find(&mut *tx, NEW).await?, Some(grace));
    assert!(operator_identities::find(&mut *tx, "opr_100000").await?.is_none());
    assert!(
        operator_identities::remove(tx, NEW, 15).await? && !operator_identities::remove(tx, NEW, 16).await?
    );
    Ok(())
}

fn session(number: i64, method: &str) -> OperatorSession {
    OperatorSession {
        hash: format!("new cookie {number}"),
        id: format!("ops_new_{number}"),
        operator_id: NEW.into(),
        method: method.into(),
        created_at: number,
        seen_at: number,
        ends_at: 1_000_000,
        fresh_at: number,
        ip: "::1".into(),
        user_agent: "test".into(),
        flash: None,
        subject: (method == HALF).then(|| "subject".to_owned()),
        wrong_codes: 0,
    }
}

async fn write_sessions(tx: &mut Tx) -> Result<()> {
    for number in 0..4 {
        operator_sessions::insert(tx, &session(number, "password")).await?;
    }
    operator_sessions::insert(tx, &session(4, HALF)).await?;
    assert_eq!(operator_sessions::trim(tx, NEW, false, 3).await?, 1, "the oldest one");
    assert_eq!(operator_sessions::trim(tx, NEW, true, 1).await?, 0);
    assert_eq!(operator_sessions::count_wrong_code(tx, "new cookie 4").await?, Some(1));
    assert_eq!(operator_sessions::count_wrong_code(tx, "new cookie 4").await?, Some(2));
    assert_eq!(operator_sessions::count_wrong_code(tx, "new cookie 3").await?, None, "it is whole");
    operator_sessions::note_use(tx, "new cookie 3", 50).await?;
    operator_sessions::set_fresh(tx, "ops_new_3", 60).await?;
    operator_sessions::set_flash(tx, "ops_new_3", "{}").await?;
    assert!(operator_sessions::set_hash(tx, "ops_new_3", "newer cookie").await?);
    assert!(!operator_sessions::set_hash(tx, "ops_none", "newest cookie").await?);
    assert!(operator_sessions::find(&mut *tx, "new cookie 3").await?.is_none());
    let now = operator_sessions::find(&mut *tx, "newer cookie").await?.expect("it has another cookie");
    assert_eq!((now.seen_at, now.fresh_at, now.flash.as_deref()), (50, 60, Some("{}")));
    assert!(operator_sessions::take_flash(tx, "ops_new_3", "{}").await?);
    assert!(!operator_sessions::take_flash(tx, "ops_new_3", "{}").await?, "it was taken");
    assert!(operator_sessions::remove(tx, "new cookie 1").await?);
    assert!(!operator_sessions::remove(tx, "new cookie 1").await?);
    assert!(!operator_sessions::remove_one(tx, "opr_100000", "ops_new_2").await?, "it is somebody else's");
    assert!(operator_sessions::remove_one(tx, NEW, "ops_new_2").await?);
    assert_eq!(operator_sessions::remove_all(tx, NEW, Some("ops_new_3")).await?, 1, "the half one");
    assert_eq!(operator_sessions::remove_all(tx, NEW, None).await?, 1);
    Ok(())
}

async fn write_links(tx: &mut Tx) -> Result<()> {
    let link = |kind: &str, hash: &str| OperatorLink {
        hash: hash.into(),
        id: format!("opl {hash}"),
        kind: kind.into(),
        email: Some("Grace@example.com".into()),
        email_key: Some("grace@example.com".into()),
        is_admin: true,
        roles: BTreeMap::from([("org_7".to_owned(), "viewer".to_owned())]),
        drops_factor: false,
        created_by: Some(NEW.into()),
        created_by_name: Some("Grace".into()),
        created_at: 1,
        expires_at: 2,
    };
    for (kind, hash) in [("invite", "new 1"), ("reset", "new 2"), ("reset", "new 3"), ("first", "new 4")] {
        operator_links::insert(tx, &link(kind, hash)).await?;
    }
    let open = operator_links::list_of_organization(&mut *tx, "org_7", 1, ROWS_PER_STEP).await?;
    assert_eq!(open.iter().map(|link| link.hash.as_str()).collect::<Vec<_>>(), ["new 1"]);
    for (organization_id, now) in [("org_7", 2), ("org_", 1), ("org%", 1)] {
        assert!(
            operator_links::list_of_organization(&mut *tx, organization_id, now, ROWS_PER_STEP)
                .await?
                .is_empty()
        );
    }
    let taken = operator_links::take(tx, "new 1").await?.expect("it was written");
    assert_eq!((taken.is_admin, taken.roles["org_7"].as_str()), (true, "viewer"));
    assert!(operator_links::take(tx, "new 1").await?.is_none(), "it is used up");
    operator_links::remove_of_address(tx, "grace@example.com", "reset").await?;
    assert!(operator_links::find(&mut *tx, "new 3").await?.is_none());
    operator_links::insert(tx, &link("invite", "new 5")).await?;
    assert!(
        operator_links::remove(tx, "opl new 5").await? && !operator_links::remove(tx, "opl new 5").await?
    );
    operator_links::remove_first(tx).await?;
    assert!(operator_links::find(&mut *tx, "new 4").await?.is_none());
    assert!(operator_links::find(&mut *tx, "token 0").await?.is_none());
    Ok(())
}

async fn write_tries(tx: &mut Tx) -> Result<()> {
    let none = sign_in_failures::lock(tx, "new", 5).await?;
    assert_eq!(none, SignInTries { tries: 0, wait_until: 0 });
    let six = SignInTries { tries: 6, wait_until: 7 };
    sign_in_failures::set(tx, "new", six).await?;
    assert_eq!(sign_in_failures::lock(tx, "new", 6).await?, six);
    sign_in_failures::remove(tx, "new").await
}

fn entry(id: &str, details: serde_json::Value) -> AuditEntry {
    AuditEntry {
        id: id.into(),
        at: 1_000_000,
        actor: AuditActor {
            kind: "command".into(),
            id: "command".into(),
            name: "test".into(),
            ip: Some("::1".into()),
        },
        organization_id: INSTALLATION.into(),
        application_id: None,
        act: "operator_created".into(),
        target: NEW.into(),
        details,
    }
}

async fn write_audit_log(tx: &mut Tx) -> Result<()> {
    audit_log::insert(tx, &entry("aud_new_1", json!({ "fields": ["name"] }))).await?;
    audit_log::insert(tx, &entry("aud_new_1", json!({}))).await?;
    audit_log::insert(tx, &entry("aud_new_2", json!({ "text": "x".repeat(3_000) }))).await
}

async fn read_new(db: &Db) -> Result<()> {
    let found = audit_log::list_of_actor(db.reader(), "command", NEWEST, ROWS_PER_STEP).await?;
    let details = |at: usize| found[at].details.clone();
    assert_eq!((found.len(), details(0)), (2, json!({ "isTooLong": true })));
    assert_eq!(found[1], entry("aud_new_1", json!({ "fields": ["name"] })), "the first one stays");
    Ok(())
}

async fn forget(tx: &mut Tx) -> Result<()> {
    assert_eq!(operator_sessions::expire(tx, 50_000, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(operator_links::expire(tx, 10_000, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(sign_in_failures::expire(tx, 10_000, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(audit_log::expire(tx, 50_000, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(audit_log::expire(tx, 0, ROWS_PER_STEP).await?, 0);
    Ok(())
}
