"""The README's blocks are the files of `examples/`, and those that need no server run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from switchboard import webhooks

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "examples").glob("*.py"))


def test_the_readme_has_every_example() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert sorted(blocks) == sorted(file.read_text(encoding="utf-8") for file in FILES)


def test_the_example_of_tests_runs() -> None:
    runpy.run_path(str(ROOT / "examples" / "testing.py"))


def test_the_example_of_webhooks_receives(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "webhooks.py"))
    body = b'{"type": "webhook.test", "data": {"resourceId": "wh_1"}}'
    headers = webhooks.sign(example["SECRET"], id="ev_1", timestamp=1, body=body)
    assert example["receive"](headers, body) == 400
    assert capsys.readouterr().out == "refused: timestamp\n"
