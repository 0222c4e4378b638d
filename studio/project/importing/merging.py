"""Copying the metadata of an imported script to its project."""

from __future__ import annotations

from dataclasses import replace

from studio.project.details import ProjectDetails
from studio.project.importing.blocks import ImportedScript


def merged_details(details: ProjectDetails, imported: ImportedScript) -> ProjectDetails:
    """Return ``details`` with source and columns of ``imported``, and its title, author and cover if they are missing."""
    source, others = imported.source, details.sources
    if source is not None:
        others = (*(other for other in details.sources if other.id != source.id), source)
    return replace(
        details,
        title=details.title or imported.title,
        author=details.author or imported.author,
        cover=details.cover or imported.cover,
        columns=tuple(dict.fromkeys((*details.columns, *imported.columns))),
        sources=others,
    )
