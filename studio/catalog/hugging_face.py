"""Client of Hugging Face and compatible mirrors, built on its own library.

The library must not make requests on its own: it is in offline mode, and gets an HTTP client only for the calls made
here, which the user requested.
"""

from __future__ import annotations

import threading

import huggingface_hub
from huggingface_hub import HfApi, constants, utils
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import RepoSibling

from studio.catalog.connection import open_client
from studio.catalog.known import SourceKind
from studio.catalog.sources import Address, Listing, RefusedError, RemoteFile, is_default_endpoint, not_a_listing

_MAIN = "main"
# Raised by the library for a response of an unexpected form.
_NOT_A_LISTING = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
# The library has one HTTP client for the whole process and closes it when it gets another one.
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

    def list_files(self, repository: str, revision: str | None) -> Listing:
        with _one_call_at_a_time:
            huggingface_hub.set_client_factory(open_client)
            try:
                info = self._api.model_info(repository, revision=revision or _MAIN, files_metadata=True)
                files = dict(_read(sibling) for sibling in info.siblings or [] if sibling.size is not None)
            except HfHubHTTPError as error:
                raise RefusedError(error.response.status_code, error.response.headers) from error
            except _NOT_A_LISTING as error:  # usually the login page of a network
                raise not_a_listing(self.endpoint) from error
            finally:
                huggingface_hub.close_session()
        return Listing(info.sha or revision or _MAIN, files)

    def address(self, repository: str, revision: str, path: str) -> Address:
        url = huggingface_hub.hf_hub_url(repository, path, revision=revision, endpoint=self.endpoint)
        build_headers = utils.build_hf_headers  # type: ignore[attr-defined]  # documented, and missing from __all__
        headers = build_headers(token=self._token, library_name="timbre-studio")
        return Address(url, headers)


def _read(sibling: RepoSibling) -> tuple[str, RemoteFile]:
    path, lfs = str(sibling.rfilename), sibling.lfs
    size_bytes = sibling.size if lfs is None else lfs.size
    if type(size_bytes) is not int or size_bytes < 0:
        raise ValueError("a listed file has no size")
    if lfs is None:
        return path, RemoteFile(path, size_bytes, git_sha1=sibling.blob_id)
    return path, RemoteFile(path, size_bytes, sha256=str(lfs.sha256))
