//! Links that let people in: to the first operator, to those who are invited, and to those who need a new password. A link is copied by whoever
//! made it; no mail is sent. Opening one uses nothing up, so that previews and scanners do no harm; accepting it does.

use std::collections::BTreeMap;

use base::error::{Code, Result, invalid, not_found, refuse};
use base::ids::{self, Kind};
use base::input::validate;
use base::keyring::Keyring;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use model::bounds::access::MAX_ROLES;
use storage::operator_links::{self, OperatorLink};
use storage::operators::{self, Operator};
use storage::{Tx, audit_log, installation};

use crate::app::App;
use crate::manage::acting::Target;
use crate::manage::actor::{Act, Actor, Role};
use crate::manage::keys::admin_keys;
use crate::manage::operators::address::address_key;
use crate::manage::operators::sessions;
use crate::manage::operators::store::OperatorStore;

/// The value of the installation that holds the id of its first operator: of several hosts and links one makes it.
pub const FIRST_OPERATOR: &str = "first_operator";
/// Time for which a link works, ms.
const FIRST_MS: i64 = 24 * 3_600_000;
const INVITE_MS: i64 = 7 * 24 * 3_600_000;
pub(crate) const RESET_MS: i64 = 3_600_000;
/// Letters of a token: 32 random bytes.
const TOKEN_CHARS: usize = 43;
/// Links in a list.
const MAX_LISTED: i64 = 200;
/// Open invitations to one organization.
const MAX_OPEN: i64 = 100;

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Makes the first operator.
    First,
    Invite,
    /// Sets a new password.
    Reset,
}

impl LinkKind {
    /// The kind as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            LinkKind::First => "first",
            LinkKind::Invite => "invite",
            LinkKind::Reset => "reset",
        }
    }

    /// The kind of a stored link.
    pub fn parse(word: &str) -> Option<LinkKind> {
        [LinkKind::First, LinkKind::Invite, LinkKind::Reset].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A link in the only moment in which its token is known.
#[derive(Clone, Debug)]
pub struct Link {
    pub id: String,
    pub token: String,
    pub kind: LinkKind,
    /// Milliseconds since 1970.
    pub expires_at: i64,
}

impl Link {
    /// The path of the page that it opens.
    pub fn path(&self) -> String {
        let page = if self.kind == LinkKind::First { "first" } else { "join" };
        format!("/admin/{page}/{}", self.token)
    }
}

/// A link without its token.
#[derive(Clone, Debug)]
pub struct LinkView {
    pub id: String,
    pub kind: LinkKind,
    /// The address that it is for; none for the first operator.
    pub email: Option<String>,
    /// The name of the one who made it.
    pub invited_by: Option<String>,
    pub is_admin: bool,
    pub roles: BTreeMap<String, Role>,
    /// Milliseconds since 1970.
    pub expires_at: i64,
    /// An operator has the address already: they sign in, and then `join`.
    pub is_known: bool,
}

/// The stored form of a token.
fn hash_of(keyring: &Keyring, token: &str) -> String {
    keyring.purpose("operator-link").tag(token.as_bytes())
}

/// A new link of a kind that is still to be written.
pub(crate) fn new_link(store: OperatorStore<'_>, kind: LinkKind, life_ms: i64) -> (Link, OperatorLink) {
    let token = BASE64_URL_SAFE_NO_PAD.encode(store.random::<32>());
    let now = store.now();
    let link = Link { id: store.new_id(Kind::OperatorLink), token, kind, expires_at: now + life_ms };
    let row = OperatorLink {
        hash: hash_of(store.keyring, &link.token),
        id: link.id.clone(),
        kind: kind.as_str().to_owned(),
        email: None,
        email_key: None,
        is_admin: false,
        roles: BTreeMap::new(),
        drops_factor: false,
        created_by: None,
        created_by_name: None,
        created_at: now,
        expires_at: link.expires_at,
    };
    (link, row)
}

/// Whether nobody can sign in yet.
pub async fn is_empty(app: &App) -> Result<bool> {
    Ok(installation::find(app.db.reader(), FIRST_OPERATOR).await?.is_none())
}

/// A new link that makes the first operator. None: there is an operator already.
pub async fn first(store: impl Into<OperatorStore<'_>>) -> Result<Option<Link>> {
    let store = store.into();
    let (link, row) = new_link(store, LinkKind::First, FIRST_MS);
    let written: Result<bool> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                if installation::find(&mut *tx, FIRST_OPERATOR).await?.is_some() {
                    return Ok(false);
                }
                operator_links::insert(tx, &row).await?;
                Ok(true)
            })
        })
        .await;
    Ok(written?.then_some(link))
}

/// The rights that somebody is invited to.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub email: String,
    /// An admin of the whole installation.
    pub is_admin: bool,
    /// Roles by organization.
    pub roles: BTreeMap<String, Role>,
}

