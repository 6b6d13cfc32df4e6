//! `resources.py` and `async_resources.py`: the operations as methods of Python.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::clients::docstring::{DocumentedArgument, docstring};
use crate::clients::document::{ApiDocument, ClientOperation, QueryParameter, SuccessBody};
use crate::clients::names::{pascal, snake};
use crate::clients::python_types::{
    MethodSignature, QueryArguments, answer_type, arguments, body_type, head_of_call, ids, options,
    query_name, value_type,
};
use crate::clients::tree::Namespace;

/// Prints the classes, with `async` methods or without; `provenance` is the first line without its comment sign.
pub fn print(document: &ApiDocument, provenance: &str, is_async: bool) -> String {
    let root = Namespace::root(&document.operations);
    let mut printer = PythonPrinter { is_async, used: BTreeSet::new() };
    let mut classes = printer.class(&root);
    for namespace in root.descendants() {
        classes.extend([String::new(), String::new()]);
        classes.extend(printer.class(namespace));
    }
    let mut lines = printer.head(provenance);
    lines.extend([format!("API_VERSION = \"{}\"", document.version()), String::new(), String::new()]);
    lines.extend(classes);
    lines.join("\n") + "\n"
}

/// The printer of a file. `used`: names that the file has to import.
struct PythonPrinter {
    is_async: bool,
    used: BTreeSet<String>,
}

impl PythonPrinter {
    /// The first lines of the file, for the names that it uses.
    fn head(&self, provenance: &str) -> Vec<String> {
        let used = |names: &[&str]| {
            let found: Vec<&str> = names.iter().copied().filter(|name| self.used.contains(*name)).collect();
            found.join(", ")
        };
        let module = if self.is_async { "_async" } else { "_sync" };
        let prefix = self.prefix();
        let bases = [format!("{prefix}EventFeed"), format!("{prefix}Resource")];
        let checked = [format!("{prefix}Pages"), format!("{prefix}Transport")];
        let mut lines = vec![
            format!("# {provenance}"),
            "\"\"\"The operations of the API as methods: one class for each part of the paths.\"\"\""
                .to_owned(),
            String::new(),
            "from __future__ import annotations".to_owned(),
            String::new(),
            "from typing import TYPE_CHECKING".to_owned(),
            String::new(),
            "from switchboard._core import segment".to_owned(),
            format!("from switchboard.{module} import {}", used(&[bases[0].as_str(), bases[1].as_str()])),
            String::new(),
            "if TYPE_CHECKING:".to_owned(),
            format!(
                "    from collections.abc import {}",
                used(&["AsyncGenerator", "Awaitable", "Callable", "Generator", "Sequence"])
            ),
        ];
        let managers = used(&["AbstractAsyncContextManager", "AbstractContextManager"]);
        if !managers.is_empty() {
            lines.push(format!("    from contextlib import {managers}"));
        }
        let typing = used(&["Any", "Literal"]);
        let separator = if typing.is_empty() { "" } else { ", " };
        lines.extend([format!("    from typing import {typing}{separator}Unpack"), String::new()]);
        if self.used.contains("httpx") {
            lines.extend(["    import httpx".to_owned(), String::new()]);
        }
        let options = ["AsyncFollowOptions", "ChangeOptions", "FollowOptions", "ReadOptions", "WriteOptions"];
        lines.extend([
            format!(
                "    from switchboard.{module} import {}",
                used(&[checked[0].as_str(), checked[1].as_str()])
            ),
            format!("    from switchboard._options import {}", used(&options)),
            "    from switchboard.generated import types".to_owned(),
            String::new(),
        ]);
        lines
    }

