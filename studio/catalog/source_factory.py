"""Creates the client of a model hub."""

from __future__ import annotations

from studio.catalog.known import SourceKind
from studio.catalog.sources import ModelSource, endpoint_of


def open_source(kind: SourceKind, endpoint: str = "") -> ModelSource:
    """Return the client of a hub, without a request. Raise ``UnusableSetting``."""
    # Imported here: the libraries are slow to load, and most runs download nothing.
    from studio.catalog.hugging_face import HuggingFace  # noqa: PLC0415
    from studio.catalog.model_scope import ModelScope  # noqa: PLC0415

    found = endpoint_of(kind, endpoint)
    return HuggingFace(found) if kind is SourceKind.HUGGING_FACE else ModelScope(found)
