"""Conversion of project lines to export items, with or without a usable take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from studio.audio.edits import AudioEdits
from studio.audio.waveform import Waveform
from studio.errors import TakeNotFound
from studio.export.book import lines_with_chapters
from studio.export.line_checks import LineCheck
from studio.export.speech_source import ExportItem, ScriptChapter, SpeechSource
from studio.export.target_folder import Origin
from studio.pipeline.request import Mode, SynthesisRequest, VoiceReference
from studio.project.lines import Line, LineState
from studio.project.project import Project
from studio.project.takes import Take, edits_of
from studio.provenance.statement import UNCHANGED, SpokenLine, hash_tokens, spoken_line
from studio.take_checks.records import TakeCheck, WordTime


@dataclass(frozen=True, slots=True)
class ProjectLines:
    """Lines to export, in script order, and the takes and edits of lines by key."""

    items: tuple[ExportItem, ...]
    take_of_key: dict[str, Take] = field(repr=False)
    edits_of_key: dict[str, AudioEdits] = field(repr=False, default_factory=dict)

    def with_checks(self, checks: Mapping[str, TakeCheck]) -> ProjectLines:
        """Return the lines with ``checks`` of takes, by the ids of the takes. The project does not change."""
        take_of_key = {
            key: replace(take, check=checks.get(take.id, take.check)) for key, take in self.take_of_key.items()
        }
        items = [
            replace(item, words=_word_times(item.text, take_of_key[item.key], self.edits_of_key[item.key]))
            if item.key in take_of_key
            else item
            for item in self.items
        ]
        return ProjectLines(tuple(items), take_of_key, self.edits_of_key)


def origin_of_project(project: Project, *, part: str = "") -> Origin:
    """Return the origin of exports of ``project``. It matches exports from before the project was saved."""
    draft = f"draft:{project.draft_path.stem}"
    return Origin((draft,) if project.path is None else (*origin_of_file(project.path).scripts, draft), part)


def origin_of_file(path: Path, *, part: str = "") -> Origin:
    return Origin((f"file:{os.path.normcase(path.resolve())}",), part)


def fresh_take(project: Project, line_id: str) -> Take | None:
    """Return the chosen take if an export can use it: it is complete, and up to date unless the line is locked."""
    take = project.chosen_take(line_id)
    is_wanted = project.line(line_id).is_locked or project.state_of(line_id) in (LineState.READY, LineState.CHECK)
    return take if take is not None and take.is_complete and is_wanted else None


def lines_of_project(project: Project, line_ids: Iterable[str]) -> ProjectLines:
    """Return the lines in ``line_ids`` that contain text and have a usable take."""
    wanted = set(line_ids)
    items: list[ExportItem] = []
    take_of_key: dict[str, Take] = {}
    edits_of_key: dict[str, AudioEdits] = {}
    for index, (line, chapter) in enumerate(lines_with_chapters(project.lines), 1):
        if line.id not in wanted or not line.text.strip() or not line.is_spoken:
            continue
        take = fresh_take(project, line.id)
        if take is not None:
            edits = edits_of(take, line)
            key = key_of_take(take, edits)
            take_of_key[key], edits_of_key[key] = take, edits
            item = item_of_line(line, index, key, take, chapter=chapter)
            items.append(replace(item, words=_word_times(line.text, take, edits)))
    return ProjectLines(tuple(items), take_of_key, edits_of_key)


def key_of_take(take: Take, edits: AudioEdits) -> str:
    return f"take:{take.id}" if edits == AudioEdits() else f"take:{take.id}:{astuple(edits)}"


def item_of_line(
    line: Line, index: int, key: str, take: Take | None = None, *, chapter: ScriptChapter | None = None
) -> ExportItem:
    style = take.parameters.style if take else line.style
    return ExportItem(
        key=key,
        index=index,
        text=line.text,
        voice=(take.parameters.voice_name if take else None) or line.voice or "",
        style=style.instruct or style.preset or "",
        pause_after_seconds=line.pause_after_seconds,
        file_name=line.file_name,
        model=take.parameters.model_name if take else "",
        seed=take.seed if take else line.seed,
        character=line.character or "",
        id=line.origin.key if line.origin is not None else "",
        columns=line.columns,
        chapter=chapter or ScriptChapter(),
        slot=line.slot,
        spoken=None if take is None else _spoken(take),
    )


def _spoken(take: Take) -> SpokenLine:
    parameters = take.parameters
    request = SynthesisRequest(
        parameters.text,
        VoiceReference(Path(), None, parameters.voice_name),
        instruct=parameters.style.instruct,
        preset=parameters.style.preset,
        speed=parameters.speed,
        language=parameters.language,
        sampling=parameters.sampling,
        quality=parameters.quality,
        is_divided=not take.is_recording,
    )
    line = spoken_line(request, seed=take.seed)
    recording = UNCHANGED if parameters.mode == Mode.RECORDING.value else line.recording
    return replace(line, voice_sha256=parameters.voice_sha256, recording=recording)


def _word_times(text: str, take: Take, edits: AudioEdits) -> tuple[WordTime, ...]:
    """Return the times of the words in the edited take, or nothing if the take has another text."""
    if take.check is None or any(text[word.text_start : word.text_end] != word.text for word in take.check.words):
        return ()
    return tuple(
        replace(
            word,
            from_seconds=edits.edited_seconds(word.from_seconds),
            to_seconds=edits.edited_seconds(word.to_seconds),
        )
        for word in take.check.words
    )


def seconds_in_project(project: Project | None, lines: ProjectLines, item: ExportItem) -> float | None:
    """Return the length of the take of ``item``, or None if it has no take."""
    take = lines.take_of_key.get(item.key)
    return project.seconds_of(take) if project is not None and take is not None else None


def check_in_project(lines: ProjectLines, item: ExportItem) -> LineCheck | None:
    """Return the check of the take of ``item``, or None if it was not checked."""
    take = lines.take_of_key.get(item.key)
    return None if take is None or take.check is None else LineCheck(take.check, take.seed)


def lines_to_review(items: Iterable[ExportItem], lines: ProjectLines) -> list[int]:
    """Return the numbers of the lines whose takes have problems that the user has not accepted."""
    takes = ((item.index, lines.take_of_key.get(item.key)) for item in items)
    return [number for number, take in takes if take is not None and take.needs_review]


class TakeSource:
    """A ``SpeechSource`` that returns the takes of a project, and uses ``others`` for lines without a take.

    The takes have the edits in ``lines``; later changes of the project do not affect them.
    """

    def __init__(self, project: Project, lines: ProjectLines, *, others: SpeechSource | None = None) -> None:
        self._project = project
        self._take_of_key = lines.take_of_key
        self._edits_of_key = lines.edits_of_key
        self._others = others

    def needs_speaking(self, item: ExportItem) -> bool:
        return item.key not in self._take_of_key and self._others is not None and self._others.needs_speaking(item)

    def expect(self, items: Sequence[ExportItem]) -> None:
        if self._others is not None:
            self._others.expect([item for item in items if self.needs_speaking(item)])

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        take = self._take_of_key.get(item.key)
        if take is not None:
            edits = self._edits_of_key.get(item.key, AudioEdits())
            return Waveform(edits.apply(self._project.recording_of(take.id), take.sample_rate), take.sample_rate)
        if self._others is None:
            raise TakeNotFound(
                "Line {number} has not been spoken.", remedy="Speak it and export again.", number=item.index
            )
        return self._others.synthesize_waveform(item)

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        take = self._take_of_key.get(item.key)
        if take is None:
            return item.spoken if self._others is None else self._others.spoken(item)
        if item.spoken is None:
            return None
        tokens = hash_tokens(self._project.evidence_of(take.id))
        return replace(item.spoken.edited(self._edits_of_key.get(item.key, AudioEdits())), tokens_sha256=tokens)
