"""Checkers for real check processes, controlled by the text of the request."""

from __future__ import annotations

import os
import signal
import socket
import time

from studio.take_checks.records import TakeCheck, Transcript, Verdict
from studio.take_checks.requests import CheckRequest, TranscriptRequest


class ObedientEngine:
    """Does what the text says. Without a recogniser, every check succeeds."""

    def check(self, request: CheckRequest) -> TakeCheck:
        if request.recognizer == "off" and "always" not in request.text:
            return TakeCheck(Verdict.BAD if "bad" in request.text else Verdict.GOOD)
        self._obey(request.text)
        return TakeCheck(Verdict.GOOD, recognizer="obedient", word_error_rate=0.0)

    def transcribe(self, request: TranscriptRequest) -> Transcript:
        self._obey(request.typed)
        return Transcript(request.typed, recognizer="obedient")

    def _obey(self, text: str) -> None:
        if "killed" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "exit" in text:
            os._exit(3)
        if "memory" in text:
            raise MemoryError
        if "wrong" in text:
            raise ValueError("wrong")
        if "sleep" in text:
            time.sleep(3600)
        if "priority" in text:
            assert os.nice(0) >= 10
        if "network" in text:
            socket.create_connection(("127.0.0.1", int(text.rsplit(maxsplit=1)[-1])))


def open_engine() -> ObedientEngine:
    return ObedientEngine()
