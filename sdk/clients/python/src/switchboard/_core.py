"""The decisions of the clients, without any input or output: what is sent, and what follows from an answer.

The synchronous and the asynchronous client only send, wait and store what this module says.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast
from urllib.parse import quote

import httpx

from switchboard._errors import ServerError, SwitchboardError
from switchboard._errors import connection_error, error_of, header, read_body
from switchboard._version import __version__

DEFAULT_SERVER = "http://127.0.0.1:8080"
"""The address at which `switchboard serve` listens by default."""
DEFAULT_TIMEOUT_S = 30.0
DEFAULT_RETRIES = 2
FIRST_WAIT_S = 0.5
"""The longest wait before the first retry."""
MAX_WAIT_S = 8.0
"""The longest wait before a retry, unless the server names one."""
MAX_RETRY_AFTER_S = 60.0
"""The longest wait that the server may name. Calls that would have to wait longer raise the error."""

JSON = "application/json"
OCTETS = "application/octet-stream"

QueryValue: TypeAlias = str | int | float | bool | Sequence[str] | Sequence[int] | None
Query: TypeAlias = Mapping[str, QueryValue]
Options: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a client."""

    base_url: str
    timeout: float
    max_retries: int
    headers: Mapping[str, str]
    user_agent: str


@dataclass(frozen=True, slots=True)
class Call:
    """A request with all that its attempts have in common."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    content: bytes | None
    timeout: httpx.Timeout
    max_retries: int
    accept: str


@dataclass(frozen=True, slots=True)
class Done:
    """The call has succeeded."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raise:
    """The call has failed."""

    error: SwitchboardError


@dataclass(frozen=True, slots=True)
class Wait:
    """The call is tried again after so many seconds, because of an error."""

    seconds: float
    error: SwitchboardError


Decision: TypeAlias = Done | Raise | Wait


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """What an answer says beside its body."""

    status: int
    """The HTTP status."""
    headers: httpx.Headers
    """All headers."""

    @property
    def request_id(self) -> str | None:
        """The id of the request: name it when you ask for help."""
        return header(self.headers, "x-request-id")

    @property
    def replayed(self) -> bool:
        """Whether this is the answer to an earlier request with the same idempotency key."""
        return header(self.headers, "idempotent-replayed") == "true"

    @property
    def data_source(self) -> str | None:
        """`local` if the service's own copy answered, `provider` if the request waited for the provider."""
        return header(self.headers, "x-data-source")

    @property
    def data_age_s(self) -> int | None:
        """The age of the data in seconds."""
        age = header(self.headers, "x-data-age")
        return int(age) if age and age.isascii() and age.isdigit() else None


class Answer(dict[str, Any]):
    """A JSON object as the server sent it, with the rest of its answer for `response_of`."""

    __slots__ = ("response",)
    response: ResponseInfo


def response_of(result: Any) -> ResponseInfo:
    """Returns status and headers of the answer that a call or a page has returned."""
    if not isinstance(result, Answer):
        raise TypeError("response_of() takes the result of a call, not a part or a copy of one")
    return result.response


def configure(
    base_url: str | None, timeout: float, max_retries: int, headers: Mapping[str, str] | None, api_version: str
) -> Config:
    """Returns the settings of a client, with the defaults of the environment."""
    base_url = base_url or os.environ.get("SWITCHBOARD_SERVER") or DEFAULT_SERVER
    url = httpx.URL(base_url)
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ValueError("base_url must be a URL such as https://api.example.com, without a name, a query or a fragment")
    if max_retries < 0:
        raise ValueError("max_retries must be 0 or more")
    user_agent = f"switchboard-python/{__version__} (api {api_version}; python {platform.python_version()})"
    return Config(base_url.rstrip("/"), timeout, max_retries, dict(headers or {}), user_agent)


def default_key() -> str:
    """Returns the API key of the environment."""
    key = os.environ.get("SWITCHBOARD_API_KEY", "").strip()
    if not key:
        raise ValueError("no API key: pass api_key, or set SWITCHBOARD_API_KEY")
    return key


def segment(value: object) -> str:
    """Returns an id as a part of a path. Values that would lead to another path are refused."""
    if not isinstance(value, str):
        raise TypeError(f"an id must be a str, not {type(value).__name__}")
    if value in ("", ".", ".."):
        raise ValueError(f"{value!r} is not an id")
    return quote(value, safe="")


