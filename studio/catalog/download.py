"""One file from a server to the disk: whatever happens on the way, it goes on from where it was.

A request names the byte it wants to go on from, and the version (ETag) that byte belongs to; a server that
has another version by now sends the whole file, and it is begun anew. What arrived counts only if its size
and its sum are the published ones.
"""

from __future__ import annotations

import http
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from studio.catalog.cancellation import CancelToken, DownloadCancelled
from studio.catalog.network_errors import is_permanent, is_transient, refused, unreachable
from studio.catalog.partial_file import PartialFile
from studio.catalog.retry_policy import RetryPolicy
from studio.catalog.sources import Address, RefusedError, RemoteFile, is_html
from studio.errors import StudioError, WrongDownload
from studio.wording import Message, wording

_log = logging.getLogger(__name__)
# A connection that brought this much was worth its while: patience is new.
_WORTHWHILE_BYTES = 1 << 20
_MOST_WRONG_COPIES = 2


@dataclass(frozen=True, slots=True)
class DownloadCallbacks:
    """Who is told how it goes: bytes that were here and have been read; bytes that are here; waiting, how long and why."""

    on_checked: Callable[[int], None]
    on_bytes: Callable[[int], None]
    on_waiting: Callable[[float, StudioError], None]


class _Interrupted(Exception):
    """Worth another attempt. ``error`` is what to say if there is none left."""

    def __init__(self, error: StudioError, wait_seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait_seconds = wait_seconds


class FileDownload:
    """``get_address`` is asked before every attempt: addresses expire."""

    def __init__(
        self, client: httpx2.Client, get_address: Callable[[], Address], wanted: RemoteFile, patience: RetryPolicy
    ) -> None:
        self._client = client
        self._get_address = get_address
        self._wanted = wanted
        self._patience = patience
        self._num_wrong_copies = 0
        self._has_expired = False

    def run(self, target: Path, stop: CancelToken, ear: DownloadCallbacks) -> str:
        """Leaves the complete file under ``target`` and returns its SHA-256.

        Raises ``DownloadCancelled``, ``SourceUnreachable``, ``SourceRefused``, ``WrongDownload``, ``DiskFull``, ``CannotWrite``;
        what had arrived is kept, unless it was wrong.
        """
        with PartialFile(target) as part:
            part.hash_existing(stop, ear.on_checked)
            while True:
                stop.check()
                try:
                    if part.num_bytes != self._wanted.size_bytes:
                        self._receive(part, stop, ear)
                    return self._finish(part)
                except _Interrupted as trouble:
                    _log.info("%s: %s", self._wanted.path, trouble)
                    self._wait(trouble, stop, ear)

    def _wait(self, trouble: _Interrupted, stop: CancelToken, ear: DownloadCallbacks) -> None:
        seconds = self._patience.next_delay_seconds(trouble.wait_seconds)
        if seconds is None:
            raise trouble.error from trouble
        ear.on_waiting(seconds, trouble.error)
        stop.sleep(seconds)

    def _receive(self, part: PartialFile, stop: CancelToken, ear: DownloadCallbacks) -> None:
        address = self._get_address()
        # Compressed on the way, a range would be one of other bytes.
        headers = {**address.headers, "Accept-Encoding": "identity", "Range": f"bytes={part.num_bytes}-"}
        if part.num_bytes and part.etag:
            headers["If-Range"] = part.etag
        if not part.num_bytes:
            del headers["Range"]
        host = urlsplit(address.url).hostname or address.url
        begun_at = part.num_bytes
        try:
            with self._client.stream("GET", address.url, headers=headers) as answer, stop.watching(answer):
                self._accept(answer, part)
                ear.on_bytes(part.num_bytes)
                for block in answer.iter_raw():  # of no chosen size: it would keep back what is less
                    stop.check()
                    part.append(block)
                    ear.on_bytes(part.num_bytes)
                    if part.num_bytes > self._wanted.size_bytes:
                        return
                    if part.num_bytes - begun_at > _WORTHWHILE_BYTES:
                        self._patience.renew()
                        self._has_expired = False
        except httpx2.HTTPError as error:
            if stop.is_cancelled:
                raise DownloadCancelled from error
            if is_permanent(error):
                raise unreachable(host, error) from error
            raise _Interrupted(unreachable(host, error)) from error
        if part.num_bytes < self._wanted.size_bytes:
            raise _Interrupted(unreachable(host, None))

    def _accept(self, answer: httpx2.Response, part: PartialFile) -> None:
        """Makes ``part`` ready for what is about to come; raises where nothing usable is."""
        etag = _strong_etag(answer)
        if answer.is_success and (is_html(answer.headers) or not _is_plain(answer)):
            part.restart()
            raise self._wrong_copy(wording("the server sent something else"))
        match answer.status_code:
            case http.HTTPStatus.PARTIAL_CONTENT if part.num_bytes:
                begin, size = _range_of(answer)
                is_same = begin == part.num_bytes and (not etag or not part.etag or etag == part.etag)
                if not is_same or size not in (None, self._wanted.size_bytes):
                    part.restart()
                    raise _Interrupted(self._wrong(wording("the server went on with another file")))
            case http.HTTPStatus.OK:
                part.restart(etag)
                announced = answer.headers.get("Content-Length", "")
                if announced.isdigit() and int(announced) != self._wanted.size_bytes:
                    # Most often a page of some network that wants a login, which is never told by a status.
                    raise self._wrong_copy(wording("its size is another one"))
            case http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.restart()
                raise _Interrupted(self._wrong(wording("the server has a shorter file")))
            case status:
                error = RefusedError(status, answer.headers)
                host = answer.url.host
                if status == http.HTTPStatus.FORBIDDEN and answer.history and not self._has_expired:
                    # The signed address behind a redirect is valid for a while only; a new one is refused for good.
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
        raise self._wrong_copy(wording("its size or checksum is another one"))

    def _wrong_copy(self, why: Message) -> WrongDownload | _Interrupted:
        """Return what to raise: a wrong copy may be an accident, a second one is not."""
        self._num_wrong_copies += 1
        error = self._wrong(why)
        return error if self._num_wrong_copies >= _MOST_WRONG_COPIES else _Interrupted(error)

    def _wrong(self, why: Message) -> WrongDownload:
        return WrongDownload(
            "What arrived for {file} is not what was published: {why}.",
            remedy="Try again later, or choose another source (Settings, Models).",
            file=self._wanted.path,
            why=why,
        )


def _strong_etag(answer: httpx2.Response) -> str:
    """Empty where there is none that vouches for every byte."""
    etag = answer.headers.get("ETag", "")
    return "" if etag.startswith("W/") else etag


def _is_plain(answer: httpx2.Response) -> bool:
    """Whether the bytes on the way are those of the file, as was asked for, and not compressed."""
    return answer.headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity")


def _range_of(answer: httpx2.Response) -> tuple[int | None, int | None]:
    """Where the answer begins, and the size of the whole."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", "").strip())
    if not found:
        return None, None
    return int(found[1]), None if found[2] == "*" else int(found[2])
