//! Messages whose storing gets no answer.

use crate::bench::{Bench, Outcome, describe_error, ensure, must};
use crate::cases::email::messages::MAIL;
use crate::line::Fault;
use crate::mail_bench::with_subject;
use crate::surface_bench::ItemChange;

/// Requests of one call whose answers are lost, one after the other.
pub const MAX_WRITES: usize = 8;

/// `email.W2`: a message whose storing got no answer is there once after the retry, whichever answer was lost.
pub async fn answer(bench: &mut Bench) -> Outcome {
    const ONCE: &str = "a repeated attempt looks for the message of the first one (by its Message-ID in the folder), or names it by the idempotency key";
    let folder = bench.collection(&MAIL).await?;
    // Ends the case if the connector cannot write.
    bench.create_named(&MAIL, &folder, "W2-before").await?;
    for skipped in 0..MAX_WRITES {
        let of = format!("W2-{skipped}");
        let (label, key) = (MAIL.label(&of), MAIL.key(&of));
        let creation = || ItemChange::create((MAIL.body)(&label));
        bench.line.spoil_write(skipped, Fault::DropAfter);
        let lost = bench.try_write_item(&MAIL, &folder, creation(), &key).await;
        let is_whole = bench.line.mend();
        if let Err(error) = lost {
            ensure(
                error.is_transient(),
                || format!("a lost answer becomes {}", describe_error(&error)),
                "the provider may have acted or not: failure unavailable or timeout, so that the host tries again",
            )?;
        }
        let again = bench.try_write_item(&MAIL, &folder, creation(), &key).await;
        must(again, "storing a message after its answer was lost")?;
        let pages = bench.items(&MAIL, &folder, 0, None).await?;
        let times = with_subject(&pages, &label).len();
        ensure(
            times == 1,
            || {
                format!(
                    "the answer of request {} was lost, and the retry has made {times} messages",
                    skipped + 1
                )
            },
            ONCE,
        )?;
        if is_whole {
            break;
        }
    }
    Ok(())
}
