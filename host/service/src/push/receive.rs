//! Matches notifications with the watches that they name, and makes pulls due for authentic ones. A request costs at most two reads and one
//! write; no other content of a notification is used.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Error, Refusal, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use runtime::{Push, PushAuth, WithoutSecret};
use sha2::Sha256;
use storage::wakes::JobClass;
use storage::watches as table;
use storage::watches::Watch;
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::push::jwt;
use crate::push::notification::{
    Lifecycle, Notification, NotificationSubject, Notifications, ProviderRequest,
};
use crate::push::recipients::Recipients;
use crate::sync::schedule::{pull_id_of, renew_id_of};

/// Shortest interval at which the arrival of notifications that make no pull due is recorded for a watch, ms.
const NOTED_EVERY_MS: i64 = 10_000;
/// Delay of a pull for a watch with too frequent notifications, ms: one pull serves all of them.
const MERGED_MS: i64 = 1_000;
/// Shortest time between pulls that notifications without a secret make due, ms.
const UNPROVED_EVERY_MS: i64 = 60_000;

/// The rate of a watch's notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationPace {
    /// Within the budget.
    Fine,
    /// Too frequent: those of a second count as one.
    Merged,
    /// A flood: a request without other notifications is refused; beside others they are merged.
    Flood,
}

/// Limits the rate of notifications and requests.
pub trait Budgets: Sync {
    /// Counts a notification of a watch, authentic or not; `name` stands for the watch and the secret.
    fn of_watch(&self, name: &str) -> NotificationPace;

