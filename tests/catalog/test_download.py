"""Downloads resume after any interruption and accept only the published file."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hub_server import Fault, Repository
from small_model import REPOSITORY

from studio.catalog.installed import installed_models
from studio.catalog.progress import DownloadCancelled, Phase, Progress
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload


def test_an_interrupted_file_is_resumed(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(cut_at=120_000), Fault(cut_at=60_000)]
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]
    whole, second, third = place.hub.ranges_of("llm.pt")
    assert whole == ""
    begins = [int(wanted.removeprefix("bytes=").rstrip("-")) for wanted in (second, third)]
    assert 0 < begins[0] <= 120_000
    assert begins[0] < begins[1] <= begins[0] + 60_000
    with_range = [asked for asked in place.hub.asked if "if-range" in asked.headers]
    assert len(with_range) >= 2  # the server checks that the file is unchanged


@pytest.mark.slow
def test_retry_after_is_obeyed(place: Any) -> None:
    place.hub.faults["flow.pt"] = [Fault(429, {"Retry-After": "0.2"})]
    begun = time.monotonic()
    place.installation().run()
    assert time.monotonic() - begun > 0.2
    waits = [progress.wait_seconds for progress in place.seen if progress.phase is Phase.WAITING]
    assert waits == [pytest.approx(0.2)]


def test_an_expired_signed_address_is_requested_again(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(cut_at=100_000), Fault(403)]
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


def test_a_forbidden_file_is_not_retried(place: Any) -> None:
    place.hub.faults["llm.pt"] = 10 * [Fault(403, at_hub=True)]
    with pytest.raises(SourceRefused, match="restricts access"):
        place.installation().run()
    # Only one request: the plan is not tried again.
    assert len(place.hub.faults["llm.pt"]) == 9


def test_wrong_bytes_are_downloaded_again_once(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(is_corrupt=True)]
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


def test_wrong_bytes_twice_are_an_error(place: Any) -> None:
    place.hub.faults["llm.pt"] = 10 * [Fault(is_corrupt=True)]
    with pytest.raises(WrongDownload, match=r"llm\.pt differs from the published file"):
        place.installation().run()
    assert place.model.name not in installed_models()
    assert not place.model_folder.exists()


def test_a_small_file_is_verified_by_its_git_blob_id(place: Any) -> None:
    place.hub.faults["CosyVoice-BlankEN/vocab.json"] = 10 * [Fault(is_corrupt=True, at_hub=True)]
    with pytest.raises(WrongDownload, match=r"vocab\.json"):
        place.installation().run()


def test_a_server_without_ranges_restarts_the_file(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(cut_at=120_000), Fault(ignores_range=True)]
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


def test_a_login_page_is_not_kept_as_a_file(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(cut_at=120_000), Fault(page=b"<html>Please log in</html>")]
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


@pytest.mark.slow
def test_repeated_interruptions_raise_and_keep_the_received_bytes(place: Any) -> None:
    place.hub.faults["llm.pt"] = 20 * [Fault(cut_at=8192)]
    with pytest.raises(SourceUnreachable, match="closed the connection"):
        place.installation().run()
    place.hub.faults.clear()
    before = place.hub.served_bytes["llm.pt"]
    place.installation().run()
    assert place.hub.served_bytes["llm.pt"] - before < len(place.files["llm.pt"])


def stop_at(place: Any, num_bytes: int, **options: Any) -> None:
    """Run an installation until part of the language model is received, and stop it from another thread."""
    installation = place.installation(**options)

    def stop(progress: Any) -> None:
        if progress.file == "llm.pt" and progress.file_bytes >= num_bytes:
            threading.Thread(target=installation.stop.cancel).start()

    place.on_progress = stop
    with pytest.raises(DownloadCancelled):
        installation.run()
    place.on_progress = None


@pytest.mark.slow
def test_cancelling_keeps_the_received_bytes(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    stop_at(place, 100_000)
    served = sum(place.hub.served_bytes.values())
    place.hub.asked.clear()
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]
    total = sum(len(content) for path, content in place.files.items() if path != "llm.rl.pt")
    # Only the bytes in transit at the cancellation are downloaded twice.
    assert sum(place.hub.served_bytes.values()) < total + 100_000
    assert served < total
    assert not [asked for asked in place.hub.asked if "/api/" in asked.path]  # the plan was kept


@pytest.mark.slow
def test_cancelling_works_while_a_server_is_silent(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=5_000)]
    installation = place.installation()
    threading.Timer(0.5, installation.stop.cancel).start()
    begun = time.monotonic()
    with pytest.raises(DownloadCancelled):
        installation.run()
    assert time.monotonic() - begun < 30


def test_cancelling_works_while_waiting_for_another_attempt(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(503, {"Retry-After": "200"})]
    installation = place.installation()
    threading.Timer(0.3, installation.stop.cancel).start()
    begun = time.monotonic()
    with pytest.raises(DownloadCancelled):
        installation.run()
    assert time.monotonic() - begun < 30


@pytest.mark.slow
def test_a_file_that_changed_since_is_restarted(place: Any) -> None:
    """ModelScope has no fixed revisions, so the same address may return another file later."""
    from studio.catalog.known import SourceKind

    place.model = small_model_without_sums(place)
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    stop_at(place, 100_000, kind=SourceKind.MODEL_SCOPE)
    changed = place.files["llm.pt"][::-1]
    place.hub.repositories[REPOSITORY] = Repository(place.files | {"llm.pt": changed})
    place.installation(SourceKind.MODEL_SCOPE).run()
    assert place.installed_files()["llm.pt"] == changed


def small_model_without_sums(place: Any) -> Any:
    from dataclasses import replace

    return replace(place.model, files=tuple(replace(file, sha256=None) for file in place.model.files))


@pytest.mark.slow
def test_bytes_that_were_not_synced_are_discarded(place: Any) -> None:
    """The file may have grown before its bytes reached the disk, so the rest reads as zeros."""
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    stop_at(place, 100_000)
    part = place.folder / ".incoming" / place.model.name / "llm.pt.part"
    with part.open("ab") as file:
        file.write(bytes(50_000))
    place.installation().run()
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


@pytest.mark.slow
def test_another_hub_resumes_the_download(place: Any) -> None:
    from studio.catalog.known import SourceKind

    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    stop_at(place, 50_000)
    flow = place.hub.served_bytes["flow.pt"]
    place.installation(SourceKind.MODEL_SCOPE).run()
    assert place.hub.served_bytes["flow.pt"] == flow
    assert place.installed_files()["llm.pt"] == place.files["llm.pt"]


@pytest.mark.slow
def test_a_resumed_download_includes_the_planned_variants(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    stop_at(place, 50_000, variants=frozenset({"rl"}))
    (place.folder / ".incoming" / place.model.name / "old.pt.part").write_bytes(b"of an older plan")
    place.installation().run()
    assert place.installed_files() == place.files
    found = {
        path.relative_to(place.model_folder).as_posix() for path in place.model_folder.rglob("*") if path.is_file()
    }
    assert found == {*place.files, "timbre-model.json"}


_HTML = {"Content-Type": "text/html; charset=utf-8"}
_PERMANENT = {
    "file": (Fault(redirect="file:///etc/passwd", at_hub=True), SourceUnreachable),
    "ftp": (Fault(redirect="ftp://example.org/llm.pt", at_hub=True), SourceUnreachable),
    "loop": (Fault(redirect="?again", at_hub=True), SourceUnreachable),
    "unauthorised": (Fault(401, at_hub=True), SourceRefused),
    "forbidden": (Fault(403, at_hub=True), SourceRefused),
    "gone": (Fault(404, at_hub=True), SourceRefused),
    "broken site": (Fault(500, _HTML, at_hub=True, page=b"<html>Oops</html>"), SourceRefused),
}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "error"), _PERMANENT.values(), ids=_PERMANENT)
def test_permanent_failures_are_not_retried(place: Any, fault: Fault, error: type[StudioError]) -> None:
    place.hub.faults["llm.pt"] = 50 * [fault]
    with pytest.raises(error):
        place.installation().run()
    assert not [progress for progress in place.seen if progress.phase is Phase.WAITING]
    assert place.model.name not in installed_models()


_WRONG = {
    "length": Fault(page=b"<html>Please log in</html>"),
    "page": Fault(page=b"<html>Please log in</html>", headers=_HTML),
    "compressed": Fault(page=b"x" * 100, headers={"Content-Encoding": "gzip"}),
    "refused address": Fault(403),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", _WRONG.values(), ids=_WRONG)
def test_a_wrong_response_is_retried_once(place: Any, fault: Fault) -> None:
    place.hub.faults["llm.pt"] = 50 * [fault]
    with pytest.raises((WrongDownload, SourceRefused)):
        place.installation().run()
    waits = [progress.wait_seconds for progress in place.seen if progress.phase is Phase.WAITING]
    assert waits == [pytest.approx(0.01)]


def test_an_absurd_retry_after_is_capped(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(429, {"Retry-After": "999999"})]
    installation = place.installation()

    def stop_waiting(progress: Progress) -> None:
        if progress.phase is Phase.WAITING:
            installation.stop.cancel()

    place.on_progress = stop_waiting
    with pytest.raises(DownloadCancelled):
        installation.run()
    waits = [progress.wait_seconds for progress in place.seen if progress.phase is Phase.WAITING]
    assert waits == [60]
