"""Resumable, verified download of one file.

A request names the byte to resume from, and the version (ETag) that the received bytes belong to. If the server has
another version by now, it sends the whole file and the download restarts. The file is accepted only if it has the
published size and checksum.
"""

from __future__ import annotations

import http
import logging
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from studio.catalog.network import RefusedError, RetryPolicy, is_html, is_permanent, is_transient, refused, unreachable
from studio.catalog.progress import Phase, ProgressCounter
from studio.catalog.sources import Address, RemoteFile
from studio.catalog.staging import PartialFile
from studio.errors import StudioError, WrongDownload
from studio.messages import Message, message

_log = logging.getLogger(__name__)
# The retry delay is reset after this much progress in one connection.
_PROGRESS_BYTES = 1 << 20
_MAX_WRONG_COPIES = 2


class _Interrupted(Exception):
    """A failure that is worth another attempt. ``error`` is raised if no attempt is left."""

    def __init__(self, error: StudioError, wait_seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait_seconds = wait_seconds


class FileDownload:
    """Download of one file. ``get_address`` is called before every attempt, because addresses expire."""

    def __init__(
        self,
        client: httpx2.Client,
        get_address: Callable[[], Address],
        wanted: RemoteFile,
        retry: RetryPolicy,
        counter: ProgressCounter,
    ) -> None:
        self._client = client
        self._get_address = get_address
        self._wanted = wanted
        self._retry = retry
        self._counter = counter
        self._stop = counter.stop
        self._num_wrong_copies = 0
        self._has_expired = False

    def run(self, target: Path) -> str:
        """Download to ``target`` and return its SHA-256.

        After a failure, received bytes are kept unless they are wrong.

        Raise ``DownloadCancelled``, ``SourceUnreachable``, ``SourceRefused``, ``WrongDownload``, ``DiskFull``,
        ``CannotWrite``.
        """
        with PartialFile(target) as part:
            part.hash_existing(self._counter)
            while True:
                self._stop.check()
                try:
                    if part.num_bytes != self._wanted.size_bytes:
                        self._receive(part)
                    return self._finish(part)
                except _Interrupted as interruption:
                    _log.info("%s: %s", self._wanted.path, interruption)
                    self._wait(part, interruption)

    def _wait(self, part: PartialFile, interruption: _Interrupted) -> None:
        seconds = self._retry.next_delay_seconds(interruption.wait_seconds)
        if seconds is None:
            raise interruption.error from interruption
        self._stop.countdown(
            seconds,
            lambda left: self._counter.report(
                Phase.WAITING, part.num_bytes, error=interruption.error, wait_seconds=left
            ),
        )

    def _receive(self, part: PartialFile) -> None:
        self._stop.check()
        address = self._get_address()
        part.use_origin(urlsplit(address.url).netloc, is_verified=bool(self._wanted.sha256))
        # No compression: the range would count compressed bytes.
        headers = {**address.headers, "Accept-Encoding": "identity", "Range": f"bytes={part.num_bytes}-"}
        if part.num_bytes and part.etag:
            headers["If-Range"] = part.etag
        if not part.num_bytes:
            del headers["Range"]
        host = urlsplit(address.url).hostname or address.url
        initial_bytes = part.num_bytes
        try:
            with self._client.stream("GET", address.url, headers=headers) as response, self._stop.watching(response):
                self._accept(response, part)
                self._counter.report(Phase.RECEIVING, part.num_bytes)
                for block in response.iter_raw():  # with a block size, httpx would delay smaller blocks
                    self._stop.check()
                    part.append(block)
                    self._counter.report(Phase.RECEIVING, part.num_bytes)
                    if part.num_bytes > self._wanted.size_bytes:
                        return
                    if part.num_bytes - initial_bytes > _PROGRESS_BYTES:
                        self._retry.reset()
                        self._has_expired = False
        except httpx2.HTTPError as error:
            self._stop.check()
            if is_permanent(error):
                raise unreachable(host, error) from error
            raise _Interrupted(unreachable(host, error)) from error
        if part.num_bytes < self._wanted.size_bytes:
            raise _Interrupted(unreachable(host, None))

    def _accept(self, response: httpx2.Response, part: PartialFile) -> None:
        """Prepare ``part`` for the body of ``response``. Raise if the body is not usable."""
        etag = _strong_etag(response)
        if response.is_success and (is_html(response.headers) or not _is_uncompressed(response)):
            part.restart()
            raise self._wrong_copy(message("the server sent something else"))
        match response.status_code:
            case http.HTTPStatus.PARTIAL_CONTENT if part.num_bytes:
                begin, size = _range_of(response)
                is_same = begin == part.num_bytes and (not etag or not part.etag or etag == part.etag)
                if not is_same or size not in (None, self._wanted.size_bytes):
                    part.restart()
                    raise _Interrupted(
                        self._wrong(message("the server sent the wrong part of the file or a different version"))
                    )
            case http.HTTPStatus.OK:
                part.restart(etag)
                announced = response.headers.get("Content-Length", "")
                if announced.isdigit() and int(announced) != self._wanted.size_bytes:
                    # Usually a network's login page, sent with status 200.
                    raise self._wrong_copy(message("its size is wrong"))
            case http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.restart()
                raise _Interrupted(self._wrong(message("the server has a shorter file")))
            case status:
                error = RefusedError(status, response.headers)
                host = response.url.host
                if status == http.HTTPStatus.FORBIDDEN and response.history and not self._has_expired:
                    # The signed address behind a redirect expires. If a new one is refused as well, give up.
                    self._has_expired = True
                    raise _Interrupted(refused(host, error))
                if is_transient(error):
                    raise _Interrupted(refused(host, error), error.wait_seconds)
                raise refused(host, error)

    def _finish(self, part: PartialFile) -> str:
        wanted = self._wanted
        sha256 = part.sha256
        is_right = part.num_bytes == wanted.size_bytes
        if wanted.sha256:
            is_right = is_right and sha256 == wanted.sha256
        elif wanted.git_sha1 and is_right:
            is_right = part.git_sha1() == wanted.git_sha1
        if is_right:
            part.complete()
            return sha256
        part.restart()
        raise self._wrong_copy(message("its size or checksum is wrong"))

    def _wrong_copy(self, why: Message) -> WrongDownload | _Interrupted:
        """Return the exception to raise.

        The first wrong copy is worth another attempt; the second ends the download.
        """
        self._num_wrong_copies += 1
        error = self._wrong(why)
        return error if self._num_wrong_copies >= _MAX_WRONG_COPIES else _Interrupted(error)

    def _wrong(self, why: Message) -> WrongDownload:
        return WrongDownload(
            "The download of {file} differs from the published file: {why}.",
            remedy="Try again later, or choose another source (Settings, Models).",
            file=self._wanted.path,
            why=why,
        )


def _strong_etag(response: httpx2.Response) -> str:
    """Return the ETag, or an empty string if it is missing or weak (not byte-exact)."""
    etag = response.headers.get("ETag", "")
    return "" if etag.startswith("W/") else etag


def _is_uncompressed(response: httpx2.Response) -> bool:
    return response.headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity")


def _range_of(response: httpx2.Response) -> tuple[int | None, int | None]:
    """Return the position of the response in the file and the size of the whole file. Unknown numbers are None."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", "").strip())
    if not found:
        return None, None
    return int(found[1]), None if found[2] == "*" else int(found[2])
