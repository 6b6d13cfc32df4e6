"""Tests of what only the Python client has: settings, stores, the parts of its core."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import switchboard
from drivers import snake
from faulty import FaultyServer
from switchboard import AsyncSwitchboard, FileStore, MemoryStore, Switchboard
from switchboard._errors import error_of, retry_after_ms
from switchboard._readers import EventDecoder, ServerSentEvent, StreamReader

CALENDAR = {"id": "cal_1", "name": "Work", "etag": '"1"'}


def client(answer: Callable[[httpx.Request], httpx.Response], **settings: Any) -> Switchboard:
    """A client whose requests this function answers."""
    transport = httpx.MockTransport(answer)
    return Switchboard(**{"api_key": "key", "http_client": httpx.Client(transport=transport), **settings})


def kept(requests: list[httpx.Request]) -> Callable[[httpx.Request], httpx.Response]:
    """An answer of a calendar that keeps the requests."""

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=CALENDAR, headers={"x-data-source": "local", "x-data-age": "7"})

    return answer


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[httpx.Request] = []
    monkeypatch.setenv("SWITCHBOARD_API_KEY", " uc_live_1\n")
    monkeypatch.setenv("SWITCHBOARD_SERVER", "https://api.example.com/base/")
    client(kept(requests), api_key=None).calendars.get("cal_1")
    assert str(requests[0].url) == "https://api.example.com/base/v1/calendars/cal_1"
    assert requests[0].headers["authorization"] == "Bearer uc_live_1"
    assert requests[0].headers["user-agent"].startswith(f"switchboard-python/{switchboard.__version__} (api 1.")
    monkeypatch.delenv("SWITCHBOARD_API_KEY")
    with pytest.raises(ValueError, match="SWITCHBOARD_API_KEY"):
        Switchboard()


@pytest.mark.parametrize(
    "address",
    [
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https://me:secret@api.example.com",
        "https://api.example.com?a=1",
    ],
)
def test_an_address_that_is_no_url_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="https://api.example.com"):
        Switchboard(api_key="key", base_url=address)


def test_options_of_a_call_come_before_those_of_the_client() -> None:
    requests: list[httpx.Request] = []
    sb = client(kept(requests), timeout=1.0, headers={"X-Trace": "all", "X-Team": "blue"})
    sb.calendars.get("cal_1", timeout=5.0, headers={"x-trace": "one"})
    assert requests[0].headers["x-trace"] == "one"
    assert requests[0].headers["x-team"] == "blue"
    assert requests[0].extensions["timeout"]["read"] == 5.0
    sb.request("patch", "/v1/calendars/cal_1", body={"name": "é"}, if_match='"1"', query={"force": True, "ids": ["a", "b"]})
    assert requests[1].method == "PATCH"
    assert requests[1].url.query == b"force=true&ids=a%2Cb"
    assert requests[1].headers["if-match"] == '"1"'
    assert requests[1].content == '{"name":"é"}'.encode()


def test_the_key_may_be_a_function() -> None:
    keys = iter(["first", "second"])
    requests: list[httpx.Request] = []
    sb = client(kept(requests), api_key=lambda: next(keys))
    sb.calendars.get("cal_1")
    sb.calendars.get("cal_1")
    assert [request.headers["authorization"] for request in requests] == ["Bearer first", "Bearer second"]

    async def of_coroutine() -> None:
        async def key() -> str:
            return "third"

        transport = httpx.MockTransport(kept(requests))
        async with httpx.AsyncClient(transport=transport) as http_client:
            await AsyncSwitchboard(api_key=key, http_client=http_client).calendars.get("cal_1")

    asyncio.run(of_coroutine())
    assert requests[2].headers["authorization"] == "Bearer third"


def test_results_are_dictionaries_with_their_answer() -> None:
    calendar: Any = client(kept([])).calendars.get("cal_1")
    assert calendar == CALENDAR
    assert json.loads(json.dumps(calendar)) == CALENDAR
    assert switchboard.response_of(pickle.loads(pickle.dumps(calendar))).status == 200
    answer = switchboard.response_of(calendar)
    assert (answer.data_source, answer.data_age_s, answer.replayed, answer.request_id) == ("local", 7, False, None)
    with pytest.raises(TypeError, match="result of a call"):
        switchboard.response_of(dict(calendar))


def test_a_client_of_the_caller_stays_open() -> None:
    http_client = httpx.Client(transport=httpx.MockTransport(kept([])))
    with Switchboard(api_key="key", http_client=http_client):
        pass
    assert not http_client.is_closed
    with Switchboard(api_key="key") as sb:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        sb.calendars.get("cal_1")


def test_closing_ends_waits() -> None:
    overloaded = {"error": {"code": "overloaded", "type": "api_error", "message": "busy", "retryable": True}}
    asked = threading.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.set()
        return httpx.Response(503, json=overloaded, headers={"retry-after": "50"})

    def close() -> None:
        asked.wait()
        sb.close()

    sb = client(answer)
    threading.Thread(target=close).start()
    with pytest.raises(switchboard.ServerError) as raised:
        sb.calendars.get("cal_1")
    assert raised.value.retry_after_ms == 50_000


def test_errors_can_be_copied_to_other_processes() -> None:
    body = {"error": {"code": "stale_etag", "type": "conflict_error", "message": "changed", "current_etag": '"2"'}}
    error = error_of(httpx.Response(409, json=body, headers={"x-request-id": "req_1"}))
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, switchboard.StaleEtagError)
    assert (copy.current_etag, copy.request_id) == ('"2"', "req_1")
    assert str(copy) == "changed (status 409, stale_etag, request req_1)"
    refused = pickle.loads(pickle.dumps(switchboard.SignatureError("timestamp", "too old")))
    assert (refused.reason, str(refused)) == ("timestamp", "too old")


def test_errors_of_the_token_endpoint_have_their_code() -> None:
    error = error_of(httpx.Response(400, json={"error": "invalid_grant", "error_description": "used before"}))
    assert isinstance(error, switchboard.InvalidRequestError)
    assert (error.code, error.message, error.retryable) == ("invalid_grant", "used before", False)


@pytest.mark.parametrize("body", [b"[]", b'{"error": {"code": 7, "details": null}}', b'{"error": 7}', b"", b"\xff"])
def test_strange_errors_are_errors_too(body: bytes) -> None:
    error = error_of(httpx.Response(500, content=body))
    assert isinstance(error, switchboard.ServerError)
    assert (error.code, error.details, error.provider) == (None, [], None)


def test_connections_that_fail_are_errors_of_python_too() -> None:
    with FaultyServer([]) as server:
        address = server.url
    with pytest.raises(ConnectionError) as raised:
        Switchboard(api_key="key", base_url=address, max_retries=0).calendars.get("cal_1")
    assert isinstance(raised.value, switchboard.ConnectionError)
    assert isinstance(raised.value.__cause__, httpx.ConnectError)
    assert issubclass(switchboard.TimeoutError, TimeoutError)


def test_a_file_that_breaks_off_is_an_error_of_the_client() -> None:
    cut = {"status": 200, "fault": "cut", "text": "abc"}
    with FaultyServer([cut, cut]) as server:
        sb = Switchboard(api_key="key", base_url=server.url)
        with pytest.raises(switchboard.ConnectionError), sb.contacts.photo.get_raw("c_1") as response:
            response.read()
        with pytest.raises(httpx.ConnectError), sb.contacts.photo.get_raw("c_1") as response:
            raise httpx.ConnectError("of another request")


@pytest.mark.parametrize("key", ["uc_live_1\nx-more: 1", "uc_live_…", "uc live", ""])
def test_a_key_that_is_no_key_is_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="API key") as raised:
        client(kept([]), api_key=lambda: key).calendars.get("cal_1")
    assert "uc" not in str(raised.value)


def test_what_could_lead_elsewhere_is_refused() -> None:
    requests: list[httpx.Request] = []
    sb = client(kept(requests), base_url="https://api.example.com")
    for path in (".example.org/v1/calendars", "@example.org/", "https://example.org/v1/calendars"):
        with pytest.raises(ValueError, match="begins with /"):
            sb.request("GET", path)
    for headers in ({"x-a": "1\r\nx-b: 2"}, {"x-a": "é"}):
        with pytest.raises(ValueError, match="x-a"):
            sb.calendars.get("cal_1", headers=headers)
    with pytest.raises(ValueError, match="idempotency-key"):
        sb.calendars.delete("cal_1", idempotency_key="a\nb")
    assert requests == []


def test_a_client_of_the_caller_does_not_follow_redirects() -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(307, headers={"location": "https://example.org/"})

    http_client = httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True)
    with pytest.raises(switchboard.ServerError, match="redirects to https://example.org/"):
        Switchboard(api_key="key", http_client=http_client).calendars.get("cal_1")
    assert len(requests) == 1


def test_retry_after() -> None:
    for value in ("9" * 5000, "9" * 12, "Sun, 06 Nov 9999 08:49:37 GMT"):
        assert retry_after_ms(httpx.Headers({"retry-after": value}), 0) == 31_536_000_000
    for value in ("Sun, 06 Nov " + "9" * 30 + " 08:49:37 GMT", "x, GMT", " GMT", "1.5", "-1", "٣"):
        assert retry_after_ms(httpx.Headers([(b"retry-after", value.encode())]), 0) is None
    headers = [{}, {"retry-after": "soon"}, {"retry-after": " 7 "}, {"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}]
    now = 784_111_777 - 90
    assert [retry_after_ms(httpx.Headers(one), now) for one in headers] == [None, None, 7_000, 90_000]
    assert retry_after_ms(httpx.Headers(headers[3]), now + 100) == 0


def test_files_keep_cursors(tmp_path: Path) -> None:
    path = tmp_path / "cursors.json"
    assert FileStore(path).get("a") is None
    FileStore(path).set("a", "1")
    FileStore(path).set("b", "2")
    store = FileStore(path)
    store.set("a", "3")
    assert (FileStore(path).get("a"), FileStore(path).get("b")) == ("3", "2")
    assert [file.name for file in tmp_path.iterdir()] == ["cursors.json"]


def test_feeds_of_a_process_can_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cursors.json"
    threads = [threading.Thread(target=FileStore(path).set, args=(f"feed {number}", "1")) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(json.loads(path.read_text())) == 20


def test_what_a_forger_sends_is_an_error_of_signatures() -> None:
    secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    sent = switchboard.webhooks.sign(secret, id="ev_1", timestamp=1_000, body=b"{}")
    forged = [{"webhook-timestamp": "9" * 5000}, {"webhook-id": "\udc80"}, {"webhook-signature": "v1,\udc80 é"}]
    for more in forged:
        with pytest.raises(switchboard.SignatureError):
            switchboard.webhooks.verify(secret, {**sent, **more}, b"{}", now=1_000)
    with pytest.raises(switchboard.SignatureError):
        switchboard.webhooks.verify(secret, sent, b"{}", now=float("nan"))


def changes(*sequences: int, cursor: str) -> dict[str, Any]:
    data = [{"sequence": sequence, "changeType": "created", "resourceId": f"r_{sequence}"} for sequence in sequences]
    return {"data": data, "next_cursor": None, "sync_cursor": cursor, "has_more": False}


def test_a_feed_ends_where_nothing_is_new() -> None:
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json=changes(8, 9, cursor="s1"))

    store = MemoryStore()
    sb = client(answer)
    found = sb.email.sync.follow(connection_id="conn_1", after_sequence=7, store=store, poll_s=None)
    assert [change["sequence"] for change in found] == [8, 9]
    list(sb.email.sync.follow(connection_id="conn_1", after_sequence=7, store=store, poll_s=None))
    feed = "/v1/email/sync/changes?connection_id=conn_1"
    assert paths == [f"{feed}&after_sequence=7", f"{feed}&cursor=s1"]
    assert store.cursors == {feed: "s1"}


def test_a_store_may_have_coroutines() -> None:
    class Store:
        def __init__(self) -> None:
            self.stored: list[tuple[str, str]] = []

        async def get(self, feed: str, /) -> str | None:
            return "s1"

        async def set(self, feed: str, cursor: str, /) -> None:
            self.stored.append((feed, cursor))

    store, resets = Store(), [0]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("cursor") == "s1":
            return httpx.Response(409, json={"error": {"code": "sync_reset_required", "message": "too old"}})
        return httpx.Response(200, json=changes(9, cursor="s2"))

    async def reset() -> None:
        resets.append(1)

    async def follow() -> list[int]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
            sb = AsyncSwitchboard(api_key="key", http_client=http_client)
            feed = sb.calendars.sync.follow("cal_1", store=store, on_reset=reset, poll_s=None)
            return [change["sequence"] async for change in feed]

    assert asyncio.run(follow()) == [9]
    assert sum(resets) == 1
    assert store.stored == [("/v1/calendars/cal_1/sync/changes", "s2")]


def test_the_first_page_can_be_awaited() -> None:
    pages = {None: {"data": [CALENDAR], "next_cursor": "c1"}, "c1": {"data": [], "next_cursor": None}}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=pages[request.url.params.get("cursor")])

    assert client(answer).calendars.list().page() == pages[None]
    assert len(client(answer).calendars.list().to_list(limit=None)) == 1

    async def read() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
            calendars = AsyncSwitchboard(api_key="key", http_client=http_client).calendars.list()
            assert await calendars == await calendars.page() == pages[None]

    asyncio.run(read())


def test_a_change_may_be_a_coroutine() -> None:
    requests: list[httpx.Request] = []

    async def change(calendar: dict[str, Any]) -> dict[str, Any]:
        return {"name": calendar["name"] + "!"}

    async def modify() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(kept(requests))) as http_client:
            sb: Any = AsyncSwitchboard(api_key="key", http_client=http_client)
            await sb.calendars.modify("cal_1", change)

    asyncio.run(modify())
    assert json.loads(requests[1].content) == {"name": "Work!"}


def decoded(*pieces: bytes) -> list[ServerSentEvent]:
    decoder = EventDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def test_server_sent_events_are_read_as_the_standard_says() -> None:
    event = ServerSentEvent
    assert decoded(b"\xef\xbb\xbfdata: a\r\rdata: b\ndata:  c\n\n") == [
        event(None, "message", "a"),
        event(None, "message", "b\n c"),
    ]
    assert decoded(b"id: 1\r", b"\nevent: x\r\ndata\r\n\r", b"\n") == [event("1", "x", "")]
    assert decoded(b"id: 7\n\n: comment\n\nid: 8\0\ndata: y\n\n", b"data: never finished") == [
        event("7", "message", None),
        event("7", "message", None),
        event("7", "message", "y"),
    ]
    assert decoded(b"unknown: z\nretry: x\nid\n\n") == [event("", "message", None)]


def test_an_event_without_end_is_an_error() -> None:
    decoder = EventDecoder()
    with pytest.raises(switchboard.SwitchboardError, match="too long"):
        for _ in range(5):
            list(decoder.feed(b"x" * 1024 * 1024))
    decoder = EventDecoder()
    for _ in range(5):
        assert [event.data for event in decoder.feed(b"data: 1\n\n" + b":" * 1024 * 1024 + b"\n\n")] == ["1"]


def test_a_stream_is_opened_later_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("switchboard._core.random.uniform", lambda low, high: high)
    reader = StreamReader("/v1/events/stream", {}, None)
    broken = switchboard.ConnectionError("broken")
    broken.retryable = True
    with pytest.raises(switchboard.ConnectionError):
        reader.wait(broken)
    reader.opened()
    assert [reader.wait(broken) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    list(reader.feed_piece(b'retry: 200\nid: 5\ndata: {"sequence": 5}\n\n'))
    assert [reader.wait(None), reader.wait(None)] == [0.2, 0.4]
    broken.retry_after_ms = 10**12
    assert reader.wait(broken) == 3600
    broken.retry_after_ms = 0
    list(reader.feed_piece(b"retry: 0\n\n"))
    assert reader.wait(broken) == 0.1
    with pytest.raises(switchboard.AuthenticationError):
        reader.wait(switchboard.AuthenticationError("revoked", status=401))


def operations() -> list[str]:
    document = json.loads((Path(__file__).parents[2] / "clients.json").read_text(encoding="utf-8"))
    found = [operation for path in document["paths"].values() for operation in path.values()]
    return [operation["operationId"] for operation in found if "operationId" in operation]


@pytest.mark.parametrize("kind", [Switchboard, AsyncSwitchboard])
def test_every_operation_is_a_method(kind: type[Switchboard] | type[AsyncSwitchboard]) -> None:
    sb: Any = kind(api_key="key")
    missing: list[str] = []
    for name in operations():
        # The stream is `follow`.
        method = sb
        for word in name.replace("events.stream", "events.follow").split("."):
            method = getattr(method, snake(word), None)
        if not callable(method) or not method.__doc__:
            missing.append(name)
    assert missing == []
    assert len(operations()) > 100
