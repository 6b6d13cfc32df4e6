"""Signatures of webhooks (Standard Webhooks): `verify` for receivers, `sign` for their tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from switchboard._errors import SwitchboardError

if TYPE_CHECKING:
    from switchboard.generated.types import Notification

MAX_TIMESTAMP_DIGITS = 12

SignatureReason: TypeAlias = Literal["header", "timestamp", "signature", "secret"]


class SignatureError(SwitchboardError):
    """A request that is not from the service, or too old."""

    def __init__(self, reason: SignatureReason, message: str) -> None:
        super().__init__(message)
        self.reason: SignatureReason = reason
        """`header`: one is missing; `timestamp`: it is too far from your clock, or no number; `signature`: none of them is
        right; `secret`: your secret is not usable."""

    def __reduce__(self) -> tuple[type[SignatureError], tuple[SignatureReason, str]]:
        return type(self), (self.reason, str(self))


def verify(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    tolerance_s: int = 300,
    now: float | None = None,
) -> Notification:
    """Returns the notification of a request, after checking its signature. Raises `SignatureError`.

    Args:
        secret: The webhook's secret, `whsec_…`; several while you rotate it.
        headers: The headers of the request, with names in any case.
        body: The raw body, as it came: parsing and printing it changes bytes.
        tolerance_s: The largest distance of `webhook-timestamp` from your clock in seconds.
        now: Your clock in seconds since 1970; the time of the call by default.
    """
    keys = [_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise SignatureError("secret", "no secret to verify with")
    lower = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (lower.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not event_id or not timestamp or not signatures:
        raise SignatureError("header", "webhook-id, webhook-timestamp or webhook-signature is missing")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= MAX_TIMESTAMP_DIGITS):
        raise SignatureError("timestamp", "webhook-timestamp is not a number of seconds")
    distance = abs((time.time() if now is None else now) - int(timestamp))
    if not distance <= tolerance_s:
        raise SignatureError("timestamp", f"webhook-timestamp is {distance:.0f} s from this clock")
    raw = body.encode() if isinstance(body, str) else body
    expected = [_signature(key, event_id, timestamp, raw) for key in keys]
    given = [entry.encode(errors="replace") for entry in signatures.split(" ")]
    # All pairs are compared, so that the time does not depend on which one matches.
    if not any([hmac.compare_digest(one, other) for one in expected for other in given]):
        raise SignatureError("signature", "no signature in webhook-signature is right")
    notification: Notification = json.loads(raw)
    return notification


def sign(secret: str, *, id: str, timestamp: int, body: bytes | str) -> dict[str, str]:
    """Returns the headers that the service sends with this body, to test a receiver."""
    raw = body.encode() if isinstance(body, str) else body
    signature = _signature(_key(secret), id, str(timestamp), raw)
    return {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": signature.decode()}


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise SignatureError("secret", "the secret must be whsec_ and base64")
    return key


def _signature(key: bytes, event_id: str, timestamp: str, body: bytes) -> bytes:
    digest = hmac.new(key, f"{event_id}.{timestamp}.".encode(errors="replace") + body, hashlib.sha256).digest()
    return b"v1," + base64.b64encode(digest)
