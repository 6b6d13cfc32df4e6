//! The clock and the randomness of the whole host: real in service, movable and seeded in tests.

use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use model::Instant;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// The source of the time. A fixed clock changes only when a test moves it. All clones of a clock show the same time.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System(Arc<SystemClock>),
    Fixed(Arc<AtomicI64>),
}

/// The machine's clock, or the followed clock that replaces it.
struct SystemClock {
    /// Milliseconds by which a test has set the machine's clock.
    set_by_ms: AtomicI64,
    /// The followed clock's time when the steady clock began, ms since 1970; `FOLLOWS_NONE` while none is followed.
    followed_ms: AtomicI64,
}

/// No clock is followed.
const FOLLOWS_NONE: i64 = i64::MIN;

impl SystemClock {
    /// The time that the machine shows, ms since 1970.
    fn machine_ms(&self) -> i64 {
        system_ms().saturating_add(self.set_by_ms.load(Ordering::SeqCst))
    }

    fn now_ms(&self) -> i64 {
        match self.followed_ms.load(Ordering::SeqCst) {
            FOLLOWS_NONE => self.machine_ms(),
            began_at => began_at.saturating_add(steady_ms()),
        }
    }
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Clock(Source::System(Arc::new(SystemClock {
            set_by_ms: AtomicI64::new(0),
            followed_ms: AtomicI64::new(FOLLOWS_NONE),
        })))
    }

    /// A clock that shows `start` until it is moved.
    pub fn fixed(start: Instant) -> Self {
        Clock(Source::Fixed(Arc::new(AtomicI64::new(start.as_millis()))))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System(clock) => clock.now_ms(),
            Source::Fixed(ms) => ms.load(Ordering::SeqCst),
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_millis(self.now_ms())
    }

    /// Moves a fixed clock forward; has no effect on the system clock.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Source::Fixed(ms) = &self.0 {
            ms.fetch_add(by_ms, Ordering::SeqCst);
        }
    }

    /// Follows another clock, which shows `shown_ms` at this moment. From now on this clock advances from there, and ignores
    /// changes of the machine's clock. Hosts that share a database follow the database's clock in this way. A fixed clock stays
    /// as it is.
    ///
    /// While the machine is suspended the clock stands still: a host that follows another clock has to call this repeatedly.
    pub fn follow_ms(&self, shown_ms: i64) {
        if let Source::System(clock) = &self.0 {
            clock.followed_ms.store(shown_ms.saturating_sub(steady_ms()), Ordering::SeqCst);
        }
    }

    /// Whether another clock than the machine's is followed.
    pub fn is_following(&self) -> bool {
        matches!(&self.0, Source::System(clock) if clock.followed_ms.load(Ordering::SeqCst) != FOLLOWS_NONE)
    }

    /// Returns the time of the machine's own clock, even while another clock is followed; none for a fixed clock.
    pub fn machine_ms(&self) -> Option<i64> {
        match &self.0 {
            Source::System(clock) => Some(clock.machine_ms()),
            Source::Fixed(_) => None,
        }
    }

    /// Shifts the machine's clock as this clock sees it, forward or back. For tests of a machine whose clock is wrong.
    pub fn set_machine_by_ms(&self, by_ms: i64) {
        if let Source::System(clock) = &self.0 {
            clock.set_by_ms.fetch_add(by_ms, Ordering::SeqCst);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system clock")]
fn system_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// Milliseconds of a monotonic clock since the first call in this process.
fn steady_ms() -> i64 {
    static BEGAN_AT: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    i64::try_from(BEGAN_AT.elapsed().as_millis()).unwrap_or(i64::MAX)
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], left: 0 }) };
}

const POOL_BYTES: usize = 1024;

/// Random bytes of the operating system, read for many requests at a time to save system calls.
struct Pool {
    bytes: [u8; POOL_BYTES],
    left: usize,
}

impl Pool {
    fn take(&mut self, out: &mut [u8]) {
        let fill = |bytes: &mut [u8]| {
            getrandom::fill(bytes).expect("the operating system's random generator works");
        };
        if out.len() > POOL_BYTES {
            return fill(out);
        }
        if self.left < out.len() {
            fill(&mut self.bytes);
            self.left = POOL_BYTES;
        }
        let taken = &mut self.bytes[self.left - out.len()..self.left];
        out.copy_from_slice(taken);
        // Returned bytes may be a secret.
        taken.zeroize();
        self.left -= out.len();
    }
}

/// The source of random bytes. A seeded one repeats the same stream, so that a test can replay a run.
#[derive(Clone)]
pub struct Entropy(Option<(u64, Arc<AtomicU64>)>);

impl Entropy {
    /// The operating system's generator.
    pub fn system() -> Self {
        Entropy(None)
    }

    /// A repeatable stream. For tests only: it is not secret.
    pub fn seeded(seed: u64) -> Self {
        Entropy(Some((seed, Arc::new(AtomicU64::new(0)))))
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        match &self.0 {
            None => POOL.with_borrow_mut(|pool| pool.take(&mut out)),
            Some((seed, counter)) => {
                for chunk in out.chunks_mut(32) {
                    let n = counter.fetch_add(1, Ordering::SeqCst);
                    let block = Sha256::new()
                        .chain_update(seed.to_be_bytes())
                        .chain_update(n.to_be_bytes())
                        .finalize();
                    chunk.copy_from_slice(&block[..chunk.len()]);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MS: i64 = 60_000;

    #[test]
    fn a_clock_that_follows_another_takes_no_notice_when_the_machines_is_set() {
        let clock = Clock::system();
        assert!(!clock.is_following());
        let before = clock.now_ms();
        clock.set_machine_by_ms(5 * MINUTE_MS);
        assert!(
            clock.now_ms() >= before + 5 * MINUTE_MS,
            "a machine's clock is believed where there is no other"
        );

        let copy = clock.clone();
        clock.follow_ms(1_000);
        for by_ms in [5 * MINUTE_MS, -60 * MINUTE_MS] {
            clock.set_machine_by_ms(by_ms);
            assert!((1_000..1_000 + MINUTE_MS).contains(&copy.now_ms()), "{}", copy.now_ms());
        }
        assert!(copy.is_following());
        let machine_ms = clock.machine_ms().unwrap();
        assert!((before - 50 * MINUTE_MS..before - 49 * MINUTE_MS).contains(&machine_ms), "{machine_ms}");
    }

    #[test]
    fn a_fixed_clock_follows_none() {
        let clock = Clock::fixed(Instant::from_millis(7));
        clock.follow_ms(1_000);
        clock.set_machine_by_ms(1_000);
        assert_eq!((clock.now_ms(), clock.is_following(), clock.machine_ms()), (7, false, None));
    }
}
