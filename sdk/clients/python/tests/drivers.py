"""One way to use both clients, so that each case runs with the synchronous and the asynchronous one."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from typing import Any

import httpx

import switchboard
from switchboard import AsyncSwitchboard, Switchboard

API_KEY = "uc_test_key"
# Reading the certificates of the system takes longer than most tests.
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def snake(name: str) -> str:
    """Returns a name of the cases as Python writes it."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def keywords(members: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the query or the options of a case as keyword arguments."""
    found = {snake(name): value for name, value in (members or {}).items()}
    if "timeout_ms" in found:
        found["timeout"] = found.pop("timeout_ms") / 1000
    return found


class RecordingStore:
    """A store that keeps every cursor that it was given."""

    def __init__(self, cursor: str | None) -> None:
        self.cursor = cursor
        self.feeds: set[str] = set()
        self.stored: list[str] = []

    def get(self, feed: str, /) -> str | None:
        self.feeds.add(feed)
        return self.stored[-1] if self.stored else self.cursor

    def set(self, feed: str, cursor: str, /) -> None:
        self.feeds.add(feed)
        self.stored.append(cursor)


class Driver:
    """A client with the waits that it would have made, in milliseconds."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def call(self, name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Returns the result of an operation; of a list, its items."""
        raise NotImplementedError

    def pages(self, name: str, arguments: list[Any], options: dict[str, Any]) -> tuple[int, list[Any]]:
        """Returns the number of pages and all items."""
        raise NotImplementedError

    def to_list(self, name: str, arguments: list[Any], options: dict[str, Any], limit: int) -> list[Any]:
        """Returns at most so many items."""
        raise NotImplementedError

    def take(self, name: str, arguments: list[Any], options: dict[str, Any], count: int, taken: list[Any]) -> None:
        """Appends the first items of a feed to `taken`, and leaves it."""
        raise NotImplementedError

    def pieces(self, name: str, arguments: list[Any]) -> list[bytes]:
        """Returns the pieces of a raw body."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the client."""
        raise NotImplementedError


def operation(client: Any, name: str) -> Callable[..., Any]:
    """Returns the method of an operation, such as `calendars.events.list`."""
    for word in name.split("."):
        client = getattr(client, snake(word))
    method: Callable[..., Any] = client
    return method


class SyncDriver(Driver):
    """The synchronous client."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.http_client = httpx.Client(verify=TLS)
        self.client = Switchboard(api_key=API_KEY, base_url=url, http_client=self.http_client)

        def wait(seconds: float) -> bool:
            self.waits.append(seconds * 1000)
            return True

        setattr(self.client._transport, "wait", wait)

    def call(self, name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        result = operation(self.client, name)(*arguments, **options)
        return list(result) if isinstance(result, switchboard.Pages) else result

    def pages(self, name: str, arguments: list[Any], options: dict[str, Any]) -> tuple[int, list[Any]]:
        pages = list(operation(self.client, name)(*arguments, **options).pages())
        return len(pages), [item for page in pages for item in page["data"]]

    def to_list(self, name: str, arguments: list[Any], options: dict[str, Any], limit: int) -> list[Any]:
        items: list[Any] = operation(self.client, name)(*arguments, **options).to_list(limit=limit)
        return items

    def take(self, name: str, arguments: list[Any], options: dict[str, Any], count: int, taken: list[Any]) -> None:
        feed = operation(self.client, name)(*arguments, **options)
        try:
            for item in feed:
                taken.append(item)
                if len(taken) == count:
                    break
        finally:
            feed.close()

    def pieces(self, name: str, arguments: list[Any]) -> list[bytes]:
        with operation(self.client, name)(*arguments) as response:
            return list(response.iter_bytes())

    def close(self) -> None:
        self.client.close()
        self.http_client.close()


class AsyncDriver(Driver):
    """The asynchronous client, in an event loop of its own."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.http_client = httpx.AsyncClient(verify=TLS)
        self.client = AsyncSwitchboard(api_key=API_KEY, base_url=url, http_client=self.http_client)

        async def wait(seconds: float) -> None:
            self.waits.append(seconds * 1000)

        setattr(self.client._transport, "wait", wait)

    def call(self, name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        async def call() -> Any:
            result = operation(self.client, name)(*arguments, **options)
            if isinstance(result, switchboard.AsyncPages):
                return [item async for item in result]
            return await result

        return self.runner.run(call())

    def pages(self, name: str, arguments: list[Any], options: dict[str, Any]) -> tuple[int, list[Any]]:
        async def pages() -> list[Any]:
            return [page async for page in operation(self.client, name)(*arguments, **options).pages()]

        found = self.runner.run(pages())
        return len(found), [item for page in found for item in page["data"]]

    def to_list(self, name: str, arguments: list[Any], options: dict[str, Any], limit: int) -> list[Any]:
        async def to_list() -> list[Any]:
            items: list[Any] = await operation(self.client, name)(*arguments, **options).to_list(limit=limit)
            return items

        return self.runner.run(to_list())

    def take(self, name: str, arguments: list[Any], options: dict[str, Any], count: int, taken: list[Any]) -> None:
        async def take() -> None:
            feed = operation(self.client, name)(*arguments, **options)
            try:
                async for item in feed:
                    taken.append(item)
                    if len(taken) == count:
                        break
            finally:
                await feed.aclose()

        self.runner.run(take())

    def pieces(self, name: str, arguments: list[Any]) -> list[bytes]:
        async def pieces() -> list[bytes]:
            async with operation(self.client, name)(*arguments) as response:
                return [piece async for piece in response.aiter_bytes()]

        return self.runner.run(pieces())

    def close(self) -> None:
        self.runner.run(self.client.close())
        self.runner.run(self.http_client.aclose())
        self.runner.close()


DRIVERS: dict[str, Callable[[str], Driver]] = {"sync": SyncDriver, "async": AsyncDriver}
