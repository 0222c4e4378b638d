"""Clients of Hugging Face, ModelScope and compatible mirrors.

Hugging Face's library must not make requests on its own: it is in offline mode, and gets an HTTP client only for the
calls made here, which the user requested. ModelScope is used through its HTTP interface (``/api/v1/models/…/repo``).
"""

from __future__ import annotations

import http
import threading
from typing import Any
from urllib.parse import quote, urlencode

import huggingface_hub
from huggingface_hub import HfApi, constants, utils
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import RepoSibling

from studio.catalog.known import SourceKind
from studio.catalog.network import RefusedError, open_client
from studio.catalog.sources import Address, FileList, RemoteFile, is_default_endpoint
from studio.errors import SourceRefused
from studio.storage.json_input import parse_json

# Names of the newest revision.
_MAIN = "main"  # on Hugging Face
_MASTER = "master"  # on ModelScope
# Raised by Hugging Face's library for a response of an unexpected form.
_NOT_A_LISTING = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
# Hugging Face's library has one HTTP client for the whole process, and closes it when it gets another one.
_one_call_at_a_time = threading.Lock()


class HuggingFace:
    kind = SourceKind.HUGGING_FACE

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        # Set before the first headers are built: building them requests a list of agent programs from the hub.
        constants.HF_HUB_OFFLINE = True
        # Never send the token to a mirror.
        self._token = None if is_default_endpoint(self.kind, endpoint) else False
        self._api = HfApi(endpoint=endpoint, token=self._token, library_name="timbre-studio")

    def list_files(self, repository: str, revision: str | None) -> FileList:
        with _one_call_at_a_time:
            huggingface_hub.set_client_factory(open_client)
            try:
                info = self._api.model_info(repository, revision=revision or _MAIN, files_metadata=True)
                files = dict(_hugging_face_file(sibling) for sibling in info.siblings or [] if sibling.size is not None)
            except HfHubHTTPError as error:
                raise RefusedError(error.response.status_code, error.response.headers) from error
            except _NOT_A_LISTING as error:  # usually the login page of a network
                raise _not_a_listing(self.endpoint) from error
            finally:
                huggingface_hub.close_session()
        return FileList(info.sha or revision or _MAIN, files)

    def address(self, repository: str, revision: str, path: str) -> Address:
        url = huggingface_hub.hf_hub_url(repository, path, revision=revision, endpoint=self.endpoint)
        build_headers = utils.build_hf_headers  # type: ignore[attr-defined]  # documented, and missing from __all__
        headers = build_headers(token=self._token, library_name="timbre-studio")
        return Address(url, headers)


def _hugging_face_file(sibling: RepoSibling) -> tuple[str, RemoteFile]:
    path, lfs = str(sibling.rfilename), sibling.lfs
    size_bytes = sibling.size if lfs is None else lfs.size
    if type(size_bytes) is not int or size_bytes < 0:
        raise ValueError("a listed file has no size")
    if lfs is None:
        return path, RemoteFile(path, size_bytes, git_sha1=sibling.blob_id)
    return path, RemoteFile(path, size_bytes, sha256=str(lfs.sha256))


class ModelScope:
    kind = SourceKind.MODEL_SCOPE

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def list_files(self, repository: str, revision: str | None) -> FileList:
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
            files = [_model_scope_file(entry) for entry in body["Data"]["Files"] if entry.get("Type") != "tree"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # usually the login page of a network
            raise _not_a_listing(self.endpoint) from error
        return FileList(chosen, {file.path: file for file in files})

    def address(self, repository: str, revision: str, path: str) -> Address:
        query = urlencode({"Revision": revision, "FilePath": path})
        return Address(f"{self._repository(repository)}?{query}", {})

    def _repository(self, repository: str) -> str:
        return f"{self.endpoint}/api/v1/models/{quote(repository)}/repo"


def _model_scope_file(entry: dict[str, Any]) -> RemoteFile:
    size_bytes = int(entry["Size"])
    if size_bytes < 0:
        raise ValueError("a listed file has no size")
    return RemoteFile(str(entry["Path"]), size_bytes, str(entry.get("Sha256") or "").lower() or None)


def _not_a_listing(endpoint: str) -> SourceRefused:
    return SourceRefused(
        "{place} returned something other than a list of files.",
        remedy="Check whether this network requires a login, or choose another source (Settings, Models).",
        place=endpoint,
    )
