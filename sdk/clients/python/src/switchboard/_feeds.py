"""The stores of feeds: where a feed keeps the position up to which its changes were processed."""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from pathlib import Path
from typing import Protocol


class CursorStore(Protocol):
    """A place for the cursors of feeds. Keep them where you keep the copy that the feed updates, such as your database.

    The name of a feed has its path and filters, neither the server nor the application: give each of those a store of its own.
    """

    def get(self, feed: str, /) -> str | None:
        """Returns the cursor of a feed, `None` if there is none yet."""

    def set(self, feed: str, cursor: str, /) -> object:
        """Stores the cursor of a feed."""


class AsyncCursorStore(Protocol):
    """A `CursorStore` whose methods are coroutines, for the asynchronous client."""

    async def get(self, feed: str, /) -> str | None:
        """Returns the cursor of a feed, `None` if there is none yet."""

    async def set(self, feed: str, cursor: str, /) -> object:
        """Stores the cursor of a feed."""


class MemoryStore:
    """Cursors in memory, for tests, and for programs that read everything again when they start."""

    def __init__(self) -> None:
        self.cursors: dict[str, str] = {}

    def get(self, feed: str, /) -> str | None:
        """Returns the cursor of a feed, `None` if there is none yet."""
        return self.cursors.get(feed)

    def set(self, feed: str, cursor: str, /) -> None:
        """Stores the cursor of a feed."""
        self.cursors[feed] = cursor


# Several stores of a process may have the same file.
_LOCKS: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class FileStore:
    """Cursors in a JSON file, for programs that run on one machine. A file belongs to one process; in it, several feeds may use it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).absolute()
        self._lock = _LOCKS[self._path]

    def get(self, feed: str, /) -> str | None:
        """Returns the cursor of a feed, `None` if there is none yet."""
        with self._lock:
            return self._read().get(feed)

    def set(self, feed: str, cursor: str, /) -> None:
        """Stores the cursor of a feed. The file is replaced as a whole, so that a crash leaves the old one or the new one."""
        with self._lock:
            cursors = {**self._read(), feed: cursor}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_name(self._path.name + ".new")
            with beside.open("w", encoding="utf-8") as file:
                json.dump(cursors, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)

    def _read(self) -> dict[str, str]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        cursors: dict[str, str] = json.loads(text)
        return cursors
