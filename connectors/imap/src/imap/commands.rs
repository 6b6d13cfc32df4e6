//! The commands that are sent, in the crate's types.

use std::num::{NonZeroU32, NonZeroU64};

use io_imap::types::command::{CommandBody, FetchModifier, SelectParameter, StoreModifier};
use io_imap::types::core::{AString, IString, Literal, Quoted, Vec1};
use io_imap::types::datetime::DateTime;
use io_imap::types::extensions::binary::LiteralOrLiteral8;
use io_imap::types::extensions::enable::CapabilityEnable;
use io_imap::types::fetch::{MacroOrMessageDataItemNames, MessageDataItemName, Part, Section};
use io_imap::types::flag::{Flag, StoreResponse, StoreType};
use io_imap::types::mailbox::{ListMailbox, Mailbox};
use io_imap::types::search::SearchKey;
use io_imap::types::sequence::SequenceSet;
use io_imap::types::status::StatusDataItemName;

use crate::imap::command::Command;
use crate::imap::names;

/// A string of any content. Always a string and never an atom, which some servers take for more than it is (`NIL`, `1`).
pub fn string(value: &str) -> AString<'static> {
    // Servers' lines have an end (RFC 7162 section 4).
    if value.len() <= 1000
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && let Ok(quoted) = Quoted::try_from(value.to_owned())
    {
        return AString::from(quoted);
    }
    // No literal may hold a NUL (RFC 9051 section 9, `CHAR8`).
    let bytes: Vec<u8> = value.bytes().filter(|byte| *byte != 0).collect();
    AString::from(Literal::unvalidated(bytes))
}

/// The mailbox with this name, which is not yet encoded.
pub fn mailbox(name: &str) -> Mailbox<'static> {
    Mailbox::from(string(&names::encode(name)))
}

/// NOOP.
pub fn noop() -> Command {
    Command::new(CommandBody::Noop)
}

/// UNSELECT.
pub fn unselect() -> Command {
    Command::new(CommandBody::Unselect)
}

/// CAPABILITY.
pub fn capability() -> Command {
    Command::new(CommandBody::Capability)
}

/// SELECT or EXAMINE.
pub fn select(name: &str, parameter: Option<SelectParameter>, read_only: bool) -> Command {
    let (mailbox, parameters) = (mailbox(name), parameter.into_iter().collect());
    Command::new(match read_only {
        true => CommandBody::Examine { mailbox, parameters },
        false => CommandBody::Select { mailbox, parameters },
    })
}

/// The parameter that requests the changes since this state at selection (RFC 7162 section 3.2.5); none where there is no such state.
pub fn since(uid_validity: u32, modseq: u64) -> Option<SelectParameter> {
    let (uid_validity, mod_sequence_value) = (NonZeroU32::new(uid_validity)?, NonZeroU64::new(modseq)?);
    Some(SelectParameter::QResync {
        uid_validity,
        mod_sequence_value,
        known_uids: None,
        seq_match_data: None,
    })
}

/// ENABLE QRESYNC.
pub fn enable_qresync() -> Option<Command> {
    let capability = CapabilityEnable::try_from("QRESYNC").ok()?;
    Some(Command::new(CommandBody::Enable { capabilities: Vec1::from(capability) }))
}

/// CREATE.
pub fn create(name: &str) -> Command {
    Command::new(CommandBody::Create { mailbox: mailbox(name) })
}

/// LIST of all mailboxes, or LSUB.
pub fn list(subscribed: bool) -> Command {
    let reference = Mailbox::from(string(""));
    let mailbox_wildcard = ListMailbox::String(match string("*") {
        AString::String(text) => text,
        AString::Atom(_) => IString::Literal(Literal::unvalidated(b"*".as_slice())),
    });
    Command::new(match subscribed {
        true => CommandBody::Lsub { reference, mailbox_wildcard },
        false => CommandBody::List { reference, mailbox_wildcard },
    })
}

/// STATUS.
pub fn status(name: &str, items: Vec<StatusDataItemName>) -> Command {
    Command::new(CommandBody::Status { mailbox: mailbox(name), item_names: items.into() })
}

/// STATUS of all items that show whether a mailbox changed.
pub fn counts(name: &str, has_modseq: bool) -> Command {
    use StatusDataItemName::{HighestModSeq, Messages, UidNext, UidValidity, Unseen};
    let items = [Messages, Unseen, UidNext, UidValidity].into_iter();
    status(name, items.chain(has_modseq.then_some(HighestModSeq)).collect())
}

/// The items to fetch of messages.
#[derive(Clone, Debug, Default)]
pub struct Items {
    names: Vec<MessageDataItemName<'static>>,
    /// The items that the crate does not know.
    beyond: Vec<&'static str>,
}

impl Items {
    /// The UID and these.
    pub fn new(names: impl IntoIterator<Item = MessageDataItemName<'static>>) -> Self {
        let names = std::iter::once(MessageDataItemName::Uid).chain(names).collect();
        Items { names, beyond: Vec::new() }
    }

    /// This one too.
    pub fn and(mut self, name: MessageDataItemName<'static>) -> Self {
        self.names.push(name);
        self
    }

