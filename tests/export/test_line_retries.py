"""Lines that are spoken again until a take is good enough."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_checks import FakeChecks

from studio.export.line_checks import LineCheck, LineRetries
from studio.take_checks.policy import CheckPolicy, retry_seed
from studio.take_checks.records import TakeCheck, Verdict

GOOD, DOUBTFUL, BAD = (TakeCheck(verdict) for verdict in (Verdict.GOOD, Verdict.DOUBTFUL, Verdict.BAD))


def spoken(seed: int, speak: Callable[[int], Any], check: Callable[[Any], TakeCheck]) -> tuple[Any, LineCheck]:
    """Return the best take of a line, and its check. Takes may be any objects."""

    class Retries(LineRetries):
        async def check(self, take: Any, targets: Any = ()) -> TakeCheck:
            return check(take)

        def has_learned(self, take: Any) -> bool:
            return True

    async def take(seed: int) -> Any:
        return speak(seed)

    return asyncio.run(Retries(FakeChecks(), CheckPolicy(), Path()).speak(seed, take))  # type: ignore[arg-type]


def test_two_runs_make_the_same_takes() -> None:
    seeds: list[int] = []
    first, second = (spoken(5, lambda seed: seeds.append(seed) or seed, lambda _: BAD) for _ in range(2))
    assert first == second == (5, LineCheck(BAD, 5, num_retries=2))
    assert seeds == 2 * [5, retry_seed(5, 1), retry_seed(5, 2)]


@pytest.mark.slow
def test_at_most_one_of_200_lines_is_wrong_if_one_take_in_ten_is() -> None:
    """Each take is wrong with a probability of one in ten; the check finds 95 % of them, and doubts 5 % of good takes."""
    chance = random.Random(14)

    def check(is_wrong: bool) -> TakeCheck:
        return DOUBTFUL if chance.random() < (0.95 if is_wrong else 0.05) else GOOD

    wrong = []
    for run in range(20):
        lines = [spoken(line, lambda _: chance.random() < 0.1, check) for line in range(200)]
        wrong.append(sum(is_wrong and not line.check.needs_review for is_wrong, line in lines))
        assert sum(line.num_retries for _, line in lines) < 60, run
    assert sum(wrong) / len(wrong) < 2


def test_lines_whose_first_take_is_spoilt_end_well_with_a_reliable_check() -> None:
    for number in range(0, 20, 10):
        is_wrong, line = spoken(number, lambda seed: seed == number, lambda is_wrong: BAD if is_wrong else GOOD)  # noqa: B023
        assert (is_wrong, line.num_retries) == (False, 1)


def test_a_line_in_a_language_that_the_model_has_not_learned_is_spoken_once() -> None:
    class Retries(LineRetries):
        async def check(self, take: Any, targets: Any = ()) -> TakeCheck:
            return BAD

    async def num_takes(model: str, text: str) -> int:
        line = SimpleNamespace(request=SimpleNamespace(text=text))

        async def speak(_: int) -> Any:
            return line

        retries = Retries(FakeChecks(), CheckPolicy(), Path(model))  # type: ignore[arg-type]
        return (await retries.speak(1, speak))[1].num_retries + 1

    chinese = "今天我们聊一聊手冲咖啡。"
    assert asyncio.run(num_takes("studio-mini", chinese)) == 1
    assert asyncio.run(num_takes("studio-mini", "We talk about coffee today.")) == 3
    assert asyncio.run(num_takes("CosyVoice2-0.5B", chinese)) == 3
