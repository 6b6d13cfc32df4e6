//! The account, and its task lists.

use std::collections::HashSet;

use runtime::{Code, Surface, Verb};

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed, must};
use crate::line::Fault;

/// Bytes of an id.
const MOST_ID: usize = 1024;

pub async fn account(bench: &mut Bench) -> Outcome {
    if !bench.surfaces.contains(&Surface::Lifecycle) {
        return Err(Verdict::NotApplicable("the connector has no lifecycle".to_owned()));
    }
    let first = must(bench.calls.check().await, "lifecycle.check")?;
    let again = must(bench.calls.check().await, "lifecycle.check, the second time,")?;
    const ID: &str = "externalAccountId is the provider's own id of the account: by it the host recognizes a second connection to the same account";
    ensure(!first.external_account_id.is_empty(), || "externalAccountId is empty".to_owned(), ID)?;
    let (one, other) = (first.external_account_id, again.external_account_id);
    ensure(one == other, || format!("externalAccountId is \"{one}\" and then \"{other}\""), ID)?;
    for surface in &first.surfaces {
        let known = Surface::parse(surface).is_some_and(|surface| bench.surfaces.contains(&surface));
        ensure(
            known,
            || format!("the account has the surface \"{surface}\", which the component does not export"),
            "surfaces lists those of the manifest's surfaces that this account has: email, calendar, contacts, tasks",
        )?;
    }
    Ok(())
}

pub async fn lists(bench: &mut Bench) -> Outcome {
    bench.needs_tasks()?;
    let of = (Surface::Tasks, Verb::Fetch, "lists.list");
    let pages = bench.walk(of, &Default::default(), None).await?;
    ensure(
        pages.iter().all(|page| page.sources.enumeration),
        || "lists.list answers with enumeration: false".to_owned(),
        "lists.list returns all lists: say enumeration: true, else a deleted list is never removed",
    )?;
    let ids = |sources: Vec<model::wire::Source>| -> Vec<String> {
        sources.into_iter().map(|s| s.external_id).collect()
    };
    let first = ids(pages.into_iter().flat_map(|page| page.sources.sources).collect());
    let mut seen = HashSet::new();
    for id in &first {
        ensure(
            !id.is_empty() && id.len() <= MOST_ID,
            || format!("a list has an id of {} bytes", id.len()),
            "externalId is the provider's id of the list, 1 to 1,024 bytes",
        )?;
        ensure(
            seen.insert(id),
            || format!("the list \"{id}\" is reported twice"),
            "each page begins behind the last list of the page before",
        )?;
    }
    let again = ids(bench.lists().await?);
    ensure(
        first == again,
        || format!("lists.list returns {first:?}, then {again:?}"),
        "nothing has changed in between: return the same lists in the same order",
    )
}

pub async fn refused(bench: &mut Bench) -> Outcome {
    if !bench.surfaces.contains(&Surface::Lifecycle) {
        return Err(Verdict::NotApplicable("the connector has no lifecycle".to_owned()));
    }
    bench.line.take_exchanges();
    bench.line.spoil_all(Fault::Answer(401, Vec::new(), "{}"));
    let checked = bench.calls.check().await;
    bench.line.mend();
    if bench.line.take_exchanges().is_empty() {
        return Err(Verdict::NotApplicable("lifecycle.check sends no HTTP request".to_owned()));
    }
    const HELP: &str =
        "a rejected credential is failure auth-expired: the host then asks the user to connect again";
    match checked {
        Err(error) if error.code == Code::AuthExpired => Ok(()),
        Err(error) => failed(format!("a 401 to lifecycle.check becomes {}", describe_error(&error)), HELP),
        Ok(_) => failed("the provider answered 401, and lifecycle.check returned an account", HELP),
    }
}
