//! The file that persists the state: one JSON line per request that changed something, on disk before the answer is sent.
//!
//! A thread owns the file. It writes all pending lines, syncs once, and reports its position (group commit); an answer waits until its own
//! line is on disk. An incomplete line at the end, after a crash, is dropped on the next start: no client got an answer for it. When the
//! file has grown far beyond the state that it describes, a snapshot is written beside it and renamed over it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, bail};
use base::file_lock::FileLock;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::older;
use crate::ops::Op;
use crate::state::State;

/// Minimum bytes of lines after which the file is rewritten.
const MIN_REWRITE_BYTES: u64 = 16 << 20;
/// Maximum bytes of a line.
const MAX_LINE_BYTES: usize = 128 << 20;

/// First line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    /// Format of the lines that follow.
    sandbox_journal: u32,
    /// Part of sync tokens; tokens with that of another journal have expired.
    epoch: String,
}

/// The state of the file on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Durable {
    /// Number of lines on disk, since the start of the process.
    pub lines: u64,
    /// Whether a write failed: then nothing is acknowledged any more.
    pub broken: bool,
}

enum JournalWrite {
    Line(Vec<u8>),
    Rewrite(Vec<u8>),
}

/// The sending end. Without a file (tests) everything counts as on disk at once.
pub struct Journal {
    pub epoch: String,
    sender: Option<mpsc::Sender<JournalWrite>>,
    writer: Option<JoinHandle<()>>,
    durable: watch::Receiver<Durable>,
    appended: u64,
    /// Bytes since the last rewrite.
    bytes: u64,
    snapshot_bytes: u64,
}

impl Journal {
    /// Creates a journal that stores nothing.
    pub fn in_memory(epoch: String) -> Self {
        let (_, durable) = watch::channel(Durable { lines: u64::MAX, broken: false });
        Journal { epoch, sender: None, writer: None, durable, appended: 0, bytes: 0, snapshot_bytes: 0 }
    }

    /// Opens or creates `dir/journal.jsonl` and replays it into `state`. `epoch` is used for a new file. Fails when another
    /// process has locked it, or when a line before the last one cannot be read.
    pub fn open(dir: &Path, epoch: String, state: &mut State) -> anyhow::Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let lock = File::create(dir.join("lock")).context("cannot create the sandbox's lock file")?;
        if lock.try_lock().is_err() {
            bail!("{} is used by another process: stop it or choose another data directory", dir.display());
        }
        let path = dir.join("journal.jsonl");
        let epoch = replay(&path, epoch, state)?;
        let file = OpenOptions::new().append(true).open(&path)?;
        let size = file.metadata()?.len();
        let (sender, messages) = mpsc::channel();
        let (report, durable) = watch::channel(Durable::default());
        let writer = thread::Builder::new()
            .name("sandbox-journal".to_owned())
            .spawn(move || write_all(file, &path, &messages, &report, FileLock::held(lock)))
            .context("cannot start the sandbox's journal thread")?;
        let (sender, writer) = (Some(sender), Some(writer));
        Ok(Journal { epoch, sender, writer, durable, appended: 0, bytes: size, snapshot_bytes: 0 })
    }

    /// Passes changes to the writing thread; `position` then includes them. Must be called in the order of the changes.
    pub fn append(&mut self, ops: &[Op]) -> anyhow::Result<()> {
        let Some(sender) = &self.sender else { return Ok(()) };
        if ops.is_empty() {
            return Ok(());
        }
        let mut line = serde_json::to_vec(ops)?;
        line.push(b'\n');
        self.bytes += line.len() as u64;
        self.appended += 1;
        sender.send(JournalWrite::Line(line)).context("the sandbox's journal has stopped")
    }

    /// Whether the file has grown so far beyond the state that it should be rewritten.
    pub fn needs_rewrite(&self) -> bool {
        self.sender.is_some() && self.bytes > MIN_REWRITE_BYTES.max(2 * self.snapshot_bytes)
    }

    /// Replaces the file by one that contains just this state.
    pub fn rewrite(&mut self, state: &State) -> anyhow::Result<()> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let mut text = header(&self.epoch)?;
        for op in state.snapshot() {
            serde_json::to_writer(&mut text, &[op])?;
            text.push(b'\n');
        }
        self.snapshot_bytes = text.len() as u64;
        self.bytes = self.snapshot_bytes;
        self.appended += 1;
        sender.send(JournalWrite::Rewrite(text)).context("the sandbox's journal has stopped")
    }

    /// Returns the position that the next answer has to wait for.
    pub fn position(&self) -> (u64, watch::Receiver<Durable>) {
        (self.appended, self.durable.clone())
    }

    pub fn is_broken(&self) -> bool {
        self.durable.borrow().broken
    }
}

impl Drop for Journal {
    /// Waits for the thread, at most for one sync, so that another process can then open the file.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(writer) = self.writer.take() {
            // A panic of the thread was reported where it happened.
            let _ = writer.join();
        }
    }
}

fn header(epoch: &str) -> anyhow::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&Header { sandbox_journal: 1, epoch: epoch.to_owned() })?;
    text.push(b'\n');
    Ok(text)
}

