//! Semaphores by name: limit the concurrent use of each tenant, key or address, so that none of them takes everything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Semaphore;

/// Number of names at which unused ones are first dropped.
const FIRST_SWEEP: usize = 1_024;

/// A semaphore with the same number of permits for each name. A name takes no memory while its permits are neither held nor awaited.
pub struct Shares {
    permits: usize,
    names: Mutex<Names>,
}

struct Names {
    known: HashMap<String, Weak<Semaphore>>,
    /// Number of names at which the next sweep happens: twice the number that the last one left, so that the amortized cost per name is
    /// constant.
    sweep_at: usize,
}

impl Shares {
    pub fn new(permits: usize) -> Self {
        Shares { permits, names: Mutex::new(Names { known: HashMap::new(), sweep_at: FIRST_SWEEP }) }
    }

    /// The semaphore of a name. Its permits count for as long as the semaphore or one of its permits is in use.
    pub fn of(&self, name: &str) -> Arc<Semaphore> {
        let fresh = || Arc::new(Semaphore::new(self.permits));
        let Ok(mut names) = self.names.lock() else { return fresh() };
        if let Some(semaphore) = names.known.get(name).and_then(Weak::upgrade) {
            return semaphore;
        }
        if names.known.len() >= names.sweep_at {
            names.known.retain(|_, semaphore| semaphore.strong_count() > 0);
            names.sweep_at = (names.known.len() * 2).max(FIRST_SWEEP);
        }
        let semaphore = fresh();
        names.known.insert(name.to_owned(), Arc::downgrade(&semaphore));
        semaphore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_own_permits_and_idle_names_are_forgotten() {
        let shares = Shares::new(1);
        let held = shares.of("a").try_acquire_owned().unwrap();
        assert!(shares.of("a").try_acquire_owned().is_err());
        assert!(shares.of("b").try_acquire_owned().is_ok());
        for i in 0..10 * FIRST_SWEEP {
            shares.of(&i.to_string());
        }
        assert!(shares.names.lock().unwrap().known.len() <= FIRST_SWEEP);
        assert!(shares.of("a").try_acquire_owned().is_err(), "what is held is remembered");
        drop(held);
        assert!(shares.of("a").try_acquire_owned().is_ok());
    }
}
