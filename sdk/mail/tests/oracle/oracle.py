"""Reads messages with Python's email package and says what one place of each says; bytes alone with one of Python's codecs.

    oracle.py < [{"place": "body" | "subject" | "name" | "filename" | <codec>, "base64": ...}, ...]

Answers a JSON list of texts, null where there is none and {"error": ...} where Python gives the message up.
"""

import base64
import email
import email.policy
import json
import sys


def body(message):
    """What `get_content` does, for HTML too; a charset that Python does not know is told as an error."""
    charset = message.get_param("charset", "ASCII")
    return message.get_payload(decode=True).decode(charset, errors="replace")


def name(message):
    addresses = message["from"].addresses
    return addresses[0].display_name if addresses else None


PLACES = {
    "body": body,
    "subject": lambda message: message["subject"],
    "name": name,
    "filename": lambda message: message.get_filename(),
}


def answer(question):
    try:
        raw = base64.b64decode(question["base64"])
        if question["place"] not in PLACES:
            return raw.decode(question["place"], errors="replace")
        text = PLACES[question["place"]](email.message_from_bytes(raw, policy=email.policy.default))
        # Bytes that Python could not decode are half surrogates, which are no text for others.
        return None if text is None else str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
