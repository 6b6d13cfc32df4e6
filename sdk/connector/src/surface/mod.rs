//! One trait per surface. Every method has a default that answers "unsupported", so a connector writes only what its provider
//! has. Each surface also has `fetch`, `mutate` and `changes` (`watch`: `mutate` alone): the dispatch by operation name that the export
//! goes through.
//!
//! Reads (`fetch`) return sources, writes (`mutate`) the changed sources, `changes` a page of differences and the cursor to continue at:
//!
//! ```
//! use connector_sdk::http::Request;
//! use connector_sdk::rest::id::{IdForm, stable_id};
//! use connector_sdk::{Answer, Context, Failure, Outcome, Tasks};
//! use model::tasks::Task;
//! use model::wire::{ChangesRequest, ItemWrite, Mutated, Source, SourceRef, Sources, Warning};
//!
//! const TASKS: &str = "https://api.example.com/tasks";
//!
//! struct Example;
//!
//! impl Tasks for Example {
//!     fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
//!         let response = context.send(Request::get(format!("{TASKS}/{}", args.source)))?;
//!         if response.status == 404 {
//!             return Err(Failure::not_found("the task does not exist"));
//!         }
//!         if !response.is_success() {
//!             return Err(context.failure(&response, "reading a task"));
//!         }
//!         // A real connector also puts the task into `items`.
//!         let source = Source { external_id: args.source, ..Source::default() };
//!         Ok(Sources { sources: vec![source], ..Sources::default() })
//!     }
//!
//!     fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
//!         // The same id on a repeated attempt: the provider then replaces the task of the first one.
//!         let id = stable_id(context, IdForm::Hex(32), "task");
//!         context.send_ok(Request::put(format!("{TASKS}/{id}")).json(&args.body), "creating a task")?;
//!         let mut warnings = Vec::new();
//!         if args.changed.iter().any(|field| field == "priority") {
//!             warnings.push(Warning {
//!                 code: "field_not_supported".to_owned(),
//!                 message: "the provider has no priorities".to_owned(),
//!                 target: Some("priority".to_owned()),
//!             });
//!         }
//!         let source = Source { external_id: id.clone(), ..Source::default() };
//!         Ok(Mutated { sources: vec![source], item: Some(id), part: None, warnings })
//!     }
//!
//!     fn changes(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
//!         let since = context.cursor.as_deref().unwrap_or("0");
//!         let request = Request::get(format!("{TASKS}/changes?since={since}"));
//!         // The provider answers with ids of deleted tasks and the number of the last change.
//!         let (deleted, last): (Vec<String>, u64) = context.send_ok(request, "reading changes")?.json()?;
//!         let sources = deleted.into_iter().map(|id| Source { external_id: id, deleted: true, ..Source::default() });
//!         let body = Sources { sources: sources.collect(), ..Sources::default() };
//!         Ok(Answer { body, cursor: Some(last.to_string()), more: false })
//!     }
//! }
//! ```

pub mod calendar;
pub mod contacts;
pub mod email;
mod lifecycle;
pub mod tasks;
pub mod watch;

pub use calendar::Calendar;
pub use contacts::Contacts;
pub use email::Email;
pub use lifecycle::{Lifecycle, check};
pub use tasks::Tasks;
pub use watch::Watch;
