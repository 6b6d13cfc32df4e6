//! The MCP server: answers the requests of clients with the tools, resources and prompts that the caller's key allows.

use std::marker::PhantomData;
use std::sync::Arc;

use http::header::USER_AGENT;
use http::request::Parts;
use mail::text::is_ignorable;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::api::{Api, CallRecord};
use crate::ask::PersonAnswer;
use crate::guide::INSTRUCTIONS;
use crate::policy::Policy;
use crate::prompts;
use crate::resources;
use crate::text::{fit, render};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_bytes};
use crate::tools;
use crate::untrusted::Fence;

/// Milliseconds for which clients may keep lists.
const LIST_LIFE_MS: u64 = 300_000;
/// Characters of a client's name that the log has.
const MAX_CLIENT_CHARS: usize = 100;

/// The caller of a request: the API in the name of the key, and the key's policy. Whoever serves HTTP puts it, as an `Arc`, into the
/// extensions of the request.
pub struct ApiAccess<A> {
    pub api: A,
    pub policy: Policy,
}

/// The handler of all requests. It has no state: each request brings its caller.
pub struct Server<A>(PhantomData<fn() -> A>);

impl<A> Default for Server<A> {
    fn default() -> Self {
        Server(PhantomData)
    }
}

impl<A: Api> ServerHandler for Server<A> {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools().build();
        let server = Implementation::new("switchboard", env!("CARGO_PKG_VERSION")).with_title("Switchboard");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request)?;
        let access = access::<A>(&context)?;
        let tools = list(access.api.scopes(), &access.policy);
        let result = ListToolsResult::with_all_items(tools);
        Ok(result.with_ttl_ms(LIST_LIFE_MS).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let access = access::<A>(&context)?;
        let Some(tool) = tools::ALL.iter().find(|tool| tool.name == request.name) else {
            let name: String = request.name.chars().take(MAX_CLIENT_CHARS).collect();
            return Err(ErrorData::invalid_params(format!("unknown tool: {name}"), None));
        };
        let circumstances = Context {
            api: &access.api,
            policy: &access.policy,
            asked: PersonAnswer::from_call(
                request.request_state.as_deref(),
                request.input_responses.as_ref(),
            ),
            can_ask: can_ask(&context),
            fence: Fence::new(),
        };
        let work = run(&circumstances, tool, request.arguments.unwrap_or_default());
        // A tool of many requests does not run on for a client that has gone.
        let outcome = context.ct.run_until_cancelled(work).await;
        let outcome = outcome.unwrap_or_else(|| Err(ToolError::new("cancelled", "the client has gone")));
        let ended = EndedCall::new(tool, outcome, &circumstances.fence);
        let client = client_name(&context);
        access.api.record(&CallRecord {
            tool: tool.name,
            outcome: &ended.outcome,
            bytes: ended.bytes,
            client: &client,
        });
        Ok(ended.response)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request)?;
        let result = ListResourcesResult::with_all_items(resources::list());
        Ok(result.with_ttl_ms(LIST_LIFE_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request)?;
        let access = access::<A>(&context)?;
        let templates = resources::templates(access.api.scopes(), &access.policy);
        let result = ListResourceTemplatesResult::with_all_items(templates);
        Ok(result.with_ttl_ms(LIST_LIFE_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let access = access::<A>(&context)?;
        let circumstances = Context {
            api: &access.api,
            policy: &access.policy,
            asked: None,
            can_ask: false,
            fence: Fence::new(),
        };
        let read = resources::read(&circumstances, &request.uri).await;
        let bytes =
            read.as_ref().map_or(0, |contents| serde_json::to_vec(contents).map_or(0, |json| json.len()));
        access.api.record(&CallRecord {
            tool: "resources/read",
            outcome: if read.is_ok() { "ok" } else { "failed" },
            bytes,
            client: &client_name(&context),
        });
        let contents = read?;
        let life_ms = if request.uri == resources::GUIDE_URI { LIST_LIFE_MS } else { 0 };
        let result = ReadResourceResult::new(vec![contents]);
        Ok(result.with_ttl_ms(life_ms).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request)?;
        let result = ListPromptsResult::with_all_items(prompts::list());
        Ok(result.with_ttl_ms(LIST_LIFE_MS).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(request)?.into())
    }
}

/// The caller that came with the HTTP request.
fn access<A: Api>(context: &RequestContext<RoleServer>) -> Result<Arc<ApiAccess<A>>, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let access = parts.and_then(|parts| parts.extensions.get::<Arc<ApiAccess<A>>>());
    access.cloned().ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
}

/// Refuses a cursor: every list is one page.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("cursor: this list has one page; leave it out", None)),
    }
}

/// The tools that a key with these scopes and this policy may use, in the order of `tools::ALL`.
fn list(scopes: &[String], policy: &Policy) -> Vec<Tool> {
    tools::ALL.iter().filter(|tool| tools::is_allowed(tool, scopes, policy)).map(describe).collect()
}

fn describe(tool: &Definition) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Read)
        .destructive(is_destructive(tool))
        .idempotent(tool.idempotent)
        .open_world(tool.open_world);
    Tool::new(tool.name, tool.description, (tool.input)())
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(outline((tool.output)())))
        .with_annotations(annotations)
}

/// Returns the schema of a result without the fields of its items: models read the whole list of tools, and see the fields in the result.
fn outline(mut schema: JsonObject) -> JsonObject {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        if let Some(kind) = property.get("type").cloned() {
            *property = json!({ "type": kind });
        }
    }
    schema
}

