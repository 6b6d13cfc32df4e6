"""The errors that calls raise."""

from __future__ import annotations

import builtins
import json
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

import httpx

if TYPE_CHECKING:
    from switchboard.generated.types import ErrorCode, ErrorDetail, ProviderError as ProviderAnswer

RETRIED_STATUSES = frozenset({408, 429, 502, 503, 504})
"""Statuses that are retried where the answer does not say whether it may succeed later, such as a gateway's page."""
MAX_RETRY_AFTER_MS = 365 * 24 * 3600 * 1000
"""The longest `Retry-After` that makes sense; a longer one is taken for this."""


class SwitchboardError(Exception):
    """Any error of this package."""

    retryable: bool = False
    """Whether the same call may succeed later, unchanged."""
    retry_after_ms: int | None = None
    """The time that the server wants the client to wait, if it named one."""


class ConnectionError(SwitchboardError, builtins.ConnectionError):  # noqa: A001
    """No connection to the server, or one that broke. `__cause__` is the error of httpx."""


class TimeoutError(SwitchboardError, builtins.TimeoutError):  # noqa: A001
    """The server did not answer in time. `__cause__` is the error of httpx."""


class ApiError(SwitchboardError):
    """An answer that is no success."""

    def __init__(self, message: str, *, status: int, body: Any = None, headers: httpx.Headers | None = None) -> None:
        super().__init__(message)
        error = envelope(body)
        self.message = message
        """A sentence for people; it may change."""
        self.status = status
        """The HTTP status."""
        self.body: Any = body
        """The answer's body: JSON, or text if it is none."""
        self.headers = headers if headers is not None else httpx.Headers()
        """The answer's headers."""
        self.code: ErrorCode | str | None = _text(error, "code")
        """The code of the error, such as `stale_etag`; `None` if the answer is no error of the API. New codes may come."""
        self.type: str | None = _text(error, "type")
        """The class of the error, such as `conflict_error`."""
        self.param: str | None = _text(error, "param")
        """The field or parameter at fault."""
        details = error.get("details")
        self.details: list[ErrorDetail] = cast("list[ErrorDetail]", details) if isinstance(details, list) else []
        """Each fault, where there are several."""
        self.request_id: str | None = _text(error, "request_id") or header(self.headers, "x-request-id")
        """The id of the request: name it when you ask for help."""
        self.retry_after_ms = retry_after_ms(self.headers)
        self.provider: ProviderAnswer | None = error.get("provider")
        """The provider's answer, if the provider refused the call."""
        retryable = error.get("retryable")
        self.retryable = retryable if isinstance(retryable, bool) else status in RETRIED_STATUSES

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.status, self.body, self.headers.multi_items())

    def __str__(self) -> str:
        parts = [self.message, f"status {self.status}"]
        if self.code:
            parts.append(self.code)
        if self.request_id:
            parts.append(f"request {self.request_id}")
        return f"{parts[0]} ({', '.join(parts[1:])})"


class InvalidRequestError(ApiError):
    """The request is wrong: `param` and `details` say where."""


class AuthenticationError(ApiError):
    """The API key is missing, wrong, expired or revoked."""


class PermissionError(ApiError):  # noqa: A001
    """The key or the connected account may not do this."""


class NotFoundError(ApiError):
    """The resource does not exist, or the key may not see it."""


class ConflictError(ApiError):
    """The request conflicts with the state of the resource."""


class StaleEtagError(ConflictError):
    """The resource has changed since it was read."""

    @property
    def current_etag(self) -> str | None:
        """The version that the resource has now."""
        return _text(envelope(self.body), "current_etag")


class IdempotencyError(ConflictError):
    """The idempotency key was used for another request, or its first request is still running."""


class ReauthRequiredError(ConflictError):
    """The user must authorize the connection again."""


class RateLimitError(ApiError):
    """The budget of the key or of the provider is used up: wait `retry_after_ms`."""


class ProviderError(ApiError):
    """The provider failed or refused the call; `provider` has its answer."""


class ServerError(ApiError):
    """A fault of the service, or an answer that the service did not write."""


