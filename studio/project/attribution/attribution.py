"""Speakers of all quotations of a book, with confidence and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.project.attribution.decoding import Place, Step, decode
from studio.project.attribution.evidence import Evidence, Unit
from studio.project.attribution.grammar import Cue, Gender, Reference, ReferenceKind
from studio.project.attribution.people import People, Person
from studio.project.attribution.quotations import Quotation

# A quotation with a lower confidence should be checked by the user.
CONFIDENCE_LIMIT = 0.75
_MAX_CANDIDATES = 6
_REACH = 8  # quotations before and after, and paragraphs before, whose people may speak
_SPEECH, _BEAT = 7.0, 2.5
_UNKNOWN = -3.0  # score of a speaker who is not named nearby
_CORRECTED = 60.0
_ADDRESSED, _ANSWERS, _IS_MENTIONED = -4.0, 1.2, -0.7
_NEVER_SPEAKS = -1.2


@dataclass(frozen=True, slots=True)
class AttributedQuotation:
    """A quotation with its speaker.

    Attributes:
        text: The quotation with its marks.
        speaker: The name of the character, or None if it is unknown.
        confidence: The probability of the speaker, from 0 to 1.
        reason: The words of the text that show the speaker, or a kind of inference.
        other: The position of the quotation that the inference refers to.
        is_corrected: Whether the user assigned the speaker.
    """

    place: Quotation
    text: str
    speaker: str | None
    confidence: float
    reason: str
    other: int | None = None
    is_corrected: bool = False

    @property
    def is_doubtful(self) -> bool:
        return not self.is_corrected and (self.speaker is None or self.confidence < CONFIDENCE_LIMIT)


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


def attribute(evidence: Evidence, corrections: Mapping[int, str | None] | None = None) -> Attribution:
    """Return the quotations of a text with their speakers.

    ``corrections`` maps positions of quotations to the names of their speakers, or to None if the narrator reads them.
    Other quotations learn from them: a corrected name, such as "the stranger", belongs to this character in the whole
    text.
    """
    return _Speakers(evidence, corrections or {}).attribution()


class _Speakers:
    def __init__(self, evidence: Evidence, corrections: Mapping[int, str | None]) -> None:
        self._evidence = evidence
        self._corrections = corrections
        self._named = {number: name for number, name in corrections.items() if name is not None}
        self._people = People(evidence.grammar, frozenset(self._named.values()), self._aliases())
        self._collect_people()
        self._vote_for_genders()

    def _aliases(self) -> dict[str, str]:
        """Return which names belong to the characters of corrections.

        The name of one character is not an alias of another one who is named elsewhere: only the cue was wrong.
        """
        known = {reference.text for references in self._evidence.present for reference in references}
        known |= {cue.person.text for unit in self._evidence.units for cue in unit.cues}
        return {
            cue.person.text: name
            for number, name in self._named.items()
            for cue in self._evidence.units[number].cues
            if cue.is_speech
            and (
                cue.person.kind in (ReferenceKind.ROLE, ReferenceKind.GENERIC)
                or (cue.person.kind is ReferenceKind.NAME and name not in known)
            )
        }

    def _collect_people(self) -> None:
        for references in self._evidence.present:
            for reference in references:
                self._people.add(reference)
        for unit in self._evidence.units:
            for cue in unit.cues:
                self._people.add(cue.person, is_cue=cue.is_speech)
        addressed = Counter(reference.text for unit in self._evidence.units for reference in unit.addressed)
        for unit in self._evidence.units:
            for reference in unit.addressed:
                if (
                    self._evidence.grammar.names_are_marked
                    or reference.kind is ReferenceKind.ROLE
                    or addressed[reference.text] > 1
                ):
                    self._people.add(reference)
        for name in self._named.values():
            self._people.add(
                Reference(name, ReferenceKind.NAME, self._evidence.grammar.gender_of_name(name)), is_cue=True
            )
        self._people.merge()

    def _vote_for_genders(self) -> None:
        """Infer the genders of people from pronouns in the same paragraph."""
        votes: dict[Person, Counter[Gender]] = {}
        for paragraph, units in self._evidence.units_by_paragraph().items():
            cues = [cue.person for unit in units for cue in unit.cues]
            people = {person for reference in cues if (person := self._people.find(reference)) is not None}
            people |= {
                person for each in self._evidence.present[paragraph] if (person := self._people.find(each)) is not None
            }
            genders = {reference.gender for reference in cues if reference.kind is ReferenceKind.PRONOUN}
            if len(people) == 1 and len(genders) == 1 and (gender := genders.pop()) is not None:
                votes.setdefault(people.pop(), Counter())[gender] += 1
        for person, counter in votes.items():
            if person.gender is None and person.kind is not ReferenceKind.PRONOUN:
                person.gender = counter.most_common(1)[0][0]
        for number, name in self._named.items():
            genders = {cue.person.gender for cue in self._evidence.units[number].cues} - {None}
            if self._people.named(name).gender is None and len(genders) == 1:
                self._people.named(name).gender = genders.pop()

    # Scores

    def _candidates(self, number: int) -> list[Person]:
        """Return the people who may speak, those named nearest to the quotation first."""
        distance: dict[Person, float] = {}

        def note(reference: Reference, away: float) -> None:
            person = self._people.find(reference)
            if person is not None:
                distance[person] = min(away, distance.get(person, away))

        paragraph = self._evidence.units[number].quotation.paragraph
        for other in range(max(0, number - _REACH), min(len(self._evidence.units), number + _REACH + 1)):
            unit, away = self._evidence.units[other], abs(other - number)
            if abs(unit.quotation.paragraph - paragraph) > 2 * _REACH:
                continue
            for cue in unit.cues:
                note(cue.person, away)
            for reference in unit.addressed:
                note(reference, away + 1.5)
        for other in range(max(0, paragraph - _REACH), min(self._evidence.num_paragraphs, paragraph + 3)):
            for reference in self._evidence.present[other]:
                note(reference, abs(other - paragraph) + 1)
        if number in self._named:
            distance[self._people.named(self._named[number])] = -1.0
        return sorted(distance, key=lambda person: distance[person])[:_MAX_CANDIDATES]

    def _scores(self, number: int) -> dict[Person | None, float]:
        unit = self._evidence.units[number]
        scores: dict[Person | None, float] = dict.fromkeys(self._candidates(number), 0.0)
        for person in scores:
            assert person is not None
            if not person.num_cues:
                scores[person] += _NEVER_SPEAKS
        scores[None] = _UNKNOWN
        if number in self._corrections:
            scores[self._people.named(self._named[number]) if number in self._named else None] += _CORRECTED
        for cue in unit.cues:
            self._add_cue(scores, cue, unit)
        for reference in unit.addressed:
            if (person := self._people.find(reference)) in scores and person is not None:
                scores[person] += _ADDRESSED
        if number + 1 < len(self._evidence.units) and self._evidence.units[number + 1].step is Step.NEXT_PARAGRAPH:
            for reference in self._evidence.units[number + 1].addressed:
                if (person := self._people.find(reference)) in scores and person is not None:
                    scores[person] += _ANSWERS
        if number and unit.step in (Step.NEXT_PARAGRAPH, Step.AFTER_NARRATION):
            for reference in self._evidence.units[number - 1].addressed:
                if (person := self._people.find(reference)) in scores and person is not None:
                    scores[person] += _ANSWERS
        return scores

    def _add_cue(self, scores: dict[Person | None, float], cue: Cue, unit: Unit) -> None:
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
        self, scores: dict[Person | None, float], reference: Reference, unit: Unit, weight: float
    ) -> None:
        """Favour the person named last before a pronoun."""
        paragraph = unit.quotation.paragraph
        for other in (paragraph, paragraph - 1):
            if other < 0:
                continue
            for named in reversed(self._evidence.present[other]):
                person = self._people.find(named)
                if person in scores and person is not None and person.gender in (None, reference.gender):
                    scores[person] += 0.15 * weight
                    if person.gender is None and self._evidence.is_subject(named, other):
                        scores[person] += 0.2 * weight - (0.0 if person.num_cues else _NEVER_SPEAKS)
                    return

    # Results

    def attribution(self) -> Attribution:
        places = [Place(self._scores(number), unit.step) for number, unit in enumerate(self._evidence.units)]
        speakers: list[Person | None] = []
        quotations: list[AttributedQuotation] = []
        for number, probabilities in enumerate(decode(places)):
            speaker = max(probabilities, key=lambda person: probabilities[person])
            speakers.append(speaker)
            reason, other = self._reason(number, speakers)
            unit = self._evidence.units[number]
            quotations.append(
                AttributedQuotation(
                    unit.quotation,
                    unit.text.strip(),
                    None if speaker is None else speaker.name,
                    round(probabilities[speaker], 3),
                    reason,
                    other,
                    number in self._corrections,
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
        unit, speaker = self._evidence.units[number], speakers[-1]
        if number in self._corrections:
            return "corrected", None
        if unit.step is Step.CONTINUED:
            return "continues line {line}", number - 1
        cue = self._cue_of(unit, speaker)
        return (cue.reason, None) if cue is not None else self._inference(number, speakers)

    def _cue_of(self, unit: Unit, speaker: Person | None) -> Cue | None:
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
        if self._evidence.units[number].step is Step.SAME_PARAGRAPH and speakers[-2] is speaker:
            return "same paragraph as line {line}", number - 1
        former = next((back for back in range(number - 2, max(-1, number - 4), -1) if speakers[back] is speaker), None)
        if former is not None:
            return "alternates with line {line}", former
        if number and any(self._people.find(each) is speaker for each in self._evidence.units[number - 1].addressed):
            return "addressed in line {line}", number - 1
        return "named nearby", None
