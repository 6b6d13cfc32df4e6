//! The account of an operator who is signed in: profile, password, second factor, recovery codes. All but the profile need a session that is
//! fresh.

use base::error::{Result, not_found};
use base::ids::Kind;
use base::input::validate;
use storage::audit_log::AuditEntry;
use storage::operators::{self, Operator, OperatorProfile, SecondFactor};
use storage::{Tx, audit_log, operator_links};
use zeroize::Zeroizing;

use crate::app::App;
use crate::locale::Language;
use crate::manage::acting::Target;
use crate::manage::actor::Actor;
use crate::manage::operators::acceptance::check_name;
use crate::manage::operators::links::LinkKind;
use crate::manage::operators::sessions::{self, Session};
use crate::manage::operators::totp::{self, FactorSetup};
use crate::manage::operators::{passwords, recovery, second_factor};

/// Colours that a page can be shown in; none: those of the device.
pub const THEMES: [&str; 2] = ["light", "dark"];

/// Recovery codes in the only moment in which they are known.
pub type RecoveryCodes = Vec<Zeroizing<String>>;

/// The operator of a session, as long as they may still sign in.
pub(crate) async fn load_own(app: &App, session: &Session) -> Result<Operator> {
    let found = operators::find(app.db.reader(), &session.operator_id).await?;
    found.filter(|operator| operator.disabled_at.is_none()).ok_or_else(|| not_found("operator"))
}

/// The operator in the transaction of a change, as long as they may still sign in.
pub(crate) async fn own_locked(tx: &mut Tx, id: &str) -> Result<Operator> {
    let locked = operators::lock(tx, id).await?;
    locked.filter(|operator| operator.disabled_at.is_none()).ok_or_else(|| not_found("operator"))
}

/// The entry of an act on the operator's own account.
pub(crate) fn entry(app: &App, actor: &Actor, session: &Session, act: &str) -> AuditEntry {
    let target = Target::installation(session.operator_id.as_str());
    target.entry(actor, act, app.new_id(Kind::AuditEntry), app.now())
}

/// Sets name, language, time zone and theme.
///
/// # Errors
/// `invalid_parameter`, `missing_field`, with the field as param.
pub async fn set_profile(app: &App, session: &Session, profile: &OperatorProfile) -> Result<()> {
    check_name(&profile.name)?;
    if profile.language.as_deref().is_some_and(|tag| Language::of_tag(tag).is_none()) {
        return Err(validate::fault("language", "must be one of the languages in the list"));
    }
    if profile.theme.as_deref().is_some_and(|theme| !THEMES.contains(&theme)) {
        return Err(validate::fault("theme", "must be light or dark"));
    }
    let time_zone =
        profile.time_zone.as_deref().map(|zone| validate::zone_name("time_zone", zone)).transpose()?;
    let profile = OperatorProfile { name: profile.name.trim().to_owned(), time_zone, ..profile.clone() };
    let (id, now) = (session.operator_id.clone(), app.now());
    let set: Result<()> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operators::set_profile(tx, &id, &profile, now).await?) }))
        .await;
    app.operator_sessions.clear();
    set
}

