//! The imports beside `http`: log, clock, random and blob. Host functions run on the guest's own small stack, so they stay
//! thin; each call counts.

use wasmtime::component::{HasSelf, Linker};

use crate::bindings::{blob, clock, http, log, progress, random, tcp, time_zones, types};
use crate::log::LogLevel;
use crate::state::State;

/// Most random bytes and most blob bytes per call (`wit/host.wit`).
const RANDOM_BYTES: u32 = 65_536;
const BLOB_BYTES: u32 = 1 << 20;

/// Links everything that `world imports` names.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    http::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    log::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    clock::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    random::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    blob::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    tcp::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    progress::add_to_linker::<_, HasSelf<State>>(linker, |s| s)?;
    time_zones::add_to_linker::<_, HasSelf<State>>(linker, |s| s)
}

impl types::Host for State {}

impl log::Host for State {
    fn log(&mut self, level: String, message: String, fields: Vec<(String, String)>) -> wasmtime::Result<()> {
        self.host_calls.count()?;
        self.log.line(LogLevel::parse(&level), &message, &fields);
        Ok(())
    }
}

impl progress::Host for State {
    async fn reached(&mut self, step: String) -> wasmtime::Result<()> {
        self.host_calls.count()?;
        let Some(progress) = self.progress.clone() else { return Ok(()) };
        self.cpu.pause();
        let reached = self.egress.spawn(async move { progress.reached(&step).await }).await;
        self.cpu.resume();
        // A step that could not be stored ends the call before the message is handed over.
        match reached {
            Some(Ok(())) => Ok(()),
            Some(Err(e)) => {
                Err(wasmtime::Error::msg(format!("the host cannot record how far the call got: {e}")))
            }
            None => Err(wasmtime::Error::msg("the host gave up recording how far the call got")),
        }
    }
}

impl clock::Host for State {
    fn now_ms(&mut self) -> wasmtime::Result<i64> {
        self.host_calls.count()?;
        Ok((self.now)())
    }
}

impl random::Host for State {
    fn bytes(&mut self, len: u32) -> wasmtime::Result<Vec<u8>> {
        self.host_calls.count()?;
        if len > RANDOM_BYTES {
            return Err(wasmtime::Error::msg(format!("random.bytes: {len} is more than {RANDOM_BYTES}")));
        }
        self.random.bytes(len as usize)
    }
}

impl blob::Host for State {
    fn size(&mut self, id: String) -> wasmtime::Result<Option<u64>> {
        self.host_calls.count()?;
        Ok(self.blobs.get(&id).map(|b| b.size()))
    }

    fn read(&mut self, id: String, offset: u64, len: u32) -> wasmtime::Result<Option<Vec<u8>>> {
        self.host_calls.count()?;
        let Some(blob) = self.blobs.get(&id) else { return Ok(None) };
        // A failure to read our own temporary file is the host's fault; the guest sees no such blob.
        Ok(blob.read(offset, len.min(BLOB_BYTES) as usize).ok().map(Vec::from))
    }

    fn create(&mut self, content: Vec<u8>, content_type: Option<String>) -> wasmtime::Result<Option<String>> {
        self.host_calls.count()?;
        Ok(self.blobs.create(&content, content_type))
    }
}
