"""The types of bodies and answers: dictionaries at run time, checked by mypy and pyright. Enums of answers may get new values."""

from switchboard.generated.types import *  # noqa: F403