/// Whether the tool may replace or remove something: changes replace what was there, and only what is created or sent adds.
fn is_destructive(tool: &Definition) -> bool {
    match tool.effect {
        Effect::Read | Effect::Send => false,
        Effect::Write => !tool.name.starts_with("create_"),
        Effect::Destroy => true,
    }
}

/// Runs a tool, if the key may use it.
async fn run<A: Api>(
    context: &Context<'_, A>,
    tool: &Definition,
    arguments: JsonObject,
) -> Result<Outcome, ToolError> {
    let scopes = context.api.scopes();
    if !base::scopes::holds(scopes, tool.scope) {
        let message = format!("{} needs the scope {}, which this key does not have", tool.name, tool.scope);
        return Err(ToolError::new("insufficient_scope", message)
            .remedy("Tell the user that the API key needs this scope."));
    }
    if !tools::is_allowed(tool, scopes, context.policy) {
        let message = format!("{} changes data, and this key only reads", tool.name);
        return Err(ToolError::new("read_only_key", message).remedy(
            "Tell the user to make the change, or to use a key whose `agent` policy allows writes.",
        ));
    }
    tools::call(context, tool.name, arguments).await
}

/// Whether the client can show a question to the person: questions are part of a result since 2026-07-28, and the client declares forms.
/// A declaration without any mode means forms.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2026_07_28;
    if context.protocol_version().is_none_or(|version| version.as_str() < since.as_str()) {
        return false;
    }
    let declared = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    declared.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// The name and version by which the client calls itself. Clients of older versions say it only when they connect, so their `User-Agent`
/// takes its place.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let name = match context.meta.client_info() {
        Some(client) => format!("{}/{}", client.name, client.version),
        None => {
            let parts = context.extensions.get::<Parts>();
            let agent = parts.and_then(|parts| parts.headers.get(USER_AGENT)?.to_str().ok());
            agent.unwrap_or_default().to_owned()
        }
    };
    name.chars().filter(|c| !c.is_control() && !is_ignorable(*c)).take(MAX_CLIENT_CHARS).collect()
}

/// A call with its response.
struct EndedCall {
    response: CallToolResponse,
    /// `ok`, `asked`, or the code of the error.
    outcome: String,
    bytes: usize,
}

impl EndedCall {
    fn new(tool: &Definition, outcome: Result<Outcome, ToolError>, fence: &Fence) -> Self {
        match outcome {
            Ok(Outcome::Done(mut output)) => {
                fit(&mut output.structured, tool.budget);
                let text = render(&output.structured, fence);
                let bytes = json_bytes(&output.structured) + text.len();
                let mut result = CallToolResult::structured(output.structured);
                result.content = vec![ContentBlock::text(text)];
                EndedCall { response: result.into(), outcome: "ok".to_owned(), bytes }
            }
            Ok(Outcome::Ask(question)) => {
                let result = question.into_result();
                let bytes = serde_json::to_vec(&result).map_or(0, |json| json.len());
                EndedCall { response: result.into(), outcome: "asked".to_owned(), bytes }
            }
            // Without structured content: clients compare that with the schema of a success.
            Err(error) => {
                let text = error.to_json().to_string();
                let bytes = text.len();
                let result = CallToolResult::error(vec![ContentBlock::text(text)]);
                EndedCall { response: result.into(), outcome: error.code, bytes }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all_scopes() -> Vec<String> {
        base::scopes::ALL.map(str::to_owned).to_vec()
    }

    fn names(scopes: &[&str], policy: &Policy) -> Vec<String> {
        let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        list(&scopes, policy).into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    /// Models read the list with every conversation.
    #[test]
    fn the_list_of_all_tools_is_small() {
        let policy = Policy { writes: true, ..Policy::default() };
        let tools = list(&all_scopes(), &policy);
        assert_eq!(tools.len(), tools::ALL.len());
        let bytes = serde_json::to_vec(&tools).unwrap().len();
        assert!(bytes <= 24 * 1024, "{bytes} bytes");
    }

    #[test]
    fn every_tool_describes_itself() {
        let mut seen = BTreeSet::new();
        for tool in tools::ALL {
            assert!(seen.insert(tool.name), "{} is there twice", tool.name);
            assert!(
                !tool.title.is_empty() && !tool.description.is_empty() && tool.budget > 0,
                "{}",
                tool.name
            );
            assert!(base::scopes::is_scope(tool.scope), "{} has the scope {}", tool.name, tool.scope);
            for schema in [(tool.input)(), (tool.output)()] {
                assert_eq!(schema.get("type"), Some(&Value::from("object")), "{}", tool.name);
                assert_eq!(schema.get("additionalProperties"), Some(&Value::from(false)), "{}", tool.name);
            }
        }
    }

    #[test]
    fn a_key_sees_the_tools_of_its_scopes_and_its_policy() {
        let reads = names(&["contacts.read"], &Policy::default());
        assert_eq!(reads, ["search_contacts"]);
        // Writing includes reading, and only a policy that allows writes shows the tools for it.
        assert_eq!(names(&["contacts.write"], &Policy::default()), ["search_contacts"]);
        let policy = Policy { writes: true, ..Policy::default() };
        assert_eq!(names(&["contacts.write"], &policy), ["search_contacts", "create_contact"]);
        assert!(names(&["webhooks.write"], &policy).is_empty());
    }

    #[test]
    fn no_tool_of_a_default_key_changes_anything() {
        for tool in list(&all_scopes(), &Policy::default()) {
            let hints = tool.annotations.unwrap_or_default();
            assert!(hints.read_only_hint == Some(true) || tool.name == "send_draft", "{}", tool.name);
        }
    }
}
