//! The checks of `[push]`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, anyhow, bail, ensure};

use crate::http_url;
use crate::manifest::names::is_name;
use crate::manifest::push::{Push, PushAuth, PushJwt, PushPlace, WithoutSecret};
use crate::surface::Surface;

/// Issuers of a token, and the longest text that a claim is compared with, bytes.
const MAX_ISSUERS: usize = 8;
const MAX_CLAIM: usize = 2_048;

/// The tables `[push]` of a manifest, with the other parts that they refer to.
pub(super) struct PushTables<'m> {
    pub push: &'m [Push],
    /// Surfaces that the connector exports.
    pub surfaces: Vec<Surface>,
    /// Names of the settings that only the operator gives, and whether each has a default.
    pub operator_settings: BTreeMap<&'m str, bool>,
}

/// Checks every key of every table; each error names the key, and with several tables also the table.
pub(super) fn check(manifest: &PushTables<'_>) -> anyhow::Result<()> {
    let tables = manifest.push;
    ensure!(
        tables.is_empty() || manifest.surfaces.contains(&Surface::Watch),
        "push: nothing starts notifications: implement the interface watch, and add \"watch@1.0.0\" to surfaces"
    );
    let (mut names, mut covered) = (BTreeSet::new(), BTreeSet::new());
    for (at, push) in tables.iter().enumerate() {
        let checked = check_name(push, &mut names)
            .and_then(|()| check_surfaces(manifest, push, &mut covered))
            .and_then(|()| check_table(manifest, push));
        match &push.name {
            _ if tables.len() == 1 => checked?,
            Some(name) => checked.with_context(|| format!("[[push]] \"{name}\""))?,
            None => checked.with_context(|| format!("[[push]] number {}", at + 1))?,
        }
    }
    Ok(())
}

/// `names`: the names of the tables before.
fn check_name<'m>(push: &'m Push, names: &mut BTreeSet<Option<&'m str>>) -> anyhow::Result<()> {
    let name = push.name.as_deref();
    ensure!(
        name.is_none_or(is_name),
        "push.name: must be 1 to 40 of a-z, 0-9 and -, not starting with -: the address ends with it"
    );
    ensure!(
        names.insert(name),
        "push.name: {}",
        match name {
            Some(_) => "another table has it too: each needs its own address",
            None => "is missing, as in another table: each needs its own address",
        }
    );
    Ok(())
}

/// `covered`: the surfaces of the tables before.
fn check_surfaces(
    manifest: &PushTables<'_>,
    push: &Push,
    covered: &mut BTreeSet<Surface>,
) -> anyhow::Result<()> {
    ensure!(
        !push.surfaces.is_empty() || manifest.push.len() == 1,
        "push.surfaces: is missing: of several tables each says whose notifications it reads, such as [\"calendar\"]"
    );
    for surface in &push.surfaces {
        let is_exported = manifest.surfaces.contains(surface);
        ensure!(
            surface.has_data() && is_exported,
            "push.surfaces: \"{surface}\" is no surface with data that this connector has"
        );
        ensure!(
            covered.insert(*surface),
            "push.surfaces: \"{surface}\" is named twice: a watch posts notifications of one kind"
        );
    }
    Ok(())
}

