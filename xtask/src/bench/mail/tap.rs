//! A door before a provider that remembers what goes through it: what is asked of the provider for one request to us, so that a native
//! client can ask the same. Both sides go through such a door, so that it costs both the same. It can be as far away as servers are.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// What went one way before something went the other way.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Client(Vec<u8>),
    /// So many bytes of the provider.
    Provider(usize),
}

/// Pieces that are under way in one direction at most.
const UNDER_WAY: usize = 64;

type Lines = Arc<Mutex<Vec<Vec<Said>>>>;

/// The door; it closes with the process.
pub struct Tap {
    pub port: u16,
    lines: Lines,
    /// How long everything takes to come through, microseconds.
    distance: Arc<AtomicU64>,
}

impl Tap {
    /// Opens one before the provider at this port of the machine.
    pub fn open(port: u16) -> Result<Tap> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
        let (lines, distance) = (Lines::default(), Arc::default());
        let tap = Tap { port: listener.local_addr()?.port(), lines, distance };
        let (lines, distance) = (tap.lines.clone(), tap.distance.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let number = {
                    let mut lines = locked(&lines);
                    lines.push(Vec::new());
                    lines.len() - 1
                };
                // A client that cannot be served sees its line closed.
                let provider = SocketAddr::from(([127, 0, 0, 1], port));
                let _ = serve(client, provider, &distance, (number, &lines));
            }
        });
        Ok(tap)
    }

    /// From now on everything takes this long to come through, in each direction; it does not come nearer again.
    pub fn move_away(&self, distance: Duration) {
        let micros = u64::try_from(distance.as_micros()).unwrap_or(u64::MAX);
        self.distance.store(micros, Ordering::Relaxed);
    }

    /// What goes through while `work` runs, on the one line that is used then, and all that went through that line before.
    pub fn during(&self, work: impl FnOnce() -> Result<()>) -> Result<(Vec<Said>, Vec<Said>)> {
        let before: Vec<usize> = locked(&self.lines).iter().map(Vec::len).collect();
        work()?;
        let lines = locked(&self.lines);
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

fn locked(lines: &Lines) -> MutexGuard<'_, Vec<Vec<Said>>> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(
    client: TcpStream,
    provider: SocketAddr,
    distance: &Arc<AtomicU64>,
    (number, lines): (usize, &Lines),
) -> Result<()> {
    let provider = TcpStream::connect(provider)?;
    for (from, to, is_client) in [(&client, &provider, true), (&provider, &client, false)] {
        from.set_nodelay(true)?;
        let (from, to) = (from.try_clone()?, to.try_clone()?);
        let (near, far) = (to.try_clone()?, to);
        let (lines, distance) = (lines.clone(), distance.clone());
        let (sender, receiver) = mpsc::sync_channel(UNDER_WAY);
        let note = move |bytes: &[u8]| note(&lines, number, is_client, bytes);
        thread::spawn(move || take(from, (near, &sender), &distance, note));
        thread::spawn(move || hand_on(far, &receiver));
    }
    Ok(())
}

/// What is under way, and when it arrives.
type Piece = (Instant, Vec<u8>);

fn take(
    mut from: TcpStream,
    (mut near, far): (TcpStream, &SyncSender<Piece>),
    distance: &AtomicU64,
    note: impl Fn(&[u8]),
) {
    let mut buffer = vec![0; 256 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        let distance = Duration::from_micros(distance.load(Ordering::Relaxed));
        let bytes = buffer.get(..count).unwrap_or_default();
        note(bytes);
        let is_taken = match distance.is_zero() {
            true => near.write_all(bytes).is_ok(),
            false => far.send((Instant::now() + distance, bytes.to_vec())).is_ok(),
        };
        if count == 0 || !is_taken {
            break;
        }
    }
}

fn hand_on(mut to: TcpStream, from: &Receiver<Piece>) {
    for (arrives, bytes) in from {
        thread::sleep(arrives.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = to.shutdown(Shutdown::Write);
}

fn note(lines: &Lines, number: usize, is_client: bool, bytes: &[u8]) {
    let mut lines = locked(lines);
    let Some(said) = lines.get_mut(number) else { return };
    match (said.last_mut(), is_client) {
        _ if bytes.is_empty() => {}
        (Some(Said::Client(last)), true) => last.extend_from_slice(bytes),
        (Some(Said::Provider(count)), false) => *count += bytes.len(),
        (_, true) => said.push(Said::Client(bytes.to_vec())),
        (_, false) => said.push(Said::Provider(bytes.len())),
    }
}
