"""The loops of the asynchronous client: sending, waiting, pages and feeds."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from switchboard import _core as core
from switchboard._errors import ApiError, StaleEtagError, SwitchboardError, reading_error
from switchboard._feeds import AsyncCursorStore, CursorStore, MemoryStore
from switchboard._readers import ChangeReader, StreamReader

if TYPE_CHECKING:
    from switchboard.generated import types

PageT = TypeVar("PageT")
ItemT = TypeVar("ItemT")


async def settled(value: Any) -> Any:
    """Returns a value, or what it resolves to: functions of the user may be coroutines or not."""
    return await value if inspect.isawaitable(value) else value


class AsyncTransport:
    """Sends calls and retries them."""

    def __init__(
        self, config: core.Config, api_key: Callable[[], str | Awaitable[str]], client: httpx.AsyncClient
    ) -> None:
        self.config = config
        self._api_key = api_key
        self._client = client

    async def wait(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)

    async def send(self, call: core.Call) -> Any:
        """Returns the result of a call, after retries if needed. A response that is no JSON is still open."""
        tries = 0
        while True:
            decision = core.after(call, tries, await self._attempt(call))
            if isinstance(decision, core.Done):
                return decision.value
            if isinstance(decision, core.Raise):
                raise decision.error
            await self.wait(decision.seconds)
            tries += 1

    async def _attempt(self, call: core.Call) -> httpx.Response | Exception:
        request = core.build(call, await settled(self._api_key()))
        body = core.Body(call, request)
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            is_streamed = call.accept != core.JSON and response.is_success
            if is_streamed or response.is_stream_consumed:
                return response
            try:
                async for piece in response.aiter_raw():
                    body.add(piece)
            finally:
                await response.aclose()
            return body.response(response)
        except (httpx.TransportError, httpx.DecodingError) as error:
            return error


class AsyncPages(Generic[PageT, ItemT]):
    """A list in pages. `async for` reads all items, `await` the first page."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Any]]) -> None:
        self._fetch = fetch

    async def page(self) -> PageT:
        """Returns the first page: `data`, and `next_cursor` for the next one."""
        page: PageT = await self._fetch(None)
        return page

    def __await__(self) -> Generator[Any, None, PageT]:
        return self.page().__await__()

    async def pages(self) -> AsyncIterator[PageT]:
        """Yields the pages."""
        async for page in self._all():
            yield page

    async def _all(self) -> AsyncIterator[Any]:
        cursor: str | None = None
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = core.next_cursor(page, cursor)
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[ItemT]:
        async for page in self._all():
            for item in page["data"]:
                yield item

    async def to_list(self, limit: int | None = 1000) -> list[ItemT]:
        """Returns the first items, at most `limit`; all of them with `None`."""
        items: list[ItemT] = []
        if limit is not None and limit <= 0:
            return items
        async for page in self._all():
            items.extend(page["data"])
            if limit is not None and len(items) >= limit:
                return items[:limit]
        return items