    fn prefix(&self) -> &'static str {
        if self.is_async { "Async" } else { "" }
    }

    fn wait(&self) -> &'static str {
        if self.is_async { "await " } else { "" }
    }

    /// Notes that the file needs a name, and returns it.
    fn using(&mut self, name: &str) -> String {
        self.used.insert(name.to_owned());
        name.to_owned()
    }

    /// Notes what a type needs, and returns it.
    fn typed(&mut self, kind: String) -> String {
        for name in ["Sequence", "Literal", "Any"] {
            if kind.contains(name) {
                self.using(name);
            }
        }
        kind
    }

    fn class(&mut self, namespace: &Namespace<'_>) -> Vec<String> {
        let prefix = self.prefix();
        let transport = self.using(&format!("{prefix}Transport"));
        let is_root = namespace.words.is_empty();
        let mut lines = if is_root {
            vec![
                format!("class {prefix}Resources:"),
                "    \"\"\"The operations of the API.\"\"\"".to_owned(),
                String::new(),
            ]
        } else {
            let streams =
                namespace.operations.iter().any(|operation| matches!(operation.answer, SuccessBody::Events));
            let base = self.using(&format!("{prefix}{}", if streams { "EventFeed" } else { "Resource" }));
            let label: Vec<String> = namespace.words.iter().map(|word| snake(word)).collect();
            vec![
                format!("class {prefix}{}({base}):", namespace.class()),
                format!("    \"\"\"Operations `{}`.\"\"\"", label.join(".")),
                String::new(),
            ]
        };
        if !namespace.children.is_empty() {
            lines.push(format!("    def __init__(self, transport: {transport}) -> None:"));
            if !is_root {
                lines.push("        super().__init__(transport)".to_owned());
            }
            let fields = namespace.children.iter();
            lines.extend(fields.map(|child| {
                format!("        self.{} = {prefix}{}(transport)", snake(child.field()), pascal(&child.words))
            }));
            lines.push(String::new());
        }
        for operation in &namespace.operations {
            lines.extend(self.methods(operation));
        }
        if let Some((get, update)) = namespace.versioned() {
            lines.extend(self.modify(get, update));
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// The methods of an operation: mostly one.
    fn methods(&mut self, operation: &ClientOperation) -> Vec<String> {
        let mut lines = match &operation.answer {
            // `follow` of the base class.
            SuccessBody::Events => return Vec::new(),
            SuccessBody::Bytes => Vec::new(),
            SuccessBody::Page(page, item) => self.list(operation, page, item),
            SuccessBody::Json(schema) | SuccessBody::Changes(schema, _) => self.json(operation, schema),
            SuccessBody::Nothing => self.nothing(operation),
        };
        if operation.is_raw {
            lines.extend(self.raw(operation));
        }
        if let SuccessBody::Changes(_, change) = &operation.answer {
            lines.extend(self.follow(operation, change));
        }
        lines
    }

    fn list(&mut self, operation: &ClientOperation, page: &Value, item: &Value) -> Vec<String> {
        let pages = self.using(&format!("{}Pages", self.prefix()));
        let result = format!("{pages}[{}, {}]", self.typed(body_type(page)), self.typed(body_type(item)));
        let call = format!("        return self._pages(path, {}, options)", query_name(&operation.query));
        self.method(operation, result, false, &[call])
    }

    fn json(&mut self, operation: &ClientOperation, schema: &Value) -> Vec<String> {
        let result = self.typed(body_type(schema));
        let arguments = arguments(operation);
        let call = format!("        answer: {result} = {}self._json({arguments})", self.wait());
        self.method(operation, result, self.is_async, &[call, "        return answer".to_owned()])
    }

    fn nothing(&mut self, operation: &ClientOperation) -> Vec<String> {
        let call = format!("        {}self._nothing({})", self.wait(), arguments(operation));
        self.method(operation, "None".to_owned(), self.is_async, &[call])
    }

    fn method(
        &mut self,
        operation: &ClientOperation,
        result: String,
        is_async: bool,
        call: &[String],
    ) -> Vec<String> {
        let query = self.query(&operation.query);
        let options = self.using(options(operation));
        let mut positional = ids(operation);
        positional.extend(self.body(operation));
        let name = snake(operation.name());
        let mut lines = MethodSignature {
            name: &name,
            positional,
            keywords: query.keywords,
            options: &options,
            result,
            is_async,
        }
        .lines();
        lines.extend(docstring(8, &operation.summary, &operation.description, &query.arguments));
        lines.extend(head_of_call(operation, &query.entries));
        lines.extend(call.iter().cloned());
        lines.push(String::new());
        lines
    }

    fn raw(&mut self, operation: &ClientOperation) -> Vec<String> {
        let mut query = self.query(&operation.query);
        let options = self.using(options(operation));
        let manager = if self.is_async { "AbstractAsyncContextManager" } else { "AbstractContextManager" };
        let result = format!("{}[httpx.Response]", self.using(manager));
        self.using("httpx");
        for header in &operation.headers {
            query.keywords.push(format!("{}: str | None = None", snake(header)));
            query
                .arguments
                .push(DocumentedArgument { name: snake(header), text: format!("The header `{header}`") });
        }
        let headers: Vec<String> =
            operation.headers.iter().map(|header| format!("\"{header}\": {}", snake(header))).collect();
        let name = format!("{}_raw", snake(operation.name()));
        let mut positional = ids(operation);
        positional.extend(self.body(operation));
        let mut lines = MethodSignature {
            name: &name,
            positional,
            keywords: query.keywords,
            options: &options,
            result,
            is_async: false,
        }
        .lines();
        let summary =
            format!("{}: the response itself, for its bytes", operation.summary.trim_end_matches('.'));
        lines.extend(docstring(8, &summary, &operation.description, &query.arguments));
        lines.extend(head_of_call(operation, &query.entries));
        let name = query_name(&operation.query);
        lines.push(format!("        return self._raw(path, {name}, {{{}}}, options)", headers.join(", ")));
        lines.push(String::new());
        lines
    }

    fn follow(&mut self, operation: &ClientOperation, change: &Value) -> Vec<String> {
        let parameters = operation.query.iter().filter(|parameter| parameter.name != "cursor");
        let parameters: Vec<QueryParameter> = parameters.cloned().collect();
        let query = self.query(&parameters);
        // Both can be closed: a feed has no end.
        let generator = self.using(if self.is_async { "AsyncGenerator" } else { "Generator" });
        let rest = if self.is_async { "None" } else { "None, None" };
        let options = self.using(if self.is_async { "AsyncFollowOptions" } else { "FollowOptions" });
        let result = format!("{generator}[{}, {rest}]", self.typed(body_type(change)));
        let positional = ids(operation);
        let mut lines = MethodSignature {
            name: "follow",
            positional,
            keywords: query.keywords,
            options: &options,
            result,
            is_async: false,
        }
        .lines();
        let description = "The cursor of a page is stored when its last change was processed and the next one is asked for, so a change \
                           can come twice after a crash and is never lost.";
        let summary = "Yields changes as they come, from the stored cursor on";
        lines.extend(docstring(8, summary, description, &query.arguments));
        lines.extend(head_of_call(operation, &query.entries));
        lines.push(format!("        return self._follow(path, {}, options)", query_name(&parameters)));
        lines.push(String::new());
        lines
    }

    /// `modify`: a change that depends on the version that was read.
    fn modify(&mut self, get: &ClientOperation, update: &ClientOperation) -> Vec<String> {
        let mut query = self.query(&update.query);
        let (current, changed) = (answer_type(get), answer_type(update));
        let body = update.body.as_ref().map_or_else(|| "None".to_owned(), |body| body_type(&body.schema));
        let mut patch = format!("{} | None", self.typed(body));
        self.using("Callable");
        let options = self.using("ReadOptions");
        if self.is_async {
            self.using("Awaitable");
            patch = format!("{patch} | Awaitable[{patch}]");
        }
        let mut positional = ids(update);
        positional.push(format!("change: Callable[[{}], {patch}]", self.typed(current.clone())));
        query.keywords.insert(0, "attempts: int = 3".to_owned());
        let result = if changed == current { changed } else { format!("{changed} | {current}") };
        let result = self.typed(result);
        let is_async = self.is_async;
        let mut lines = MethodSignature {
            name: "modify",
            positional,
            keywords: query.keywords,
            options: &options,
            result: result.clone(),
            is_async,
        }
        .lines();
        let argument =
            |name: &str, text: &str| DocumentedArgument { name: name.to_owned(), text: text.to_owned() };
        let mut documented = vec![
            argument("change", "Returns the patch for the resource as it is now, or `None` to leave it"),
            argument(
                "attempts",
                "Times that the resource is read; after the last one `StaleEtagError` is raised",
            ),
        ];
        documented.append(&mut query.arguments);
        let summary = "Reads the resource and writes a change of it, again if it was changed in between";
        lines.extend(docstring(8, summary, "", &documented));
        lines.extend(head_of_call(update, &query.entries));
        let (wait, name) = (self.wait(), query_name(&update.query));
        lines.push(format!(
            "        answer: {result} = {wait}self._modify(path, {name}, change, attempts, options)"
        ));
        lines.extend(["        return answer".to_owned(), String::new()]);
        lines
    }

    fn body(&mut self, operation: &ClientOperation) -> Option<String> {
        let body = operation.body.as_ref()?;
        let kind = self.typed(body_type(&body.schema));
        Some(if body.is_required { format!("body: {kind}") } else { format!("body: {kind} | None = None") })
    }

    fn query(&mut self, parameters: &[QueryParameter]) -> QueryArguments {
        let (required, optional): (Vec<_>, Vec<_>) =
            parameters.iter().partition(|parameter| parameter.is_required);
        let (mut keywords, mut arguments) = (Vec::new(), Vec::new());
        for parameter in required.iter().chain(&optional) {
            let name = snake(&parameter.name);
            let kind = self.typed(value_type(&parameter.schema));
            let default = if parameter.is_required { "" } else { " | None = None" };
            keywords.push(format!("{name}: {kind}{default}"));
            let words: Vec<&str> = parameter.description.split_whitespace().collect();
            arguments.push(DocumentedArgument { name, text: words.join(" ") });
        }
        let entries =
            parameters.iter().map(|parameter| format!("\"{}\": {}", parameter.name, snake(&parameter.name)));
        QueryArguments { keywords, arguments, entries: entries.collect() }
    }
}
