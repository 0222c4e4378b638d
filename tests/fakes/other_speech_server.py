"""A speech server of another program: it repeats answers that were recorded from a real one (``tests/remote/recorded``)."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

_RECORDED = json.loads((Path(__file__).parents[1] / "remote" / "recorded" / "openai.json").read_text("utf-8"))
ANSWERS = {name: base64.b64decode(answer) for name, answer in _RECORDED["answers"].items()}
RECORDED_REQUEST: dict[str, Any] = _RECORDED["request"]
_SPEECH = "POST /v1/audio/speech"
SAMPLES = np.frombuffer(ANSWERS[_SPEECH].partition(b"\r\n\r\n")[2], "<i2")


class OtherSpeechServer:
    """``requests`` lists the bodies of speech requests, and ``speech`` is the answer to the next ones."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.speech = ANSWERS[_SPEECH]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def run(self) -> None:
        self._server.serve_forever(0.01)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def other_speech_server() -> Iterator[OtherSpeechServer]:
    server = OtherSpeechServer()
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def speech_answer(kind: str, body: bytes) -> bytes:
    """Return an answer that was not recorded."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind.encode(), len(body), body)


def _handler(server: OtherSpeechServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing to standard error."""

        def do_GET(self) -> None:
            name = f"GET {self.path}"
            self.wfile.write(ANSWERS.get(name, b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"))

        def do_POST(self) -> None:
            server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            for start in range(0, len(server.speech), 1_999):  # odd, so that samples are divided
                self.wfile.write(server.speech[start : start + 1_999])
                self.wfile.flush()

    return Handler
