"""The quotations of a text with what the narration around them shows about their speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import regex

from studio.project.attribution.decoding import Step
from studio.project.attribution.grammar import Cue, Reference, ReferenceKind
from studio.project.attribution.languages import choose_grammar
from studio.project.attribution.quotations import Quotation, find_quotations

_TURN_BETWEEN = regex.compile(r"[\s,，]*(?:(?:又|乃|复)?曰[：:])?\s*")


@dataclass(slots=True)
class Unit:
    """A quotation with the evidence in the text around it."""

    quotation: Quotation
    text: str
    cues: list[Cue] = field(default_factory=list)
    addressed: list[Reference] = field(default_factory=list)
    step: Step = Step.LATER


class Evidence:
    """What a text shows about the speakers of its quotations. Corrections do not change it.

    Attributes:
        present: The people named in the narration of each paragraph.
    """

    def __init__(self, paragraphs: Sequence[str]) -> None:
        self.grammar = choose_grammar(paragraphs)
        self._paragraphs = paragraphs
        self.units = self._find_units()
        self.present = self._find_present()

    @property
    def num_paragraphs(self) -> int:
        return len(self._paragraphs)

    def units_by_paragraph(self) -> dict[int, list[Unit]]:
        found: dict[int, list[Unit]] = {}
        for unit in self.units:
            found.setdefault(unit.quotation.paragraph, []).append(unit)
        return found

    def is_subject(self, named: Reference, paragraph: int) -> bool:
        """Return whether a sentence of ``paragraph`` begins with the name of ``named``."""
        begins = rf"(?:^|[.!?]\s+){regex.escape(named.text)}\b"
        return regex.search(begins, self._paragraphs[paragraph]) is not None

    def _find_units(self) -> list[Unit]:
        units: list[Unit] = []
        quotations = find_quotations(self._paragraphs, self.grammar)
        for number, quotation in enumerate(quotations):
            text = self._paragraphs[quotation.paragraph]
            unit = Unit(quotation, text[quotation.start : quotation.end])
            unit.addressed = list(self.grammar.find_addressed(unit.text.strip("“”‘’\"'「」『』«» „—")))
            former = quotations[number - 1] if number else None
            unit.step = self._step(former, quotation)
            self._find_cues(unit, former, quotations[number + 1] if number + 1 < len(quotations) else None)
            units.append(unit)
        return units

    def _step(self, former: Quotation | None, quotation: Quotation) -> Step:
        if former is None:
            return Step.LATER
        if quotation.continues:
            return Step.CONTINUED
        if former.paragraph == quotation.paragraph:
            gap = self._paragraphs[quotation.paragraph][former.end : quotation.start]
            if _TURN_BETWEEN.fullmatch(gap):
                return Step.NEXT_PARAGRAPH
            cue = self.grammar.cue_before(gap) if gap.rstrip().endswith((":", "：")) else None
            return Step.SAME_PARAGRAPH if cue is None or cue.person.kind is ReferenceKind.PRONOUN else Step.LATER
        distance = sum(
            bool(self._paragraphs[each].strip()) for each in range(former.paragraph + 1, quotation.paragraph + 1)
        )
        return {1: Step.NEXT_PARAGRAPH, 2: Step.AFTER_NARRATION}.get(distance, Step.LATER)

    def _find_cues(self, unit: Unit, former: Quotation | None, following: Quotation | None) -> None:
        quotation = unit.quotation
        text = self._paragraphs[quotation.paragraph]
        is_first = former is None or former.paragraph != quotation.paragraph
        is_last = following is None or following.paragraph != quotation.paragraph
        before = text[0 if is_first or former is None else former.end : quotation.start]
        after = text[quotation.end : len(text) if is_last or following is None else following.start]
        introduces_next = not is_last and after.rstrip().endswith(("：", ":"))
        cue_after = None if introduces_next else self.grammar.cue_after(after)
        if cue_after is not None:
            if not is_last and after.rstrip().endswith((",", "，")):  # the quotation goes on: "Piers nodded, “yes.”"
                cue_after = replace(cue_after, is_speech=True)
            unit.cues.append(cue_after)
        if is_first and not before.strip() and quotation.paragraph and not quotation.continues:
            former_text = self._paragraphs[quotation.paragraph - 1].rstrip()
            if former_text.endswith((":", "：", ",", "，", "--", "—")) and (
                former is None or former.paragraph < quotation.paragraph - 1 or former.end < len(former_text)
            ):
                before = former_text[
                    former.end if former is not None and former.paragraph == quotation.paragraph - 1 else 0 :
                ]
        cue_before = self.grammar.cue_before(before)
        is_tag_of_former = not is_first and not before.rstrip().endswith((":", "：")) and not _has_sentence_end(before)
        if cue_before is not None and not is_tag_of_former:
            unit.cues.append(cue_before)

    def _find_present(self) -> list[list[Reference]]:
        by_paragraph = self.units_by_paragraph()
        present: list[list[Reference]] = []
        for number, text in enumerate(self._paragraphs):
            parts, start = [], 0
            for unit in by_paragraph.get(number, ()):
                parts.append(text[start : unit.quotation.start])
                start = unit.quotation.end
            parts.append(text[start:])
            present.append([person for part in parts if part.strip() for person in self.grammar.find_people(part)])
        return present


def _has_sentence_end(text: str) -> bool:
    return regex.search(r"[.!?。！？…]\s*\S", text.strip()) is not None
