"""A server that answers by script, with the faults that a network has."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar

Script = list[dict[str, Any]]


class FaultyServer:
    """Answers requests with the answers of a script, one after the other, and keeps what it got."""

    def __init__(self, script: Script) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.surplus = 0
        self.released = threading.Event()
        server = self

        class Handler(_Handler):
            faulty = server

        self._http = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    def assert_used_up(self) -> None:
        """Fails if answers are left over, or if there were more requests than answers."""
        assert not self.script, f"{len(self.script)} answers were not asked for"
        assert self.surplus == 0, f"{self.surplus} requests too many"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 16

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    faulty: ClassVar[FaultyServer]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the output of the tests clean."""

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        self.faulty.requests.append(
            {
                "method": self.command,
                "path": self.path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "json": json.loads(body) if body else None,
            }
        )
        if not self.faulty.script:
            self.faulty.surplus += 1
            self._send(599, {}, b"the script has no answer for this request")
            return
        self._answer(self.faulty.script.pop(0))

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _answer(self, answer: dict[str, Any]) -> None:
        fault = answer.get("fault")
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        if fault == "stall":
            self.faulty.released.wait(30)
            self.close_connection = True
            return
        if fault == "drip":
            self._drip()
            return
        headers = {name: _header(value) for name, value in answer.get("headers", {}).items()}
        if "chunks" in answer:
            self._stream(answer, headers)
            return
        if "bytes" in answer:
            headers["content-type"] = "application/octet-stream"
            body = bytes(index % 251 for index in range(251)) * (answer["bytes"] // 251 + 1)
            self._send(answer["status"], headers, body[: answer["bytes"]])
            return
        body = answer.get("text", "").encode()
        value = _page(answer["generate"]) if "generate" in answer else answer.get("json")
        if value is not None:
            body = json.dumps(value).encode()
            headers.setdefault("content-type", "application/json")
        self._send(answer["status"], headers, body, more=100 if fault == "cut" else 0)

    def _send(self, status: int, headers: dict[str, str], body: bytes, more: int = 0) -> None:
        """Sends an answer; with `more` it breaks off so many bytes before its end."""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body) + more))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = more > 0

    def _drip(self) -> None:
        """Sends a space now and then, until the client goes away."""
        self.send_response_only(200)
        self.end_headers()
        self.close_connection = True
        while not self.faulty.released.wait(0.02):
            self.wfile.write(b" ")

    def _stream(self, answer: dict[str, Any], headers: dict[str, str]) -> None:
        """Sends pieces in chunks. Then the body ends, or the connection breaks."""
        self.send_response_only(answer["status"])
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        pieces = [piece.encode() for piece in answer["chunks"]]
        if size := answer.get("splitBytes"):
            whole = b"".join(pieces)
            pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        for piece in pieces:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        if answer.get("fault") != "cut":
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True


def _header(value: str) -> str:
    if ahead := re.fullmatch(r"\{in (\d+) s\}", value):
        return formatdate(time.time() + int(ahead[1]), usegmt=True)
    return value


def _page(wanted: dict[str, Any]) -> dict[str, Any]:
    """A page of items with numbered ids."""
    first, count = wanted["from"], wanted["count"]
    data = [{"id": f"{wanted['prefix']}{number}"} for number in range(first, first + count)]
    return {"data": data, "next_cursor": wanted["nextCursor"]}
