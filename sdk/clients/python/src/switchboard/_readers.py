"""The positions of feeds and streams, without any input or output: what is read next, and what is stored when."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from switchboard._core import FIRST_WAIT_S, Call, Config, Options, Query, jittered, next_cursor, prepare, target
from switchboard._errors import ApiError, ConflictError, SwitchboardError

STREAM_SILENCE_S = 45.0
"""Seconds without a byte after which an event stream is dead: the server sends something every 15 seconds."""
REOPEN_WAIT_S = 1.0
"""The wait before an event stream is opened again, unless the stream names one."""
MIN_REOPEN_WAIT_S = 0.1
"""The shortest wait that a stream may name."""
MAX_OUTAGE_WAIT_S = 30.0
"""The longest wait of a feed between attempts, unless the server asks for a longer one."""
MAX_ASKED_S = 3600.0
"""The longest wait that the server can ask for."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""The longest event. A server that never ends a line would fill the memory."""
EVENTS = "text/event-stream"
AFTER_SEQUENCE = ("after_sequence", "afterSequence")


class Outage:
    """The waits of a feed while the server cannot be reached: it has to have been reached once."""

    def __init__(self) -> None:
        self.has_succeeded = False
        self.failures = 0

    def wait(self, error: SwitchboardError | None, first_s: float) -> float:
        """Returns the seconds before the next attempt. Raises errors that last, and those of a feed that never began."""
        if error is not None and not (error.retryable and self.has_succeeded):
            raise error
        seconds = jittered(min(first_s * 2.0 ** min(self.failures, 10), MAX_OUTAGE_WAIT_S))
        self.failures += 1
        asked = 0 if error is None or error.retry_after_ms is None else error.retry_after_ms / 1000
        return max(seconds, min(asked, MAX_ASKED_S))


def is_reset(error: SwitchboardError) -> bool:
    """Returns whether the position of a feed is no longer kept."""
    return isinstance(error, ApiError) and error.code == "sync_reset_required"


