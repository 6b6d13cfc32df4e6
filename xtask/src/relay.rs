//! A relay in front of a server of this machine. It can record the bytes that it passes on, and delay them like the network between two
//! machines. The harness of the tests compiles this file too (`tests/harness/database_delay.rs`).

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Maximum delayed pieces in one direction.
const UNDER_WAY: usize = 64;

/// The most bytes of a piece.
const PIECE_BYTES: usize = 256 << 10;

/// A relay, open until the process ends.
pub struct Relay {
    pub port: u16,
    /// The delay of a piece, in microseconds.
    distance: Arc<AtomicU64>,
}

/// Bytes in transit, with the time of their arrival.
struct Piece {
    arrives: Instant,
    bytes: Vec<u8>,
}

/// The end of one direction of a connection.
struct Destination {
    /// For pieces that are not delayed.
    near: TcpStream,
    /// For pieces that are.
    far: SyncSender<Piece>,
}

impl Relay {
    /// Opens a relay to the server at this port. `note` is called with each piece before it is passed on: the number of its connection,
    /// whether the client sent it, and its bytes.
    pub fn open(port: u16, note: impl Fn(usize, bool, &[u8]) + Send + Sync + 'static) -> Result<Relay> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
        let relay = Relay { port: listener.local_addr()?.port(), distance: Arc::default() };
        let (distance, note) = (Arc::clone(&relay.distance), Arc::new(note));
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                let note = Arc::clone(&note);
                let note = move |is_client: bool, bytes: &[u8]| note(number, is_client, bytes);
                // A client that cannot be served sees a closed connection.
                let _ = serve(&client, server, &distance, note);
            }
        });
        Ok(relay)
    }

    /// Delays each piece by this time from now on, in each direction, however many are in transit. The delay can only grow.
    pub fn move_away(&self, distance: Duration) {
        let micros = u64::try_from(distance.as_micros()).unwrap_or(u64::MAX);
        self.distance.store(micros, Ordering::Relaxed);
    }
}

fn serve<N>(client: &TcpStream, server: SocketAddr, distance: &Arc<AtomicU64>, note: N) -> Result<()>
where
    N: Fn(bool, &[u8]) + Clone + Send + 'static,
{
    let server = TcpStream::connect(server)?;
    for (from, to, is_client) in [(client, &server, true), (&server, client, false)] {
        from.set_nodelay(true)?;
        let (sender, receiver) = mpsc::sync_channel(UNDER_WAY);
        let (from, to, near) = (from.try_clone()?, to.try_clone()?, to.try_clone()?);
        let (distance, note) = (Arc::clone(distance), note.clone());
        let destination = Destination { near, far: sender };
        thread::spawn(move || receive(from, destination, &distance, |bytes| note(is_client, bytes)));
        thread::spawn(move || deliver(to, &receiver));
    }
    Ok(())
}

fn receive(mut from: TcpStream, mut to: Destination, distance: &AtomicU64, note: impl Fn(&[u8])) {
    let mut buffer = vec![0; PIECE_BYTES];
    while let Ok(count) = from.read(&mut buffer) {
        let distance = Duration::from_micros(distance.load(Ordering::Relaxed));
        let bytes = buffer.get(..count).unwrap_or_default();
        note(bytes);
        let is_taken = match distance.is_zero() {
            true => to.near.write_all(bytes).is_ok(),
            false => {
                let piece = Piece { arrives: Instant::now() + distance, bytes: bytes.to_vec() };
                to.far.send(piece).is_ok()
            }
        };
        if count == 0 || !is_taken {
            break;
        }
    }
}

fn deliver(mut to: TcpStream, pieces: &Receiver<Piece>) {
    for piece in pieces {
        thread::sleep(piece.arrives.saturating_duration_since(Instant::now()));
        if to.write_all(&piece.bytes).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::Relay;

    /// Bytes of the large transfer, far more than `UNDER_WAY` pieces hold back.
    const LARGE: usize = 32 << 20;

    /// An echo server, for one client after the other.
    fn echo() -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut to = client.try_clone().unwrap();
                std::io::copy(&mut &client, &mut to).unwrap();
            }
        });
        port
    }

    #[test]
    fn bytes_arrive_late_and_are_late_together() {
        let (sender, notes) = mpsc::channel();
        let note = move |number: usize, is_client: bool, bytes: &[u8]| {
            // The receiver is gone after the test, while data is still being sent.
            let _ = sender.send((number, is_client, bytes.len()));
        };
        let relay = Relay::open(echo(), note).unwrap();
        relay.move_away(Duration::from_millis(20));
        let mut client = TcpStream::connect(("127.0.0.1", relay.port)).unwrap();
        let start = Instant::now();
        client.write_all(b"ping").unwrap();
        let mut answer = [0; 4];
        client.read_exact(&mut answer).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(40), "{:?}", start.elapsed());
        assert_eq!(
            (&answer, notes.recv().unwrap(), notes.recv().unwrap()),
            (b"ping", (0, true, 4), (0, false, 4))
        );
        drop(notes);

        // If the delays added up, its 128 pieces or more would take 5 s.
        let mut sending = client.try_clone().unwrap();
        let start = Instant::now();
        let sender = thread::spawn(move || sending.write_all(&vec![7; LARGE]).unwrap());
        let mut received = vec![0; LARGE];
        client.read_exact(&mut received).unwrap();
        sender.join().unwrap();
        assert!(received.iter().all(|byte| *byte == 7));
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }
}
