from collections.abc import Mapping

from switchboard import SignatureError, webhooks

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def receive(headers: Mapping[str, str], body: bytes) -> int:
    """Answers a request to your URL: `body` is what arrived, before anything parses it."""
    try:
        event = webhooks.verify(SECRET, headers, body)
    except SignatureError as error:
        print("refused:", error.reason)
        return 400
    print(event["type"], event["data"]["resourceId"])
    return 204
