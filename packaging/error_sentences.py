"""Extraction of error messages and settings for ``lupdate``, which recognises only Qt's own calls.

Messages, remedies and their parts are literal templates (``studio.messages``). A message that is composed at run time
cannot be translated and is reported as a fault.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from studio.errors import StudioError, type_of_code
from studio.settings import PAGE_TITLES, SETTINGS

_PLACE = re.compile(r"\{[^{}]*\}")
_ERRORS = {StudioError.__name__, *(kind.__name__ for kind in type_of_code.values())}
_MESSAGES = {"message", "Message"}
# A finding of the clip report: a grade, and literal templates of problem and advice.
_VERDICT = "GradeText"


def sentences_in(folder: Path) -> tuple[list[str], list[str]]:
    """Return all templates below ``folder``, sorted, and a fault for each message that is not a literal."""
    templates: set[str] = set()
    faults: list[str] = []
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        constants = _constants_of(tree) | dict.fromkeys(_messages_of(tree), "")
        for call, text in _texts_of(tree):
            for template in _templates_of(text, constants):
                if template is None:
                    place = f"{path.relative_to(folder.parent).as_posix()}:{call.lineno}"
                    faults.append(f"{place}: {ast.unparse(text)} is not a literal template; pass its facts by name")
                elif any(letter.isalpha() for letter in _PLACE.sub("", template)):
                    templates.add(template)
    return sorted(templates), faults


def as_qt_source(texts: Iterable[str], context: str = "Errors") -> str:
    """Return Python source for ``lupdate``."""
    calls = (f"QT_TRANSLATE_NOOP({json.dumps(context)}, {json.dumps(text, ensure_ascii=False)})" for text in texts)
    return "\n".join((*calls, ""))


def texts_of_settings() -> list[str]:
    """Return all texts of the settings dialog that are declared in ``studio/settings.py``."""
    texts = {*PAGE_TITLES.values()}
    for setting in SETTINGS:
        texts |= {str(getattr(setting, name, "")) for name in ("title", "help", "unit", "name_of_low", "name_of_empty")}
        texts |= {option.title for option in getattr(setting, "options", ())}
    return sorted(texts - {""})


def _texts_of(tree: ast.AST) -> Iterator[tuple[ast.Call, ast.expr]]:
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        # ``type(error)(...)`` creates an error, too.
        if isinstance(call.func, ast.Call) or (isinstance(call.func, ast.Name) and call.func.id in _ERRORS):
            remedies = [keyword.value for keyword in call.keywords if keyword.arg == "remedy"]
            if remedies or isinstance(call.func, ast.Name):
                yield from ((call, text) for text in (*call.args[:1], *remedies))
        elif not isinstance(call.func, ast.Name):
            continue
        elif call.func.id == _VERDICT:
            yield from ((call, text) for text in call.args[1:])
        elif call.func.id in _MESSAGES:
            is_kept = call.func.id == "Message"  # a Message may be built from another one
            yield from ((call, text) for text in call.args[:1] if not is_kept or isinstance(text, ast.Constant))


def _templates_of(text: ast.expr, constants: dict[str, str]) -> Iterator[str | None]:
    """Yield the templates, None for a composed text, and nothing for a ``Message`` created elsewhere."""
    match text:
        case ast.Constant(value=str(template)):
            yield template
        case ast.IfExp(body=body, orelse=orelse):
            yield from _templates_of(body, constants)
            yield from _templates_of(orelse, constants)
        case ast.Name(id=name):
            yield constants.get(name)
        case ast.Attribute(attr="problem" | "remedy" | "message"):
            pass
        case ast.BoolOp(values=values):
            for value in values:
                yield from _templates_of(value, constants)
        case ast.Call(func=ast.Name(id=name)) if name in _MESSAGES | {"listed"}:
            pass
        case _:
            yield None


def _messages_of(tree: ast.Module) -> set[str]:
    """Names of parameters annotated as ``Message``."""
    return {
        argument.arg
        for argument in ast.walk(tree)
        if isinstance(argument, ast.arg)
        and argument.annotation is not None
        and "Message" in ast.unparse(argument.annotation)
    }


def _constants_of(tree: ast.Module) -> dict[str, str]:
    """Text constants of the module, such as a remedy shared by several errors."""
    return {
        target.id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