_BY_CODE: dict[str, type[ApiError]] = {
    "stale_etag": StaleEtagError,
    "idempotency_key_reused": IdempotencyError,
    "idempotency_in_progress": IdempotencyError,
    "reauth_required": ReauthRequiredError,
}
_BY_TYPE: dict[str, type[ApiError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionError,
    "not_found_error": NotFoundError,
    "conflict_error": ConflictError,
    "rate_limit_error": RateLimitError,
    "provider_error": ProviderError,
    "api_error": ServerError,
}
_BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error that an answer stands for."""
    body = read_body(response)
    error = envelope(body)
    of_status = _BY_STATUS.get(response.status_code)
    if of_status is None:
        of_status = InvalidRequestError if 400 <= response.status_code < 500 else ServerError
    kind = _BY_CODE.get(_text(error, "code") or "") or _BY_TYPE.get(_text(error, "type") or "") or of_status
    message = _text(error, "message") or _described(response)
    return kind(message, status=response.status_code, body=body, headers=response.headers)


def _described(response: httpx.Response) -> str:
    """Returns the message for an answer that has none."""
    if 300 <= response.status_code < 400:
        address = header(response.headers, "location") or "another address"
        return f"the server redirects to {address}: redirects are not followed, change base_url"
    return f"the server answered {response.status_code} {response.reason_phrase}".rstrip()


def connection_error(error: Exception) -> SwitchboardError:
    """Returns the error of a request that got no answer."""
    if isinstance(error, httpx.TimeoutException):
        failed: SwitchboardError = TimeoutError(f"no answer in time: {_words(error)}")
    else:
        failed = ConnectionError(f"no answer: {_words(error)}")
    failed.retryable = not isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError)
    failed.__cause__ = error
    return failed


def reading_error(error: httpx.RequestError, response: httpx.Response) -> Exception:
    """Returns the error of an answer that breaks off while its body is read; errors of other requests as they are."""
    of_response = getattr(error, "_request", None) is response.request
    return connection_error(error) if of_response else error


def envelope(body: Any) -> dict[str, Any]:
    """Returns the members of an error: those of `error`, or those of RFC 6749; empty if the body is neither."""
    if not isinstance(body, dict):
        return {}
    members = cast(dict[str, Any], body)
    error = members.get("error")
    if isinstance(error, dict):
        return cast(dict[str, Any], error)
    if isinstance(error, str):
        return {"code": error, "message": members.get("error_description") or error}
    return {}


def header(headers: httpx.Headers, name: str) -> str | None:
    """Returns the value of a header; `None` without it."""
    return headers[name] if name in headers else None


def read_body(response: httpx.Response) -> Any:
    """Returns the body as JSON, or as text if it is none."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        # Not `response.text`: the server names the encoding.
        return response.content.decode(errors="replace")


def retry_after_ms(headers: httpx.Headers, now: float | None = None) -> int | None:
    """Returns the milliseconds of `Retry-After`, which names seconds, or a date by the server's clock; `None` without one."""
    value = (header(headers, "retry-after") or "").strip()
    if value.isascii() and value.isdigit():
        return min(int(value[:12]) * 1000, MAX_RETRY_AFTER_MS)
    at = _time(value)
    if at is None:
        return None
    if now is None:
        now = _time(header(headers, "date") or "")
    wait = round((at - (time.time() if now is None else now)) * 1000)
    return min(max(0, wait), MAX_RETRY_AFTER_MS)


def _time(date: str) -> float | None:
    """Returns an HTTP date in seconds since 1970; `None` for anything else."""
    if not date.endswith(" GMT"):
        return None
    try:
        return parsedate_to_datetime(date).replace(tzinfo=UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _rebuild(
    kind: type[ApiError], message: str, status: int, body: Any, headers: list[tuple[str, str]]
) -> ApiError:
    """Returns a copied error, as pickle needs it."""
    return kind(message, status=status, body=body, headers=httpx.Headers(headers))


def _text(error: dict[str, Any], name: str) -> str | None:
    value = error.get(name)
    return value if isinstance(value, str) else None


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