/// Sets another password, and ends the operator's other sessions and the links for a new password.
///
/// # Errors
/// `reauthentication_required`; `invalid_parameter` for a password that is not taken; `overloaded`.
pub async fn change_password(app: &App, actor: &Actor, session: &Session, password: &str) -> Result<()> {
    actor.check_fresh(app.now())?;
    let operator = load_own(app, session).await?;
    passwords::check_new(password, &operator.email)?;
    let room = passwords::room_or_refuse(app)?;
    let hash = passwords::hash(app, &room, &operator.email_key, password).await?;
    drop(room);
    let entry = entry(app, actor, session, "password_changed");
    let (id, session_id, now) = (operator.id, session.id.clone(), app.now());
    let changed: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let operator = own_locked(tx, &id).await?;
                operators::set_password(tx, &id, &hash, now).await?;
                operator_links::remove_of_address(tx, &operator.email_key, LinkKind::Reset.as_str()).await?;
                sessions::end_all(tx, &id, Some(&session_id), now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    app.operator_sessions.clear();
    changed
}

/// Begins to set a second factor up: nothing is stored until `confirm_factor`.
pub async fn begin_factor(app: &App, session: &Session) -> Result<FactorSetup> {
    let secret = Zeroizing::new(app.entropy.bytes::<{ totp::SECRET_BYTES }>());
    totp::setup(&app.keyring, &session.operator_id, &session.email, secret.as_slice())
}

/// The same setup again, for the page after a wrong code. None: the token is not one of this operator.
pub fn resume_factor(app: &App, session: &Session, token: &str) -> Result<Option<FactorSetup>> {
    let Some(secret) = totp::secret_of(&app.keyring, &session.operator_id, token) else { return Ok(None) };
    totp::setup(&app.keyring, &session.operator_id, &session.email, &secret).map(Some)
}

/// Sets the second factor of a setup, which its first code proves, in place of one before it. Returns new recovery codes; none: the code is
/// wrong, or the token is not one of this operator.
///
/// # Errors
/// `reauthentication_required`.
pub async fn confirm_factor(
    app: &App,
    actor: &Actor,
    session: &Session,
    token: &str,
    code: &str,
) -> Result<Option<RecoveryCodes>> {
    actor.check_fresh(app.now())?;
    let id = session.operator_id.as_str();
    let Some(secret) = totp::secret_of(&app.keyring, id, token) else { return Ok(None) };
    let Some(code) = second_factor::digits(code) else { return Ok(None) };
    let Some(step) = totp::step_of(&secret, &code, app.now())? else { return Ok(None) };
    let (codes, stored) = recovery_codes(app, id);
    let sealed = app.keyring.seal(&totp::place(id), &secret)?;
    let factor = SecondFactor { totp_secret: Some(sealed), totp_step: step, recovery: stored };
    set_factor(app, session, factor, entry(app, actor, session, "second_factor_set")).await?;
    Ok(Some(codes))
}

/// Takes the second factor away, with the recovery codes.
///
/// # Errors
/// `reauthentication_required`.
pub async fn remove_factor(app: &App, actor: &Actor, session: &Session) -> Result<()> {
    actor.check_fresh(app.now())?;
    let entry = entry(app, actor, session, "second_factor_removed");
    set_factor(app, session, SecondFactor::default(), entry).await
}

/// Sets another second factor, or none, and ends the operator's other sessions.
async fn set_factor(app: &App, session: &Session, factor: SecondFactor, entry: AuditEntry) -> Result<()> {
    let (id, session_id, now) = (session.operator_id.clone(), session.id.clone(), app.now());
    let set: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                own_locked(tx, &id).await?;
                operators::set_second_factor(tx, &id, &factor, now).await?;
                sessions::end_all(tx, &id, Some(&session_id), now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    app.operator_sessions.clear();
    set
}

/// New recovery codes in place of all before them.
///
/// # Errors
/// `reauthentication_required`; `not_found` without a second factor.
pub async fn new_recovery_codes(app: &App, actor: &Actor, session: &Session) -> Result<RecoveryCodes> {
    actor.check_fresh(app.now())?;
    let (codes, stored) = recovery_codes(app, &session.operator_id);
    let entry = entry(app, actor, session, "recovery_codes_made");
    let (id, now) = (session.operator_id.clone(), app.now());
    let made: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let operator = own_locked(tx, &id).await?;
                if operator.totp_secret.is_none() {
                    return Err(not_found("second factor"));
                }
                let (totp_secret, totp_step) = (operator.totp_secret, operator.totp_step);
                let factor = SecondFactor { totp_secret, totp_step, recovery: stored };
                operators::set_second_factor(tx, &id, &factor, now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    made?;
    Ok(codes)
}

/// New codes, and their stored forms.
fn recovery_codes(app: &App, operator_id: &str) -> (RecoveryCodes, Vec<String>) {
    let codes = recovery::new_codes(&app.entropy);
    let stored = codes.iter().filter_map(|code| recovery::tag(&app.keyring, operator_id, code)).collect();
    (codes, stored)
}

/// Unused recovery codes of the operator.
pub async fn recovery_codes_left(app: &App, session: &Session) -> Result<usize> {
    Ok(load_own(app, session).await?.recovery.len())
}
