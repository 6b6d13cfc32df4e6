//! Accepting a link: the first operator and invited ones come into being, or somebody gets a new password. The rights are those of the stored
//! link, whatever the form says; the link is used up in the same transaction.

use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::ids::Kind;
use base::input::validate;
use model::bounds::access::MAX_OPERATOR_NAME;
use storage::audit_log::AuditEntry;
use storage::operator_links::{self, OperatorLink};
use storage::operator_sessions::HALF;
use storage::operators::{self, Operator, OperatorRole, SecondFactor};
use storage::{Tx, audit_log, installation};
use zeroize::Zeroizing;

use crate::app::App;
use crate::locale::Language;
use crate::manage::acting::Target;
use crate::manage::actor::{Actor, ActorKind, Role};
use crate::manage::keys::admin_keys;
use crate::manage::operators::address::address_key;
use crate::manage::operators::links::{self, FIRST_OPERATOR, LinkKind};
use crate::manage::operators::sessions::{self, Session, SessionStart, SignInOrigin};
use crate::manage::operators::sign_in::SignIn;
use crate::manage::operators::{passwords, tries};

/// The form behind a link.
#[derive(Clone)]
pub struct NewOperator {
    /// Read for the first operator alone: all others have the address of the link.
    pub email: Option<String>,
    /// Read for new operators alone.
    pub name: String,
    pub password: Zeroizing<String>,
    pub language: Option<String>,
}

fn gone_error() -> Error {
    not_found("link")
}

/// Refuses a name that is none, or that would not look like one.
///
/// # Errors
/// `missing_field`, `invalid_parameter`; param `name`.
pub fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(invalid(Code::MissingField, "name", "name is required"));
    }
    if name.chars().any(char::is_control) {
        return Err(validate::fault("name", "may have no line breaks or control characters"));
    }
    validate::text("name", Some(name), MAX_OPERATOR_NAME)
}

/// Uses a link up. A new password does not replace the second factor: then the code is asked for.
///
/// # Errors
/// `not_found` for a link that does not work, `invalid_state` for a first link after the first operator, `already_exists` where somebody has
/// the address of an invitation, `invalid_parameter` and `missing_field` for what was entered, `overloaded`.
pub async fn accept(app: &App, token: &str, new: &NewOperator, from: &SignInOrigin) -> Result<SignIn> {
    let row = links::open_row(app, token).await?.ok_or_else(gone_error)?;
    let kind = LinkKind::parse(&row.kind).ok_or_else(gone_error)?;
    let email = match kind {
        LinkKind::First => new.email.clone().unwrap_or_default().trim().to_owned(),
        LinkKind::Invite | LinkKind::Reset => row.email.clone().unwrap_or_default(),
    };
    validate::address("email", &email)?;
    if kind != LinkKind::Reset {
        check_name(&new.name)?;
    }
    passwords::check_new(&new.password, &email)?;
    let key = address_key(&email);
    let room = passwords::room_or_refuse(app)?;
    let hash = passwords::hash(app, &room, &key, &new.password).await?;
    drop(room);
    match kind {
        LinkKind::First | LinkKind::Invite => {
            let operator = operator(app, new, email, Some(hash));
            begin(app, row.hash, kind, operator, from).await
        }
        LinkKind::Reset => set_password(app, row, hash, from).await,
    }
}

/// A new operator without rights.
pub(crate) fn operator(
    app: &App,
    new: &NewOperator,
    email: String,
    password_hash: Option<String>,
) -> Operator {
    let now = app.now();
    Operator {
        id: app.new_id(Kind::Operator),
        email_key: address_key(&email),
        email,
        name: new.name.trim().to_owned(),
        is_admin: false,
        password_hash,
        totp_secret: None,
        totp_step: 0,
        recovery: Vec::new(),
        language: new.language.clone().filter(|tag| Language::of_tag(tag).is_some()),
        time_zone: None,
        theme: None,
        sessions_from: 0,
        last_sign_in_at: None,
        last_sign_in_ip: None,
        disabled_at: None,
        created_at: now,
        updated_at: now,
    }
}

