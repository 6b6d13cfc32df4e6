//! The tools, in the order in which clients see them, and the call of one by its name.

pub mod calendars;
pub mod changes;
pub mod connections;
pub mod contacts;
pub mod drafts;
pub mod events;
pub mod free_time;
pub mod mail;
pub mod marks;
pub mod sending;
pub mod tasks;

mod shape;
mod writing;

use crate::api::Api;
use crate::policy::Policy;
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, arguments};

/// Declares the list of definitions and the dispatch of calls from one table, so that neither can lack a tool.
macro_rules! tools {
    ($($module:ident: $($definition:ident $function:ident),+;)+) => {
        /// All tools.
        pub const ALL: &[Definition] = &[$($($module::$definition),+),+];

        /// Calls a tool by its name. The caller has checked that the key may use it.
        ///
        /// # Errors
        /// Says what the caller can do about it, such as correct an argument.
        pub async fn call<A: Api>(
            context: &Context<'_, A>,
            name: &str,
            given: JsonObject,
        ) -> Result<Outcome, ToolError> {
            match name {
                $($(name if name == $module::$definition.name => {
                    // Boxed, because the future of each call would be as large as the largest of all.
                    Box::pin($module::$function(context, arguments(&$module::$definition, given)?)).await
                })+)+
                _ => Err(ToolError::new("unknown_tool", format!("there is no tool {name}"))),
            }
        }
    };
}

tools! {
    connections: LIST_CONNECTIONS list_connections;
    mail:
        SEARCH_MAIL search_mail,
        READ_MESSAGE read_message,
        READ_THREAD read_thread,
        LIST_FOLDERS list_folders,
        READ_ATTACHMENT read_attachment;
    drafts: CREATE_DRAFT create_draft, UPDATE_DRAFT update_draft;
    marks: MARK_MESSAGES mark_messages;
    sending: SEND_DRAFT send_draft;
    calendars: LIST_CALENDARS list_calendars;
    events: SEARCH_EVENTS search_events, READ_EVENT read_event;
    free_time: FIND_FREE_TIME find_free_time;
    events:
        CREATE_EVENT create_event,
        UPDATE_EVENT update_event,
        RESPOND_TO_INVITATION respond_to_invitation,
        DELETE_EVENT delete_event;
    contacts: SEARCH_CONTACTS search_contacts, CREATE_CONTACT create_contact;
    tasks: LIST_TASKS list_tasks, CREATE_TASK create_task, UPDATE_TASK update_task;
    changes: WHATS_NEW whats_new;
}

/// The tool of this name, if the key may use it.
pub fn find(name: &str, scopes: &[String], policy: &Policy) -> Option<&'static Definition> {
    ALL.iter().find(|tool| tool.name == name && is_allowed(tool, scopes, policy))
}

/// Whether a key with these scopes and this policy may use the tool. Reading needs the scope alone, and changes need a policy that allows
/// them. Whether something may be sent, and to whom, is decided at each call.
pub fn is_allowed(tool: &Definition, scopes: &[String], policy: &Policy) -> bool {
    base::scopes::holds(scopes, tool.scope)
        && (policy.writes || matches!(tool.effect, Effect::Read | Effect::Send))
}

#[cfg(test)]
mod script;
