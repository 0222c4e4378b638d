"""The order in which the sources of models are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.catalog.known import SourceKind
from studio.catalog.sources import DEFAULT_ENDPOINTS, ModelSource, choose_endpoint, is_default_endpoint

AUTOMATIC = "automatic"  # choice of the source by the location of the computer
_MIRRORS = {"https://hf-mirror.com": SourceKind.HUGGING_FACE}


def open_source(kind: SourceKind, endpoint: str = "") -> ModelSource:
    """Return the client of a hub, without a request. Raise ``UnusableSetting``."""
    from studio.catalog.hubs import HuggingFace, ModelScope  # noqa: PLC0415 - slow to load, and rarely needed

    found = choose_endpoint(kind, endpoint)
    return HuggingFace(found) if kind is SourceKind.HUGGING_FACE else ModelScope(found)


@dataclass(frozen=True, slots=True)
class SourceOrder:
    """Sources of models: those that are tried one after another, and those that are tried only when the user asks."""

    automatic: tuple[ModelSource, ...]
    others: tuple[ModelSource, ...] = ()


def order_sources(choice: str, own_endpoints: Mapping[SourceKind, str], *, is_in_china: bool) -> SourceOrder:
    """Return the sources for the setting ``choice``: a source, or "automatic".

    A custom address, from the settings or the environment, is used alone until the user asks for another source. Raise
    ``UnusableSetting``.
    """
    hugging_face, model_scope = SourceKind.HUGGING_FACE, SourceKind.MODEL_SCOPE
    mirrors = [(kind, endpoint) for endpoint, kind in _MIRRORS.items()]
    official = {kind: (kind, endpoint) for kind, endpoint in DEFAULT_ENDPOINTS.items()}
    if is_in_china:
        places = [official[model_scope], *mirrors, official[hugging_face]]
    else:
        places = [official[hugging_face], official[model_scope], *mirrors]
    is_automatic = choice == AUTOMATIC
    kinds = [kind for kind, _ in places] if is_automatic else [SourceKind(choice)]
    own = {kind: choose_endpoint(kind, own_endpoints.get(kind, "")) for kind in dict.fromkeys(kinds)}
    own_places = [(kind, endpoint) for kind, endpoint in own.items() if not is_default_endpoint(kind, endpoint)]
    if own_places:
        chosen = own_places if is_automatic else own_places[:1]
        return SourceOrder(_opened(chosen), _opened([place for place in places if place not in chosen]))
    if not is_automatic:
        places.sort(key=lambda place: place != official[SourceKind(choice)])
    return SourceOrder(_opened(places))


def _opened(places: Sequence[tuple[SourceKind, str]]) -> tuple[ModelSource, ...]:
    return tuple(open_source(kind, endpoint) for kind, endpoint in places)
