//! What a listener is told of a provider that tells of changes by itself, and how often.

use std::time::Duration;

use tokio::time::Instant;

/// News is told no more often than this.
const QUIET: Duration = Duration::from_secs(1);

/// What a listener is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// From now on nothing is missed; what came before has to be read.
    Listening,
    /// Something is other than it was.
    Changed,
}

/// Takes the news. Must return at once.
pub type Listener<'a> = dyn Fn(News) + Send + Sync + 'a;

/// Tells a listener of changes, of those that come together once.
pub(crate) struct Teller<'a> {
    tell: &'a Listener<'a>,
    /// When news was told last, and whether there has been more since: a server that tells of every message of a thousand makes
    /// the host read once, not a thousand times.
    told_at: Option<Instant>,
    is_more: bool,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(tell: &'a Listener<'a>) -> Self {
        Teller { tell, told_at: None, is_more: false }
    }

    /// Something has changed: it is told now, or with what comes soon after.
    pub(crate) fn changed(&mut self) {
        let is_soon = self.told_at.is_some_and(|at| at.elapsed() < QUIET);
        self.is_more = is_soon;
        if !is_soon {
            self.told_at = Some(Instant::now());
            (self.tell)(News::Changed);
        }
    }

    /// Until when nothing has to be told.
    pub(crate) fn tell_at(&self) -> Option<Instant> {
        self.told_at.filter(|_| self.is_more).map(|at| at + QUIET)
    }

    /// Tells what was held back, where it is time for it.
    pub(crate) fn tell_rest(&mut self) {
        if self.tell_at().is_some_and(|at| at <= Instant::now()) {
            self.changed();
        }
    }
}
