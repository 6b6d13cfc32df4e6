//! Traps: switches for what integrators of a provider stumble over.

use std::collections::BTreeMap;

/// The traps of a provider that are on.
pub struct Traps {
    /// The names of all traps of the provider.
    names: &'static [&'static str],
    on: BTreeMap<&'static str, Countdown>,
}

/// The number of times that a trap stays silent, and the number of times that it goes off then.
struct Countdown {
    skips: u32,
    times: u32,
}

impl Traps {
    /// The traps with these names, all of them off.
    pub fn new(names: &'static [&'static str]) -> Traps {
        Traps { names, on: BTreeMap::new() }
    }

    /// The names of all traps.
    pub fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Switches a trap on for this many times; 0 switches it off.
    ///
    /// # Errors
    /// No trap has this name.
    pub fn set(&mut self, name: &str, times: u32) -> Result<(), String> {
        self.set_later(name, 0, times)
    }

    /// Switches a trap on for `times` times, after it has stayed silent for `skips` times; 0 times switch it off.
    ///
    /// # Errors
    /// No trap has this name.
    pub fn set_later(&mut self, name: &str, skips: u32, times: u32) -> Result<(), String> {
        let known = self.names.iter().find(|trap| **trap == name);
        let known =
            known.ok_or_else(|| format!("no trap is called {name}; there are {}", self.names.join(", ")))?;
        match times {
            0 => self.on.remove(known),
            times => self.on.insert(*known, Countdown { skips, times }),
        };
        Ok(())
    }

    /// Switches all traps off.
    pub fn clear(&mut self) {
        self.on.clear();
    }

    /// Whether the trap is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.on.contains_key(name)
    }

    /// Uses the trap once, where it is on.
    pub fn fires(&mut self, name: &str) -> bool {
        let Some(countdown) = self.on.get_mut(name) else { return false };
        if countdown.skips > 0 {
            countdown.skips -= 1;
            return false;
        }
        countdown.times = countdown.times.saturating_sub(1);
        if countdown.times == 0 {
            self.on.remove(name);
        }
        true
    }
}
