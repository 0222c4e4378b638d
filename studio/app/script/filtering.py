"""Filter of the lines of a script."""

from __future__ import annotations

from dataclasses import dataclass

from studio.project.lines import Line, LineState, LineStyle
from studio.voices.voice import name_key


@dataclass(frozen=True, slots=True)
class LineFilter:
    """Conditions on lines. A line is shown if it meets all of them; None and empty texts are ignored."""

    text: str = ""  # words in the text, note, character, file name or ID
    voice: str | None = None
    character: str | None = None
    state: LineState | None = None
    style: LineStyle | None = None
    has_note: bool = False
    needs_review: bool = False

    @property
    def is_empty(self) -> bool:
        return self == LineFilter()

    def matches(self, line: Line, state: LineState) -> bool:
        wanted = self.text.casefold()
        searched = (
            line.text,
            line.note,
            line.character or "",
            line.file_name or "",
            line.origin.key if line.origin else "",
        )
        return (
            (not wanted or any(wanted in words.casefold() for words in searched))
            and (self.voice is None or name_key(line.voice or "") == name_key(self.voice))
            and (self.character is None or name_key(line.character or "") == name_key(self.character))
            and (self.state is None or (line.is_spoken and state is self.state))
            and (self.style is None or (line.is_spoken and line.style == self.style))
            and (not self.has_note or bool(line.note))
            and (not self.needs_review or (line.is_spoken and state is LineState.CHECK))
        )
