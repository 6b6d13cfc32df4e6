"""The two checks of Schemathesis that need more than the schemas of the document: the rules that it has in words."""

import datetime
import itertools
import re

import jsonschema_rs
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

# Refusals of requests whose fields are valid one by one: code, pattern of the parameter (none: any), and the reason.
RULES = [
    ("invalid_cursor", None, "a cursor has to come from an earlier page"),
    ("sync_reset_required", None, "a cursor has to come from an earlier page"),
    ("invalid_time_range", None, "the end of a range comes after its start"),
    ("range_too_large", None, "operations state their longest range"),
    ("conflicting_fields", None, "If-Match and the body's etag, or two spellings of a field, have one value"),
    ("invalid_parameter", r"(Id|_id|Ids\[\d+\])$", "an id names something that the key may use"),
    ("invalid_parameter", r"^allowed(Domains|Ips)\[\d+\]$", "the fields' descriptions say which hosts and addresses there are"),
    ("invalid_parameter", r"(^type|eventTypes\[\d+\])$", "an event type is one of the list in the documentation"),
    ("invalid_url", None, "a URL has a host and keeps to its syntax"),
    ("invalid_time_zone", None, "a time zone is one of the tz database"),
    ("invalid_parameter", r"^rateLimitPerMinute$", "a key has no higher limit than its maker"),
    ("invalid_parameter", r"^signatures$", "every delivery has a v1 signature"),
    ("missing_field", r"^addresses\[\d+\]\.formatted$", "an address has a part that is not empty"),
    ("missing_field", r"^dueDate$", "a time of day needs its date"),
    ("missing_field", r"^credentials", "GET /v1/providers says which credentials a provider needs"),
    ("missing_field", r"^start$", "events are expanded from a start on"),
    ("missing_field", r"^bookId$", "a contact or a group names its book, or its account for the default book"),
    ("missing_field", r"^etag$", "a draft is changed with If-Match or etag"),
    ("invalid_parameter", r"^(expiresAt|sendAt)$", "such a time lies in the future"),
    ("invalid_parameter", r"^provider$", "a provider is one of those that the server has"),
    ("invalid_parameter", r"^answers\.", "answers are to the questions of the event type"),
    ("invalid_recurrence", None, "a rule keeps to RFC 5545"),
    ("unknown_field", None, "strict=true refuses fields that do not exist"),
    ("invalid_parameter", r"^headers$", "names and values of headers have at most 4,096 bytes together"),
    ("provider_rejected", None, "providers have bounds of their own"),
    ("capability_not_supported", None, "the sandbox lacks what some providers have"),
]

# The same for refusals that name any field.
RULED_MESSAGES = [
    "the character U+0000",
    "has a name of more than 256 bytes",
    "must lie between the years 1900 and 2200",
    "a contact needs at least one of a name, an e-mail address, a phone number and an organization",
    "must name a recipient",
]


def refusal(response):
    """The error of an answer; an empty one if it has none."""
    try:
        return response.json()["error"] or {}
    except (ValueError, KeyError, TypeError):
        return {}


def rules_of_body(case):
    """The `x-rules` of the body's schema and of those in it."""
    document = case.operation.schema.raw_schema
    printed = document["paths"][case.operation.path][case.operation.method.lower()]
    rules, seen, rest = [], set(), [printed.get("requestBody", {})]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            rules.extend(part.get("x-rules", []))
            name = part.get("$ref", "").rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                rest.append(document["components"]["schemas"].get(name, {}))
        rest.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else [])
    return rules


def is_ruled(error, case):
    """Whether a rule in words refuses the request: one of those above, or one of the body that names the parameter."""
    code, param = error.get("code"), error.get("param") or ""
    if any(code == known and (not pattern or re.search(pattern, param)) for known, pattern, _ in RULES):
        return True
    field = re.sub(r"\[\d+\]", "", param).rpartition(".")[2]
    if field and any(re.search(rf"\b{field}\b", rule) for rule in rules_of_body(case)):
        return True
    message = error.get("message", "")
    return any(rule in message for rule in RULED_MESSAGES) or names_no_day(message)


def names_no_day(message):
    """Whether the message quotes a date whose month is shorter, which no pattern tells: 2026-02-31."""
    quoted = re.search(r'"(\d{4}-\d\d-\d\d)', message)
    try:
        return quoted is not None and not datetime.date.fromisoformat(quoted[1])
    except ValueError:
        return True


def without_null(value):
    """The value without members that are null: in a body they mean the same as absent ones."""
    if isinstance(value, dict):
        return {name: without_null(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_null(item) for item in value]
    return value


def is_valid_body(case):
    """Whether the body is valid once its null members are absent."""
    document = case.operation.schema.raw_schema
    printed = document["paths"][case.operation.path][case.operation.method.lower()]
    content = printed.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None or not isinstance(case.body, dict):
        return False
    schema = {**content["schema"], "components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=False)
    return validator.is_valid(without_null(case.body))


def is_valid_in_words(case):
    """Whether the request is valid although it violates a schema: an empty parameter, and a null member, mean the same as absent ones."""
    data = case.meta.phase.data
    location, name = getattr(data, "parameter_location", None), getattr(data, "parameter", None)
    if location == ParameterLocation.BODY:
        return is_valid_body(case)
    query = case.query or {}
    # Without a location several parts of the request are invalid.
    return location in (ParameterLocation.QUERY, None) and "" in ([query.get(name)] if name else query.values())


def is_replay(response):
    """Whether the answer is that of an earlier request with the same Idempotency-Key."""
    return "idempotent-replayed" in response.headers


NUMBERS = itertools.count()


@schemathesis.hook
def before_call(context, case, **_):
    """Gives each write an Idempotency-Key of its own: one that was used before is refused before anything else is looked at."""
    if re.fullmatch(r"[ -~]{1,255}", (case.headers or {}).get("Idempotency-Key", "")):
        case.headers["Idempotency-Key"] = f"request-{next(NUMBERS)}"


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """Refuses an error for a request that the document allows. A range of bytes may lie beyond the end of the file."""
    is_range = response.status_code == 416 and "Range" in (case.headers or {})
    if is_replay(response) or is_range or response.status_code == 400 and is_ruled(refusal(response), case):
        return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def invalid_requests_are_refused(ctx, response, case):
    """Refuses a success for a request that the document forbids."""
    if case.meta is not None and (is_replay(response) or is_valid_in_words(case)):
        return None
    return negative_data_rejection(ctx, response, case)