    /// Counts a request of the provider, with a notification that is `Fine`, or with merged ones only (`Merged`). Fails if that budget is
    /// used up.
    fn of_provider(&self, pace: NotificationPace) -> Result<()>;
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveResult {
    /// The notifications were matched with watches; the response does not reveal whether any was authentic.
    Notified,
    /// The request only reports the start of watches.
    Greeted,
}

/// Processes the notifications of a request. With `auth = "jwt"` the token is verified before anything is counted, so that invalid tokens
/// use up no budget.
pub async fn receive(
    app: &App,
    provider: &str,
    push: &Push,
    Notifications { all, greetings }: Notifications,
    incoming: ProviderRequest<'_>,
    budgets: &dyn Budgets,
) -> Result<ReceiveResult> {
    let recipients = match push.auth {
        PushAuth::Jwt => jwt::ensure_authentic(app, provider, push, incoming.headers, all.len()).await?,
        PushAuth::ChannelToken | PushAuth::ClientState | PushAuth::Hmac => Recipients::All,
    };
    if all.is_empty() && greetings > 0 {
        app.metrics.count_notifications(provider, "greeting", 1);
        return Ok(ReceiveResult::Greeted);
    }
    let needs_secret = push.auth != PushAuth::Jwt && push.without_secret == WithoutSecret::Refuse;
    if all.is_empty() && !needs_secret {
        // Contract silent: an authentic request that names no account is accepted, because Pub/Sub repeats a refused one for days; so is
        // one that needs no secret, because Graph ends subscriptions whose notifications are refused.
        return Ok(ReceiveResult::Notified);
    }
    if all.is_empty() {
        let message = "the request names no watch, or brings no secret of one";
        return Err(Refusal::new(Code::MissingApiKey, message).into());
    }
    let paced = limit_rate(app, provider, push, all, budgets)?;
    let mut known = find(app, provider, &paced).await?;
    known.retain(|watch| push.covers(&watch.surface) && recipients.include(&watch.tenant.application_id));
    // A signature over the whole body is computed for each possible watch.
    let bytes = if push.auth == PushAuth::Hmac { incoming.body.len().saturating_mul(known.len()) } else { 0 };
    let check = || hints(app, provider, push, &paced, &known, incoming.body);
    let hints = app.compute.run("", bytes, check).await;
    act(app, hints).await?;
    Ok(ReceiveResult::Notified)
}

/// Counts the notifications. Fails if all of them are a flood, or the provider is over its budget.
fn limit_rate(
    app: &App,
    provider: &str,
    push: &Push,
    all: Vec<Notification>,
    budgets: &dyn Budgets,
) -> Result<Vec<(NotificationPace, Notification)>> {
    let pace = |one: &Notification| {
        let secret = match push.auth {
            // A signature differs with each body, and a JSON Web Token belongs to no single watch.
            PushAuth::Hmac | PushAuth::Jwt => "",
            PushAuth::ChannelToken | PushAuth::ClientState => one.secret.as_str(),
        };
        // Each kind has its own budgets: at the address of a kind without a secret, anyone can name watches of another kind.
        let kind = push.name.as_deref().unwrap_or_default();
        let name = format!("{provider}/{kind}\n{}\n{secret}", one.subject.name());
        budgets.of_watch(&app.keyring.watch_token_hash(&name))
    };
    let paced: Vec<(NotificationPace, Notification)> = all.into_iter().map(|one| (pace(&one), one)).collect();
    if paced.iter().all(|(pace, _)| *pace == NotificationPace::Flood) {
        app.metrics.count_notifications(provider, "flood", paced.len());
        let message = "there are too many notifications of this watch; send one for all of them later";
        // Not 429: Google repeats only after 500, 502, 503 or 504.
        return Err(Refusal::new(Code::Overloaded, message).retry_after_s(1).into());
    }
    // A single busy watch takes nothing from others of its provider: merged notifications have a separate budget.
    let has_fine = paced.iter().any(|(pace, _)| *pace == NotificationPace::Fine);
    budgets.of_provider(if has_fine { NotificationPace::Fine } else { NotificationPace::Merged })?;
    Ok(paced)
}

/// Returns the watches that the notifications name.
async fn find(app: &App, provider: &str, paced: &[(NotificationPace, Notification)]) -> Result<Vec<Watch>> {
    let (mut ids, mut accounts) = (BTreeSet::new(), BTreeSet::new());
    for (_, one) in paced {
        match &one.subject {
            NotificationSubject::Watch(id) => ids.insert(id.clone()),
            NotificationSubject::Account(address) => accounts.insert(address.clone()),
        };
    }
    let (ids, accounts): (Vec<String>, Vec<String>) =
        (ids.into_iter().collect(), accounts.into_iter().collect());
    // All notifications of one kind name either ids or accounts.
    match accounts.is_empty() {
        true => Ok(table::by_external_ids(app.db.reader(), provider, &ids).await?),
        false => Ok(table::by_accounts(app.db.reader(), provider, &accounts).await?),
    }
}

/// The actions that authentic notifications cause.
#[derive(Clone, Debug, Default)]
struct Hints {
    /// At least one notification is the provider's.
    is_authentic: bool,
    /// Ids of the jobs of pulls that are due now; `merged`: of those that are due a moment later.
    now: BTreeSet<String>,
    merged: BTreeSet<String>,
    /// Ids of the pulls of watches with unauthenticated notifications: due a minute after the last pull.
    unproved: BTreeSet<String>,
    /// Ids of watches to renew, of watches that have ended (`removed`), and of the jobs that process them (`renewals`).
    renewed: BTreeSet<String>,
    removed: BTreeSet<String>,
    renewals: BTreeSet<String>,
    /// Watches for which the arrival of notifications is recorded.
    noted: BTreeSet<String>,
    /// The notified watches, by the job of the pull that reads their changes.
    told: BTreeMap<String, BTreeSet<String>>,
}

fn hints(
    app: &App,
    provider: &str,
    push: &Push,
    paced: &[(NotificationPace, Notification)],
    known: &[Watch],
    body: &[u8],
) -> Hints {
    let mut by_subject: BTreeMap<&str, Vec<&Watch>> = BTreeMap::new();
    for watch in known {
        let name = if push.account.is_some() { &watch.account } else { &watch.external_id };
        by_subject.entry(name.as_deref().unwrap_or_default()).or_default().push(watch);
    }
    let mut hints = Hints::default();
    let (mut authentic, mut unproved, mut unknown, mut wrong) = (0, 0, 0, 0);
    for (pace, one) in paced {
        let Some(named) = by_subject.get(one.subject.name()) else {
            unknown += 1;
            continue;
        };
        let mut is_authentic = false;
        for watch in named.iter().filter(|watch| proves(app, push, watch, one, body)) {
            is_authentic = true;
            hints.add(watch, one.lifecycle, *pace, app.now());
        }
        if is_authentic {
            authentic += 1;
        } else if one.secret.is_empty() && push.without_secret == WithoutSecret::Hint {
            unproved += 1;
            hints.unproved.extend(named.iter().map(|watch| pull_id_of(watch)));
        } else {
            wrong += 1;
        }
    }
    app.metrics.count_notifications(provider, "authentic", authentic);
    app.metrics.count_notifications(provider, "unproved", unproved);
    app.metrics.count_notifications(provider, "unknown_watch", unknown);
    app.metrics.count_notifications(provider, "wrong_secret", wrong);
    hints
}

/// Whether a notification is authentic, by the token of this watch.
fn proves(app: &App, push: &Push, watch: &Watch, one: &Notification, body: &[u8]) -> bool {
    match push.auth {
        PushAuth::ChannelToken | PushAuth::ClientState => {
            let hash = app.keyring.watch_token_hash(&one.secret);
            bool::from(hash.as_bytes().ct_eq(watch.token_hash.as_bytes()))
        }
        PushAuth::Hmac => {
            let token = app.keyring.watch_token(&watch.id);
            let Ok(mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(token.as_bytes()) else { return false };
            let text = one.secret.strip_prefix("sha256=").unwrap_or(&one.secret);
            let signature = hex::decode(text).or_else(|_| BASE64_STANDARD.decode(text));
            // Compared in constant time.
            signature.is_ok_and(|signature| mac.chain_update(body).verify_slice(&signature).is_ok())
        }
        // `receive` has verified the token, which covers the whole request.
        PushAuth::Jwt => true,
    }
}

impl Hints {
    fn add(&mut self, watch: &Watch, lifecycle: Option<Lifecycle>, pace: NotificationPace, now: i64) {
        self.is_authentic = true;
        let pulls = if pace == NotificationPace::Fine { &mut self.now } else { &mut self.merged };
        pulls.insert(pull_id_of(watch));
        self.told.entry(pull_id_of(watch)).or_default().insert(watch.id.clone());
        if let Some(lifecycle) = lifecycle {
            let watches = match lifecycle {
                Lifecycle::Renew => &mut self.renewed,
                Lifecycle::Removed => &mut self.removed,
            };
            watches.insert(watch.id.clone());
            self.renewals.insert(renew_id_of(watch));
        }
        if watch.last_notified_at.is_none_or(|at| at <= now - NOTED_EVERY_MS) {
            self.noted.insert(watch.id.clone());
        }
    }

    /// Drops pulls that start soon enough anyway: any pull that begins from now on reads the change.
    async fn leave_out_planned(&mut self, app: &App, now: i64) -> Result<()> {
        let hinted = &(&self.now | &self.merged) | &self.unproved;
        let ids: Vec<String> = hinted.into_iter().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let planned = table::planned(app.db.reader(), &ids).await?;
        let later = |due_at: i64| {
            let is_later = |job: &&table::PlannedRun| {
                !job.is_failing && job.next_at.is_none_or(|next_at| next_at > due_at)
            };
            planned.iter().filter(is_later).map(|job| job.id.clone()).collect::<BTreeSet<String>>()
        };
        self.now = &self.now & &later(now);
        self.merged = &self.merged & &later(now + MERGED_MS);
        // If the last pull began at least a minute ago, the next one may start at once; for the others each further notification finds one
        // that is planned.
        let has_rested =
            |job: &&table::PlannedRun| job.began_at.is_none_or(|at| at <= now - UNPROVED_EVERY_MS);
        let rested: BTreeSet<String> = planned.iter().filter(has_rested).map(|job| job.id.clone()).collect();
        self.now.extend(&(&self.unproved & &rested) & &later(now));
        self.unproved = &(&self.unproved - &rested) & &later(now + UNPROVED_EVERY_MS);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        let pulls = [&self.now, &self.merged, &self.unproved];
        let watches = [&self.renewed, &self.removed, &self.renewals, &self.noted];
        pulls.into_iter().chain(watches).all(BTreeSet::is_empty)
    }
}

/// Performs the actions in one transaction, if anything has to be written.
async fn act(app: &App, mut hints: Hints) -> Result<()> {
    let now = app.now();
    hints.leave_out_planned(app, now).await?;
    if hints.is_empty() {
        // A due job may wait for a wake that was lost. An unauthenticated request costs only its query.
        if hints.is_authentic {
            app.db.wakes().wake(JobClass::Pull);
        }
        return Ok(());
    }
    // Notifications that make a pull due are recorded with it, however recent the last record is: until that pull has read the change the
    // copy is out of step (`sync::staleness`).
    for id in hints.now.union(&hints.merged) {
        hints.noted.extend(hints.told.get(id).into_iter().flatten().cloned());
    }
    let list = |ids: BTreeSet<String>| ids.into_iter().collect::<Vec<String>>();
    let (due, merged, unproved) = (list(hints.now), list(hints.merged), list(hints.unproved));
    let (renewed, removed, noted) = (list(hints.renewed), list(hints.removed), list(hints.noted));
    let renewals = list(hints.renewals);
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if !noted.is_empty() {
                    table::note_notified(tx, &noted, now, now - 1).await?;
                }
                if !renewed.is_empty() {
                    table::hurry(tx, &renewed, now).await?;
                }
                if !removed.is_empty() {
                    table::expire(tx, &removed, now).await?;
                }
                if !due.is_empty() {
                    table::wake(tx, &due, (now, false), now).await?;
                }
                if !merged.is_empty() {
                    table::wake(tx, &merged, (now + MERGED_MS, false), now).await?;
                }
                if !unproved.is_empty() {
                    table::wake(tx, &unproved, (now + UNPROVED_EVERY_MS, false), now).await?;
                }
                if !renewals.is_empty() {
                    table::wake(tx, &renewals, (now, true), now).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
}
