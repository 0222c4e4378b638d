"""A local model hub with configurable faults.

It implements the APIs of Hugging Face (``/api/models/…``, and ``/…/resolve/…``, which redirects to a signed address)
and of ModelScope (``/api/v1/models/…/repo``). Downloads support ETags, ranges and If-Range.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

_LARGE_BYTES = 10_000  # larger files are stored on another server, and their SHA-256 is published


def use_only_hub(
    monkeypatch: pytest.MonkeyPatch, home: Path, known: Mapping[str, object], *, in_window: bool = False
) -> None:
    """Let the program know only the models ``known``, connect directly, and keep the library's files in ``home``.

    ``in_window`` is whether the window's modules know only them as well.
    """
    modules = ["catalog.known", "catalog.checking", "catalog.transfer"]
    if in_window:
        modules += ["app.models.model_tasks", "app.models.first_run", "app.models.models_page"]
    for module in modules:
        monkeypatch.setattr(f"studio.{module}.known_models", lambda: dict(known))
    for variable in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(home))  # where the library keeps a token and caches
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)  # syncing is slow and not tested here


@dataclass(frozen=True)
class Fault:
    """A fault of one request for a file."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    at_hub: bool = False  # before the redirect
    cut_at: int | None = None  # number of bytes after which the connection ends
    bytes_per_second: float | None = None
    is_silent: bool = False
    is_corrupt: bool = False
    ignores_range: bool = False
    page: bytes = b""  # instead of the file
    redirect: str = ""  # the target address


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Repository:
    files: dict[str, bytes]
    revision: str = "c0ffee" + 34 * "0"
    # Files of earlier revisions, which a hub keeps.
    earlier: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def at(self, revision: str) -> dict[str, bytes] | None:
        if revision in (self.revision, "main", "master"):
            return self.files
        return self.earlier.get(revision)


