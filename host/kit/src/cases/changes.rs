//! What changed since a cursor.

use crate::bench::{Bench, Outcome, ensure, titles};

pub async fn created(bench: &mut Bench) -> Outcome {
    let list = bench.filled("C1", 1).await?;
    let before = bench.tasks(&list, 0, None).await?.pop().and_then(|page| page.cursor);
    bench.later(1_000);
    bench.create(&list, "swkit-C1-new", "kit-C1-new").await?;
    let pages = bench.tasks(&list, 0, before.clone()).await?;
    let told = titles(&pages);
    let times = told.iter().filter(|title| *title == "swkit-C1-new").count();
    ensure(
        times == 1,
        || format!("the new task is told {times} times from the cursor before it; told are {told:?}"),
        "the cursor is the provider's token of the moment that the walk began, not of the moment that it ended",
    )?;
    let after = pages.last().and_then(|page| page.cursor.clone());
    let quiet = titles(&bench.tasks(&list, 0, after).await?);
    ensure(
        !quiet.contains(&"swkit-C1-new".to_owned()),
        || "the new task is told again from the cursor behind it".to_owned(),
        "each page's cursor is the one that the provider gave with it",
    )
}
