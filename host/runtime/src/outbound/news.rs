//! Notifications for a listener to a provider that reports changes by itself, with a rate limit.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two notifications.
const QUIET: Duration = Duration::from_secs(1);

/// A report to a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// From now on no change is missed; earlier ones have to be read.
    Listening,
    /// The provider reported a change.
    Changed,
}

/// Receives the notifications. Must return at once.
pub type Listener<'a> = dyn Fn(News) + Send + Sync + 'a;

/// Reports changes to a listener, several within a short time once.
pub(crate) struct Teller<'a> {
    tell: &'a Listener<'a>,
    /// When news was reported last, and whether there has been more since: a server that reports each of a thousand messages
    /// makes the host read once, not a thousand times.
    told_at: Option<Instant>,
    is_more: bool,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(tell: &'a Listener<'a>) -> Self {
        Teller { tell, told_at: None, is_more: false }
    }

    /// Records a change: it is reported now, or together with later ones after `QUIET`.
    pub(crate) fn changed(&mut self) {
        let is_soon = self.told_at.is_some_and(|at| at.elapsed() < QUIET);
        self.is_more = is_soon;
        if !is_soon {
            self.told_at = Some(Instant::now());
            (self.tell)(News::Changed);
        }
    }

    /// When the delayed notification has to be reported; none: there is none.
    pub(crate) fn tell_at(&self) -> Option<Instant> {
        self.told_at.filter(|_| self.is_more).map(|at| at + QUIET)
    }

    /// Reports the delayed notification if it is due.
    pub(crate) fn tell_rest(&mut self) {
        if self.tell_at().is_some_and(|at| at <= Instant::now()) {
            self.changed();
        }
    }
}
