"""A TCP proxy that breaks connections off after a number of bytes, as a bad network does."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class BreakingProxy:
    """Forwards to ``port``. Each number in ``limits`` breaks off a connection after so many bytes of answers."""

    def __init__(self, port: int) -> None:
        self.limits: list[int] = []
        self._num_bytes = 0
        self.num_broken = 0
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                threading.Thread(target=self._forward, args=(near, far), daemon=True).start()
                threading.Thread(target=self._answer, args=(far, near), daemon=True).start()

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := near.recv(1 << 16):
                far.sendall(block)
            far.shutdown(socket.SHUT_WR)

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError), far, near:
            while block := far.recv(1000):
                if self.limits and self._num_bytes + len(block) >= self.limits[0]:
                    near.sendall(block[: self.limits.pop(0) - self._num_bytes])
                    self._num_bytes = 0
                    self.num_broken += 1
                    near.shutdown(socket.SHUT_RDWR)
                    far.shutdown(socket.SHUT_RDWR)
                    return
                near.sendall(block)
                if self.limits:
                    self._num_bytes += len(block)


@contextmanager
def breaking_proxy(port: int) -> Iterator[BreakingProxy]:
    proxy = BreakingProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