class HubServer:
    """Use it as ``with HubServer() as hub``. ``hub.url`` is its endpoint.

    With ``certificate``, a file that includes the key, it uses TLS.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.repositories: dict[str, Repository] = {}
        self.faults: dict[str, list[Fault]] = {}
        self.list_faults: list[Fault] = []
        self.asked: list[Asked] = []
        self.served_bytes: dict[str, int] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._ending = threading.Event()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.url = f"https://127.0.0.1:{self.port}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()

    def ranges_of(self, name: str) -> list[str]:
        """Return the Range headers of the requests for a file, or empty strings for the whole file."""
        return [
            asked.headers.get("range", "")
            for asked in self.asked
            if asked.method == "GET"
            and asked.path.partition("?")[0].startswith("/bytes/")
            and asked.path.endswith(name)
        ]

    def sleep(self, seconds: float) -> None:
        self._ending.wait(seconds)


def _handler_of(hub: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing to standard error."""

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.asked.append(Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
            parts = urlsplit(self.path)
            path, query = unquote(parts.path), parse_qs(parts.query)
            with contextlib.suppress(ConnectionError):
                if path.startswith("/api/v1/models/"):
                    self._model_scope(path.removeprefix("/api/v1/models/"), query)
                elif path.startswith("/api/models/"):
                    self._listing(path.removeprefix("/api/models/"))
                elif path.startswith("/bytes/"):
                    _, _, owner, name, revision, file = path.split("/", 5)
                    self._bytes(f"{owner}/{name}", revision, file, at_hub=False)
                elif "/resolve/" in path:
                    self._resolve(path)
                else:
                    self._say(404)

        # Hugging Face.

        def _listing(self, path: str) -> None:
            if hub.list_faults:
                fault = hub.list_faults.pop(0)
                self._say(fault.status, fault.page, fault.headers)
                return
            name, _, revision = path.partition("/revision/")
            repository = hub.repositories.get(name)
            files = repository.at(revision or "main") if repository else None
            if repository is None or files is None:
                kind = "RepoNotFound" if repository is None else "RevisionNotFound"
                self._say(404, headers={"X-Error-Code": kind})
                return
            commit = repository.revision if files is repository.files else revision
            siblings = [_sibling(file, content) for file, content in files.items()]
            self._json({"id": name, "sha": commit, "siblings": siblings})

        def _resolve(self, path: str) -> None:
            name, _, rest = path.strip("/").partition("/resolve/")
            revision, _, file = rest.partition("/")
            repository = hub.repositories.get(name)
            files = repository.at(revision) if repository else None
            if files is None or file not in files:
                self._say(404, headers={"X-Error-Code": "EntryNotFound"})
            elif len(files[file]) < _LARGE_BYTES:
                self._bytes(name, revision, file, at_hub=True)
            elif fault := self._fault(file, at_hub=True):
                self._say_fault(fault)
            else:
                signature = f"?signature={len(hub.asked)}&file={file}"
                self._say(302, headers={"Location": f"/bytes/{name}/{revision}/{file}{signature}"})

        # ModelScope.

        def _model_scope(self, path: str, query: dict[str, list[str]]) -> None:
            name, _, what = path.partition("/repo")
            repository = hub.repositories.get(name)
            files = repository.at(query["Revision"][0]) if repository else None
            if repository is None or files is None:
                self._json({"Code": 10010205001, "Success": False}, status=404)
            elif what == "/files" and hub.list_faults:
                fault = hub.list_faults.pop(0)
                self._say(fault.status, fault.page, fault.headers)
            elif what == "/files":
                entries: list[dict[str, object]] = [{"Path": "CosyVoice-BlankEN", "Type": "tree", "Size": 0}]
                for file, content in files.items():
                    sha256 = hashlib.sha256(content).hexdigest()
                    entries.append({"Path": file, "Type": "blob", "Size": len(content), "Sha256": sha256})
                self._json({"Code": 200, "Data": {"Files": entries}, "Success": True})
            else:
                self._bytes(name, query["Revision"][0], query["FilePath"][0], at_hub=False)

        # Bytes.

        def _bytes(self, name: str, revision: str, file: str, *, at_hub: bool) -> None:
            fault = self._fault(file, at_hub=at_hub) or Fault()
            files = hub.repositories[name].at(revision)
            assert files is not None
            content = files[file]
            etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            if fault.status or fault.page or fault.redirect:
                self._say_fault(fault)
                return
            begin = 0
            wanted = self.headers.get("Range")
            same = self.headers.get("If-Range", etag) == etag
            if wanted and same and not fault.ignores_range:
                begin = int(wanted.removeprefix("bytes=").rstrip("-"))
                if begin >= len(content):
                    self._say(416, headers={"Content-Range": f"bytes */{len(content)}"})
                    return
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("ETag", etag)
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            sent = content[begin:]
            if fault.is_corrupt:
                sent = bytes([sent[0] ^ 1]) + sent[1:]
            self._send_slowly(file, sent, fault)

        def _send_slowly(self, file: str, content: bytes, fault: Fault) -> None:
            for begin in range(0, len(content), 4096):
                block = content[begin : begin + 4096]
                if fault.cut_at is not None and begin + len(block) > fault.cut_at:
                    self.wfile.write(block[: max(0, fault.cut_at - begin)])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.close()
                    return
                self.wfile.write(block)
                hub.served_bytes[file] = hub.served_bytes.get(file, 0) + len(block)
                if fault.bytes_per_second:
                    hub.sleep(len(block) / fault.bytes_per_second)
            if fault.is_silent:
                hub.sleep(60)

        def _say_fault(self, fault: Fault) -> None:
            if fault.redirect:
                self._say(302, headers={"Location": fault.redirect})
            else:
                self._say(fault.status or 200, fault.page, fault.headers)

        def _fault(self, file: str, *, at_hub: bool) -> Fault | None:
            waiting = hub.faults.get(file, [])
            if waiting and waiting[0].at_hub == at_hub:
                return waiting.pop(0)
            return None

        def _json(self, values: dict[str, Any], status: int = 200) -> None:
            self._say(status, json.dumps(values).encode(), {"Content-Type": "application/json"})

        def _say(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler


def _sibling(path: str, content: bytes) -> dict[str, object]:
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    sibling: dict[str, object] = {"rfilename": path, "size": len(content), "blobId": blob}
    if len(content) >= _LARGE_BYTES:
        sha256 = hashlib.sha256(content).hexdigest()
        sibling["lfs"] = {"size": len(content), "sha256": sha256, "pointerSize": 134}
    return sibling