/// The entry of an act of an operator, who is signed in by it.
pub(crate) fn entry(app: &App, operator: &Operator, act: &str, from: &SignInOrigin) -> AuditEntry {
    let actor = Actor {
        kind: ActorKind::Operator,
        id: operator.id.clone(),
        name: operator.name.clone(),
        ip: Some(from.ip),
        is_admin: operator.is_admin,
        roles: Default::default(),
        fresh_at: 0,
    };
    let target = Target::installation(operator.id.as_str());
    target.entry(&actor, act, app.new_id(Kind::AuditEntry), app.now())
}

/// Refuses a link whose maker may no longer give what it gives: operators who lose their rights keep no way back in.
pub(crate) async fn still_given(tx: &mut Tx, link: &OperatorLink) -> Result<()> {
    let Some(maker_id) = &link.created_by else { return Ok(()) };
    if admin_keys::is_of_revoked_key(&mut *tx, maker_id).await? {
        return Err(gone_error());
    }
    // Keys and commands are no operators.
    let Some(maker) = operators::find(&mut *tx, maker_id).await? else { return Ok(()) };
    let roles = operators::roles(&mut *tx, maker_id).await?;
    if links::may_give(&maker, &roles, link) { Ok(()) } else { Err(gone_error()) }
}

/// Writes a new operator with the rights of the link, and their first session.
async fn begin(
    app: &App,
    link_hash: String,
    kind: LinkKind,
    operator: Operator,
    from: &SignInOrigin,
) -> Result<SignIn> {
    let SessionStart { new, row } = sessions::start(app, &operator.id, "link", from);
    let entry = entry(app, &operator, "operator_joined", from);
    let now = app.now();
    let written: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                let link = operator_links::take(tx, &link_hash).await?.filter(|link| link.expires_at > now);
                // All first links go with the first operator: somebody was faster.
                let link = link.ok_or_else(|| match kind {
                    LinkKind::First => links::there_is_one(),
                    LinkKind::Invite | LinkKind::Reset => gone_error(),
                })?;
                still_given(tx, &link).await?;
                write_operator(tx, operator, &link).await?;
                sessions::write(tx, &row).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    written?;
    app.operator_sessions.clear();
    Ok(SignIn::Signed(new))
}

/// Writes the operator of a link that was taken. Call it under `operators::lock_all`.
pub(crate) async fn write_operator(tx: &mut Tx, mut operator: Operator, link: &OperatorLink) -> Result<()> {
    let is_first = LinkKind::parse(&link.kind) == Some(LinkKind::First);
    let settled = installation::settle(tx, FIRST_OPERATOR, &operator.id).await?;
    if is_first && settled != operator.id {
        return Err(links::there_is_one());
    }
    operator.is_admin = is_first || link.is_admin;
    if !operators::insert(tx, &operator).await? {
        return Err(refuse(
            Code::AlreadyExists,
            "somebody has this address: sign in, and open the link again",
        ));
    }
    if is_first {
        operator_links::remove_first(tx).await?;
    }
    for (organization_id, role) in &link.roles {
        let role = OperatorRole {
            operator_id: operator.id.clone(),
            organization_id: organization_id.clone(),
            role: role.clone(),
        };
        operators::set_role(tx, &role, operator.created_at).await?;
    }
    Ok(())
}

/// Sets the password of a reset, and ends all sessions of the operator.
async fn set_password(app: &App, link: OperatorLink, hash: String, from: &SignInOrigin) -> Result<SignIn> {
    let key = link.email_key.clone().ok_or_else(gone_error)?;
    let found = operators::by_email(app.db.reader(), &key).await?;
    let operator = found.filter(|operator| operator.disabled_at.is_none()).ok_or_else(gone_error)?;
    let whole = sessions::start(app, &operator.id, "link", from);
    let mut half = sessions::start(app, &operator.id, HALF, from);
    half.row.subject = Some(tries::of_link(app, &link.id));
    let entry = entry(app, &operator, "password_reset", from);
    let now = whole.row.created_at;
    let (whole_row, half_row) = (whole.row, half.row);
    let needs_code: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let locked = operators::lock(tx, &operator.id).await?.ok_or_else(gone_error)?;
                let taken = operator_links::take(tx, &link.hash).await?;
                if taken.is_none_or(|link| link.expires_at <= now) || locked.disabled_at.is_some() {
                    return Err(gone_error());
                }
                still_given(tx, &link).await?;
                operator_links::remove_of_address(tx, &key, LinkKind::Reset.as_str()).await?;
                operators::set_password(tx, &operator.id, &hash, now).await?;
                if link.drops_factor {
                    operators::set_second_factor(tx, &operator.id, &SecondFactor::default(), now).await?;
                }
                sessions::end_all(tx, &operator.id, None, now).await?;
                let needs_code = locked.totp_secret.is_some() && !link.drops_factor;
                sessions::write(tx, if needs_code { &half_row } else { &whole_row }).await?;
                audit_log::insert(tx, &entry).await?;
                Ok(needs_code)
            })
        })
        .await;
    app.operator_sessions.clear();
    Ok(match needs_code? {
        true => SignIn::NeedsCode(half.new.cookie),
        false => SignIn::Signed(whole.new),
    })
}

