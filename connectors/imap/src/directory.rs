//! From external ids back to mailboxes: by the hint where it still fits, else by asking the server.

use std::rc::Rc;

use connector_sdk::{Failure, Outcome};
use model::email::folders::FolderRole;
use model::wire::email::MessageRef;

use crate::folders::{Mailbox, Mailboxes};
use crate::ids::{self, Hint, MessageId};
use crate::imap::all_mail::AllMail;
use crate::imap::commands;
use crate::imap::session::{Session, refused};
use crate::listing;
use crate::message::MailboxRef;

/// The mailboxes, once they were requested.
#[derive(Default)]
pub struct Directory {
    mailboxes: Option<Mailboxes>,
}

/// A message and the mailbox that it is in.
#[derive(Clone, Debug)]
pub struct MessageLocation {
    pub place: MailboxRef,
    pub uid: u32,
    pub hint: Hint,
}

impl MessageLocation {
    /// Its external id.
    pub fn id(&self) -> String {
        self.place.message(self.uid)
    }
}

impl Directory {
    /// All mailboxes.
    pub fn mailboxes(&mut self, session: &mut Session) -> Outcome<&Mailboxes> {
        let known = match self.mailboxes.take() {
            Some(known) => known,
            None => listing::list(session)?,
        };
        Ok(self.mailboxes.insert(known))
    }

    /// Gmail's mailbox of all mail, where the account has one. The mailboxes are listed if the session does not know yet.
    pub fn all_mail(&mut self, session: &mut Session) -> Outcome<Option<Rc<AllMail>>> {
        if session.capabilities.has_labels() && !session.knows_all_mail {
            self.mailboxes(session)?;
        }
        Ok(session.all_mail.clone())
    }

    /// Returns the folder and UID of a message; none where its folder is gone. A hint from before its folder got another name is ignored
    /// if `anew`.
    pub fn locate(
        &mut self,
        session: &mut Session,
        message: &MessageRef,
        anew: bool,
    ) -> Outcome<Option<MessageLocation>> {
        let id: MessageId = message.source.parse()?;
        let hint = Hint::read(message.hint.as_ref());
        if let Some(folder) = hint.folder_id(&id.key).filter(|_| !anew) {
            self.all_mail(session)?;
            let place = MailboxRef::for_session(session, &hint.folder, &folder, id.uid_validity);
            return Ok(Some(MessageLocation { place, uid: id.uid, hint }));
        }
        let mailbox = self.mailboxes(session)?.by_key(&id.key);
        Ok(mailbox.map(|mailbox| {
            let place = MailboxRef::for_session(session, &mailbox.name, &mailbox.id(), id.uid_validity);
            MessageLocation { place, uid: id.uid, hint }
        }))
    }

    /// The mailbox with this external id; its UIDVALIDITY is not yet known.
    pub fn folder(&mut self, session: &mut Session, id: &str) -> Outcome<MailboxRef> {
        self.all_mail(session)?;
        if let Some(name) = ids::folder_name(id) {
            return Ok(MailboxRef::for_session(session, name, id, 0));
        }
        let mailbox = self.mailboxes(session)?.by_id(id);
        let place = mailbox.map(|mailbox| MailboxRef::for_session(session, &mailbox.name, id, 0));
        place.ok_or_else(|| Failure::not_found("there is no such folder"))
    }

    /// The mailbox with this role, if there is one.
    pub fn role(&mut self, session: &mut Session, role: FolderRole) -> Outcome<Option<MailboxRef>> {
        let mailbox = self.mailboxes(session)?.by_role(role);
        Ok(mailbox.map(|mailbox| place(session, mailbox)))
    }

    /// The same; it is made where there is none.
    pub fn role_or_new(
        &mut self,
        session: &mut Session,
        role: FolderRole,
        name: &str,
    ) -> Outcome<MailboxRef> {
        if let Some(place) = self.role(session, role)? {
            return Ok(place);
        }
        let all = &self.mailboxes(session)?.all;
        let delimiter = all.iter().find_map(|mailbox| mailbox.delimiter).unwrap_or('/');
        // Some servers keep everything below the inbox, and refuse mailboxes beside it.
        let below = format!("INBOX{delimiter}{name}");
        let mut refusal = None;
        for name in [name, &below] {
            let statuses = session.run(&[commands::create(name)], |_, _| {})?;
            match statuses.into_iter().next() {
                Some(status) if !status.is_ok() && !status.has_other("ALREADYEXISTS") => {
                    refusal = refusal.or(Some(status));
                }
                _ => {
                    self.mailboxes = None;
                    let found = self.mailboxes(session)?.all.iter().find(|mailbox| mailbox.name == *name);
                    let unlisted = || MailboxRef::new(name, &ids::folder_id(name, None), 0);
                    return Ok(found.map_or_else(unlisted, |mailbox| place(session, mailbox)));
                }
            }
        }
        let what = "making a folder for it";
        Err(refusal.map_or_else(|| Failure::unavailable("no folder could be created"), |s| refused(&s, what)))
    }
}

fn place(session: &Session, mailbox: &Mailbox) -> MailboxRef {
    let uid_validity = mailbox.status.map_or(0, |counts| counts.uid_validity);
    MailboxRef::for_session(session, &mailbox.name, &mailbox.id(), uid_validity)
}
