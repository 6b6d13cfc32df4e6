from pathlib import Path

from switchboard import Switchboard

sb = Switchboard()
for message in sb.email.messages.list(limit=50).to_list(limit=50):
    for attachment in message["attachments"]:
        with sb.email.messages.attachments.get_raw(message["id"], attachment["id"]) as response:
            with Path("attachment.bin").open("wb") as file:
                for piece in response.iter_bytes():
                    file.write(piece)