class ChangeReader:
    """The position of a change feed: which page is read next, and which cursor is stored when."""

    def __init__(self, path: str, query: Query | None) -> None:
        self._query = dict(query or {})
        narrowing = {name: value for name, value in self._query.items() if name.endswith(("connection_id", "connectionId"))}
        self.feed = target(path, narrowing)
        """The name of the feed for the store."""
        self._cursor: str | None = None
        self._is_caught_up = False
        self._outage = Outage()

    def resume(self, cursor: str | None) -> None:
        """Sets the cursor that the store had."""
        self._cursor = cursor

    def query(self) -> Query:
        """Returns the query of the next page."""
        if self._cursor is None:
            return self._query
        # A cursor takes the place of a position.
        return {**self._without_position(), "cursor": self._cursor}

    def _without_position(self) -> dict[str, Any]:
        return {name: value for name, value in self._query.items() if name not in AFTER_SEQUENCE}

    def reset(self, error: SwitchboardError, has_handler: bool) -> bool:
        """Returns whether the error is a reset that a handler takes; the feed then begins with everything there is."""
        has_position = self._cursor is not None or any(self._query.get(name) is not None for name in AFTER_SEQUENCE)
        if not (is_reset(error) and has_handler and has_position):
            return False
        self._cursor = None
        self._query = self._without_position()
        return True

    def wait(self, error: SwitchboardError) -> float:
        """Returns the seconds before the next attempt of a feed that polls. Raises errors that last."""
        return self._outage.wait(error, FIRST_WAIT_S)

    def finish(self, page: Mapping[str, Any]) -> str | None:
        """Returns the cursor to store after the last change of a page was processed; `None` if it is stored already."""
        self._outage = Outage()
        self._outage.has_succeeded = True
        following = next_cursor(page, self._cursor)
        cursor: str = page["sync_cursor"] if following is None else following
        self._is_caught_up = following is None
        is_new = cursor != self._cursor
        self._cursor = cursor
        return cursor if is_new else None

    @property
    def is_caught_up(self) -> bool:
        """Whether the last page was the newest one."""
        return self._is_caught_up


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event of a stream, or an `id` alone."""

    id: str | None
    event: str
    data: str | None


class EventDecoder:
    """Reads server-sent events from pieces of a body (WHATWG HTML, section 9.2.6)."""

    def __init__(self, retry_s: float = REOPEN_WAIT_S) -> None:
        self._rest = bytearray()
        self._held = b""
        self._is_first = True
        self._id: str | None = None
        self._event = ""
        self._data: list[str] = []
        self._size = 0
        self.retry_s = retry_s
        """The wait before the stream is opened again; streams may name another one."""

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """Yields the events that are complete with this piece."""
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise SwitchboardError("an event of the stream is too long")
        text = self._held + piece
        # A CR at the end may be the first half of a CRLF.
        self._held = b"\r" if text.endswith(b"\r") else b""
        lines = text[: len(text) - len(self._held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest += lines[0]
        if len(lines) == 1:
            return
        lines[0] = bytes(self._rest)
        self._rest = bytearray(lines.pop())
        for line in lines:
            if self._is_first:
                line = line.removeprefix(b"\xef\xbb\xbf")
                self._is_first = False
            event = self._line(line.decode("utf-8", "replace"))
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_s = min(max(int(value[:9]) / 1000, MIN_REOPEN_WAIT_S), MAX_OUTAGE_WAIT_S)
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data = "\n".join(self._data) if self._data else None
        event = ServerSentEvent(self._id, self._event or "message", data)
        self._event, self._data, self._size = "", [], 0
        return event if event.data is not None or event.id is not None else None


class StreamReader:
    """The position of an event stream over its connections."""

    def __init__(self, path: str, query: Query, after_sequence: int | None) -> None:
        self._path = path
        self._narrowing = query
        self._after_sequence = after_sequence
        self.feed = target(path, query)
        """The name of the feed for the store."""
        self._position: str | None = None
        self._outage = Outage()
        self._decoder = EventDecoder()

    def resume(self, position: str | None) -> None:
        """Sets the position that the store had."""
        self._position = position

    def open(self, config: Config, options: Options) -> Call:
        """Returns the call that opens the stream at its position."""
        self._decoder = EventDecoder(self._decoder.retry_s)
        query = dict(self._narrowing)
        headers = dict(options.get("headers") or {})
        if self._position is not None:
            headers["last-event-id"] = self._position
        elif self._after_sequence is not None:
            query["after_sequence"] = self._after_sequence
        options = {**options, "headers": headers, "max_retries": 0 if self._outage.has_succeeded else None}
        call = prepare(config, "GET", self._path, query, None, options, EVENTS)
        limit = call.timeout
        patience = httpx.Timeout(connect=limit.connect, read=STREAM_SILENCE_S, write=limit.write, pool=limit.pool)
        return replace(call, timeout=patience)

    def opened(self) -> None:
        """Notes that the server answers: outages are waited for from now on."""
        self._outage.has_succeeded = True

    def feed_piece(self, piece: bytes) -> Iterator[tuple[str | None, Any]]:
        """Yields positions with their notifications; a position alone has `None`."""
        for event in self._decoder.feed(piece):
            if event.event == "sync_reset_required":
                message = "the log no longer reaches back to the position of this stream"
                body = {"error": {"type": "conflict_error", "code": "sync_reset_required", "message": message}}
                raise ConflictError(message, status=409, body=body)
            self._outage.failures = 0
            yield event.id, None if event.data is None else json.loads(event.data)

    def move(self, position: str | None) -> str | None:
        """Takes the position of what was processed. Returns it if it is new and has to be stored."""
        if position is None or position == self._position:
            return None
        self._position = position
        return position

    def reset(self, error: ApiError, has_handler: bool) -> bool:
        """Returns whether the error is a reset that a handler takes; the stream then continues from now."""
        has_position = self._position is not None or self._after_sequence is not None
        if not (is_reset(error) and has_handler and has_position):
            return False
        self._position = self._after_sequence = None
        return True

    def wait(self, error: SwitchboardError | None) -> float:
        """Returns the seconds before the stream is opened again after an error, or after its end. Raises errors that last."""
        return self._outage.wait(error, self._decoder.retry_s)
