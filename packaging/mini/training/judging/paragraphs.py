"""Paragraphs of test sentences, and the order in which a recogniser hears their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_NUM_SENTENCES = range(4, 7)
# Typography of real texts, which must not change what is heard: a template, and replacements in the sentence.
_FORMS: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    "en": (
        ("{}", {}),
        ("“{}”", {}),
        ("— {}", {"fi": "ﬁ", "fl": "ﬂ"}),
        ("‘{}’", {"'": "’"}),
        ("{} …", {" and ": " & "}),
    ),
    "zh": (("{}", {}), ("“{}”", {}), ("——{}", {}), ("「{}」", {}), ("{}……", {"，": ", "})),
}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``sentences`` are the indices of the test sentences in ``text``, without repetition."""

    text: str
    sentences: tuple[int, ...]


def paragraphs(sentences: Sequence[str], language: str, number: int) -> list[Paragraph]:
    """Return ``number`` paragraphs of four to six of the ``sentences``, always the same ones."""
    random = np.random.default_rng(number)
    made = []
    for _ in range(number):
        chosen = random.permutation(len(sentences))[: int(random.integers(_NUM_SENTENCES.start, _NUM_SENTENCES.stop))]
        written = [_written(sentences[index], language, random) for index in chosen.tolist()]
        made.append(Paragraph((" " if language == "en" else "").join(written), tuple(chosen.tolist())))
    return made


def _written(sentence: str, language: str, random: np.random.Generator) -> str:
    form, replacements = _FORMS[language][int(random.integers(len(_FORMS[language])))]
    for old, new in replacements.items():
        sentence = sentence.replace(old, new, 1)
    return form.format(sentence)


def heard_order(heard: Sequence[str], sentences: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return the indices of the ``sentences`` whose concatenation has the least edit distance to ``heard``.

    A sentence may occur several times or never. All are sequences of sounds.
    """
    # costs[s][p] is the distance between the sounds so far and a concatenation that ends with the first p sounds of
    # sentence s, and starts[s][p] is where that sentence starts. ends[j] is the best (cost, sentence, start) after j sounds.
    costs = [np.arange(len(each) + 1, dtype=float) for each in sentences]
    starts = [np.zeros(len(each) + 1, int) for each in sentences]
    ends = [(0.0, -1, 0)]
    for place, sound in enumerate(heard, 1):
        best = (float("inf"), -1, 0)
        for number, sentence in enumerate(sentences):
            costs[number], starts[number] = _next_row(costs[number], starts[number], sentence, sound)
            best = min(best, (float(costs[number][-1]), number, int(starts[number][-1])))
        ends.append(best)
        # A sentence that starts here has lost its first sounds.
        for cost, start in zip(costs, starts, strict=True):
            cost_from_here = best[0] + np.arange(len(cost))
            start[cost_from_here < cost] = place
            np.minimum(cost, cost_from_here, out=cost)
    order = []
    place = len(heard)
    while place > 0:
        _, number, place = ends[place]
        order.append(number)
    return tuple(reversed(order))


def _next_row(
    costs: np.ndarray, starts: np.ndarray, sentence: Sequence[str], sound: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs and starts after one more ``sound``."""
    after, begun = np.empty_like(costs), starts.copy()
    after[0] = np.inf
    for place, own in enumerate(sentence, 1):
        choices = (
            (costs[place - 1] + (own != sound), starts[place - 1]),
            (costs[place] + 1, starts[place]),
            (after[place - 1] + 1, begun[place - 1]),
        )
        after[place], begun[place] = min(choices)
    return after, begun
