"""Verifies deliveries as a receiver in Python does: `v1` by the PyPI package `standardwebhooks`, `v1a` by `cryptography`. Reads a
JSON array of deliveries on stdin, and prints what is found of each."""

import base64
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook, WebhookVerificationError


def by_library(delivery, body):
    try:
        return "accepted " + Webhook(delivery["secret"]).verify(body, delivery["headers"])["id"]
    except WebhookVerificationError as error:
        return str(error)


def by_public_key(delivery, body):
    headers = delivery["headers"]
    entries = headers["webhook-signature"].split(" ")
    (signature,) = [entry.removeprefix("v1a,") for entry in entries if entry.startswith("v1a,")]
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(delivery["publicKey"].removeprefix("whpk_"), validate=True))
    head = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode()
    try:
        key.verify(base64.b64decode(signature, validate=True), head + body)
    except InvalidSignature:
        return False
    return True


found = []
for delivery in json.load(sys.stdin):
    body = base64.b64decode(delivery["body"])
    found.append({"v1": by_library(delivery, body), "v1a": by_public_key(delivery, body)})
print(json.dumps(found))
