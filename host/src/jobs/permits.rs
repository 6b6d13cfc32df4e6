//! How many turns of a class run at a time for one application, one connection and one server: whoever waits for a server that hangs leaves
//! room for all others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storage::jobs::{Busy, Candidate};
use storage::wakes::JobClass;

/// Turns that run at a time; none: as many as the class has.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    application: Option<usize>,
    connection: Option<usize>,
    target: Option<usize>,
}

fn limits(class: JobClass) -> Limits {
    match class {
        JobClass::Send => Limits { application: Some(12), connection: Some(2), target: Some(8) },
        _ => Limits::default(),
    }
}

/// The turns of a class that are under way, counted by whose they are.
pub struct Permits {
    limits: Limits,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Default)]
struct Counts {
    applications: BTreeMap<String, usize>,
    connections: BTreeMap<String, usize>,
    targets: BTreeMap<String, usize>,
}

/// Counts as a turn until it is dropped.
pub struct Permit {
    application: String,
    connection: Option<String>,
    target: Option<String>,
    counts: Arc<Mutex<Counts>>,
}

impl Permits {
    /// Of a class of which nothing is under way.
    pub fn new(class: JobClass) -> Permits {
        Permits { limits: limits(class), counts: Arc::default() }
    }

    /// Those who have as many turns as they may.
    pub fn busy(&self) -> Busy {
        let counts = lock(&self.counts);
        Busy {
            applications: full(&counts.applications, self.limits.application),
            connections: full(&counts.connections, self.limits.connection),
            targets: full(&counts.targets, self.limits.target),
        }
    }

    /// A permit for a turn of this job; none when its application, connection or server has as many as it may.
    pub fn take(&self, job: &Candidate) -> Option<Permit> {
        let connection = job.connection_id.clone();
        let target = (!job.target.is_empty()).then(|| job.target.clone());
        let mut counts = lock(&self.counts);
        let limits = self.limits;
        let is_free = has_room(&counts.applications, Some(job.application_id.as_str()), limits.application)
            && has_room(&counts.connections, connection.as_deref(), limits.connection)
            && has_room(&counts.targets, target.as_deref(), limits.target);
        if !is_free {
            return None;
        }
        let application = job.application_id.clone();
        *counts.applications.entry(application.clone()).or_default() += 1;
        if let Some(connection) = &connection {
            *counts.connections.entry(connection.clone()).or_default() += 1;
        }
        if let Some(target) = &target {
            *counts.targets.entry(target.clone()).or_default() += 1;
        }
        Some(Permit { application, connection, target, counts: self.counts.clone() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        give_back(&mut counts.applications, Some(self.application.as_str()));
        give_back(&mut counts.connections, self.connection.as_deref());
        give_back(&mut counts.targets, self.target.as_deref());
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

fn full(counts: &BTreeMap<String, usize>, limit: Option<usize>) -> Vec<String> {
    let Some(limit) = limit else { return Vec::new() };
    counts.iter().filter(|(_, count)| **count >= limit).map(|(name, _)| name.clone()).collect()
}

fn has_room(counts: &BTreeMap<String, usize>, name: Option<&str>, limit: Option<usize>) -> bool {
    let count = name.and_then(|name| counts.get(name)).copied().unwrap_or_default();
    limit.is_none_or(|limit| count < limit)
}

fn give_back(counts: &mut BTreeMap<String, usize>, name: Option<&str>) {
    let Some(name) = name else { return };
    if let Some(count) = counts.get_mut(name) {
        *count -= 1;
        if *count == 0 {
            counts.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(application: &str, connection: &str, target: &str) -> Candidate {
        Candidate {
            id: "send:one".into(),
            kind: "send".into(),
            application_id: application.into(),
            connection_id: Some(connection.into()),
            target: target.into(),
            is_slow: false,
            due_at: 0,
        }
    }

    #[test]
    fn a_connection_a_server_and_an_application_have_a_bound_each() {
        let permits = Permits::new(JobClass::Send);
        let of_one: Vec<_> = (0..3).map_while(|_| permits.take(&job("a", "c0", "s"))).collect();
        assert_eq!(of_one.len(), 2);
        assert_eq!(permits.busy().connections, ["c0"]);
        let of_server: Vec<_> =
            (1..20).map_while(|n| permits.take(&job(&format!("a{n}"), &format!("c{n}"), "s"))).collect();
        assert_eq!(of_server.len(), 6, "with the two before it has eight");
        assert_eq!(permits.busy().targets, ["s"]);
        let of_application: Vec<_> =
            (0..20).map_while(|n| permits.take(&job("a", &format!("d{n}"), &format!("s{n}")))).collect();
        assert_eq!(of_application.len(), 10, "with the two before it has twelve");
        assert_eq!(permits.busy().applications, ["a"]);
        assert!(permits.take(&job("b", "e", "other")).is_some(), "others have room");

        drop((of_one, of_server, limits.application));
        let busy = permits.busy();
        assert!(busy.connections.is_empty() && busy.targets.is_empty() && busy.applications.is_empty());
        assert!(permits.take(&job("a", "c0", "s")).is_some());
    }

    #[test]
    fn jobs_that_name_no_server_share_no_bound_of_servers() {
        let permits = Permits::new(JobClass::Send);
        let held: Vec<_> =
            (0..10).map_while(|n| permits.take(&job(&format!("a{n}"), &format!("c{n}"), ""))).collect();
        assert_eq!(held.len(), 10);
    }

    #[test]
    fn other_classes_have_no_such_bounds() {
        let permits = Permits::new(JobClass::Upkeep);
        let held: Vec<_> = (0..30).map_while(|_| permits.take(&job("a", "c", "s"))).collect();
        assert_eq!(held.len(), 30);
        assert!(permits.busy().connections.is_empty());
    }
}
