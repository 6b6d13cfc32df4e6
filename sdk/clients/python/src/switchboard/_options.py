"""The options of single calls, as keyword arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypedDict

from switchboard._feeds import AsyncCursorStore, CursorStore


class ReadOptions(TypedDict, total=False):
    """Options of every call."""

    strict: bool | None
    """Refuse unknown fields and parameters, and fields that the provider cannot keep, instead of warning about them."""
    fresh: bool | None
    """Ask the provider before answering."""
    timeout: float | None
    """Seconds for each attempt. A download may take longer while bytes keep coming."""
    max_retries: int | None
    """Retries after the first attempt."""
    headers: Mapping[str, str] | None
    """More headers of the request."""


class WriteOptions(ReadOptions, total=False):
    """Options of calls that change something."""

    idempotency_key: str | None
    """Text that is new for this write. A repeated call with the same key is executed once. The default is a random key."""


class ChangeOptions(WriteOptions, total=False):
    """Options of calls that change one resource."""

    if_match: str | None
    """The etag that the change is based on. With an older one than the resource has, the call raises `StaleEtagError`."""


class FollowOptions(TypedDict, total=False):
    """Options of a change feed."""

    store: CursorStore | None
    """The store of the cursor. The default keeps it for this call only and begins with everything there is."""
    poll_s: float | None
    """Seconds between two reads when there is nothing new; 30 by default. With `None` the feed ends there, and does not wait
    until an outage is over."""
    on_reset: Callable[[], object] | None
    """Called when the cursor is no longer valid: delete your copy. The feed then begins with everything there is. Without
    it the feed raises a `ConflictError` with the code `sync_reset_required`."""
    timeout: float | None
    """Seconds, as in the options of every call."""
    max_retries: int | None
    """Retries after the first attempt."""
    headers: Mapping[str, str] | None
    """More headers of the requests."""


class AsyncFollowOptions(TypedDict, total=False):
    """Options of a change feed of the asynchronous client."""

    store: CursorStore | AsyncCursorStore | None
    """The store of the cursor. The default keeps it for this call only and begins with everything there is."""
    poll_s: float | None
    """Seconds between two reads when there is nothing new; 30 by default. With `None` the feed ends there, and does not wait
    until an outage is over."""
    on_reset: Callable[[], Awaitable[object] | object] | None
    """Called when the cursor is no longer valid: delete your copy. The feed then begins with everything there is. Without
    it the feed raises a `ConflictError` with the code `sync_reset_required`."""
    timeout: float | None
    """Seconds, as in the options of every call."""
    max_retries: int | None
    """Retries after the first attempt."""
    headers: Mapping[str, str] | None
    """More headers of the requests."""
