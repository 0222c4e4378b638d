"""A proxy as in companies: it supports only CONNECT and resolves host names itself."""

from __future__ import annotations

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TunnelProxy:
    """``with TunnelProxy({"host:port": real_port}) as proxy``; ``proxy.url`` is its address.

    ``requested`` lists the requested hosts.
    """

    def __init__(self, ports: dict[str, int]) -> None:
        self.requested: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self, ports))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> TunnelProxy:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler_of(proxy: TunnelProxy, ports: dict[str, int]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing to standard error."""

        def do_CONNECT(self) -> None:
            proxy.requested.append(self.path)
            if self.path not in ports:
                self.send_error(502)
                return
            with socket.create_connection(("127.0.0.1", ports[self.path])) as far:
                self.send_response(200)
                self.end_headers()
                self.wfile.flush()
                back = threading.Thread(target=_copy, args=(far, self.connection), daemon=True)
                back.start()
                _copy(self.connection, far)
                back.join()

    return Handler


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while block := source.recv(1 << 16):
            target.sendall(block)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