/// Reads the file into `state` and cuts off an incomplete last line, or creates the file. Returns its epoch.
fn replay(path: &Path, new_epoch: String, state: &mut State) -> anyhow::Result<String> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let mut lines = BufReader::new(&file);
    let (mut whole_bytes, mut number, mut epoch) = (0, 0, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        number += 1;
        if line.len() > MAX_LINE_BYTES {
            bail!("{}: line {number} is too long", path.display());
        }
        let what =
            || format!("{}: line {number} is damaged: move the file away to start empty", path.display());
        if epoch.is_none() {
            let header: Header = serde_json::from_slice(&line).with_context(what)?;
            if header.sandbox_journal != 1 {
                bail!("{} has a newer format: move it away to start empty", path.display());
            }
            epoch = Some(header.epoch);
        } else {
            let ops = older::read_line(&line).with_context(what)?;
            ops.into_iter().for_each(|op| state.apply(op));
        }
        whole_bytes += read as u64;
    }
    file.set_len(whole_bytes)?;
    let epoch = match epoch {
        Some(epoch) => epoch,
        None => {
            let mut file = &file;
            file.rewind()?;
            file.write_all(&header(&new_epoch)?)?;
            new_epoch
        }
    };
    file.sync_all()?;
    sync_folder(path)?;
    Ok(epoch)
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Runs until the sender is dropped. Holds `_lock` as long.
fn write_all(
    mut file: File,
    path: &Path,
    messages: &mpsc::Receiver<JournalWrite>,
    report: &watch::Sender<Durable>,
    _lock: FileLock,
) {
    let mut lines = 0;
    while let Ok(first) = messages.recv() {
        let batch: Vec<JournalWrite> = std::iter::once(first).chain(messages.try_iter()).collect();
        lines += batch.len() as u64;
        if let Err(error) = write_batch(&mut file, path, batch) {
            tracing::error!(%error, "the sandbox provider's journal cannot be written; it answers 503 from now on");
            report.send_replace(Durable { lines: u64::MAX, broken: true });
            return;
        }
        report.send_replace(Durable { lines, broken: false });
    }
}

fn write_batch(file: &mut File, path: &Path, batch: Vec<JournalWrite>) -> std::io::Result<()> {
    let mut text = Vec::new();
    for message in batch {
        match message {
            JournalWrite::Line(line) => text.extend_from_slice(&line),
            JournalWrite::Rewrite(snapshot) => {
                // Lines gathered before are part of the snapshot.
                text.clear();
                *file = replace(path, &snapshot)?;
            }
        }
    }
    file.write_all(&text)?;
    file.sync_data()
}

fn replace(path: &Path, snapshot: &[u8]) -> std::io::Result<File> {
    let beside: PathBuf = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(snapshot)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(path)?;
    OpenOptions::new().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Journal;
    use crate::calendar::types::{Calendar, Event};
    use crate::ops::Op;
    use crate::state::State;

    fn put(state: &mut State, id: &str) {
        let event = Event { id: id.to_owned(), ..Event::default() };
        state.put("a@sandbox.test", "work", 1, Arc::new(event));
    }

    fn print(state: &State) -> Vec<String> {
        state.snapshot().map(|op| serde_json::to_string(&op).unwrap()).collect()
    }

    /// A rewritten journal describes the same state, and can be continued.
    #[test]
    fn rewrite() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State::default();
        let mut journal = Journal::open(dir.path(), "epoch".to_owned(), &mut state).unwrap();
        state.commit(Op::Account { mail: "a@sandbox.test".into(), name: "A".into(), zone: "UTC".into() });
        state.put_head::<Event>("a@sandbox.test", Calendar { id: "work".into(), ..Calendar::default() });
        for round in 0..3 {
            put(&mut state, "kept");
            put(&mut state, &format!("gone-{round}"));
            state.remove::<Event>("a@sandbox.test", "work", 2, &format!("gone-{round}"));
            journal.append(&state.take_pending()).unwrap();
        }
        state.put_head::<Event>(
            "a@sandbox.test",
            Calendar { id: "work".into(), apart: true, ..Calendar::default() },
        );
        journal.append(&state.take_pending()).unwrap();
        journal.rewrite(&state).unwrap();
        put(&mut state, "later");
        journal.append(&state.take_pending()).unwrap();
        drop(journal);

        let mut again = State::default();
        let journal = Journal::open(dir.path(), "other".to_owned(), &mut again).unwrap();
        assert_eq!(journal.epoch, "epoch");
        assert_eq!(print(&again), print(&state));
        assert_eq!(
            again.folder::<Event>("a@sandbox.test", "work").unwrap().floor,
            1,
            "sync tokens from before go on"
        );
    }

    /// Damage in the middle is reported, not skipped: later lines may depend on it.
    #[test]
    fn damage() {
        let dir = tempfile::tempdir().unwrap();
        let header = "{\"sandboxJournal\":1,\"epoch\":\"e\"}\n";
        std::fs::write(dir.path().join("journal.jsonl"), format!("{header}[{{\"op\":\n[]\n")).unwrap();
        let error = Journal::open(dir.path(), "e".to_owned(), &mut State::default()).err().unwrap();
        assert!(error.to_string().contains("line 2 is damaged"), "{error}");
    }
}
