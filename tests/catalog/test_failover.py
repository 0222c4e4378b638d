"""Sources are left at their first failure, and the others are tried by themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hub_server import Fault, HubServer, Repository
from small_model import REPOSITORY

from studio.catalog.failover import FailoverInstallation
from studio.catalog.known import SourceKind
from studio.catalog.progress import CancelToken, Phase, Progress
from studio.catalog.source_order import SourceOrder, open_source, order_sources
from studio.errors import SourceRefused, SourceUnreachable

HF, MS = SourceKind.HUGGING_FACE, SourceKind.MODEL_SCOPE


@pytest.fixture
def second(place: Any) -> Iterator[HubServer]:
    with HubServer() as hub:
        hub.repositories[REPOSITORY] = Repository(place.files)
        yield hub


def installation(place: Any, order: SourceOrder, **options: Any) -> FailoverInstallation:
    options.setdefault("first_wait_seconds", 0.01)
    options.setdefault("on_progress", place.seen.append)
    return FailoverInstallation(place.model, order, **options)


def unused_address() -> str:
    """Return an address where no server listens."""
    server = HubServer()
    server._server.server_close()
    return server.url


def both(place: Any, second: HubServer) -> SourceOrder:
    return SourceOrder((open_source(HF, place.hub.url), open_source(MS, second.url)))


def test_the_second_source_is_used_after_one_failure_of_the_first(place: Any, second: HubServer) -> None:
    place.hub.list_faults = 20 * [Fault(503)]
    folder = installation(place, both(place, second)).run()
    assert folder == place.model_folder
    assert len(place.hub.asked) <= 2, "the pinned revision, and the newest one"
    assert not [progress for progress in place.seen if progress.phase is Phase.WAITING]
    trying = next(progress for progress in place.seen if progress.error is not None)
    assert (trying.phase, trying.source) == (Phase.LISTING, f"127.0.0.1:{second.port}")
    assert "127.0.0.1" in str(trying.error.problem)
    assert {progress.source for progress in place.received} == {f"127.0.0.1:{second.port}"}


@pytest.mark.slow
def test_bytes_of_a_file_are_kept_when_the_source_changes(place: Any, second: HubServer) -> None:
    place.hub.faults["llm.pt"] = [Fault(cut_at=200_000), Fault(503), Fault(503)]
    installation(place, both(place, second)).run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]
    (header,) = [
        asked.headers.get("range", "") for asked in second.asked if "llm.pt" in asked.path and asked.method == "GET"
    ]
    assert header.startswith("bytes=200000-") or int(header.removeprefix("bytes=").rstrip("-")) > 100_000


def test_all_sources_are_tried_again_after_a_countdown(place: Any, second: HubServer) -> None:
    second.list_faults = [Fault(503)]
    order = SourceOrder((open_source(HF, unused_address()), open_source(MS, second.url)))
    installation(place, order).run()
    waits = [progress for progress in place.seen if progress.phase is Phase.WAITING]
    assert len(waits) == 1


def test_unreachable_sources_are_named(place: Any) -> None:
    gone = [open_source(kind, unused_address()) for kind in (HF, MS)]
    with pytest.raises(SourceUnreachable, match=r"None of the sources of models can be reached: 127\.0\.0\.1, 127"):
        installation(place, SourceOrder(tuple(gone)), first_wait_seconds=0.001).run()


def test_a_refusal_of_every_source_is_reported_at_once(place: Any, second: HubServer) -> None:
    place.hub.repositories.clear()
    second.repositories.clear()
    with pytest.raises(SourceRefused, match="does not have the model"):
        installation(place, both(place, second)).run()
    assert not [progress for progress in place.seen if progress.phase is Phase.WAITING]


@pytest.mark.slow
def test_the_user_can_continue_from_another_source(place: Any, second: HubServer) -> None:
    """A slow source does not fail, so the user leaves it."""
    stop = CancelToken()
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=50_000)]

    def on_progress(progress: Progress) -> None:
        place.seen.append(progress)
        if progress.file == "llm.pt" and progress.file_bytes > 20_000 and not second.asked:
            stop.skip_source()

    order = SourceOrder((open_source(HF, place.hub.url),), (open_source(MS, second.url),))
    installation(place, order, stop=stop, on_progress=on_progress).run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]
    assert second.asked


@pytest.mark.slow
def test_a_countdown_reports_every_second_and_ends_at_once() -> None:
    stop, left = CancelToken(), list[float]()

    def report(seconds: float) -> None:
        left.append(seconds)
        stop.end_wait()

    stop.countdown(1000.0, report)
    assert len(left) == 1
    assert 999 < left[0] <= 1000
    seen = threading.Event()
    left.clear()

    def count(seconds: float) -> None:
        left.append(seconds)
        if len(left) == 2:
            stop.end_wait()
            seen.set()

    stop.countdown(9.999, count)
    assert seen.is_set()
    assert 0.9 < left[0] - left[1] < 9


def places(choice: str, *, is_in_china: bool, **own: str) -> list[str]:
    endpoints = {SourceKind(kind): endpoint for kind, endpoint in own.items()}
    return [source.endpoint for source in order_sources(choice, endpoints, is_in_china=is_in_china).automatic]


HUGGING_FACE, MODEL_SCOPE, MIRROR = "https://huggingface.co", "https://www.modelscope.cn", "https://hf-mirror.com"


def test_the_order_of_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HF_ENDPOINT", "MODELSCOPE_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    assert places("automatic", is_in_china=True) == [MODEL_SCOPE, MIRROR, HUGGING_FACE]
    assert places("automatic", is_in_china=False) == [HUGGING_FACE, MODEL_SCOPE, MIRROR]
    assert places("huggingface", is_in_china=True) == [HUGGING_FACE, MODEL_SCOPE, MIRROR]
    assert places("modelscope", is_in_china=False) == [MODEL_SCOPE, HUGGING_FACE, MIRROR]


def test_an_own_address_is_used_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HF_ENDPOINT", "MODELSCOPE_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    own = "https://models.example.com"
    assert places("automatic", is_in_china=False, huggingface=own) == [own]
    assert places("automatic", is_in_china=True, huggingface=own) == [own]
    assert places("modelscope", is_in_china=True, huggingface=own) == [MODEL_SCOPE, MIRROR, HUGGING_FACE]
    monkeypatch.setenv("HF_ENDPOINT", own)
    assert places("huggingface", is_in_china=False) == [own]
