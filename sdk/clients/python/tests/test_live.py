"""Tests against a server that runs: its address and key are in SWITCHBOARD_SERVER and SWITCHBOARD_API_KEY, its provider is the sandbox."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest

import switchboard
from switchboard import AsyncSwitchboard, MemoryStore, Switchboard, response_of, types

EXAMPLES = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.skipif(
    not os.environ.get("SWITCHBOARD_SERVER") and not os.environ.get("SWITCHBOARD_LIVE"),
    reason="SWITCHBOARD_SERVER and SWITCHBOARD_API_KEY name a server",
)


@pytest.fixture(scope="module")
def sb() -> Generator[Switchboard, None, None]:
    with Switchboard() as client:
        yield client


@pytest.fixture(scope="module")
def account(sb: Switchboard) -> str:
    """The id of a connection to an account that nothing else uses."""
    user = f"py-{uuid.uuid4().hex[:12]}@sandbox.test"
    credentials: types.Credentials = {"username": user, "password": "sandbox"}
    new: types.NewConnection = {
        "provider": "sandbox",
        "credentials": credentials,
        "scopes": ["calendar.write", "contacts.write", "email.send", "email.write", "tasks.write"],
    }
    return sb.connections.create(new)["id"]


@pytest.fixture
def calendar(sb: Switchboard, account: str) -> str:
    """The id of a new calendar."""
    return sb.calendars.create({"connectionId": account, "name": uuid.uuid4().hex})["id"]


def lunch(hour: int = 11, title: str = "Lunch") -> types.NewCalendarEvent:
    """An event of one hour."""
    day = "2027-03-01T"
    return {"title": title, "start": f"{day}{hour:02}:00:00Z", "end": f"{day}{hour + 1:02}:00:00Z"}


def test_events_are_written_listed_and_deleted(sb: Switchboard, calendar: str) -> None:
    events = [sb.calendars.events.create(calendar, lunch(hour, f"Event {hour}")) for hour in range(5)]
    listed = sb.calendars.events.list(calendar, limit=2)
    assert [event["id"] for event in listed] == [event["id"] for event in events]
    assert len(list(listed.pages())) == 3
    assert len(listed.to_list(limit=3)) == 3
    between = sb.calendars.events.list(calendar, start="2027-03-01T01:30:00Z", end="2027-03-01T02:30:00+00:00")
    assert [event["title"] for event in between] == ["Event 1", "Event 2"]
    sb.calendars.events.delete(calendar, events[0]["id"])
    with pytest.raises(switchboard.NotFoundError) as missing:
        sb.calendars.events.get(calendar, events[0]["id"])
    assert missing.value.code == "not_found"
    assert missing.value.request_id


def test_a_repeated_write_is_one(sb: Switchboard, calendar: str) -> None:
    key = uuid.uuid4().hex
    first = sb.calendars.events.create(calendar, lunch(), idempotency_key=key)
    again = sb.calendars.events.create(calendar, lunch(), idempotency_key=key)
    assert again == first
    assert (response_of(first).replayed, response_of(again).replayed) == (False, True)
    with pytest.raises(switchboard.IdempotencyError):
        sb.calendars.events.create(calendar, lunch(12), idempotency_key=key)


def test_versions(sb: Switchboard, calendar: str) -> None:
    event = sb.calendars.events.create(calendar, lunch())
    seen: list[str | None] = []

    def change(current: types.CalendarEvent) -> types.CalendarEventPatch:
        if not seen:
            # Another program is faster.
            sb.calendars.events.update(calendar, event["id"], {"title": "Dinner"})
        seen.append(current["title"])
        return {"title": f"{current['title']}!"}

    changed = sb.calendars.events.modify(calendar, event["id"], change)
    assert (seen, changed["title"]) == (["Lunch", "Dinner"], "Dinner!")
    with pytest.raises(switchboard.StaleEtagError) as stale:
        sb.calendars.events.update(calendar, event["id"], {"title": "Tea"}, if_match=event["etag"])
    assert stale.value.current_etag == changed["etag"]


def test_errors_name_what_is_wrong(sb: Switchboard, calendar: str) -> None:
    with pytest.raises(switchboard.InvalidRequestError) as wrong:
        sb.request("POST", f"/v1/calendars/{calendar}/events", body={"title": 7, "start": "soon"})
    assert wrong.value.code == "invalid_parameter"
    assert wrong.value.param
    with pytest.raises(switchboard.InvalidRequestError) as unknown:
        sb.request("PATCH", f"/v1/calendars/{calendar}", body={"nome": "x"}, strict=True)
    assert unknown.value.code == "unknown_field"
    with pytest.raises(switchboard.AuthenticationError) as key, Switchboard(api_key="uc_live_wrong") as stranger:
        stranger.calendars.get(calendar)
    assert key.value.code == "invalid_api_key"


def test_a_change_feed_over_a_reset(sb: Switchboard, calendar: str) -> None:
    first = sb.calendars.events.create(calendar, lunch())
    sb.calendars.sync.start(calendar)
    store, resets = MemoryStore(), [0]

    def changes() -> list[tuple[str, str]]:
        feed = sb.calendars.sync.follow(calendar, store=store, on_reset=lambda: resets.append(1), poll_s=None)
        return [(change["changeType"], change["resourceId"]) for change in feed]

    assert changes() == [("created", first["id"])]
    second = sb.calendars.events.create(calendar, lunch(12))
    sb.calendars.events.delete(calendar, first["id"])
    assert changes() == [("created", second["id"]), ("deleted", first["id"])]
    assert changes() == []
    sb.calendars.sync.reset(calendar, {"mode": "hard"})
    assert ("created", second["id"]) in changes()
    assert sum(resets) == 1


def test_the_event_stream_continues_where_it_was(sb: Switchboard, account: str, calendar: str) -> None:
    store = MemoryStore()

    def take(count: int) -> list[str]:
        """The resources of the next events, without the last one's position being stored."""
        found: list[str] = []
        feed = sb.events.follow(types=["calendar.event.*"], connection_ids=[account], after_sequence=begin, store=store)
        for event in feed:
            found.append(event["data"]["resourceId"])
            if len(found) == count:
                break
        return found

    begin = max((event["sequence"] for event in sb.events.list(connection_id=account)), default=0)
    written = [sb.calendars.events.create(calendar, lunch(hour))["id"] for hour in (9, 10, 11)]
    assert take(2) == written[:2]
    assert take(2) == written[1:], "the second one was taken, but not asked beyond"


