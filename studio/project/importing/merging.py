"""Copying the metadata of an imported script to its project."""

from __future__ import annotations

from dataclasses import replace

from studio.project.details import ProjectDetails
from studio.project.importing.blocks import ImportedScript


def merged_details(details: ProjectDetails, imported: ImportedScript) -> ProjectDetails:
    """Return ``details`` with the columns of ``imported``, and its title, author and cover where they are missing."""
    return replace(
        details,
        title=details.title or imported.title,
        author=details.author or imported.author,
        cover=details.cover or imported.cover,
        columns=tuple(dict.fromkeys((*details.columns, *imported.columns))),
    )
