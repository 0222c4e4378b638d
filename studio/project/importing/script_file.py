"""Import of a script file of any supported format."""

from __future__ import annotations

from pathlib import Path

from studio.errors import UnreadableScript
from studio.messages import wording
from studio.project.importing.documents import read_bytes, read_text
from studio.project.importing.markdown import words_of_markdown
from studio.project.importing.subtitles import lines_of_subtitles
from studio.project.importing.tables import lines_of_table, mapping_of, read_csv
from studio.project.importing.word import paragraphs_of_word
from studio.project.lines import Line, new_id
from studio.project.splitting import SplitMode, split_text

SCRIPT_SUFFIXES = (".txt", ".md", ".markdown", ".srt", ".vtt", ".csv", ".tsv", ".docx")


def read_script(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> list[Line]:
    """Return the lines of a script. Rows and subtitles are lines; other text is split.

    The suffix of ``path`` gives the format. Raise ``UnreadableScript``, also for a file without text.
    """
    lines = _lines(path, breaks)
    if not lines:
        raise UnreadableScript(
            "{file} contains nothing that can be spoken.", remedy="Choose another file.", file=path.name
        )
    return lines


def _lines(path: Path, breaks: SplitMode) -> list[Line]:
    match path.suffix.lower():
        case ".txt":
            return _plain_lines(read_text(path), breaks)
        case ".md" | ".markdown":
            return _plain_lines(words_of_markdown(read_text(path)), breaks)
        case ".docx":
            return _plain_lines("\n\n".join(paragraphs_of_word(read_bytes(path), path.name)), breaks)
        case ".csv" | ".tsv":
            table = read_csv(read_text(path), path.name)
            return list(lines_of_table(table, mapping_of(table), path.name).lines)
        case ".srt" | ".vtt":
            return lines_of_subtitles(read_text(path))
    raise UnreadableScript(
        "{suffix} cannot be imported ({file}).",
        remedy="Choose one of {known}, or copy and paste the text.",
        suffix=path.suffix or wording("a file without a suffix"),
        file=path.name,
        known=", ".join(SCRIPT_SUFFIXES),
    )


def _plain_lines(text: str, breaks: SplitMode) -> list[Line]:
    return [Line(id=new_id(), text=words) for words in split_text(text, breaks)]
