"""Metadata of a project: title and author, cast, and the files that were imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.model.options import Quality
from studio.project.lines import LineStyle
from studio.take_checks.policy import ProjectCheckPolicy
from studio.take_checks.records import VoiceTarget


@dataclass(frozen=True, slots=True)
class CastMember:
    """Voice and style of a character. ``voice`` is the name of a voice in the library, or None if not chosen yet."""

    voice: str | None = None
    style: LineStyle = LineStyle()


@dataclass(frozen=True, slots=True)
class VoiceRole:
    """A voice in a style, speaking for a character. Its takes should sound alike.

    ``character`` is the ``name_key`` of the character, or empty.
    """

    character: str
    voice: str
    style: LineStyle = LineStyle()


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file from which lines of a project were imported, and the choices of its import.

    Attributes:
        path: The absolute path of the file.
        digest: The hash of its content at the last import or update.
        sheets: The names of the sheets, empty for a file without sheets.
        columns: The names of the columns of a table, by field.
        has_names: Whether the first row of the table contains titles, or None for other files.
        breaks: Where text was split.
        finds_speakers: Whether names before colons are speakers.
        speaks_notes: Whether notes and sounds are spoken.
        left_out: The titles of the sections of a document that were left out.
        chapter_level: The headings of a document up to this level begin chapters; None to infer it.
        encoding: The encoding of a text, or None to guess it.
        rows: Checksums of all rows, with which rows that were removed from the project are recognised.
    """

    id: str
    path: str
    digest: str = ""
    sheets: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    has_names: bool | None = None
    breaks: str = ""
    finds_speakers: bool | None = None
    speaks_notes: bool = False
    left_out: tuple[str, ...] = ()
    chapter_level: int | None = None
    encoding: str | None = None
    rows: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ProjectDetails:
    """Metadata of a project.

    Attributes:
        title: Title of the work, for the tags of exported files.
        author: Author of the work.
        narrator: Narrator of the work.
        cover: Image file (JPEG or PNG) for audiobooks.
        cast: Voices of the characters, by ``name_key`` of the character.
        columns: Names of the columns of the imported table, in order, for exports.
        guide_track: Path of the video or audio file that a dubbing follows.
        checks: Settings of the project for checks of takes.
        quality: Quality of new takes of lines that have none of their own.
        sources: Files from which lines were imported.
        targets: The ranges in which the measures of takes should be. Roles without a target are not compared.
    """

    title: str = ""
    author: str = ""
    narrator: str = ""
    cover: bytes | None = field(default=None, repr=False)
    cast: Mapping[str, CastMember] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    guide_track: str | None = None
    checks: ProjectCheckPolicy = ProjectCheckPolicy()
    quality: Quality = Quality.EXACT
    sources: tuple[ImportSource, ...] = ()
    targets: Mapping[VoiceRole, VoiceTarget] = field(default_factory=dict)