def target(path: str, query: Query | None) -> str:
    """Returns a path with its query. Absent values are left out, lists are joined with commas."""
    pairs = [f"{quote(name)}={quote(_word(value), safe='*')}" for name, value in (query or {}).items() if value is not None]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def _word(value: QueryValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


def prepare(
    config: Config, method: str, path: str, query: Query | None, body: Any, options: Options, accept: str = JSON
) -> Call:
    """Returns a call with everything that its attempts have in common: body, idempotency key, headers."""
    if not path.startswith("/"):
        # Anything else could lead to another host.
        raise ValueError("a path begins with /")
    headers = {"accept": accept, "accept-encoding": "gzip, deflate", "user-agent": config.user_agent}
    content = None
    if body is not None:
        content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        headers["content-type"] = JSON
    if _is_write(method, path):
        key = options.get("idempotency_key")
        if key == "":
            raise ValueError("idempotency_key is empty")
        headers["idempotency-key"] = uuid.uuid4().hex if key is None else key
    if if_match := options.get("if_match"):
        headers["if-match"] = if_match
    if options.get("strict"):
        headers["prefer"] = "handling=strict"
    if options.get("fresh"):
        headers["cache-control"] = "no-cache"
    given: Mapping[str, str] = options.get("headers") or {}
    for more in (config.headers, given):
        headers.update((name.lower(), value) for name, value in more.items())
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"the header {name} has line breaks or characters that are not ASCII")
    given_timeout = options.get("timeout")
    timeout = config.timeout if given_timeout is None else given_timeout
    retries = options.get("max_retries")
    return Call(
        method=method,
        url=httpx.URL(config.base_url + target(path, query)),
        headers=headers,
        content=content,
        timeout=httpx.Timeout(None if timeout == math.inf else timeout),
        max_retries=config.max_retries if retries is None else retries,
        accept=accept,
    )


def _is_write(method: str, path: str) -> bool:
    """Returns whether a call changes something. A query that is sent by POST does not."""
    return method not in ("GET", "HEAD", "OPTIONS") and not path.endswith("/query")


def build(call: Call, api_key: str) -> httpx.Request:
    """Returns the request of one attempt."""
    if not (api_key.isascii() and api_key.isprintable() and api_key) or " " in api_key:
        # The error of httpx would show the key.
        raise ValueError("the API key is empty, or has spaces or characters that are not ASCII")
    headers = {"authorization": f"Bearer {api_key}", **call.headers}
    extensions = {"timeout": call.timeout.as_dict()}
    return httpx.Request(call.method, call.url, headers=headers, content=call.content, extensions=extensions)


class Body:
    """The body of an answer while it arrives: a server that sends a byte now and then must not hold a call for ever."""

    def __init__(self, call: Call, request: httpx.Request) -> None:
        limit = call.timeout.read
        self._deadline = math.inf if limit is None else time.monotonic() + limit
        self._request = request
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Adds a piece. Raises if the time of the attempt is over."""
        self._pieces.append(piece)
        if time.monotonic() > self._deadline:
            raise httpx.ReadTimeout("the answer was not complete in time", request=self._request)

    def response(self, head: httpx.Response) -> httpx.Response:
        """Returns the answer with its body."""
        content = b"".join(self._pieces)
        return httpx.Response(
            head.status_code, headers=head.headers, content=content, request=self._request, extensions=head.extensions
        )


def after(call: Call, tries: int, outcome: httpx.Response | Exception) -> Decision:
    """Returns what follows from an attempt; `tries` counts those before it."""
    if isinstance(outcome, Exception):
        error: SwitchboardError = connection_error(outcome)
    elif outcome.is_success:
        return _value(call, outcome)
    else:
        error = error_of(outcome)
    if not error.retryable or tries >= call.max_retries:
        return Raise(error)
    if error.retry_after_ms is None:
        return Wait(backoff(tries), error)
    seconds = error.retry_after_ms / 1000
    return Wait(seconds, error) if seconds <= MAX_RETRY_AFTER_S else Raise(error)


def _value(call: Call, response: httpx.Response) -> Decision:
    """Returns the result of a success: the response itself where its bytes are wanted, else its JSON."""
    if call.accept != JSON:
        return Done(response)
    content = response.content
    if not content:
        return Done(None)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        message = f"the server answered {response.status_code} with a body that is no JSON"
        status, body = response.status_code, read_body(response)
        return Raise(ServerError(message, status=status, body=body, headers=response.headers))
    if not isinstance(value, dict):
        return Done(value)
    answer = Answer(cast(dict[str, Any], value))
    answer.response = ResponseInfo(response.status_code, response.headers)
    return Done(answer)


def page_of(answer: Any) -> Any:
    """Returns an answer that is a page of a list. Raises for anything else: another service may listen at the address."""
    if not isinstance(answer, dict) or not isinstance(cast(dict[str, Any], answer).get("data"), list):
        raise SwitchboardError("the server answered something that is not a page of a list")
    return cast(Any, answer)


def next_cursor(page: Any, cursor: str | None) -> str | None:
    """Returns the cursor of the page after this one, whose own cursor is given. Raises if it leads to the same page again."""
    following: str | None = page.get("next_cursor")
    if following is not None and following == cursor:
        raise SwitchboardError("the server answered the cursor of the same page again")
    return following


def backoff(tries: int) -> float:
    """Returns the seconds before another attempt: twice as many each time, and a random part less."""
    return jittered(min(FIRST_WAIT_S * 2.0**tries, MAX_WAIT_S))


def jittered(seconds: float) -> float:
    """Returns the wait less a random part, so that many clients do not return at the same time."""
    return seconds * random.uniform(0.5, 1)