def message_with_file(sb: Switchboard, account: str, content: bytes) -> types.EmailMessage:
    """A message with an attachment, in the inbox."""
    return sb.email.messages.create(
        {
            "connectionId": account,
            "subject": "Pictures",
            "to": [{"email": "ada@example.com"}],
            "body": {"text": "See the file."},
            "attachments": [{"filename": "a.bin", "contentBase64": base64.b64encode(content).decode()}],
        }
    )


def test_a_large_file_is_read_in_pieces(sb: Switchboard, account: str) -> None:
    content = bytes(index % 251 for index in range(251)) * 20_000
    message = message_with_file(sb, account, content)
    attachment = sb.email.messages.get(message["id"])["attachments"][0]["id"]
    with sb.email.messages.attachments.get_raw(message["id"], attachment) as response:
        pieces = list(response.iter_bytes())
    assert b"".join(pieces) == content
    assert max(len(piece) for piece in pieces) <= 1 << 20
    with sb.email.messages.attachments.get_raw(message["id"], attachment, range="bytes=10-19") as response:
        assert (response.status_code, response.read()) == (206, content[10:20])
    with pytest.raises(switchboard.NotFoundError), sb.email.messages.attachments.get_raw(message["id"], "att_0"):
        pass


def test_the_asynchronous_client_does_the_same(account: str, calendar: str) -> None:
    async def run() -> None:
        async with AsyncSwitchboard() as sb:
            events = sb.calendars.events
            created = await asyncio.gather(*(events.create(calendar, lunch(hour)) for hour in range(6)))
            listed = [event["id"] async for event in events.list(calendar, limit=4)]
            assert sorted(listed) == sorted(event["id"] for event in created)
            first = await events.list(calendar, limit=1)
            assert len(first["data"]) == 1
            changed = await events.modify(calendar, listed[0], lambda event: {"title": f"{event['title']}!"})
            assert changed["title"] == "Lunch!"
            await sb.calendars.sync.start(calendar)
            feed = sb.calendars.sync.follow(calendar, poll_s=None)
            assert len([change async for change in feed]) == 6
            await events.delete(calendar, listed[0])
            with pytest.raises(switchboard.NotFoundError):
                await events.get(calendar, listed[0])
            async for event in sb.events.follow(connection_ids=[account], after_sequence=0):
                assert event["connection_id"] == account
                break

    asyncio.run(run())


def test_examples_run(sb: Switchboard, account: str, tmp_path: Path) -> None:
    message_with_file(sb, account, b"a small file")
    files = {file.stem: file for file in sorted(EXAMPLES.glob("*.py")) if file.stem not in ("testing", "webhooks")}
    # An account that is not connected yet.
    text = files["quickstart"].read_text(encoding="utf-8").replace("alice@", f"py-{uuid.uuid4().hex[:12]}@")
    files["quickstart"] = tmp_path / "quickstart.py"
    files["quickstart"].write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(EXAMPLES.parent / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def start(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", str(files[name])]
        folder = tmp_path / name
        folder.mkdir()
        return subprocess.Popen(
            command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    # The others use the account that the first one connects.
    for batch in (["quickstart"], [name for name in files if name != "quickstart"]):
        running = [(name, start(name)) for name in batch]
        for name, process in running:
            output, _ = process.communicate(timeout=60)
            assert process.returncode == 0, f"{name}: {output}"
            assert output or name == "attachments", name
    assert (tmp_path / "attachments" / "attachment.bin").stat().st_size > 0
