"""A small speech server with OpenAI's API, as other programs have it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

SAMPLES = np.round(np.sin(np.arange(24_000) / 20) * 12_000).astype("<i2")
MODELS = {"object": "list", "data": [{"id": "speech-1", "object": "model"}]}


class OtherSpeechServer:
    """``requests`` lists the bodies of speech requests. ``header`` is sent before the audio."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.header = b""
        self.kind = "audio/pcm"
        self.num_bytes: int | None = None  # breaks off after this many bytes of audio
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
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


def _handler_of(server: OtherSpeechServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing to standard error."""

        def do_GET(self) -> None:
            answers = {"/v1/models": MODELS, "/v1/audio/voices": {"voices": ["nora", {"id": "anna"}]}}
            answer = answers.get(self.path)
            self._answer(404 if answer is None else 200, json.dumps(answer or {"detail": "Not Found"}).encode())

        def do_POST(self) -> None:
            server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            content = server.header + SAMPLES.tobytes()
            sent = content if server.num_bytes is None else content[: server.num_bytes]
            self._answer(200, sent, server.kind, len(content))

        def _answer(self, status: int, body: bytes, kind: str = "application/json", length: int | None = None) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body) if length is None else length))
            self.end_headers()
            for start in range(0, len(body), 9_999):  # odd, so that samples are divided
                self.wfile.write(body[start : start + 9_999])
                self.wfile.flush()

    return Handler