/// Takes over the rights of an invitation to the address of an operator who is signed in. A higher role that they have stays.
///
/// # Errors
/// `not_found` for a link that does not work, or is for another address.
pub async fn join(app: &App, actor: &Actor, session: &Session, token: &str) -> Result<()> {
    let row = links::open_row(app, token).await?.ok_or_else(gone_error)?;
    let operator = operators::find(app.db.reader(), &session.operator_id).await?.ok_or_else(gone_error)?;
    if LinkKind::parse(&row.kind) != Some(LinkKind::Invite)
        || row.email_key.as_ref() != Some(&operator.email_key)
    {
        return Err(gone_error());
    }
    let target = Target::installation(operator.id.as_str());
    let entry = target.entry(actor, "operator_joined", app.new_id(Kind::AuditEntry), app.now());
    let now = app.now();
    let joined: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                let link = operator_links::take(tx, &row.hash).await?.filter(|link| link.expires_at > now);
                let link = link.ok_or_else(gone_error)?;
                still_given(tx, &link).await?;
                add_rights(tx, &operator.id, &link, now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    app.operator_sessions.clear();
    joined
}

/// Adds the rights of a link to those of an operator. Call it under `operators::lock_all`.
async fn add_rights(tx: &mut Tx, operator_id: &str, link: &OperatorLink, now: i64) -> Result<()> {
    let locked = operators::lock(tx, operator_id).await?.filter(|operator| operator.disabled_at.is_none());
    let locked = locked.ok_or_else(gone_error)?;
    if link.is_admin && !locked.is_admin {
        operators::set_admin(tx, operator_id, true, now).await?;
    }
    let had = operators::roles(&mut *tx, operator_id).await?;
    for (organization_id, role) in &link.roles {
        let has = had.get(organization_id).and_then(|word| Role::parse(word));
        if has < Role::parse(role) {
            let role = OperatorRole {
                operator_id: operator_id.to_owned(),
                organization_id: organization_id.clone(),
                role: role.clone(),
            };
            operators::set_role(tx, &role, now).await?;
        }
    }
    Ok(())
}

/// Makes the first operator of an unattended installation. Returns false where there is one already, and then changes nothing.
///
/// # Errors
/// `invalid_parameter` for an address or a password that is not taken.
pub async fn create_first(app: &App, email: &str, password: &str) -> Result<bool> {
    if !links::is_empty(app).await? {
        return Ok(false);
    }
    validate::address("email", email)?;
    passwords::check_new(password, email)?;
    let key = address_key(email);
    let room = passwords::room_or_refuse(app)?;
    let hash = passwords::hash(app, &room, &key, password).await?;
    drop(room);
    let name = email.rsplit_once('@').map_or(email, |(name, _)| name).to_owned();
    let new = NewOperator { email: None, name, password: Zeroizing::new(String::new()), language: None };
    let operator = Operator { is_admin: true, ..operator(app, &new, email.to_owned(), Some(hash)) };
    let actor = Actor::command("first operator by the settings");
    let target = Target::installation(operator.id.as_str());
    let entry = target.entry(&actor, "operator_created", app.new_id(Kind::AuditEntry), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                if installation::settle(tx, FIRST_OPERATOR, &operator.id).await? != operator.id {
                    return Ok(false);
                }
                if !operators::insert(tx, &operator).await? {
                    return Err(refuse(Code::AlreadyExists, "somebody has this address"));
                }
                operator_links::remove_first(tx).await?;
                audit_log::insert(tx, &entry).await?;
                Ok(true)
            })
        })
        .await
}