fn check_table(manifest: &PushTables<'_>, push: &Push) -> anyhow::Result<()> {
    if let Some(handshake) = &push.handshake {
        ensure!(
            matches!(handshake, PushPlace::Query(_)),
            "push.handshake: must be a parameter, such as \"query:validationToken\""
        );
    }
    for (key, place) in [("list", &push.list), ("base64", &push.base64)] {
        ensure!(
            place.as_ref().is_none_or(PushPlace::is_pointer),
            "push.{key}: must be a JSON pointer, /like/this"
        );
    }
    for (key, place) in [
        ("watch", &push.watch),
        ("account", &push.account),
        ("secret", &push.secret),
        ("state", &push.state),
        ("lifecycle", &push.lifecycle),
    ] {
        ensure!(
            !matches!(place, Some(PushPlace::Query(_))),
            "push.{key}: must be \"header:NAME\" or a JSON pointer: the address that a provider posts to has no query"
        );
    }
    ensure!(
        push.watch.is_some() != push.account.is_some(),
        "push.watch: give either it or push.account: a notification names a watch or an account"
    );
    ensure!(
        push.base64.is_none() || push.account.as_ref().is_some_and(PushPlace::is_pointer),
        "push.base64: only goes with a JSON pointer in push.account, which begins in it"
    );
    ensure!(
        push.without_secret == WithoutSecret::Refuse
            || matches!(push.auth, PushAuth::ChannelToken | PushAuth::ClientState),
        "push.without_secret: \"hint\" only goes with auth = \"channel-token\" and \"client-state\""
    );
    match (push.auth, &push.jwt) {
        (PushAuth::Jwt, Some(jwt)) => {
            check_jwt(push, jwt)?;
            check_email_setting(manifest, jwt)
        }
        (PushAuth::Jwt, None) => {
            bail!("push.jwt: is missing: say whose tokens count, by issuers and jwks_url")
        }
        (_, Some(_)) => bail!("push.jwt: only goes with auth = \"jwt\""),
        (_, None) => check_secret(push),
    }
}

fn check_jwt(push: &Push, jwt: &PushJwt) -> anyhow::Result<()> {
    ensure!(
        matches!(push.secret, None | Some(PushPlace::Header(_))),
        "push.secret: must be the header with the token; without it that is \"header:Authorization\""
    );
    ensure!(push.algorithm.is_none(), "push.algorithm: only goes with auth = \"hmac\"");
    let is_claim = |text: &String| (1..=MAX_CLAIM).contains(&text.len()) && !text.contains(char::is_control);
    ensure!(
        (1..=MAX_ISSUERS).contains(&jwt.issuers.len()) && jwt.issuers.iter().all(is_claim),
        "push.jwt.issuers: must be 1 to {MAX_ISSUERS} texts, each what iss of a token is exactly"
    );
    for (key, claim) in [("audience", &jwt.audience), ("email", &jwt.email)] {
        ensure!(
            claim.as_ref().is_none_or(is_claim),
            "push.jwt.{key}: must be a text of 1 to {MAX_CLAIM} bytes without control characters"
        );
    }
    let url = http_url::parse(&jwt.jwks_url).map_err(|why| anyhow!("push.jwt.jwks_url: {why}"))?;
    ensure!(url.scheme() == "https" || http_url::is_loopback(&url), "push.jwt.jwks_url: must be https");
    Ok(())
}

/// The setting is the operator's alone: a user who set it would decide whose tokens are accepted, and a default would apply to
/// all.
fn check_email_setting(manifest: &PushTables<'_>, jwt: &PushJwt) -> anyhow::Result<()> {
    let Some(name) = &jwt.email_setting else { return Ok(()) };
    ensure!(jwt.email.is_none(), "push.jwt.email_setting: push.jwt.email is there too, name one of them");
    let setting = manifest.operator_settings.get(name.as_str());
    ensure!(
        setting.is_some(),
        "push.jwt.email_setting: \"{name}\" is no setting with operator = true, add it under [[settings]]"
    );
    ensure!(
        setting.is_none_or(|has_default| !has_default),
        "push.jwt.email_setting: \"{name}\" has a default: write that as push.jwt.email, or leave it out"
    );
    Ok(())
}

fn check_secret(push: &Push) -> anyhow::Result<()> {
    let Some(secret) = &push.secret else {
        bail!(
            "push.secret: is missing: say where the token of the watch comes back, such as \"/clientState\""
        )
    };
    if push.auth != PushAuth::Hmac {
        ensure!(push.algorithm.is_none(), "push.algorithm: only goes with auth = \"hmac\"");
        return Ok(());
    }
    ensure!(
        matches!(secret, PushPlace::Header(_)),
        "push.secret: must be the header with the signature, such as \"header:X-Signature\""
    );
    ensure!(
        push.algorithm.is_some(),
        "push.algorithm: is missing: with auth = \"hmac\" it must be \"sha256\""
    );
    ensure!(
        push.list.is_none(),
        "push.list: does not go with auth = \"hmac\": a body that is signed for one watch is one notification"
    );
    Ok(())
}