/// Invites somebody, who then gives themselves a name and a password.
///
/// # Errors
/// What the actor may not give away, or not so long after the last proof of who they are; `invalid_parameter` for the address;
/// `missing_field` without any right; `invalid_state` where as many invitations to an organization are open as may be.
pub async fn invite(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    invitation: &Invitation,
) -> Result<Link> {
    let store = store.into();
    let now = store.now();
    if invitation.is_admin {
        actor.check(Act::ManageOperators, "", now)?;
    }
    for organization_id in invitation.roles.keys() {
        actor.check(Act::ManageMembers, organization_id, now)?;
    }
    if !invitation.is_admin && invitation.roles.is_empty() {
        return Err(invalid(
            Code::MissingField,
            "roles",
            "roles is required: name a role in an organization",
        ));
    }
    validate::length("roles", invitation.roles.len(), MAX_ROLES)?;
    validate::address("email", &invitation.email)?;
    let ids: Vec<String> = invitation.roles.keys().cloned().collect();
    if operators::organization_names(store.db.reader(), &ids).await?.len() < ids.len() {
        return Err(not_found("organization"));
    }
    let (link, mut row) = new_link(store, LinkKind::Invite, INVITE_MS);
    row.email = Some(invitation.email.clone());
    row.email_key = Some(address_key(&invitation.email));
    row.is_admin = invitation.is_admin;
    row.roles = invitation.roles.iter().map(|(id, role)| (id.clone(), role.as_str().to_owned())).collect();
    row.created_by = Some(actor.id.clone());
    row.created_by_name = Some(actor.name.clone());
    // The entry stands where those who may see it look: in the organization, if it is about one alone.
    let target = match (invitation.roles.first_key_value(), invitation.roles.len(), invitation.is_admin) {
        (Some((organization_id, _)), 1, false) => Target::organization(organization_id, link.id.as_str()),
        _ => Target::installation(link.id.as_str()),
    };
    let details =
        serde_json::json!({ "email": invitation.email, "isAdmin": invitation.is_admin, "roles": row.roles });
    let entry = store.entry(actor, "operator_invited", &target.details(details));
    let written: Result<()> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                check_room(tx, &row, now).await?;
                operator_links::insert(tx, &row).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    written?;
    Ok(link)
}

/// Refuses an invitation to an organization that has as many open ones as it may. Call it under `operators::lock_all`.
async fn check_room(tx: &mut Tx, row: &OperatorLink, now: i64) -> Result<()> {
    for organization_id in row.roles.keys() {
        let open = operator_links::list_of_organization(&mut *tx, organization_id, now, MAX_OPEN).await?;
        if i64::try_from(open.len()).unwrap_or(i64::MAX) >= MAX_OPEN {
            let message = format!("an organization has at most {MAX_OPEN} open invitations: withdraw one");
            return Err(refuse(Code::InvalidState, message));
        }
    }
    Ok(())
}

