"""Python client of Switchboard: one API over mailboxes, calendars, address books, task lists and bookings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from switchboard import webhooks
from switchboard._async import AsyncPages
from switchboard._client import AsyncSwitchboard, Switchboard
from switchboard._core import ResponseInfo, response_of
from switchboard._errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    IdempotencyError,
    InvalidRequestError,
    NotFoundError,
    PermissionError,
    ProviderError,
    RateLimitError,
    ReauthRequiredError,
    ServerError,
    StaleEtagError,
    SwitchboardError,
    TimeoutError,
)
from switchboard._feeds import AsyncCursorStore, CursorStore, FileStore, MemoryStore
from switchboard._sync import Pages
from switchboard._version import __version__
from switchboard.webhooks import SignatureError

if TYPE_CHECKING:
    from switchboard import types

__all__ = [
    "ApiError",
    "AsyncCursorStore",
    "AsyncPages",
    "AsyncSwitchboard",
    "AuthenticationError",
    "ConflictError",
    "ConnectionError",
    "CursorStore",
    "FileStore",
    "IdempotencyError",
    "InvalidRequestError",
    "MemoryStore",
    "NotFoundError",
    "Pages",
    "PermissionError",
    "ProviderError",
    "RateLimitError",
    "ReauthRequiredError",
    "ResponseInfo",
    "ServerError",
    "SignatureError",
    "StaleEtagError",
    "Switchboard",
    "SwitchboardError",
    "TimeoutError",
    "__version__",
    "response_of",
    "types",
    "webhooks",
]


def __getattr__(name: str) -> Any:
    """Imports `switchboard.types` on first use: programs that are not type-checked at run time never need it."""
    if name == "types":
        from importlib import import_module

        return import_module("switchboard.types")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
