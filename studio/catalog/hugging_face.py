"""Hugging Face, or a mirror that speaks like it, through its own client library.

The library is kept from contacting anybody by itself: it is told that it is offline, whatever the
environment says, and gets a client for the calls made here, which a person asked for.
"""

from __future__ import annotations

import http
import threading

import huggingface_hub
from huggingface_hub import HfApi, constants, utils
from huggingface_hub.errors import HfHubHTTPError

from studio.catalog.connection import open_client
from studio.catalog.known import SourceKind
from studio.catalog.sources import Address, Listing, RefusedError, RemoteFile, is_the_place_itself
from studio.catalog.waiting import wait_wished_by

_MAIN = "main"
# The library has one client for the whole process, and closes it when it is given another.
_one_call_at_a_time = threading.Lock()


class HuggingFace:
    kind = SourceKind.HUGGING_FACE

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        # Before the first header is built: the library asks the hub for a list of programs while it does that.
        constants.HF_HUB_OFFLINE = True
        # A mirror is none of the token's business.
        self._token = None if is_the_place_itself(self.kind, endpoint) else False
        self._api = HfApi(endpoint=endpoint, token=self._token, library_name="timbre-studio")

    def list_files(self, repository: str, revision: str | None) -> Listing:
        with _one_call_at_a_time:
            huggingface_hub.set_client_factory(open_client)
            try:
                info = self._api.model_info(repository, revision=revision or _MAIN, files_metadata=True)
            except HfHubHTTPError as error:
                raise RefusedError(error.response.status_code, wait_wished_by(error.response.headers)) from error
            except (ValueError, KeyError, TypeError) as error:  # a login page of some network, most often
                raise RefusedError(http.HTTPStatus.BAD_GATEWAY) from error
            finally:
                huggingface_hub.close_session()
        files = {
            sibling.rfilename: RemoteFile(
                path=sibling.rfilename,
                size_bytes=sibling.size if sibling.lfs is None else sibling.lfs.size,
                sha256=sibling.lfs.sha256 if sibling.lfs else None,
                git_sha1=None if sibling.lfs else sibling.blob_id,
            )
            for sibling in info.siblings or []
            if sibling.size is not None
        }
        return Listing(info.sha or revision or _MAIN, files)

    def address(self, repository: str, revision: str, path: str) -> Address:
        url = huggingface_hub.hf_hub_url(repository, path, revision=revision, endpoint=self.endpoint)
        build_headers = utils.build_hf_headers  # type: ignore[attr-defined]  # documented, and missing from __all__
        headers = build_headers(token=self._token, library_name="timbre-studio")
        return Address(url, headers)
