"""The choice of an engine and the reasons against the others, from states alone."""

from __future__ import annotations

from studio.engines.ladder import choose, determine_status, resource_shortage, why_not
from studio.engines.manifest import FailureKind, FailureRecord
from studio.engines.overview import CandidateView, StageView, Status
from studio.engines.stage import Stage
from studio.messages import Message, message
from studio.model.measurements import Timing, Verification

SOUND = Verification(True, 1e-5, 1e-3, 10)


def view(name: str, factor: float = 0.0, status: Status = Status.VERIFIED, *, reason: str = "") -> CandidateView:
    return CandidateView(
        stage=Stage.FLOW,
        name=name,
        engine="E",
        precision="float32",
        key=name,
        status=status,
        is_reference=name == "plain",
        reason=Message(reason) if reason else None,
        verification=SOUND,
        timing=Timing(1.0 / factor, 1.0, 0.1, 3) if factor else None,
    )


def test_highest_speedup_over_float32_is_chosen() -> None:
    views = [view("plain", 1.0), view("a", 2.0), view("b", 3.0), view("c", 9.0, Status.REJECTED)]
    assert choose(views).name == "b"
    assert choose(views, excluded=frozenset({"b"})).name == "a"


def test_gain_within_the_measurement_error_is_ignored() -> None:
    plain, nearly = view("plain", 1.0), view("a", 1.03)
    assert choose([plain, nearly]).name == "plain"
    assert str(why_not(nearly, plain)) == "it is not faster than float32 (1.03×)"


def test_reference_is_chosen_without_trials() -> None:
    assert choose([view("plain", status=Status.UNTRIED), view("a", status=Status.TRYING)]).name == "plain"


def test_every_other_candidate_has_a_reason() -> None:
    choice = view("b", 3.0)
    assert str(why_not(choice, choice)) == "it is in use"
    slower = str(why_not(view("a", 2.0), choice))
    assert slower == "it is slower: 2.00× as fast as float32, the engine in use 3.00×"
    assert str(why_not(view("plain", 1.0), choice)) == "it is slower: the engine in use is 3.00× as fast"
    assert str(why_not(view("c", status=Status.REJECTED, reason="it is noise"), choice)) == "it is noise"
    assert str(why_not(view("d", 4.0), choice)) == "it could not be opened"
    unmeasured = view("e", status=Status.UNTRIED)
    assert str(why_not(view("b", 3.0), unmeasured)) == "the engine in use has not been measured yet"


def test_only_a_verified_candidate_replaces_the_loaded_one() -> None:
    plain, fast, other = view("plain", 1.0), view("a", 2.0), view("b", status=Status.UNTRIED)
    assert StageView(Stage.FLOW, "a", (plain, fast, other), in_use="plain").switches_at_next_line
    assert not StageView(Stage.FLOW, "a", (plain, fast, other), in_use="a").switches_at_next_line
    assert not StageView(Stage.FLOW, "a", (plain, fast, other)).switches_at_next_line
    untried = view("plain", status=Status.UNTRIED)
    stage = StageView(Stage.FLOW, "plain", (untried, other), in_use="b")
    assert not stage.switches_at_next_line
    assert stage.current is other


def status(**facts: object) -> tuple[Status, str]:
    given: dict[str, object] = dict.fromkeys(("unusable", "missing_resources", "manifest", "attempts", "failed_now"))
    found, reason = determine_status(**{**given, "is_being_built": False, **facts})  # type: ignore[arg-type]
    return found, str(reason)


def test_status_of_a_candidate() -> None:
    assert status()[0] is Status.UNTRIED
    assert status(unusable=message("it is absent")) == (Status.UNUSABLE, "it is absent")
    assert status(missing_resources=message("no room")) == (Status.INSUFFICIENT_RESOURCES, "no room")
    assert status(is_being_built=True)[0] is Status.BUSY
    once = FailureRecord(1, FailureKind.CRASHED, message("it crashed"))
    assert status(attempts=once) == (Status.FAILED, "it crashed")
    assert status(attempts=once, failed_now=message("it crashed")) == (
        Status.BACKED_OFF,
        "it crashed; it is tried again at the next start",
    )
    assert status(attempts=FailureRecord(2, FailureKind.CRASHED, message("it crashed"))) == (
        Status.BACKED_OFF,
        "it failed 2 times and is not tried again automatically; last failure: it crashed",
    )
    assert status(attempts=FailureRecord(0, FailureKind.UNDERWAY, message("")))[0] is Status.UNTRIED


def test_resource_shortage() -> None:
    assert resource_shortage(2**30, 2**30) is None
    assert str(resource_shortage(3 * 2**30, 2**30)) == "it needs 3.0 GB of memory, and 1.0 GB are available"
    assert (
        str(resource_shortage(3 * 2**30, 2**30, is_disk=True)) == "it needs 3.0 GB of disk space, and 1.0 GB are free"
    )
