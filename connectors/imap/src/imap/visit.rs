//! Visits to mailboxes: each selects its mailbox if necessary and runs commands in it. Several visits are pipelined.

use connector_sdk::tcp::TcpError;
use connector_sdk::{Failure, Outcome};
use io_imap::types::command::SelectParameter;
use io_imap::types::response::{Code, Data};

use crate::imap::command::Command;
use crate::imap::commands;
use crate::imap::fetch::FetchedItems;
use crate::imap::input::Sink;
use crate::imap::response::{Response, Status};
use crate::imap::selected::SelectedMailbox;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::imap::value;

/// The access that a visit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Commands to run in a mailbox.
#[derive(Clone, Debug)]
pub struct Visit {
    pub name: String,
    pub access: Access,
    /// Whether to select the mailbox again even if it is selected, for data that only the selection returns.
    pub anew: bool,
    /// The known UIDVALIDITY and modification sequence, since which the selection returns the changes (RFC 7162 section 3.2.5).
    pub since: Option<(u32, u64)>,
    pub commands: Vec<Command>,
}

impl Visit {
    /// Creates a visit that selects the mailbox only if it is not selected with the needed access.
    pub fn new(name: &str, access: Access, commands: Vec<Command>) -> Self {
        Visit { name: name.to_owned(), access, anew: false, since: None, commands }
    }
}

impl Visit {
    /// Creates a visit with commands that need no mailbox.
    pub fn outside(commands: Vec<Command>) -> Self {
        Visit::new("", Access::Read, commands)
    }
}

/// The result of a visit.
#[derive(Clone, Debug, Default)]
pub struct VisitResult {
    /// The mailbox; none if it cannot be selected.
    pub selected: Option<SelectedMailbox>,
    /// The status of the selection, if one was needed.
    pub selection: Option<Status>,
    /// The status of each command. If nothing was selected, the server refused all of them.
    pub statuses: Vec<Status>,
    /// The untagged statuses, such as that with the COPYUID of a MOVE.
    pub untagged: Vec<Status>,
}

impl VisitResult {
    /// Whether the mailbox was selected and all commands succeeded.
    pub fn is_ok(&self) -> bool {
        self.selected.is_some() && self.statuses.iter().all(Status::is_ok)
    }

    /// The first refusal.
    pub fn refusal(&self) -> Option<&Status> {
        self.selection.iter().chain(&self.statuses).find(|status| !status.is_ok())
    }
}

/// The index of a command's visit, and of the command in it; none for the selection.
type CommandPosition = (usize, Option<usize>);

