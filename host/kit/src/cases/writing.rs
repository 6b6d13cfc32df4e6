//! Changes at the provider.

use crate::bench::{Bench, Outcome, ensure, must, titles, told};
use crate::line::Fault;

const ONCE: &str = "make the provider's id of a new item from the idempotency key, or hand the key on: a repeated attempt must find what the first one left";

pub async fn idempotent(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let first = bench.create(&list, "swkit-W1", "kit-W1").await?;
    let again = must(bench.try_create(&list, "swkit-W1", "kit-W1").await, "the same tasks.create again")?;
    let told = titles(&bench.tasks(&list, 0, None).await?);
    let times = told.iter().filter(|title| *title == "swkit-W1").count();
    ensure(times == 1, || format!("one creation, asked for twice, has made {times} tasks"), ONCE)?;
    ensure(
        first.item.is_some() && first.item == again.item,
        || format!("the answer names {:?}, and the second time {:?}", first.item, again.item),
        ONCE,
    )
}

pub async fn lost_answer(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    // It ends the case where the connector cannot write.
    bench.create(&list, "swkit-W2-before", "kit-W2-before").await?;
    bench.line.spoil_next_write(Fault::DropAfter);
    if let Err(error) = bench.try_create(&list, "swkit-W2", "kit-W2").await {
        ensure(
            error.is_transient(),
            || format!("a lost answer becomes {}", told(&error)),
            "nobody knows whether the provider has acted: failure unavailable or timeout, so that the host asks again",
        )?;
    }
    bench.line.mend();
    must(bench.try_create(&list, "swkit-W2", "kit-W2").await, "tasks.create after its answer was lost")?;
    let seen = titles(&bench.tasks(&list, 0, None).await?);
    let times = seen.iter().filter(|title| *title == "swkit-W2").count();
    ensure(
        times == 1,
        || format!("a creation whose answer was lost, asked for again, has made {times} tasks"),
        ONCE,
    )
}