    /// One that the crate does not know (`imap::beyond`).
    pub fn and_beyond(mut self, name: &'static str) -> Self {
        self.beyond.push(name);
        self
    }

    /// A section of the body, or the first `len` bytes of it, without `\Seen`. No section: the whole message.
    pub fn section(section: Option<Section<'static>>, len: Option<u32>) -> MessageDataItemName<'static> {
        let partial = len.and_then(NonZeroU32::new).map(|len| (0, len));
        MessageDataItemName::BodyExt { section, partial, peek: true }
    }
}

/// A part by its number (`1.2`); none for what is no number.
pub fn part(number: &str) -> Option<Section<'static>> {
    let numbers: Result<Vec<NonZeroU32>, _> = number.split('.').map(str::parse).collect();
    Some(Section::Part(Part(Vec1::try_from(numbers.ok()?).ok()?)))
}

/// Fields of the header; their names stand in one text, with blanks between. The whole header where they are no names.
pub fn fields(names: &'static str) -> Section<'static> {
    let names: Result<Vec<AString>, _> = names.split_ascii_whitespace().map(AString::try_from).collect();
    let names = names.ok().and_then(|names| Vec1::try_from(names).ok());
    names.map_or(Section::Header(None), |names| Section::HeaderFields(None, names))
}

/// Flags as the crate has them; what is no flag is left out.
pub fn flags(flags: &[String]) -> Vec<Flag<'_>> {
    flags.iter().filter_map(|flag| Flag::try_from(flag.as_str()).ok()).collect()
}

/// All messages of a mailbox.
pub fn everything() -> SequenceSet {
    SequenceSet::from(..)
}

/// UID FETCH; of what changed since a modification sequence only, where that is given.
pub fn uid_fetch(uids: impl Into<SequenceSet>, items: Items, changed_since: Option<u64>) -> Command {
    let sequence_set = uids.into();
    let since = changed_since.and_then(NonZeroU64::new);
    // Items that the crate does not know go into the bracket of the others, which stands before the modifier.
    let is_typed = items.beyond.is_empty();
    let macro_or_item_names = MacroOrMessageDataItemNames::MessageDataItemNames(items.names);
    let modifiers = since.filter(|_| is_typed).map(FetchModifier::ChangedSince).into_iter().collect();
    let command =
        Command::new(CommandBody::Fetch { sequence_set, macro_or_item_names, uid: true, modifiers });
    let command = fetch_items(command, &items.beyond);
    match since.filter(|_| !is_typed) {
        Some(modseq) => command.text(&format!(" (CHANGEDSINCE {modseq})")),
        None => command,
    }
}

/// Adds FETCH items that the crate does not know.
fn fetch_items(command: Command, names: &[&'static str]) -> Command {
    names.iter().fold(command, |command, name| command.within(&format!(" {name}")))
}

/// UID SEARCH. Strings with other characters than ASCII are declared as UTF-8.
pub fn uid_search(keys: Vec<SearchKey<'_>>) -> Command {
    let literals = |key: &SearchKey| match key {
        SearchKey::Text(text) | SearchKey::Header(_, text) => !text.as_ref().is_ascii(),
        _ => false,
    };
    let charset = if keys.iter().any(literals) { "UTF-8".try_into().ok() } else { None };
    let criteria = Vec1::try_from(keys).unwrap_or_else(|_| Vec1::from(SearchKey::All));
    Command::new(CommandBody::Search { charset, criteria, uid: true })
}

/// UID STORE of flags that are added or taken away, silently.
pub fn uid_store(
    uids: impl Into<SequenceSet>,
    kind: StoreType,
    flags: Vec<Flag<'_>>,
    unchanged_since: Option<u64>,
) -> Command {
    let sequence_set = uids.into();
    let response = StoreResponse::Silent;
    let modifiers = unchanged_since.map(StoreModifier::UnchangedSince).into_iter().collect();
    Command::new(CommandBody::Store { sequence_set, kind, response, flags, uid: true, modifiers })
}

/// UID MOVE or UID COPY.
pub fn uid_transfer(uids: impl Into<SequenceSet>, name: &str, moves: bool) -> Command {
    let (sequence_set, mailbox) = (uids.into(), mailbox(name));
    Command::new(match moves {
        true => CommandBody::Move { sequence_set, mailbox, uid: true },
        false => CommandBody::Copy { sequence_set, mailbox, uid: true },
    })
}

/// UID EXPUNGE of these, or EXPUNGE of all.
pub fn expunge(only: Option<SequenceSet>) -> Command {
    Command::new(match only {
        Some(sequence_set) => CommandBody::ExpungeUid { sequence_set },
        None => CommandBody::Expunge,
    })
}

/// APPEND of a blob.
pub fn append(name: &str, flags: Vec<Flag<'_>>, date: Option<DateTime>, blob: &str, size: u64) -> Command {
    let message = LiteralOrLiteral8::Literal(Literal::unvalidated(b"".as_slice()));
    Command::new(CommandBody::Append { mailbox: mailbox(name), flags, date, message }).blob(blob, size)
}
