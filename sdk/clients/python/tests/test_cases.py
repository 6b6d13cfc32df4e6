"""The cases that the clients of all languages share: `sdk/clients/cases.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import switchboard
from drivers import DRIVERS, Driver, RecordingStore, keywords, snake
from faulty import FaultyServer, Script

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "cases.json").read_text(encoding="utf-8"))

# Refused ids are a wrong type in JavaScript and a wrong value in Python.
CLASSES: dict[str, type[Exception]] = {"TypeError": ValueError}

Case = dict[str, Any]
both = pytest.mark.parametrize("kind", ["sync", "async"])


def named(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


@contextmanager
def running(kind: str, script: Script) -> Generator[tuple[Driver, FaultyServer], None, None]:
    """A client of one kind, and a server with this script, which must have been used up in the end."""
    with FaultyServer(script) as server:
        driver = DRIVERS[kind](server.url)
        try:
            yield driver, server
        finally:
            driver.close()
        server.assert_used_up()


def outcome(case: Case, call: Callable[[], Any]) -> Any:
    """Returns what a call has returned, or checks the error that the case expects and returns `None`."""
    expected = case.get("error")
    if expected is None:
        return call()
    kind: Any = CLASSES.get(expected["class"]) or getattr(switchboard, expected["class"])
    with pytest.raises(kind) as raised:
        call()
    error: Any = raised.value
    assert type(error) is kind
    for name, value in expected.items():
        if name == "detailField":
            assert error.details[0]["field"] == value
        elif name == "provider":
            assert error.provider["name"] == value
        elif name != "class":
            assert getattr(error, snake(name)) == value, name
    return None


def check_requests(server: FaultyServer, expected: list[Case]) -> None:
    assert len(server.requests) == len(expected)
    for got, wanted in zip(server.requests, expected, strict=True):
        for name, value in wanted.get("headers", {}).items():
            assert got["headers"].get(name) == value, name
        for name in ("method", "path", "json"):
            assert name not in wanted or got[name] == wanted[name], name


def check_waits(driver: Driver, expected: list[list[float]] | None) -> None:
    if expected is None:
        return
    assert len(driver.waits) == len(expected), driver.waits
    for wait, (shortest, longest) in zip(driver.waits, expected, strict=True):
        assert shortest <= wait <= longest, driver.waits


@both
@named(CASES["calls"])
def test_call(case: Case, kind: str) -> None:
    with running(kind, case["answers"]) as (driver, server):
        options = {**keywords(case.get("query")), **keywords(case.get("options"))}
        result = outcome(case, lambda: driver.call(case["call"], case["arguments"], options))
        if "result" in case:
            assert result == case["result"]
        for name, value in case.get("response", {}).items():
            assert getattr(switchboard.response_of(result), snake(name)) == value
        if "requests" in case:
            check_requests(server, case["requests"])
        if case.get("sameIdempotencyKey"):
            keys = {request["headers"]["idempotency-key"] for request in server.requests}
            assert len(keys) == 1
            key = keys.pop()
            assert 1 <= len(key) <= 255 and key.isascii() and key.isprintable()
        check_waits(driver, case.get("waitsMs"))


@both
def test_pages(kind: str) -> None:
    case = CASES["pages"]
    options = keywords(case["query"])
    with running(kind, case["answers"]) as (driver, server):
        count, items = driver.pages(case["call"], case["arguments"], options)
        assert (count, len(items)) == (case["pages"], case["count"])
        assert [request["path"] for request in server.requests] == case["paths"]
    with running(kind, case["answers"]) as (driver, server):
        assert driver.call(case["call"], case["arguments"], options) == items
    limited = case["limited"]
    with running(kind, case["answers"][: limited["requests"]]) as (driver, server):
        assert driver.to_list(case["call"], case["arguments"], options, limited["limit"]) == items[: limited["limit"]]


@both
@named(CASES["modify"]["cases"])
def test_modify(case: Case, kind: str) -> None:
    shared = CASES["modify"]

    def change(event: dict[str, Any]) -> dict[str, Any] | None:
        return None if "change" in case else {"title": event["title"] + shared["suffix"]}

    options = {"attempts": case["attempts"]} if "attempts" in case else {}
    with running(kind, case["answers"]) as (driver, server):
        call = lambda: driver.call("calendars.events.modify", [*shared["arguments"], change], options)  # noqa: E731
        result = outcome(case, call)
        assert result == case.get("result")
        assert {request["path"] for request in server.requests} == {shared["path"]}
        check_requests(server, case["requests"])


@both
@named(CASES["feed"]["cases"])
def test_feed(case: Case, kind: str) -> None:
    shared = CASES["feed"]
    store, resets = RecordingStore(case["cursor"]), [0]
    options: dict[str, Any] = {**keywords(case.get("query")), "store": store}
    if case.get("handlesReset", True):
        options["on_reset"] = lambda: resets.append(1)
    if "pollMs" in case:
        options["poll_s"] = case["pollMs"] / 1000
    taken: list[Any] = []
    with running(kind, case["answers"]) as (driver, server):
        outcome(case, lambda: driver.take(shared["call"], shared["arguments"], options, case["take"], taken))
        assert [change["sequence"] for change in taken] == case["sequences"]
        queries = [request["path"].removeprefix(shared["path"]).removeprefix("?") for request in server.requests]
        assert queries == case["queries"]
        check_waits(driver, case.get("waitsMs"))
    assert store.stored == case["stored"]
    assert store.feeds == {shared["feed"]}
    assert sum(resets) == case.get("resets", 0)


@both
@named(CASES["stream"]["cases"])
def test_stream(case: Case, kind: str) -> None:
    shared = CASES["stream"]
    store, resets = RecordingStore(case["cursor"]), [0]
    options = {**keywords(shared["query"]), "store": store, "on_reset": lambda: resets.append(1)}
    taken: list[Any] = []
    with running(kind, case["answers"]) as (driver, server):
        outcome(case, lambda: driver.take(shared["call"], [], options, case["take"], taken))
        assert [event["sequence"] for event in taken] == case["sequences"]
        assert all(event["data"]["resource"]["title"] == "Zoë – 会議" for event in taken)
        assert {request["path"] for request in server.requests} == {shared["path"]}
        positions = [request["headers"].get("last-event-id") for request in server.requests]
        assert positions == case["lastEventIds"]
    assert store.stored == case["stored"]
    assert store.feeds == {shared["feed"]}
    assert sum(resets) == case.get("resets", 0)


@both
def test_raw(kind: str) -> None:
    case = CASES["raw"]
    with running(kind, [{"status": 200, "bytes": case["bytes"]}]) as (driver, server):
        pieces = driver.pieces(case["call"], case["arguments"])
        assert max(len(piece) for piece in pieces) <= case["maxChunkBytes"]
        body = b"".join(pieces)
        assert len(body) == case["bytes"]
        assert all(byte == index % 251 for index, byte in enumerate(body[:100_000]))
        assert server.requests[0]["path"] == case["path"]
        assert server.requests[0]["headers"]["accept"] == case["accept"]
    with running(kind, case["error"]["answers"]) as (driver, server):
        error = {"class": case["error"]["class"]}
        outcome({"error": error}, lambda: driver.pieces(case["call"], case["arguments"]))


def test_sign() -> None:
    case = CASES["webhooks"]["sign"]
    headers = switchboard.webhooks.sign(case["secret"], id=case["id"], timestamp=case["timestamp"], body=case["body"])
    assert headers == case["headers"]


@named(CASES["webhooks"]["verify"])
def test_verify(case: Case) -> None:
    def verify(body: str | bytes) -> Any:
        tolerance = {"tolerance_s": case["toleranceS"]} if "toleranceS" in case else {}
        return switchboard.webhooks.verify(case["secret"], case["headers"], body, now=case["now"], **tolerance)

    for body in (case["body"], case["body"].encode()):
        if "reason" in case:
            with pytest.raises(switchboard.SignatureError) as raised:
                verify(body)
            assert raised.value.reason == case["reason"]
        else:
            assert verify(body)["sequence"] == case["sequence"]
