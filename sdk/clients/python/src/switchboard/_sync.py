"""The loops of the synchronous client: sending, waiting, pages and feeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from switchboard import _core as core
from switchboard._errors import ApiError, StaleEtagError, SwitchboardError, reading_error
from switchboard._feeds import CursorStore, MemoryStore
from switchboard._readers import ChangeReader, StreamReader

if TYPE_CHECKING:
    from switchboard.generated import types

PageT = TypeVar("PageT")
ItemT = TypeVar("ItemT")


class Transport:
    """Sends calls and retries them."""

    def __init__(self, config: core.Config, api_key: Callable[[], str], client: httpx.Client) -> None:
        self.config = config
        self._api_key = api_key
        self._client = client
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends waits between attempts and between reads of feeds."""
        self._closed.set()

    def wait(self, seconds: float) -> bool:
        """Waits. Returns `False` if the client was closed before."""
        return not self._closed.wait(seconds)

    def send(self, call: core.Call) -> Any:
        """Returns the result of a call, after retries if needed. A response that is no JSON is still open."""
        tries = 0
        while True:
            decision = core.after(call, tries, self._attempt(call))
            if isinstance(decision, core.Done):
                return decision.value
            if isinstance(decision, core.Raise) or not self.wait(decision.seconds):
                raise decision.error
            tries += 1

    def _attempt(self, call: core.Call) -> httpx.Response | Exception:
        request = core.build(call, self._api_key())
        body = core.Body(call, request)
        try:
            response = self._client.send(request, stream=True, follow_redirects=False)
            is_streamed = call.accept != core.JSON and response.is_success
            if is_streamed or response.is_stream_consumed:
                return response
            try:
                for piece in response.iter_raw():
                    body.add(piece)
            finally:
                response.close()
            return body.response(response)
        except (httpx.TransportError, httpx.DecodingError) as error:
            return error


class Pages(Generic[PageT, ItemT]):
    """A list in pages. Iterating over it reads all items, and each page when its first item is asked for."""

    def __init__(self, fetch: Callable[[str | None], Any]) -> None:
        self._fetch = fetch

    def page(self) -> PageT:
        """Returns the first page: `data`, and `next_cursor` for the next one."""
        page: PageT = self._fetch(None)
        return page

    def pages(self) -> Iterator[PageT]:
        """Yields the pages."""
        yield from self._all()

    def _all(self) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = core.next_cursor(page, cursor)
            if cursor is None:
                return

    def __iter__(self) -> Iterator[ItemT]:
        for page in self._all():
            yield from page["data"]

    def to_list(self, limit: int | None = 1000) -> list[ItemT]:
        """Returns the first items, at most `limit`; all of them with `None`."""
        items: list[ItemT] = []
        if limit is not None and limit <= 0:
            return items
        for page in self._all():
            items.extend(page["data"])
            if limit is not None and len(items) >= limit:
                return items[:limit]
        return items


class Resource:
    """The operations of one part of the API's paths."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _prepare(
        self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options, accept: str = core.JSON
    ) -> core.Call:
        return core.prepare(self._transport.config, method, path, query, body, options, accept)

    def _json(self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options) -> Any:
        return self._transport.send(self._prepare(method, path, query, body, options))

    def _nothing(self, method: str, path: str, query: core.Query | None, body: Any, options: core.Options) -> None:
        self._transport.send(self._prepare(method, path, query, body, options))

    def _pages(self, path: str, query: core.Query | None, options: core.Options) -> Pages[Any, Any]:
        def fetch(cursor: str | None) -> Any:
            of_page = query if cursor is None else {**(query or {}), "cursor": cursor}
            return core.page_of(self._json("GET", path, of_page, None, options))

        return Pages(fetch)

    @contextmanager
    def _open(self, call: core.Call) -> Generator[httpx.Response, None, None]:
        response: httpx.Response = self._transport.send(call)
        try:
            yield response
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise reading_error(error, response) from error
        finally:
            response.close()

    def _raw(
        self, path: str, query: core.Query | None, headers: Mapping[str, str | None], options: core.Options
    ) -> AbstractContextManager[httpx.Response]:
        given = {name: value for name, value in headers.items() if value is not None}
        options = {**options, "headers": {**given, **(options.get("headers") or {})}}
        return self._open(self._prepare("GET", path, query, None, options, core.OCTETS))

    def _modify(
        self, path: str, query: core.Query | None, change: Callable[[Any], Any], attempts: int, options: core.Options
    ) -> Any:
        for attempt in range(max(attempts, 1)):
            # What the service's copy had is not new enough after the first conflict.
            of_read = options if attempt == 0 else {**options, "fresh": True}
            current = self._json("GET", path, None, None, of_read)
            patch = change(current)
            if patch is None:
                return current
            try:
                return self._json("PATCH", path, query, patch, {**options, "if_match": current["etag"]})
            except StaleEtagError:
                if attempt + 1 >= attempts:
                    raise
        raise AssertionError("a loop of one attempt or more returns or raises")

    def _follow(self, path: str, query: core.Query | None, options: core.Options) -> Generator[Any, None, None]:
        store: CursorStore = options.get("store") or MemoryStore()
        on_reset, poll_s = options.get("on_reset"), options.get("poll_s", 30.0)
        reader = ChangeReader(path, query)
        reader.resume(store.get(reader.feed))
        while True:
            try:
                page = core.page_of(self._json("GET", path, reader.query(), None, options))
            except SwitchboardError as error:
                if reader.reset(error, on_reset is not None):
                    if on_reset is not None:
                        on_reset()
                elif poll_s is None:
                    raise
                elif not self._transport.wait(reader.wait(error)):
                    return
                continue
            yield from page["data"]
            cursor = reader.finish(page)
            if cursor is not None:
                store.set(reader.feed, cursor)
            if reader.is_caught_up and (poll_s is None or not self._transport.wait(poll_s)):
                return


class EventFeed(Resource):
    """The operations of the event log, with its stream."""

    def follow(
        self,
        *,
        types: Sequence[str] | None = None,
        connection_ids: Sequence[str] | None = None,
        include_backfill: bool | None = None,
        after_sequence: int | None = None,
        store: CursorStore | None = None,
        on_reset: Callable[[], object] | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Generator[types.Notification, None, None]:
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

    def _stream(
        self,
        reader: StreamReader,
        store: CursorStore,
        on_reset: Callable[[], object] | None,
        options: core.Options,
    ) -> Generator[Any, None, None]:
        reader.resume(store.get(reader.feed))
        while True:
            failure: SwitchboardError | None = None
            try:
                with self._open(reader.open(self._transport.config, options)) as response:
                    reader.opened()
                    for piece in response.iter_bytes():
                        for position, notification in reader.feed_piece(piece):
                            if notification is not None:
                                yield notification
                            if (stored := reader.move(position)) is not None:
                                store.set(reader.feed, stored)
            except ApiError as error:
                if reader.reset(error, on_reset is not None):
                    if on_reset is not None:
                        on_reset()
                    continue
                failure = error
            except SwitchboardError as error:
                failure = error
            if not self._transport.wait(reader.wait(failure)):
                return
