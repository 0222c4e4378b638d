"""Metadata of a project: title and author, cast, and the columns of an imported table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.model.options import Quality
from studio.project.lines import LineStyle
from studio.take_checks.policy import ProjectCheckPolicy


@dataclass(frozen=True, slots=True)
class CastMember:
    """Voice and style of a character. ``voice`` is the name of a voice in the library, or None if not chosen yet."""

    voice: str | None = None
    style: LineStyle = LineStyle()


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
