"""Extracts what Microsoft Graph v1.0 takes and answers from the sources in the wheel of msgraph-sdk, without unpacking or importing it.

`graph_oracle.py FOLDER`: writes `graph-oracle.json` beside the wheel, with `version`, `paths` (for each verb the allowed query parameters, and
the models of body and answer), `models` (base, fields with types, kinds by `@odata.type`) and `enums`. The sources are generated from
Microsoft's own description of the API; URI templates in them have the allowed query parameters.
"""

import json
import pathlib
import re
import sys
import zipfile

ROOT = "msgraph/generated/"
# What is read below users/{id}: mail, calendars, contacts and To Do.
BRANCHES = (
    "calendar", "calendar_groups", "calendar_view", "calendars", "contact_folders", "contacts", "events", "mail_folders",
    "mailbox_settings", "messages", "outlook", "send_mail", "todo", "user_item_request_builder.py",
    "reminder_view_with_start_date_time_with_end_date_time",
)
# Models of which the plain fields alone are read: they lead to all of Graph.
PLAIN = {"User", "DirectoryObject"}
PRIMITIVES = {
    "str": "string", "int": "integer", "bool": "boolean", "float": "number", "datetime": "dateTime", "date": "date", "time": "time",
    "bytes": "bytes", "uuid": "string", "timedelta": "duration",
}
TEMPLATE = re.compile(r'super\(\).__init__\(request_adapter, "([^"]*)"')
VERB = re.compile(r"async def (get|post|patch|put|delete)\(self,(?:body: ([\w\[\]]+), )?.*?\) -> (.*?):\n(.*?)(?=\n    (?:async )?def |\n    @|\Z)", re.S)
SENT = re.compile(r"request_adapter\.(send_\w+)\(request_info, ?\"?(\w*)\"?")
OWN_TEMPLATE = re.compile(r"RequestInformation\(Method\.(\w+), '([^']*)'")
FIELD = re.compile(r'^\s+"([^"]+)": lambda n : setattr\(self, .*?n\.get_(\w+)\(([\w.]*)\)', re.M)
CLASS = re.compile(r"^class (\w+)\(([^)]*)\)", re.M)
IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import (\w+)", re.M)
KIND = re.compile(r'mapping_value\.casefold\(\) == "(#[\w.]+)"\.casefold\(\):\s+from (\.+)([\w.]*) import (\w+)')
ENUM = re.compile(r'^    \w+ = "([^"]*)",', re.M)


class Wheel:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        self.names = self.zip.namelist()
        self.known = set(self.names)
        self.version = re.search(r"msgraph_sdk-([\w.]+)-py3", path.name).group(1)
        self.models, self.enums = {}, {}

    def text(self, name):
        return self.zip.read(name).decode()

    def imports(self, name, text):
        """The files of the classes that a file imports from this package."""
        folder = name.split("/")[:-1]
        found = {}
        for dots, module, cls in IMPORT.findall(text):
            base = folder[: len(folder) - len(dots) + 1]
            file = "/".join(base + module.split(".")) + ".py"
            if file in self.known:
                found[cls] = file
        return found

    def key(self, cls, file):
        inside = file[len(ROOT):-len(".py")]
        return cls if inside.startswith("models/") else f"{inside.replace('/', '.')}"

    def type_of(self, cls, files):
        if cls in PRIMITIVES:
            return PRIMITIVES[cls]
        if cls not in files:
            return "any"
        return "object:" + self.model(cls, files[cls])

    def model(self, cls, file):
        """Reads a model with all that it leads to; returns its name in the extract."""
        key = self.key(cls, file)
        if key in self.models:
            return key
        entry = self.models[key] = {"fields": {}}
        text = self.text(file)
        files = {cls: file, **self.imports(file, text)}
        base = CLASS.search(text).group(2).split(",")[0].strip()
        if base in files:
            entry["base"] = self.model(base, files[base])
        for name, getter, argument in FIELD.findall(text):
            kind = self.field(getter, argument, files, cls in PLAIN)
            if kind:
                entry["fields"][name] = kind
        kinds = {} if cls in PLAIN or cls == "Entity" else {
            tag.lower(): self.model(sub, file_of)
            for tag, dots, module, sub in KIND.findall(text)
            if (file_of := self.imports(file, f"from {dots}{module} import {sub}").get(sub))
        }
        if kinds:
            entry["kinds"] = kinds
        if cls.endswith("PostRequestBody"):
            # Names of an action's parameters are read in any case.
            entry["anyCase"] = True
        return key

    def field(self, getter, argument, files, is_plain):
        if getter in ("object_value", "collection_of_object_values"):
            if is_plain and argument != "MailboxSettings":
                return None
            kind = self.type_of(argument, files)
        elif getter in ("enum_value", "collection_of_enum_values"):
            kind = "enum:" + self.enum(argument, files)
        elif getter == "collection_of_primitive_values":
            kind = PRIMITIVES.get(argument.split(".")[-1], "any")
        else:
            name = getter.removesuffix("_value").removesuffix("_object")
            kind = PRIMITIVES.get(name, "any")
        return "[]" + kind if getter.startswith("collection") else kind

    def enum(self, cls, files):
        if cls not in self.enums and cls in files:
            self.enums[cls] = ENUM.findall(self.text(files[cls]))
        return cls