impl Session<'_> {
    /// Makes pipelined visits, which the server processes one after the other. `take` gets each response with its visit, the known state of
    /// the mailbox, and the index of the command (none for the selection).
    pub fn visit(
        &mut self,
        visits: &[Visit],
        mut sink: Option<&mut Sink<'_>>,
        mut take: impl FnMut(usize, &SelectedMailbox, Option<usize>, &Response<'_>),
    ) -> Outcome<Vec<VisitResult>> {
        loop {
            match self.visit_once(visits, sink.as_deref_mut(), &mut take) {
                Err(lost) if self.can_reopen(&lost) => self.reopen()?,
                result => return Ok(result?),
            }
        }
    }

    fn visit_once(
        &mut self,
        visits: &[Visit],
        sink: Option<&mut Sink<'_>>,
        take: &mut impl FnMut(usize, &SelectedMailbox, Option<usize>, &Response<'_>),
    ) -> Result<Vec<VisitResult>, TcpError> {
        let mut all = vec![VisitResult::default(); visits.len()];
        let (commands, places) = self.plan(visits, &mut all);
        let unknown =
            |visit: &Visit| SelectedMailbox { name: visit.name.clone(), ..SelectedMailbox::default() };
        let pairs = visits.iter().zip(&all);
        let mut current: Vec<SelectedMailbox> =
            pairs.map(|(visit, known)| known.selected.clone().unwrap_or_else(|| unknown(visit))).collect();
        let statuses = self.exchange(&commands, sink, &mut |at, response| {
            let Some(Some((visit, command))) = places.get(at).copied() else { return };
            let (Some(selected), Some(visited)) = (current.get_mut(visit), all.get_mut(visit)) else {
                return;
            };
            if command.is_none() {
                selected.learn(response);
            }
            if let Response::Status(status) = response {
                visited.untagged.push(status.clone());
            }
            take(visit, selected, command, response);
        })?;
        for ((status, place), _) in statuses.into_iter().zip(&places).zip(&commands) {
            let Some((visit, command)) = *place else {
                self.enabled = status.is_ok();
                continue;
            };
            let (Some(visited), Some(selected)) = (all.get_mut(visit), current.get(visit)) else { continue };
            if command.is_some() {
                visited.statuses.push(status);
                continue;
            }
            let mut selected = selected.clone();
            selected.read_only |= status.code == Some(Code::ReadOnly);
            visited.selected = status.is_ok().then_some(selected);
            // After a failed selection nothing is selected (RFC 9051 section 6.3.2).
            self.selected = visited.selected.clone();
            visited.selection = Some(status);
        }
        Ok(all)
    }

    /// The commands of all visits in one list.
    fn plan(
        &self,
        visits: &[Visit],
        all: &mut [VisitResult],
    ) -> (Vec<Command>, Vec<Option<CommandPosition>>) {
        let mut commands = Vec::new();
        let mut places = Vec::new();
        if !self.enabled && visits.iter().any(|visit| visit.since.is_some()) {
            let enable = commands::enable_qresync();
            places.extend(enable.iter().map(|_| None));
            commands.extend(enable);
        }
        let mut open = self.selected.clone();
        for (at, (visit, visited)) in visits.iter().zip(all).enumerate() {
            let is_open = open.as_ref().is_some_and(|selected| {
                selected.name == visit.name && (visit.access == Access::Read || !selected.read_only)
            });
            if visit.name.is_empty() {
                // Outside of any mailbox.
            } else if is_open && !visit.anew && visit.since.is_none() {
                visited.selected = self.selected.clone();
            } else {
                commands.push(self.selection(visit));
                places.push(Some((at, None)));
                open = None;
            }
            for (number, command) in visit.commands.iter().enumerate() {
                commands.push(command.clone());
                places.push(Some((at, Some(number))));
            }
        }
        (commands, places)
    }

    fn selection(&self, visit: &Visit) -> Command {
        let has_condstore = self.capabilities.has_condstore();
        let parameter = match visit.since {
            Some((uid_validity, modseq)) => commands::since(uid_validity, modseq),
            None => Some(SelectParameter::CondStore).filter(|_| has_condstore && !self.enabled),
        };
        commands::select(&visit.name, parameter, visit.access == Access::Read)
    }
}

/// The UIDs that a response reports as expunged (RFC 7162 section 3.2.10).
pub fn vanished_uids(response: &Response<'_>) -> Option<UidSet> {
    match response {
        Response::Data(Data::Vanished { known_uids, .. }) => Some(UidSet::from(known_uids)),
        _ => None,
    }
}

/// Adds the UIDs that a search found, which SEARCH lists one by one and ESEARCH (RFC 4731) as a set.
pub fn add_found_uids(response: &Response<'_>, into: &mut UidSet) {
    match response {
        Response::Data(Data::Search(uids, _)) => into.add(&uids.iter().map(|uid| uid.get()).collect()),
        // A slightly malformed answer must not look like an empty mailbox.
        Response::Other(name, _) if name == "SEARCH" => {
            let numbers = response.other("SEARCH").unwrap_or_default();
            let uids = numbers.iter().filter_map(|value| u32::try_from(value.number()?).ok());
            into.add(&uids.collect());
        }
        _ => {
            let values = response.other("ESEARCH").unwrap_or_default();
            let all = values.iter().position(|value| value.is("ALL")).and_then(|at| values.get(at + 1));
            let set = all.and_then(|set| set.text()?.parse::<UidSet>().ok());
            into.add(&set.unwrap_or_default());
        }
    }
}

/// The items of a FETCH response, if it has a UID.
pub fn fetched<'a>(response: &Response<'a>) -> Option<(u32, FetchedItems<'a>)> {
    let Response::Fetch(items) = response else { return None };
    let fetched = FetchedItems::read(value::read(items)?);
    Some((fetched.uid?, fetched))
}

/// Runs commands in the target's mailbox.
pub fn in_mailbox(session: &mut Session, name: &str, commands: Vec<Command>) -> Outcome<VisitResult> {
    let visited = session.visit(&[Visit::new(name, Access::Write, commands)], None, |_, _, _, _| {})?;
    visited.into_iter().next().ok_or_else(|| Failure::unavailable("the server did not answer"))
}

/// The UIDs in a mailbox that a search finds, and its UIDVALIDITY; none if the mailbox cannot be selected.
pub fn search_uids(
    session: &mut Session,
    name: &str,
    program: Command,
    access: Access,
) -> Outcome<Option<(u32, UidSet)>> {
    let mut uids = UidSet::new();
    let visit = Visit { anew: true, ..Visit::new(name, access, vec![program]) };
    let visited = session.visit(&[visit], None, |_, _, command, response| {
        if command.is_some() {
            add_found_uids(response, &mut uids);
        }
    })?;
    let visited = visited.into_iter().next().filter(VisitResult::is_ok);
    Ok(visited.and_then(|visited| visited.selected).map(|selected| (selected.uid_validity, uids)))
}

/// All statuses of a visit, in the order in which they came.
pub fn all_statuses(visited: &VisitResult) -> impl Iterator<Item = &Status> {
    visited.untagged.iter().chain(&visited.statuses)
}