class AsyncResource:
    """The operations of one part of the API's paths."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def _prepare(
        self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options, accept: str = core.JSON
    ) -> core.Call:
        return core.prepare(self._transport.config, method, path, query, body, options, accept)

    async def _json(self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options) -> Any:
        return await self._transport.send(self._prepare(method, path, query, body, options))

    async def _nothing(self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options) -> None:
        await self._transport.send(self._prepare(method, path, query, body, options))

    def _pages(self, path: str, query: core.Query | None, options: core.Options) -> AsyncPages[Any, Any]:
        async def fetch(cursor: str | None) -> Any:
            of_page = query if cursor is None else {**(query or {}), "cursor": cursor}
            return core.page_of(await self._json("GET", path, of_page, None, options))

        return AsyncPages(fetch)

    @asynccontextmanager
    async def _open(self, call: core.Call) -> AsyncGenerator[httpx.Response, None]:
        response: httpx.Response = await self._transport.send(call)
        try:
            yield response
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise reading_error(error, response) from error
        finally:
            await response.aclose()

    def _raw(
        self, path: str, query: core.Query | None, headers: Mapping[str, str | None], options: core.Options
    ) -> AbstractAsyncContextManager[httpx.Response]:
        given = {name: value for name, value in headers.items() if value is not None}
        options = {**options, "headers": {**given, **(options.get("headers") or {})}}
        return self._open(self._prepare("GET", path, query, None, options, core.OCTETS))

    async def _modify(
        self, path: str, query: core.Query | None, change: Callable[[Any], Any], attempts: int, options: core.Options
    ) -> Any:
        for attempt in range(max(attempts, 1)):
            # What the service's copy had is not new enough after the first conflict.
            of_read = options if attempt == 0 else {**options, "fresh": True}
            current = await self._json("GET", path, None, None, of_read)
            patch = await settled(change(current))
            if patch is None:
                return current
            try:
                return await self._json("PATCH", path, query, patch, {**options, "if_match": current["etag"]})
            except StaleEtagError:
                if attempt + 1 >= attempts:
                    raise
        raise AssertionError("a loop of one attempt or more returns or raises")

    async def _follow(self, path: str, query: core.Query | None, options: core.Options) -> AsyncGenerator[Any, None]:
        store: CursorStore | AsyncCursorStore = options.get("store") or MemoryStore()
        on_reset, poll_s = options.get("on_reset"), options.get("poll_s", 30.0)
        reader = ChangeReader(path, query)
        reader.resume(await settled(store.get(reader.feed)))
        while True:
            try:
                page = core.page_of(await self._json("GET", path, reader.query(), None, options))
            except SwitchboardError as error:
                if reader.reset(error, on_reset is not None):
                    if on_reset is not None:
                        await settled(on_reset())
                elif poll_s is None:
                    raise
                else:
                    await self._transport.wait(reader.wait(error))
                continue
            for change in page["data"]:
                yield change
            cursor = reader.finish(page)
            if cursor is not None:
                await settled(store.set(reader.feed, cursor))
            if reader.is_caught_up:
                if poll_s is None:
                    return
                await self._transport.wait(poll_s)


class AsyncEventFeed(AsyncResource):
    """The operations of the event log, with its stream."""

    def follow(
        self,
        *,
        types: Sequence[str] | None = None,
        connection_ids: Sequence[str] | None = None,
        include_backfill: bool | None = None,
        after_sequence: int | None = None,
        store: CursorStore | AsyncCursorStore | None = None,
        on_reset: Callable[[], Awaitable[object] | object] | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[types.Notification, None]:
        """Yields events as they happen, and opens the stream again when it ends: you miss none.

        The position is stored after an event, when the next one is asked for. After a crash an event can come twice.

        Args:
            types: Exact names such as `calendar.event.created`, families such as `calendar.*`, or `*`.
            connection_ids: Only events of these connections.
            include_backfill: Also what a first reading of a collection finds.
            after_sequence: The position where the stream begins if the store has none. The default is now.
            store: The store of the position. The default keeps it for this call only.
            on_reset: Called when events after the position are no longer kept: read your resources again. The stream then
                continues from now. Without it the stream raises a `ConflictError` with the code `sync_reset_required`.
            timeout: Seconds for opening the stream.
            headers: More headers of the requests.
        """
        query: core.Query = {"type": types, "connection_id": connection_ids, "include_backfill": include_backfill}
        reader = StreamReader("/v1/events/stream", query, after_sequence)
        return self._stream(reader, store or MemoryStore(), on_reset, {"timeout": timeout, "headers": headers})

    async def _stream(
        self,
        reader: StreamReader,
        store: CursorStore | AsyncCursorStore,
        on_reset: Callable[[], Awaitable[object] | object] | None,
        options: core.Options,
    ) -> AsyncGenerator[Any, None]:
        reader.resume(await settled(store.get(reader.feed)))
        while True:
            failure: SwitchboardError | None = None
            try:
                async with self._open(reader.open(self._transport.config, options)) as response:
                    reader.opened()
                    async for piece in response.aiter_bytes():
                        for position, notification in reader.feed_piece(piece):
                            if notification is not None:
                                yield notification
                            if (stored := reader.move(position)) is not None:
                                await settled(store.set(reader.feed, stored))
            except ApiError as error:
                if reader.reset(error, on_reset is not None):
                    if on_reset is not None:
                        await settled(on_reset())
                    continue
                failure = error
            except SwitchboardError as error:
                failure = error
            await self._transport.wait(reader.wait(failure))
