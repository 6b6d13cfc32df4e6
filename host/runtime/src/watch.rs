//! Development: a folder of connectors that is loaded again whenever something in it changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::packages;
use crate::runtime::Runtime;

/// Files are written in pieces; after this time without an event the writer is done.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Watches until it is dropped.
pub struct Watch {
    _watcher: RecommendedWatcher,
}

impl Runtime {
    /// For development: puts the connectors in the folders of `dir` into service, and again whenever a file there changes.
    /// Ends with the returned guard.
    pub fn watch(&self, dir: &Path) -> anyhow::Result<Watch> {
        start(self.clone(), dir)
    }
}

fn start(runtime: Runtime, dir: &Path) -> anyhow::Result<Watch> {
    let (tell, told) = mpsc::unbounded_channel();
    // The first load is a change too.
    let _ = tell.send(());
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|e| !e.kind.is_access()) {
            let _ = tell.send(());
        }
    })?;
    watcher.watch(dir, RecursiveMode::Recursive)?;
    tokio::spawn(follow(runtime, dir.to_owned(), told));
    Ok(Watch { _watcher: watcher })
}

async fn follow(runtime: Runtime, dir: PathBuf, mut told: mpsc::UnboundedReceiver<()>) {
    while told.recv().await.is_some() {
        while let Ok(Some(())) = tokio::time::timeout(DEBOUNCE, told.recv()).await {}
        let found = match packages::bundled(&dir) {
            Ok(found) => found,
            Err(error) => {
                tracing::error!("the watched folder cannot be read: {error:#}");
                continue;
            }
        };
        for connector in found {
            // Compiled code is cached by content, so an unchanged connector is quick; failures are logged where they happen.
            let _ = runtime.0.registry.load_watched(connector).await;
        }
    }
}