/// A link by which an operator sets a new password; links before it end. With `without_second_factor` it also takes the second factor away.
///
/// # Errors
/// `not_found`, also for an operator who is disabled; `reauthentication_required`.
pub async fn reset(
    store: impl Into<OperatorStore<'_>>,
    actor: &Actor,
    operator_id: &str,
    without_second_factor: bool,
) -> Result<Link> {
    let store = store.into();
    actor.check(Act::ManageOperators, "", store.now())?;
    let found = operators::find(store.db.reader(), operator_id).await?;
    let operator = found.filter(|operator| operator.disabled_at.is_none());
    let operator = operator.ok_or_else(|| not_found("operator"))?;
    let (link, mut row) = new_link(store, LinkKind::Reset, RESET_MS);
    row.email = Some(operator.email.clone());
    row.email_key = Some(operator.email_key.clone());
    row.drops_factor = without_second_factor;
    row.created_by = Some(actor.id.clone());
    row.created_by_name = Some(actor.name.clone());
    let details = serde_json::json!({ "withoutSecondFactor": without_second_factor });
    let target = Target::installation(operator.id.as_str()).details(details);
    let entry = store.entry(actor, "password_link_made", &target);
    let written: Result<()> = store
        .db
        .write(move |tx| {
            Box::pin(async move {
                operator_links::remove_of_address(tx, &operator.email_key, LinkKind::Reset.as_str()).await?;
                operator_links::insert(tx, &row).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    written?;
    Ok(link)
}

/// The link of a token. None for one that was changed, used, withdrawn or has expired, or whose maker may not give its rights any more: which of
/// these nobody learns.
pub async fn find(app: &App, token: &str) -> Result<Option<LinkView>> {
    let Some(row) = open_row(app, token).await? else { return Ok(None) };
    if !is_still_given(app, &row).await? {
        return Ok(None);
    }
    let keys: Vec<String> = row.email_key.iter().cloned().collect();
    let known = operators::known_addresses(app.db.reader(), &keys).await?;
    Ok(view(&row, &known))
}

async fn is_still_given(app: &App, link: &OperatorLink) -> Result<bool> {
    let (Some(maker_id), reader) = (&link.created_by, app.db.reader()) else { return Ok(true) };
    if admin_keys::is_of_revoked_key(reader, maker_id).await? {
        return Ok(false);
    }
    // Keys and commands are no operators.
    let Some(maker) = operators::find(reader, maker_id).await? else { return Ok(true) };
    Ok(may_give(&maker, &operators::roles(reader, maker_id).await?, link))
}

/// Returns whether the operator who made a link, with these stored roles, may give what it gives.
pub(crate) fn may_give(maker: &Operator, roles: &BTreeMap<String, String>, link: &OperatorLink) -> bool {
    let is_of_operators = link.is_admin || LinkKind::parse(&link.kind) == Some(LinkKind::Reset);
    let actor = sessions::actor_of(maker, roles, 0);
    maker.disabled_at.is_none()
        && (!is_of_operators || actor.may(Act::ManageOperators, ""))
        && link.roles.keys().all(|organization_id| actor.may(Act::ManageMembers, organization_id))
}

/// The stored link of a token, as long as it works.
pub(crate) async fn open_row(app: &App, token: &str) -> Result<Option<OperatorLink>> {
    let is_plausible =
        token.len() == TOKEN_CHARS && token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !is_plausible {
        return Ok(None);
    }
    let found = operator_links::find(app.db.reader(), &hash_of(&app.keyring, token)).await?;
    let row = found.filter(|row| row.expires_at > app.now());
    let is_first = row.as_ref().is_some_and(|row| row.kind == LinkKind::First.as_str());
    if is_first && !is_empty(app).await? {
        return Err(there_is_one());
    }
    Ok(row)
}

/// The refusal of a first link after the first operator.
pub(crate) fn there_is_one() -> base::error::Error {
    refuse(Code::InvalidState, "there is an operator already: sign in, or ask them for an invitation")
}

fn view(row: &OperatorLink, known: &[String]) -> Option<LinkView> {
    Some(LinkView {
        id: row.id.clone(),
        kind: LinkKind::parse(&row.kind)?,
        email: row.email.clone(),
        invited_by: row.created_by_name.clone(),
        is_admin: row.is_admin,
        roles: sessions::roles_of(&row.roles),
        expires_at: row.expires_at,
        is_known: row.email_key.as_ref().is_some_and(|key| known.contains(key)),
    })
}

/// Links for new passwords, and invitations, that still work, those first that end first; 200 at most. Invitations to one organization alone are
/// in `list_invitations`: however many an owner makes, they displace none of these.
pub async fn list_open(store: impl Into<OperatorStore<'_>>) -> Result<Vec<LinkView>> {
    let store = store.into();
    let rows = operator_links::list(store.db.reader(), store.now(), MAX_LISTED).await?;
    let found = views(store, &rows).await?;
    Ok(found.into_iter().filter(|view| view.kind != LinkKind::First).collect())
}

/// Invitations to an organization, and to nothing else, that still work, those first that end first; 200 at most.
pub async fn list_invitations(
    store: impl Into<OperatorStore<'_>>,
    organization_id: &str,
) -> Result<Vec<LinkView>> {
    let store = store.into();
    let (reader, now) = (store.db.reader(), store.now());
    let rows = operator_links::list_of_organization(reader, organization_id, now, MAX_LISTED).await?;
    let found = views(store, &rows).await?;
    Ok(found.into_iter().filter(|view| !view.is_admin).collect())
}

async fn views(store: OperatorStore<'_>, rows: &[OperatorLink]) -> Result<Vec<LinkView>> {
    let keys: Vec<String> = rows.iter().filter_map(|row| row.email_key.clone()).collect();
    let known = operators::known_addresses(store.db.reader(), &keys).await?;
    Ok(rows.iter().filter_map(|row| view(row, &known)).collect())
}

/// Withdraws an invitation or a link for a new password.
///
/// # Errors
/// `not_found`, also for a link that the actor could not have made.
pub async fn withdraw(store: impl Into<OperatorStore<'_>>, actor: &Actor, link_id: &str) -> Result<()> {
    let store = store.into();
    let found = match ids::is_plausible(link_id) {
        true => operator_links::by_id(store.db.reader(), link_id).await?,
        false => None,
    };
    let row = found.ok_or_else(|| not_found("link"))?;
    let is_of_members = row.kind == LinkKind::Invite.as_str() && !row.is_admin && !row.roles.is_empty();
    let may = match is_of_members {
        true => row.roles.keys().all(|organization_id| actor.may(Act::ManageMembers, organization_id)),
        false => actor.may(Act::ManageOperators, ""),
    };
    if !may {
        return Err(not_found("link"));
    }
    let target = match row.roles.first_key_value() {
        Some((organization_id, _)) if is_of_members => Target::organization(organization_id, link_id),
        _ => Target::installation(link_id),
    };
    let entry = store.entry(actor, "link_withdrawn", &target);
    store
        .db
        .write(move |tx| {
            Box::pin(async move {
                if !operator_links::remove(tx, &row.id).await? {
                    return Err(not_found("link"));
                }
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await
}
