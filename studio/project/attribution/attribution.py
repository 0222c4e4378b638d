"""Speakers of all quotations of a book, with confidence and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import regex

from studio.project.attribution.decoding import Place, Step, decode
from studio.project.attribution.grammar import Cue, Gender, Grammar, Reference, ReferenceKind
from studio.project.attribution.languages import choose_grammar
from studio.project.attribution.people import People, Person
from studio.project.attribution.quotations import Quotation, find_quotations

# A quotation with a lower confidence should be checked by the user.
CONFIDENCE_LIMIT = 0.9
_MAX_CANDIDATES = 6
_REACH = 8  # quotations before and after, and paragraphs before, whose people may speak
_SPEECH, _BEAT = 7.0, 2.5
_UNKNOWN = -3.0  # score of a speaker who is not named nearby
_CORRECTED = 60.0
_ADDRESSED, _ANSWERS, _IS_MENTIONED = -4.0, 1.2, -0.7
_NEVER_SPEAKS = -1.2
_TURN_BETWEEN = regex.compile(r"[\s,，]*(?:(?:又|乃|复)?曰[：:])?\s*")


@dataclass(frozen=True, slots=True)
class AttributedQuotation:
    """A quotation with its speaker.

    Attributes:
        text: The quotation with its marks.
        speaker: The name of the character, or None if it is unknown.
        confidence: The probability of the speaker, from 0 to 1.
        reason: The words of the text that show the speaker, or a kind of inference.
        other: The position of the quotation that the inference refers to.
    """

    place: Quotation
    text: str
    speaker: str | None
    confidence: float
    reason: str
    other: int | None = None

    @property
    def is_doubtful(self) -> bool:
        return self.speaker is None or self.confidence < CONFIDENCE_LIMIT


@dataclass(frozen=True, slots=True)
class Character:
    """A character who speaks, with all names that were recognised, and the number of quotations."""

    name: str
    aliases: tuple[str, ...]
    num_quotations: int
    gender: Gender | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """The quotations of a book in reading order, and its characters, those with the most quotations first."""

    characters: tuple[Character, ...]
    quotations: tuple[AttributedQuotation, ...]


def attribute(paragraphs: Sequence[str], corrections: Mapping[int, str] | None = None) -> Attribution:
    """Return the quotations of ``paragraphs`` with their speakers.

    ``corrections`` maps positions of quotations to the names of their speakers. Other quotations learn from them: a
    corrected name, such as "the stranger", belongs to this character in the whole book.
    """
    return _Book(paragraphs, choose_grammar(paragraphs), corrections or {}).attribution()


@dataclass(slots=True)
class _Unit:
    """A quotation with the evidence in the text around it."""

    quotation: Quotation
    text: str
    cues: list[Cue] = field(default_factory=list)
    addressed: list[Reference] = field(default_factory=list)
    step: Step = Step.LATER


class _Book:
    def __init__(self, paragraphs: Sequence[str], grammar: Grammar, corrections: Mapping[int, str]) -> None:
        self._paragraphs = paragraphs
        self._grammar = grammar
        self._corrections = corrections
        self._units = self._find_units()
        self._present = self._find_present()  # people named in the narration of each paragraph
        aliases = {
            cue.person.text: name
            for number, name in corrections.items()
            for cue in self._units[number].cues
            if cue.is_speech and cue.person.kind not in (ReferenceKind.PRONOUN, ReferenceKind.NOBODY)
        }
        self._people = People(grammar, frozenset(corrections.values()), aliases)
        self._collect_people()
        self._vote_for_genders()

    # Evidence

    def _find_units(self) -> list[_Unit]:
        units: list[_Unit] = []
        quotations = find_quotations(self._paragraphs, self._grammar)
        for number, quotation in enumerate(quotations):
            text = self._paragraphs[quotation.paragraph]
            unit = _Unit(quotation, text[quotation.start : quotation.end])
            unit.addressed = list(self._grammar.find_addressed(unit.text.strip("“”‘’\"'「」『』«» „—")))
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
            cue = self._grammar.cue_before(gap) if gap.rstrip().endswith((":", "：")) else None
            return Step.SAME_PARAGRAPH if cue is None or cue.person.kind is ReferenceKind.PRONOUN else Step.LATER
        distance = sum(
            bool(self._paragraphs[each].strip()) for each in range(former.paragraph + 1, quotation.paragraph + 1)
        )
        return {1: Step.NEXT_PARAGRAPH, 2: Step.AFTER_NARRATION}.get(distance, Step.LATER)

    def _find_cues(self, unit: _Unit, former: Quotation | None, following: Quotation | None) -> None:
        quotation = unit.quotation
        text = self._paragraphs[quotation.paragraph]
        is_first = former is None or former.paragraph != quotation.paragraph
        is_last = following is None or following.paragraph != quotation.paragraph
        before = text[0 if is_first or former is None else former.end : quotation.start]
        after = text[quotation.end : len(text) if is_last or following is None else following.start]
        introduces_next = not is_last and after.rstrip().endswith(("：", ":"))
        cue_after = None if introduces_next else self._grammar.cue_after(after)
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
        cue_before = self._grammar.cue_before(before)
        is_tag_of_former = not is_first and not before.rstrip().endswith((":", "：")) and not _has_sentence_end(before)
        if cue_before is not None and not is_tag_of_former:
            unit.cues.append(cue_before)

    def _find_present(self) -> list[list[Reference]]:
        by_paragraph: dict[int, list[Quotation]] = {}
        for unit in self._units:
            by_paragraph.setdefault(unit.quotation.paragraph, []).append(unit.quotation)
        present: list[list[Reference]] = []
        for number, text in enumerate(self._paragraphs):
            parts, start = [], 0
            for quotation in by_paragraph.get(number, ()):
                parts.append(text[start : quotation.start])
                start = quotation.end
            parts.append(text[start:])
            present.append([person for part in parts if part.strip() for person in self._grammar.find_people(part)])
        return present

    def _collect_people(self) -> None:
        for references in self._present:
            for reference in references:
                self._people.add(reference)
        for unit in self._units:
            for cue in unit.cues:
                self._people.add(cue.person, is_cue=cue.is_speech)
        addressed = Counter(reference.text for unit in self._units for reference in unit.addressed)
        for unit in self._units:
            for reference in unit.addressed:
                if (
                    self._grammar.names_are_marked
                    or reference.kind is ReferenceKind.ROLE
                    or addressed[reference.text] > 1
                ):
                    self._people.add(reference)
        for name in self._corrections.values():
            self._people.add(Reference(name, ReferenceKind.NAME, self._grammar.gender_of_name(name)), is_cue=True)
        self._people.merge()

    def _vote_for_genders(self) -> None:
        """Infer the genders of people from pronouns in the same paragraph."""
        votes: dict[Person, Counter[Gender]] = {}
        for paragraph, units in self._units_by_paragraph().items():
            cues = [cue.person for unit in units for cue in unit.cues]
            people = {person for reference in cues if (person := self._people.find(reference)) is not None}
            people |= {person for each in self._present[paragraph] if (person := self._people.find(each)) is not None}
            genders = {reference.gender for reference in cues if reference.kind is ReferenceKind.PRONOUN}
            if len(people) == 1 and len(genders) == 1 and (gender := genders.pop()) is not None:
                votes.setdefault(people.pop(), Counter())[gender] += 1
        for person, counter in votes.items():
            if person.gender is None and person.kind is not ReferenceKind.PRONOUN:
                person.gender = counter.most_common(1)[0][0]
        for number, name in self._corrections.items():
            genders = {cue.person.gender for cue in self._units[number].cues} - {None}
            if self._people.named(name).gender is None and len(genders) == 1:
                self._people.named(name).gender = genders.pop()

    def _units_by_paragraph(self) -> dict[int, list[_Unit]]:
        found: dict[int, list[_Unit]] = {}
        for unit in self._units:
            found.setdefault(unit.quotation.paragraph, []).append(unit)
        return found

    # Scores

    def _candidates(self, number: int) -> list[Person]:
        """Return the people who may speak, those named nearest to the quotation first."""
        distance: dict[Person, float] = {}

        def note(reference: Reference, away: float) -> None:
            person = self._people.find(reference)
            if person is not None:
                distance[person] = min(away, distance.get(person, away))

        paragraph = self._units[number].quotation.paragraph
        for other in range(max(0, number - _REACH), min(len(self._units), number + _REACH + 1)):
            unit, away = self._units[other], abs(other - number)
            if abs(unit.quotation.paragraph - paragraph) > 2 * _REACH:
                continue
            for cue in unit.cues:
                note(cue.person, away)
            for reference in unit.addressed:
                note(reference, away + 1.5)
        for other in range(max(0, paragraph - _REACH), min(len(self._paragraphs), paragraph + 3)):
            for reference in self._present[other]:
                note(reference, abs(other - paragraph) + 1)
        if number in self._corrections:
            distance[self._people.named(self._corrections[number])] = -1.0
        return sorted(distance, key=lambda person: distance[person])[:_MAX_CANDIDATES]

    def _scores(self, number: int) -> dict[Person | None, float]:
        unit = self._units[number]
        scores: dict[Person | None, float] = dict.fromkeys(self._candidates(number), 0.0)
        for person in scores:
            assert person is not None
            if not person.num_cues:
                scores[person] += _NEVER_SPEAKS
        scores[None] = _UNKNOWN
        if number in self._corrections:
            scores[self._people.named(self._corrections[number])] += _CORRECTED
        for cue in unit.cues:
            self._add_cue(scores, cue, unit)
        for reference in unit.addressed:
            if (person := self._people.find(reference)) in scores and person is not None:
                scores[person] += _ADDRESSED
        if number + 1 < len(self._units) and self._units[number + 1].step is Step.NEXT_PARAGRAPH:
            for reference in self._units[number + 1].addressed:
                if (person := self._people.find(reference)) in scores and person is not None:
                    scores[person] += _ANSWERS
        if number and unit.step in (Step.NEXT_PARAGRAPH, Step.AFTER_NARRATION):
            for reference in self._units[number - 1].addressed:
                if (person := self._people.find(reference)) in scores and person is not None:
                    scores[person] += _ANSWERS
        return scores

    def _add_cue(self, scores: dict[Person | None, float], cue: Cue, unit: _Unit) -> None:
        weight = _SPEECH if cue.is_speech else _BEAT
        reference = cue.person
        own = self._people.find(reference)
        if reference.kind is ReferenceKind.NOBODY:
            scores[None] += weight
            return
        if reference.kind in (ReferenceKind.NAME, ReferenceKind.ROLE) or (
            own is not None and own.kind is ReferenceKind.PRONOUN
        ):
            if own in scores:
                scores[own] += weight
            return
        for person in scores:
            if person is None or person.kind is ReferenceKind.PRONOUN:
                continue
            if person is own:
                scores[person] += weight * 0.6
            elif person.gender is None:
                scores[person] += weight * 0.4
            elif person.gender is reference.gender:
                scores[person] += weight * 0.6
            elif reference.gender is not None:
                scores[person] -= weight * 0.6
        if own is None:
            self._add_antecedent(scores, reference, unit, weight)

    def _add_antecedent(
        self, scores: dict[Person | None, float], reference: Reference, unit: _Unit, weight: float
    ) -> None:
        """Favour the person named last before a pronoun."""
        paragraph = unit.quotation.paragraph
        for other in (paragraph, paragraph - 1):
            if other < 0:
                continue
            for named in reversed(self._present[other]):
                person = self._people.find(named)
                if person in scores and person is not None and person.gender in (None, reference.gender):
                    scores[person] += 0.15 * weight
                    return

    # Results

    def attribution(self) -> Attribution:
        places = [Place(self._scores(number), unit.step) for number, unit in enumerate(self._units)]
        speakers: list[Person | None] = []
        quotations: list[AttributedQuotation] = []
        for number, probabilities in enumerate(decode(places)):
            speaker = max(probabilities, key=lambda person: probabilities[person])
            speakers.append(speaker)
            reason, other = self._reason(number, speakers)
            unit = self._units[number]
            quotations.append(
                AttributedQuotation(
                    unit.quotation,
                    unit.text.strip(),
                    None if speaker is None else speaker.name,
                    round(probabilities[speaker], 3),
                    reason,
                    other,
                )
            )
        counts = Counter(speaker for speaker in speakers if speaker is not None)
        characters = tuple(
            Character(
                person.name,
                tuple(name for name, _ in person.names.most_common() if name != person.name),
                count,
                person.gender,
            )
            for person, count in counts.most_common()
        )
        return Attribution(characters, tuple(quotations))

    def _reason(self, number: int, speakers: Sequence[Person | None]) -> tuple[str, int | None]:
        """Return why the last of ``speakers`` says quotation ``number``, and the quotation that the reason refers to."""
        unit, speaker = self._units[number], speakers[-1]
        if number in self._corrections:
            return "corrected", None
        if unit.step is Step.CONTINUED:
            return "continues line {line}", number - 1
        cue = self._cue_of(unit, speaker)
        return (cue.reason, None) if cue is not None else self._inference(number, speakers)

    def _cue_of(self, unit: _Unit, speaker: Person | None) -> Cue | None:
        """Return the cue that shows the speaker: by name, or else by a pronoun."""
        if speaker is None:
            return next((cue for cue in unit.cues if cue.person.kind is ReferenceKind.NOBODY), None)
        cues = sorted(unit.cues, key=lambda cue: not cue.is_speech)
        named = next((cue for cue in cues if self._people.find(cue.person) is speaker), None)
        return named or next((cue for cue in cues if cue.is_speech or cue.person.gender is speaker.gender), None)

    def _inference(self, number: int, speakers: Sequence[Person | None]) -> tuple[str, int | None]:
        speaker = speakers[-1]
        if speaker is None:
            return "no cue", None
        if self._units[number].step is Step.SAME_PARAGRAPH and speakers[-2] is speaker:
            return "same paragraph as line {line}", number - 1
        former = next((back for back in range(number - 2, max(-1, number - 4), -1) if speakers[back] is speaker), None)
        if former is not None:
            return "alternates with line {line}", former
        if number and any(self._people.find(each) is speaker for each in self._units[number - 1].addressed):
            return "addressed in line {line}", number - 1
        return "named nearby", None


def _has_sentence_end(text: str) -> bool:
    return regex.search(r"[.!?。！？…]\s*\S", text.strip()) is not None
