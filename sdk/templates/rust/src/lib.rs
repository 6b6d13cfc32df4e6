//! A connector for Paper. `paper` knows that service's API; here are the operations that a host asks for.

mod paper;

use connector_sdk::http::Request;
use connector_sdk::model::tasks::Task;
use connector_sdk::model::wire::tasks::TasksFeatures;
use connector_sdk::model::wire::{
    Account, ChangesRequest, ItemDelete, ItemWrite, Mutated, Source, SourceRef, Sources,
};
use connector_sdk::{Answer, Context, Failure, Lifecycle, Outcome, Tasks, code, export_connector};

use crate::paper::{Cursor, Item, ItemPage, ListPage, Me};

pub struct MyConnector;

impl Lifecycle for MyConnector {
    fn check(context: &Context) -> Outcome<Account> {
        let me: Me = paper::read(context, &["me"], &[], "reading the account")?;
        Ok(Account {
            external_account_id: me.id,
            email: me.email,
            display_name: me.name,
            surfaces: vec!["tasks".into()],
            ..Account::default()
        })
    }
}

impl Tasks for MyConnector {
    fn features(_: &Context) -> Outcome<TasksFeatures> {
        Ok(TasksFeatures { delta: "syncToken".into(), ..TasksFeatures::default() })
    }

    fn list_lists(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        let token = context.cursor.as_deref().map(Cursor::of_page).transpose()?;
        let query: Vec<_> = token.iter().map(|token| ("pageToken", token.as_str())).collect();
        let page: ListPage = paper::read(context, &["lists"], &query, "listing the lists")?;
        let sources = page.lists.iter().map(paper::List::source).collect::<Outcome<_>>()?;
        let cursor = page.next_page_token.map(|token| Cursor::Page(token).to_string());
        let more = cursor.is_some();
        Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor, more })
    }

    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        let path = ["lists", &args.collection, "items", &args.source];
        let item: Item = paper::read(context, &path, &[], "reading the task")?;
        Ok(Sources { sources: vec![item.source()?], ..Sources::default() })
    }

    /// Without a cursor everything there is, page by page; then what changed since the last page's cursor.
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let list = args.collection.as_deref().unwrap_or_default();
        let limit = if args.limit == 0 { 100 } else { args.limit.min(100) }.to_string();
        let cursor = context.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
        let mut query = vec![("limit", limit.as_str())];
        query.extend(cursor.as_ref().map(Cursor::query));
        let page: ItemPage = paper::read(context, &["lists", list, "items"], &query, "listing the tasks")?;
        let enumeration = cursor.as_ref().is_none_or(Cursor::is_of_everything);
        let sources = page.items.iter().map(|item| {
            // One task that cannot be read must not hold up the others.
            item.source().unwrap_or_else(|failure| paper::unreadable(item, &failure))
        });
        let body = Sources { sources: sources.collect(), enumeration, ..Sources::default() };
        let (cursor, more) = match (page.next_page_token, page.next_since) {
            (Some(token), _) if enumeration => (Cursor::Page(token), true),
            (Some(token), _) => (Cursor::ChangesPage(token), true),
            (None, Some(since)) => (Cursor::Since(since), false),
            (None, None) => return Err(Failure::unavailable("the provider's last page has no token to go on from")),
        };
        Ok(Answer { body, cursor: Some(cursor.to_string()), more })
    }

    fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        paper::refuse_unknown(&args)?;
        let url = paper::url(context, &["lists", &args.collection, "items"], &[])?;
        let mut request = Request::post(url).json(&paper::fields(&args.body, None));
        // A repeated attempt has the same key, and Paper answers with what the first one made.
        if let Some(key) = &context.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let item: Item = context.send_ok(request, "creating the task")?.json()?;
        paper::written(&item, paper::warnings(&args))
    }

    fn update_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        paper::refuse_unknown(&args)?;
        let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing: name the task"))?;
        let url = paper::url(context, &["lists", &args.collection, "items", id], &[])?;
        let request = Request::patch(url).if_match(args.if_match.as_deref());
        let request = request.json(&paper::fields(&args.body, Some(&args.changed)));
        let item: Item = context.send_ok(request, "changing the task")?.json()?;
        paper::written(&item, paper::warnings(&args))
    }

    fn delete_task(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        let url = paper::url(context, &["lists", &args.collection, "items", &args.source], &[])?;
        let request = Request::delete(url).if_match(args.if_match.as_deref());
        match context.send_ok(request, "deleting the task") {
            // Gone already is as good as deleted.
            Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),
            _ => {}
        }
        let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
        Ok(Mutated { sources: vec![gone], ..Mutated::default() })
    }
}

export_connector!(MyConnector, [tasks, lifecycle]);
