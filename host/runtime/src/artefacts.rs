//! Compiled code on disk. An artefact is native code that `deserialize` takes as it is, so each carries a MAC under the host's
//! key and is checked in memory before it is used: write access to the folder gains an attacker nothing.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use memmap2::MmapMut;
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::compile::{Compiler, MAX_ARTEFACT};
use crate::engine;
use crate::files;
use crate::shared::SharedCode;

const TAG: usize = 32;
/// Most bytes of an artefact with its tag.
const MAX_FILE: u64 = MAX_ARTEFACT + TAG as u64;

/// The cache. One per process; several processes may share the folder.
pub(crate) struct Artefacts {
    dir: PathBuf,
    key: [u8; 32],
    fingerprint: String,
    engine: Engine,
    compiler: Compiler,
    /// Code that other runtimes of this process have loaded.
    shared: Option<SharedCode>,
}

impl Artefacts {
    pub(crate) fn new(
        dir: &Path,
        key: [u8; 32],
        engine: &Engine,
        compiler: Compiler,
        shared: Option<SharedCode>,
    ) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
        let fingerprint = engine::fingerprint(engine);
        Ok(Artefacts { dir: dir.to_owned(), key, fingerprint, engine: engine.clone(), compiler, shared })
    }

    /// The connector's component with this SHA-256, from the cache or compiled now. If the cached artefact is invalid in any way, it
    /// is compiled again.
    pub(crate) async fn component(
        &self,
        connector: &str,
        wasm: &[u8],
        sha256: &str,
    ) -> anyhow::Result<Component> {
        let name = format!("{sha256}-{}", self.fingerprint);
        let Some(shared) = &self.shared else { return self.load_or_compile(connector, wasm, &name).await };
        if let Some(component) = shared.component(&name) {
            return Ok(component);
        }
        let component = self.load_or_compile(connector, wasm, &name).await?;
        shared.keep(&name, &component);
        Ok(component)
    }

    /// The same without the code that other runtimes have loaded. `name` is the artefact's.
    async fn load_or_compile(&self, connector: &str, wasm: &[u8], name: &str) -> anyhow::Result<Component> {
        let path = self.dir.join(format!("{name}.cwasm"));
        match self.read(&path, name).await {
            Ok(Some(component)) => return Ok(component),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(artefact = %name, "compiled connector is not usable, compiling again: {error:#}");
                let _ = tokio::fs::remove_file(&path).await;
            }
        }
        let code = self.compile(connector, wasm).await?;
        let mut file = self.tag(name, &code).to_vec();
        file.extend_from_slice(&code);
        let path_to_write = path.clone();
        let written =
            tokio::task::spawn_blocking(move || files::write_atomically(&path_to_write, &file)).await?;
        if let Err(error) = written {
            // Without a cache only the next start is slower.
            tracing::warn!(artefact = %name, "compiled connector could not be stored: {error:#}");
        }
        self.load(code.into()).await
    }

    /// Compiles a component when the compiler is free. The log says which one, since this takes seconds, in which a start waits.
    async fn compile(&self, connector: &str, wasm: &[u8]) -> anyhow::Result<Vec<u8>> {
        let turn = self.compiler.wait_for_turn().await?;
        tracing::info!(connector, "compiling connector: this takes some seconds, once for each version");
        let begun = Instant::now();
        let code = turn.compile(wasm).await?;
        tracing::info!(connector, "connector compiled in {:.1} s", begun.elapsed().as_secs_f64());
        Ok(code)
    }

    async fn read(&self, path: &Path, name: &str) -> anyhow::Result<Option<Component>> {
        let of_thread = path.to_owned();
        let mut file = match tokio::task::spawn_blocking(move || in_pages_of_its_own(&of_thread)).await? {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        anyhow::ensure!(file.len() > TAG, "too short");
        let code = file.split_off(TAG);
        self.mac(name, &code).verify_slice(&file).ok().context("its authentication tag is wrong")?;
        self.load(code).await.map(Some)
    }

    async fn load(&self, code: Bytes) -> anyhow::Result<Component> {
        let engine = self.engine.clone();
        tokio::task::spawn_blocking(move || {
            #[expect(
                unsafe_code,
                reason = "the bytes come from our own compiler: just now, or under our own MAC"
            )]
            // SAFETY: `deserialize` needs bytes that `Engine::precompile_component` made. These were returned by the
            // compiler a moment ago, or were verified in memory (not in a file that may change) against a MAC whose key
            // only this host has.
            let component = unsafe { Component::deserialize(&engine, &code) }?;
            // Moves the cost of the first instance out of the first call.
            component.initialize_copy_on_write_image()?;
            Ok(component)
        })
        .await?
    }

    fn mac(&self, name: &str, code: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(name.as_bytes());
        mac.update(&[0]);
        mac.update(code);
        mac
    }

    fn tag(&self, name: &str, code: &[u8]) -> [u8; TAG] {
        self.mac(name, code).finalize().into_bytes().into()
    }
}

/// A file's bytes in memory pages of their own, which are returned to the system afterwards. The allocator would keep tens of
/// megabytes that an idle service never needs again.
fn in_pages_of_its_own(path: &Path) -> std::io::Result<Bytes> {
    let (mut file, length) = files::open_regular(path, MAX_FILE)?;
    let length = usize::try_from(length).map_err(std::io::Error::other)?;
    if length == 0 {
        return Ok(Bytes::new());
    }
    let mut pages = MmapMut::map_anon(length)?;
    file.read_exact(&mut pages)?;
    Ok(Bytes::from_owner(pages))
}
