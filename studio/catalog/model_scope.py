"""Client of ModelScope and compatible mirrors, on its HTTP interface (``/api/v1/models/…/repo``)."""

from __future__ import annotations

import http
from typing import Any
from urllib.parse import quote, urlencode

from studio.catalog.connection import open_client
from studio.catalog.known import SourceKind
from studio.catalog.sources import Address, Listing, RefusedError, RemoteFile, not_a_listing
from studio.storage.json_input import parse_json

_MASTER = "master"


class ModelScope:
    kind = SourceKind.MODEL_SCOPE

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def list_files(self, repository: str, revision: str | None) -> Listing:
        chosen = revision or _MASTER
        query = urlencode({"Revision": chosen, "Recursive": "True"})
        with open_client() as client:
            response = client.get(f"{self._repository(repository)}/files?{query}")
        if response.status_code != http.HTTPStatus.OK:
            raise RefusedError(response.status_code, response.headers)
        try:
            body: dict[str, Any] = parse_json(response.content)
            if body["Code"] != http.HTTPStatus.OK:
                raise RefusedError(int(body["Code"]))
            files = [_read(entry) for entry in body["Data"]["Files"] if entry.get("Type") != "tree"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # usually the login page of a network
            raise not_a_listing(self.endpoint) from error
        return Listing(chosen, {file.path: file for file in files})

    def address(self, repository: str, revision: str, path: str) -> Address:
        query = urlencode({"Revision": revision, "FilePath": path})
        return Address(f"{self._repository(repository)}?{query}", {})

    def _repository(self, repository: str) -> str:
        return f"{self.endpoint}/api/v1/models/{quote(repository)}/repo"


def _read(entry: dict[str, Any]) -> RemoteFile:
    size_bytes = int(entry["Size"])
    if size_bytes < 0:
        raise ValueError("a listed file has no size")
    return RemoteFile(str(entry["Path"]), size_bytes, str(entry.get("Sha256") or "").lower() or None)
