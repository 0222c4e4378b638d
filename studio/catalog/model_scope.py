"""ModelScope, or a mirror that speaks like it, through its HTTP interface (``/api/v1/models/…/repo``)."""

from __future__ import annotations

import http
from typing import Any
from urllib.parse import quote, urlencode

from studio.catalog.connection import open_client
from studio.catalog.known import SourceKind
from studio.catalog.sources import Address, Listing, RefusedError, RemoteFile
from studio.catalog.waiting import wait_wished_by

_MASTER = "master"


class ModelScope:
    kind = SourceKind.MODEL_SCOPE

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def list_files(self, repository: str, revision: str | None) -> Listing:
        chosen = revision or _MASTER
        query = urlencode({"Revision": chosen, "Recursive": "True"})
        with open_client() as client:
            answer = client.get(f"{self._repository(repository)}/files?{query}")
        if answer.status_code != http.HTTPStatus.OK:
            raise RefusedError(answer.status_code, wait_wished_by(answer.headers))
        try:
            body: dict[str, Any] = answer.json()
            if body.get("Code") != http.HTTPStatus.OK:
                raise RefusedError(int(body.get("Code") or http.HTTPStatus.BAD_GATEWAY))
            files = [_read(entry) for entry in body["Data"]["Files"] if entry.get("Type") != "tree"]
        except (ValueError, KeyError, TypeError) as error:  # a login page of some network, most often
            raise RefusedError(http.HTTPStatus.BAD_GATEWAY) from error
        return Listing(chosen, {file.path: file for file in files})

    def address(self, repository: str, revision: str, path: str) -> Address:
        query = urlencode({"Revision": revision, "FilePath": path})
        return Address(f"{self._repository(repository)}?{query}", {})

    def _repository(self, repository: str) -> str:
        return f"{self.endpoint}/api/v1/models/{quote(repository)}/repo"


def _read(entry: dict[str, Any]) -> RemoteFile:
    return RemoteFile(str(entry["Path"]), int(entry["Size"]), str(entry.get("Sha256") or "").lower() or None)
