"""Choice and words, without a machine."""

from __future__ import annotations

from studio.engines.ladder import choose, no_room_for, standing_of, why_not
from studio.engines.manifest import Attempts, Timing, Trouble, Verification
from studio.engines.overview import CandidateView, StageView, Standing
from studio.engines.stage import Stage
from studio.wording import Wording, wording

SOUND = Verification(True, 1e-5, 1e-3, 10)


def view(name: str, factor: float = 0.0, standing: Standing = Standing.PROVEN, *, reason: str = "") -> CandidateView:
    return CandidateView(
        stage=Stage.FLOW,
        name=name,
        engine="E",
        precision="float32",
        key=name,
        standing=standing,
        is_reference=name == "plain",
        reason=Wording(reason) if reason else None,
        verification=SOUND,
        timing=Timing(1.0 / factor, 1.0, 0.1, 3) if factor else None,
    )


def test_the_fastest_proven_one_is_chosen_by_its_gain_over_plain_in_the_same_turns() -> None:
    views = [view("plain", 1.0), view("a", 2.0), view("b", 3.0), view("c", 9.0, Standing.REFUSED)]
    assert choose(views).name == "b"
    assert choose(views, unfit=frozenset({"b"})).name == "a"


def test_a_gain_within_the_error_of_measuring_is_no_reason_to_change() -> None:
    plain, nearly = view("plain", 1.0), view("a", 1.03)
    assert choose([plain, nearly]).name == "plain"
    assert str(why_not(nearly, plain)) == "it is no faster than plain float32 (1.03 times)"


def test_plain_speaks_while_nothing_is_known() -> None:
    assert choose([view("plain", standing=Standing.UNTRIED), view("a", standing=Standing.TRYING)]).name == "plain"


def test_every_other_candidate_has_a_reason() -> None:
    choice = view("b", 3.0)
    assert str(why_not(choice, choice)) == "it is in use"
    slower = str(why_not(view("a", 2.0), choice))
    assert slower == "it is slower: 2.00 times as fast as plain float32, and what is in use 3.00 times"
    assert str(why_not(view("plain", 1.0), choice)) == "it is slower: what is in use is 3.00 times as fast"
    assert str(why_not(view("c", standing=Standing.REFUSED, reason="it is noise"), choice)) == "it is noise"
    assert str(why_not(view("d", 4.0), choice)) == "it could not be opened"
    unmeasured = view("e", standing=Standing.UNTRIED)
    assert str(why_not(view("b", 3.0), unmeasured)) == "what is in use has not been measured yet"


def test_only_what_is_proven_takes_over() -> None:
    plain, fast, other = view("plain", 1.0), view("a", 2.0), view("b", standing=Standing.UNTRIED)
    assert StageView(Stage.FLOW, "a", (plain, fast, other), in_use="plain").takes_over
    assert not StageView(Stage.FLOW, "a", (plain, fast, other), in_use="a").takes_over
    assert not StageView(Stage.FLOW, "a", (plain, fast, other)).takes_over
    untried = view("plain", standing=Standing.UNTRIED)
    stage = StageView(Stage.FLOW, "plain", (untried, other), in_use="b")
    assert not stage.takes_over
    assert stage.speaking is other


def standing(**facts: object) -> tuple[Standing, str]:
    given: dict[str, object] = dict.fromkeys(("unusable", "no_room", "manifest", "attempts", "has_failed_now"))
    found, reason = standing_of(**{**given, "is_being_built": False, **facts})  # type: ignore[arg-type]
    return found, str(reason)


def test_where_a_candidate_stands() -> None:
    assert standing()[0] is Standing.UNTRIED
    assert standing(unusable=wording("it is absent")) == (Standing.UNUSABLE, "it is absent")
    assert standing(no_room=wording("no room")) == (Standing.NO_ROOM, "no room")
    assert standing(is_being_built=True)[0] is Standing.ELSEWHERE
    once = Attempts(1, Trouble.CRASHED, wording("it crashed"))
    assert standing(attempts=once) == (Standing.FAILED, "it crashed")
    assert standing(attempts=once, has_failed_now=wording("it crashed")) == (
        Standing.RESTING,
        "it crashed; it is tried again at the next start",
    )
    assert standing(attempts=Attempts(2, Trouble.CRASHED, wording("it crashed"))) == (
        Standing.RESTING,
        "it failed 2 times and rests until you ask for it; the last time: it crashed",
    )
    assert standing(attempts=Attempts(0, Trouble.UNDERWAY, wording("")))[0] is Standing.UNTRIED


def test_room_is_what_is_free_now() -> None:
    assert no_room_for(2**30, 2**30) is None
    assert str(no_room_for(3 * 2**30, 2**30)) == "it needs 3.0 GB of memory, and 1.0 GB may be used now"
    assert str(no_room_for(3 * 2**30, 2**30, is_disk=True)) == "it needs 3.0 GB of disk, and 1.0 GB are free"