def query_of(template):
    """The path of a URI template, and the names of its query parameters."""
    path = template.removeprefix("{+baseurl}")
    names = []
    for group in re.findall(r"\{[?&]([^}]*)\}", path):
        names += group.split(",")
    path = re.sub(r"\{[?&][^}]*\}", "", path)
    path, _, fixed = path.partition("?")
    names += [pair.split("=")[0] for pair in fixed.split("&") if pair]
    clean = lambda name: name.rstrip("*").replace("%24", "$").replace("%2D", "-")
    segments = []
    for segment in path.strip("/").split("/"):
        segment = segment.removesuffix("()").removeprefix("microsoft.graph.")
        segments.append("{}" if segment.startswith("{") else re.sub(r"'\{\w+\}'", "{}", segment))
    return "/".join(segments), sorted({clean(name) for name in names if name})


def methods_of(wheel, name, text):
    files = wheel.imports(name, text)
    for verb, body, answer, code in VERB.findall(text):
        method = {}
        if body:
            method["body"] = "bytes" if body == "bytes" else wheel.type_of(body, files)
        sent = SENT.search(code)
        kind, argument = sent.groups() if sent else ("", "")
        if kind == "send_async":
            method["answer"] = wheel.type_of(argument, files)
        elif kind == "send_primitive_async":
            method["answer"] = PRIMITIVES.get(argument, "any")
        yield verb.upper(), method


def main():
    folder = pathlib.Path(sys.argv[1])
    [file] = folder.glob("msgraph_sdk-*.whl")
    wheel = Wheel(file)
    prefixes = tuple(ROOT + "users/item/" + branch + ("" if branch.endswith(".py") else "/") for branch in BRANCHES) + (ROOT + "subscriptions/",)
    paths = {}
    for name in wheel.names:
        if not name.startswith(prefixes) or not name.endswith("_request_builder.py"):
            continue
        text = wheel.text(name)
        template = TEMPLATE.search(text).group(1)
        own = {verb: query_of(other) for verb, other in OWN_TEMPLATE.findall(text)}
        path, query = query_of(template)
        for verb, method in methods_of(wheel, name, text):
            path_of, query_of_verb = own.get(verb, (path, query))
            method["query"] = query_of_verb
            paths.setdefault(path_of, {})[verb] = method
    for path in [path for path in paths if path.endswith("/attachments/{}")]:
        # Documented ("Get attachment", raw contents) and missing in Microsoft's description.
        paths[f"{path}/$value"] = {"GET": {"answer": "bytes", "query": []}}
    extract = {"version": wheel.version, "paths": paths, "models": wheel.models, "enums": wheel.enums}
    (folder / "graph-oracle.json").write_text(json.dumps(extract, separators=(",", ":"), sort_keys=True))


main()
