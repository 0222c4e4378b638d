"""Columns that the user chose for tables, to be chosen again for tables with the same headings."""

from __future__ import annotations

from studio.project.importing.columns import Field
from studio.project.importing.tables import ColumnMapping, Table, choose_mapping
from studio.settings import COLUMN_MAPPINGS
from studio.settings_store import Settings

_MAX_TABLES = 50
_FIELDS = {field.value: field for field in Field}


def recall_columns(settings: Settings, table: Table) -> tuple[Table, ColumnMapping]:
    """Return ``table`` with the columns that were chosen for its headings, which may be its first row, else a guess."""
    for candidate in (table, table.named(True)):
        fields = settings[COLUMN_MAPPINGS].get(_key(candidate), ())
        mapping = {_FIELDS[name]: at for at, name in enumerate(fields) if name in _FIELDS}
        if candidate.has_names and len(fields) == len(candidate.columns):
            return candidate, mapping
    return table, choose_mapping(table)


def remember_columns(settings: Settings, table: Table, mapping: ColumnMapping) -> None:
    """Store the columns that differ from the guess. Raise the errors of ``Settings.change``."""
    if not table.has_names:
        return
    known = {key: fields for key, fields in settings[COLUMN_MAPPINGS].items() if key != _key(table)}
    if mapping != choose_mapping(table):
        names = {at: field.value for field, at in mapping.items()}
        known[_key(table)] = tuple(names.get(at, "") for at in range(len(table.columns)))
    settings[COLUMN_MAPPINGS] = dict(list(known.items())[-_MAX_TABLES:])


def _key(table: Table) -> str:
    return "\t".join(table.columns)
