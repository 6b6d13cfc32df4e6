//! A relay before a server that speaks in lines: it passes everything on, until a test has it stop at a step and hold the line there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

/// The step at which the relay stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A client comes; it is not connected on.
    Connect,
    /// A line of the client that begins so is not passed on.
    Line(&'static str),
    /// Half of the message was passed on.
    HalfOfTheData,
    /// All of the message was passed on but the dot that ends it.
    AllButTheDot,
    /// The dot was passed on, the server has answered, the client does not get the answer.
    Dot,
    /// The client has the answer.
    Answer,
    /// An APPEND was passed on with its message, the server has answered, the client does not get the answer.
    Append,
}

#[derive(Default)]
struct Shared {
    stop: Option<Step>,
    /// Notified when the stop is reached.
    tell: Option<mpsc::Sender<()>>,
    lines: Vec<TcpStream>,
    /// How often all lines were cut.
    cuts: usize,
}

/// With what rings when lines are cut.
type State = (Mutex<Shared>, Condvar);

/// A running relay.
pub struct Relay {
    pub port: u16,
    shared: Arc<State>,
}

impl Relay {
    /// Before the server on this port of this machine.
    pub fn before(port: u16) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address").port();
        let shared: Arc<State> = Arc::default();
        let of_lines = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = of_lines.clone();
                std::thread::spawn(move || passed(client, port, &state));
            }
        });
        Relay { port: own, shared }
    }

    /// From now on the first line that gets to this step is held there; the receiver says when. Lines of before are cut.
    pub fn stop_at(&self, step: Step) -> mpsc::Receiver<()> {
        self.cut();
        let (tell, told) = mpsc::channel();
        let mut shared = self.shared.0.lock().expect("nobody panics here");
        (shared.stop, shared.tell) = (Some(step), Some(tell));
        told
    }

    /// Cuts every line.
    pub fn cut(&self) {
        let (shared, bell) = &*self.shared;
        let mut shared = shared.lock().expect("nobody panics here");
        for line in shared.lines.drain(..) {
            // It may be closed already.
            let _ = line.shutdown(Shutdown::Both);
        }
        shared.cuts += 1;
        bell.notify_all();
    }
}

/// Returns whether this is the step to stop at; if so the test is notified, and no other step stops.
fn is_stop((shared, _): &State, is: impl Fn(Step) -> bool) -> bool {
    let mut shared = shared.lock().expect("nobody panics here");
    if !shared.stop.is_some_and(is) {
        return false;
    }
    shared.stop = None;
    if let Some(tell) = shared.tell.take() {
        // A test that ended does not wait.
        let _ = tell.send(());
    }
    true
}

/// Keeps the line as it is, with nothing read of it, until the test cuts it.
fn hold((shared, bell): &State) {
    let now = shared.lock().expect("nobody panics here");
    let cuts = now.cuts;
    let cut = bell.wait_while(now, |now| now.cuts == cuts);
    drop(cut.expect("nobody panics here"));
}

/// The state of the server's responses on a connection.
#[derive(Default)]
struct Answers {
    /// They are kept from the client.
    are_held: bool,
    /// How often something came.
    count: usize,
}

type Gate = (Mutex<Answers>, Condvar);

fn passed(client: TcpStream, port: u16, state: &State) {
    let own = client.try_clone().expect("a socket");
    state.0.lock().expect("nobody panics here").lines.push(own);
    if is_stop(state, |step| step == Step::Connect) {
        return hold(state);
    }
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
    let own = server.try_clone().expect("a socket");
    state.0.lock().expect("nobody panics here").lines.push(own);
    let (Ok(to_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
    let gate: Arc<Gate> = Arc::default();
    let of_answers = gate.clone();
    let answers = std::thread::spawn(move || answers_passed(from_server, to_client, &of_answers));
    requests_passed(&client, &server, state, &gate);
    // They may be closed already.
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
    answers.join().expect("it ends with its line");
}

fn answers_passed(mut from_server: TcpStream, mut to_client: TcpStream, (answers, bell): &Gate) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read) = from_server.read(&mut bytes) {
        let Some(bytes) = bytes.get(..read).filter(|bytes| !bytes.is_empty()) else { return };
        let mut answers = answers.lock().expect("nobody panics here");
        if !answers.are_held && to_client.write_all(bytes).is_err() {
            return;
        }
        answers.count += 1;
        bell.notify_all();
    }
}

fn requests_passed(client: &TcpStream, mut server: &TcpStream, state: &State, gate: &Gate) {
    let mut reader = BufReader::new(client);
    // Lines of the message that have passed, while one passes.
    let mut data: Option<usize> = None;
    loop {
        let mut line = Vec::new();
        if !reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            return;
        }
        let word = String::from_utf8_lossy(&line).to_uppercase();
        if let Some(lines) = &mut data {
            *lines += 1;
            let is_end = line == b".\r\n";
            let is_here = |step| match step {
                Step::HalfOfTheData => *lines == 4,
                Step::AllButTheDot => is_end,
                _ => false,
            };
            let is_last = is_end && answered(&line, server, state, gate, &[Step::Dot, Step::Answer]);
            if is_last || is_stop(state, is_here) {
                return hold(state);
            }
            if is_end {
                data = None;
            }
        } else if is_stop(state, |step| matches!(step, Step::Line(start) if word.starts_with(start))) {
            return hold(state);
        } else if word.starts_with("DATA") {
            data = Some(0);
        } else if let Some(length) = appended(&word) {
            let mut message = vec![0; length + 2];
            if server.write_all(&line).and_then(|()| reader.read_exact(&mut message)).is_err() {
                return;
            }
            if answered(&message, server, state, gate, &[Step::Append]) {
                return hold(state);
            }
            line = message;
        }
        if server.write_all(&line).is_err() {
            return;
        }
    }
}

/// The length of the message that an APPEND brings.
fn appended(line: &str) -> Option<usize> {
    let (_, length) = line.split_once(" APPEND ")?.1.trim_end().rsplit_once('{')?;
    length.strip_suffix('}')?.trim_end_matches('+').parse().ok()
}

/// If it is to stop at one of these steps: passes the end of a message on, waits for the server's answer, and notifies the test.
fn answered(
    end: &[u8],
    mut server: &TcpStream,
    state: &State,
    (answers, bell): &Gate,
    steps: &[Step],
) -> bool {
    let stop = state.0.lock().expect("nobody panics here").stop;
    let Some(stop) = stop.filter(|stop| steps.contains(stop)) else { return false };
    let mut now = answers.lock().expect("nobody panics here");
    now.are_held = stop != Step::Answer;
    let before = now.count;
    if server.write_all(end).is_ok() {
        let limit = Duration::from_secs(20);
        let waited = bell.wait_timeout_while(now, limit, |now| now.count == before);
        assert!(
            !waited.expect("nobody panics here").1.timed_out(),
            "the server says nothing to a whole message"
        );
    }
    is_stop(state, |step| step == stop)
}
