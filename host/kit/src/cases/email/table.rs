//! The cases of the email surface.

use crate::cases::case::{Case, case};
use crate::cases::email::messages::MAIL;
use crate::cases::email::{drafts, files, flags, folders, lost, moves, odd, paths, sending, texts};
use crate::cases::items::{changes, faults, meanwhile, paging, reading, secrets, walks, writing};

/// In the order in which they run.
pub const EMAIL_CASES: [Case; 45] = [
    case!(
        "email.P1",
        "email",
        "the pages together are every message, and nothing twice",
        paging::pages,
        MAIL
    ),
    case!("email.P2", "email", "a page of messages can be requested again", paging::again, MAIL),
    case!("email.P3", "email", "any limit works for messages", paging::any_limit, MAIL),
    case!("email.P4", "email", "changes of mail begin at the last page's cursor", paging::end, MAIL),
    case!(
        "email.P5",
        "email",
        "a cursor of mail that is not of this version starts over",
        paging::foreign_cursor,
        MAIL
    ),
    case!("email.R1", "email", "a message read by its id is the one in the list", reading::get, MAIL),
    case!("email.R2", "email", "an unknown id of a message is not found", reading::missing, MAIL),
    case!("email.R3", "email", "a deleted message is gone", reading::deleted, MAIL),
    case!(
        "email.C1",
        "email",
        "a new message is reported once from the cursor before it",
        changes::created,
        MAIL
    ),
    case!(
        "email.C2",
        "email",
        "a message whose flags changed is reported once, as it is now",
        flags::changed
    ),
    case!("email.C3", "email", "a deleted message is reported once, as deleted", changes::deleted, MAIL),
    case!("email.C4", "email", "several changes of a message end in the last state", flags::last_state),
    case!("email.C6", "email", "where no message has changed, nothing is reported", changes::quiet, MAIL),
    case!("email.W1", "email", "storing a message twice makes one", writing::idempotent, MAIL),
    case!("email.W2", "email", "a message whose storing gets no answer is there once", lost::answer),
    case!("email.W3", "email", "a change of a flag keeps the rest", flags::keeps_the_rest),
    case!("email.W4", "email", "a change of an older version of a message is rejected", flags::stale_etag),
    case!("email.W6", "email", "a message can be deleted twice", writing::deleted_twice, MAIL),
    case!(
        "email.P6",
        "email",
        "a message deleted between two pages hides no other one",
        walks::deleted_meanwhile,
        MAIL
    ),
    case!("email.C7", "email", "all pages of changes of mail are of one kind", walks::several_pages, MAIL),
    case!(
        "email.C9",
        "email",
        "a change of a message is not reported again from the next cursor",
        walks::not_again,
        MAIL
    ),
    case!(
        "email.W5",
        "email",
        "a change is rejected if the message changed after the connector read it",
        meanwhile::changed_meanwhile,
        MAIL
    ),
    case!(
        "email.F2",
        "email",
        "a rejected credential is reported, whatever was called of mail",
        faults::refused,
        MAIL
    ),
    case!("email.F3", "email", "a rate limit on mail is passed on with its wait", faults::rate_limited, MAIL),
    case!(
        "email.F4",
        "email",
        "an overloaded provider of mail gets the time it asks for",
        faults::overloaded,
        MAIL
    ),
    case!(
        "email.F5",
        "email",
        "an error of a provider of mail is reported as unavailable",
        faults::broken,
        MAIL
    ),
    case!("email.F6", "email", "an answer on mail that does not come is a timeout", faults::slow, MAIL),
    case!("email.F7", "email", "half an answer on mail is no answer", faults::cut, MAIL),
    case!(
        "email.F8",
        "email",
        "an answer on mail that is not the expected JSON is no answer",
        faults::malformed,
        MAIL
    ),
    case!(
        "email.F12",
        "email",
        "a redirect of mail to another host is not followed",
        faults::redirected,
        MAIL
    ),
    case!(
        "email.F13",
        "email",
        "a provider of mail that cannot be reached is tried again",
        faults::unreachable,
        MAIL
    ),
    case!("email.S5", "email", "no secret leaves the connector with mail", secrets::secrets, MAIL),
    case!("email.S6", "email", "the log holds nothing of messages", secrets::quiet_log, MAIL),
    case!("email.S8", "email", "ids of messages and parts cannot lead to other URLs", paths::escaped_ids),
    case!("M1", "email", "folders are reported before the messages in them", folders::reported_first),
    case!(
        "M2",
        "email",
        "the initial sync is newest first, and says how far it is complete",
        folders::newest_first
    ),
    case!("M3", "email", "flags and keywords come back", flags::come_back),
    case!("M4", "email", "a message that moves is not deleted", moves::moved),
    case!("M5", "email", "a message that is deleted goes to the trash", moves::trashed),
    case!("M6", "email", "a draft is stored once, replaced and deleted", drafts::saved),
    case!("M7", "email", "a message is sent once, whichever answer is lost", sending::once),
    case!("M8", "email", "the bytes of attachments are those that were stored", files::bytes),
    case!("M9", "email", "odd messages are read, and hide no other", odd::odd),
    case!("M10", "email", "a large message is read within the budgets", odd::large),
    case!("M11", "email", "a message read whole has its texts and header fields", texts::whole),
];
