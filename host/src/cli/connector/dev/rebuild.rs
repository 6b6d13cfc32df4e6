//! Builds the project, one build at a time and again after each change, and loads each result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use authoring::{BuiltComponent, Fault, Profile, Project, SourceWatch, Sources};
use base::clock::Clock;
use runtime::Runtime;
use tokio::sync::mpsc;

use crate::cli::connector::build::{built_unless, render_built};
use crate::cli::connector::dev::shown::print_line;
use crate::cli::connector::project::step;
use crate::cli::connector::test::announce_first_build;

/// Editors write a file in several steps; after this time without an event they are done.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Characters of a digest.
const DIGEST_CHARS: usize = 8;

/// The project, and the state of its last build.
pub struct Rebuild {
    project: Project,
    clock: Clock,
    /// The sources of the last build.
    seen: Sources,
    /// Beginning of the digest of the loaded component.
    in_service: String,
}

/// The end of a build.
enum BuildEnd {
    Built(BuiltComponent),
    /// Files have changed in the meantime.
    CalledOff,
}

/// The watch, and its events.
struct Events {
    _watch: SourceWatch,
    told: mpsc::Receiver<()>,
}

impl Events {
    fn new(project: &Project) -> Result<Events> {
        // One pending event is as good as many.
        let (tell, told) = mpsc::channel(1);
        let watch = SourceWatch::start(project, move || {
            let _ = tell.try_send(());
        })?;
        Ok(Events { _watch: watch, told })
    }

    /// Waits for an event, and until there are no more.
    async fn next(&mut self) {
        self.told.recv().await;
        while let Ok(Some(())) = tokio::time::timeout(DEBOUNCE, self.told.recv()).await {}
    }
}

impl Rebuild {
    pub fn new(project: Project) -> Self {
        Rebuild { project, clock: Clock::system(), seen: Sources::default(), in_service: String::new() }
    }

    /// Returns the folder of the first successful build; shows errors and waits for changes.
    pub async fn first(&mut self) -> Result<PathBuf> {
        announce_first_build(&self.project, Profile::Dev);
        loop {
            let (built, _) = self.next_build().await?;
            match built {
                Ok(built) => {
                    step(&format!("build: {}", render_built(&built)));
                    return Ok(built.folder);
                }
                Err(error) => print_failure(&self.clock, "build failed", &error),
            }
        }
    }

    /// Builds after each change, until the process ends.
    pub async fn follow(&mut self, runtime: &Runtime) -> Result<()> {
        loop {
            let (built, changed) = self.next_build().await?;
            match built {
                Ok(built) => {
                    print_line(&self.clock, &format!("{changed} → built {}", render_built(&built)));
                    self.put_into_service(runtime, &built.folder).await;
                }
                Err(error) => {
                    print_failure(
                        &self.clock,
                        &format!("build failed; {} stays in service", self.in_service),
                        &error,
                    );
                }
            }
        }
    }

    /// Loads a component for all later calls.
    pub async fn put_into_service(&mut self, runtime: &Runtime, folder: &Path) {
        let start = Instant::now();
        let before = runtime.find(&self.project.name).map_or(0, |loaded| loaded.stats().running);
        match runtime.load(folder).await {
            Ok(loaded) => {
                let digest: String = loaded.digest.chars().take(DIGEST_CHARS).collect();
                if digest == self.in_service {
                    print_line(&self.clock, &format!("{digest} is in service already"));
                    return;
                }
                let took = start.elapsed().as_secs_f64();
                let on_old = if self.in_service.is_empty() {
                    String::new()
                } else {
                    format!(", {before} calls in flight on {}", self.in_service)
                };
                print_line(&self.clock, &format!("swapped in {took:.1} s: {digest} is in service{on_old}"));
                self.in_service = digest;
            }
            Err(error) => {
                let stays = if self.in_service.is_empty() {
                    String::new()
                } else {
                    format!("; {} stays in service", self.in_service)
                };
                print_failure(&self.clock, &format!("not put into service{stays}"), &error);
            }
        }
    }

    /// Waits until files differ from those of the last build, and builds them. Returns the changed files as a short text.
    async fn next_build(&mut self) -> Result<(Result<BuiltComponent>, String)> {
        let mut changes = Vec::new();
        loop {
            // A new watch each time, because folders may be new. It starts before the sources are read: later changes are events.
            let mut events = Events::new(&self.project)?;
            let now = Sources::read(&self.project);
            let changed = self.seen.changed(&now);
            if changed.is_empty() {
                events.next().await;
                continue;
            }
            self.seen = now;
            changes.extend(changed);
            changes.dedup();
            match self.build(&mut events).await {
                Ok(BuildEnd::CalledOff) => {}
                Ok(BuildEnd::Built(built)) => return Ok((Ok(built), in_words(&changes))),
                Err(error) => return Ok((Err(error), in_words(&changes))),
            }
        }
    }

    /// Builds the current sources. A newer change cancels it.
    async fn build(&mut self, events: &mut Events) -> Result<BuildEnd> {
        let project = Project::open(&self.project.folder)?;
        self.project = project.clone();
        let guard = CallOff(Arc::default());
        let called_off = guard.0.clone();
        let building =
            tokio::task::spawn_blocking(move || built_unless(&project, Profile::Dev, Some(&called_off)));
        tokio::pin!(building);
        let built = loop {
            tokio::select! {
                built = &mut building => break built.context("the build was not finished")??,
                () = events.next() => {
                    let now = Sources::read(&self.project);
                    let mut read = self.seen.clone();
                    read.built(&now);
                    if read != now {
                        guard.0.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        self.seen.built(&Sources::read(&self.project));
        Ok(built.map_or(BuildEnd::CalledOff, BuildEnd::Built))
    }
}

/// Cancels a build on drop.
struct CallOff(Arc<AtomicBool>);

impl Drop for CallOff {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn print_failure(clock: &Clock, what: &str, error: &anyhow::Error) {
    let help =
        error.downcast_ref::<Fault>().map_or_else(String::new, |fault| format!("\nhelp: {}", fault.help));
    print_line(clock, &format!("✗ {what}: {error:#}{help}"));
}

fn in_words(changed: &[PathBuf]) -> String {
    match changed {
        [] => "changed".to_owned(),
        [one] => format!("changed {}", one.display()),
        [one, others @ ..] => format!("changed {} and {} more", one.display(), others.len()),
    }
}
