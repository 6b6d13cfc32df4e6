//! The clock and the randomness that everything else is given: real in service, movable and seeded in tests.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use model::Instant;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Where the time comes from. A fixed clock stands still until a test moves it. All clones of a clock show the same time.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    /// The machine's clock, and the milliseconds to add to what it shows.
    System(Arc<AtomicI64>),
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Clock(Source::System(Arc::default()))
    }

    /// A clock that shows `start` until it is moved.
    pub fn fixed(start: Instant) -> Self {
        Clock(Source::Fixed(Arc::new(AtomicI64::new(start.as_millis()))))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System(offset) => system_ms().saturating_add(offset.load(Ordering::SeqCst)),
            Source::Fixed(ms) => ms.load(Ordering::SeqCst),
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_millis(self.now_ms())
    }

    /// Moves a fixed clock forward; the system clock takes no notice.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Source::Fixed(ms) = &self.0 {
            ms.fetch_add(by_ms, Ordering::SeqCst);
        }
    }

    /// Corrects the machine's clock, for this program alone: from now on it shows `by_ms` more. Hosts that share a database keep to the
    /// database's clock in this way. Returns false for a fixed clock, which takes no notice.
    pub fn correct_ms(&self, by_ms: i64) -> bool {
        match &self.0 {
            Source::System(offset) => {
                offset.fetch_add(by_ms, Ordering::SeqCst);
                true
            }
            Source::Fixed(_) => false,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system clock")]
fn system_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], left: 0 }) };
}

const POOL_BYTES: usize = 1024;

/// Random bytes of the operating system, fetched for many requests at once: every request needs some.
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
        // What was given out may be a secret.
        taken.zeroize();
        self.left -= out.len();
    }
}

/// Where random bytes come from. A seeded one repeats the same stream, so that a test can replay a run.
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
