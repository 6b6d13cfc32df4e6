//! A proxy before a provider that records its traffic: the provider's requests for one request to us, so that a native client can send
//! the same. Both sides go through such a proxy, so that it costs both the same. It can add a network delay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::relay::Relay;

/// The data that went one way before data went the other way.
#[derive(Clone, Debug, PartialEq)]
pub enum Transmission {
    Client(Vec<u8>),
    /// The number of bytes that the provider sent.
    Provider(usize),
}

type Lines = Arc<Mutex<Vec<Vec<Transmission>>>>;

/// The proxy; it closes with the process.
pub struct Tap {
    pub port: u16,
    relay: Relay,
    lines: Lines,
}

impl Tap {
    /// Opens a proxy before the provider at this port of the machine.
    pub fn open(port: u16) -> Result<Tap> {
        let lines = Lines::default();
        let noted = Arc::clone(&lines);
        let relay = Relay::open(port, move |number: usize, is_client: bool, bytes: &[u8]| {
            note(&noted, number, is_client, bytes);
        })?;
        Ok(Tap { port: relay.port, relay, lines })
    }

    /// Delays everything by this time from now on, in each direction; the delay can only grow.
    pub fn move_away(&self, distance: Duration) {
        self.relay.move_away(distance);
    }

    /// Runs `work` and returns the traffic of the one connection used by it: the earlier traffic, and the traffic during `work`.
    pub fn during(
        &self,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<(Vec<Transmission>, Vec<Transmission>)> {
        let before: Vec<usize> = lock_lines(&self.lines).iter().map(Vec::len).collect();
        work()?;
        let lines = lock_lines(&self.lines);
        let mut used = lines.iter().enumerate().filter_map(|(number, said)| {
            let from = before.get(number).copied().unwrap_or(0);
            let (old, new) = said.split_at(from.min(said.len()));
            (!new.is_empty()).then(|| (old.to_vec(), new.to_vec()))
        });
        let found = used.next().context("nothing was asked of the provider")?;
        ensure!(used.next().is_none(), "the provider was asked on several lines");
        Ok(found)
    }
}

fn lock_lines(lines: &Lines) -> MutexGuard<'_, Vec<Vec<Transmission>>> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(lines: &Lines, number: usize, is_client: bool, bytes: &[u8]) {
    let mut lines = lock_lines(lines);
    if lines.len() <= number {
        lines.resize_with(number + 1, Vec::new);
    }
    let Some(said) = lines.get_mut(number) else { return };
    match (said.last_mut(), is_client) {
        _ if bytes.is_empty() => {}
        (Some(Transmission::Client(last)), true) => last.extend_from_slice(bytes),
        (Some(Transmission::Provider(count)), false) => *count += bytes.len(),
        (_, true) => said.push(Transmission::Client(bytes.to_vec())),
        (_, false) => said.push(Transmission::Provider(bytes.len())),
    }
}
