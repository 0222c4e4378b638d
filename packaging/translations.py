"""Update the translations: extract all texts and compile the translated ones.

    python packaging/translations.py            update, after texts have changed
    python packaging/translations.py --check    fail if a text is not translated or not compiled

``lupdate`` extracts the texts of the window, ``error_sentences.py`` those of errors and settings. The sources are
``resources/translations/studio_*.ts``, edited by hand or with Qt Linguist; the program reads the ``.qm`` files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from error_sentences import as_qt_source, sentences_in, texts_of_settings

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / "resources" / "translations"
# The English file contains only plural forms.
LANGUAGES = ("en", "zh_CN")
_PLACEHOLDER = re.compile(r"\{[\w:.,%]*\}|%n")
# An alias of QT_TRANSLATE_NOOP, for lupdate.
_ALIAS = "QT_TRANSLATE_NOOP+=_T"


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        faults = [fault for language in LANGUAGES for fault in find_faults(language)]
        print("\n".join(faults) or "All texts are translated and compiled.")
        return 1 if faults else 0
    for language in LANGUAGES:
        update(FOLDER / f"studio_{language}.ts", language)
        compile_file(FOLDER / f"studio_{language}.ts", FOLDER / f"studio_{language}.qm")
    return 0


def update(path: Path, language: str) -> None:
    """Add new texts to ``path`` and remove obsolete ones."""
    with tempfile.TemporaryDirectory() as scratch:
        of_errors = Path(scratch, "errors.py")
        of_errors.write_text(as_qt_source(sentences_in(CHECKOUT / "studio")[0]), "utf-8")
        of_settings = Path(scratch, "settings.py")
        of_settings.write_text(as_qt_source(texts_of_settings(), "Settings"), "utf-8")
        sources = [*sorted((CHECKOUT / "studio" / "app").rglob("*.py")), of_settings, of_errors]
        only_plurals = ["-pluralonly"] if language == "en" else []
        command = [_tool("lupdate"), *map(str, sources), "-ts", str(path), "-no-obsolete", "-locations", "none"]
        command += ["-tr-function-alias", _ALIAS, "-source-language", "en", "-target-language", language, *only_plurals]
        _run(command)


def compile_file(source: Path, target: Path) -> None:
    """Compile, and replace ``target`` atomically: an open window has it mapped and crashes if it is truncated."""
    part = target.with_name(f".{target.name}.part")
    _run([_tool("lrelease"), "-silent", str(source), "-qm", str(part)])
    part.replace(target)


def find_faults(language: str) -> list[str]:
    """Return the texts that are not translated, have different placeholders, or are not compiled."""
    kept = FOLDER / f"studio_{language}.ts"
    if not kept.is_file():
        return [f"{kept.name} is missing"]
    faults = sentences_in(CHECKOUT / "studio")[1]
    with tempfile.TemporaryDirectory() as scratch:
        fresh, compiled = Path(scratch, kept.name), Path(scratch, "fresh.qm")
        shutil.copyfile(kept, fresh)
        update(fresh, language)
        faults += [f"{language}: {fault}" for fault in _faults_in(fresh)]
        if _messages(fresh) != _messages(kept):
            faults.append(f"{language}: {kept.name} is not up to date; run packaging/translations.py")
        compile_file(kept, compiled)
        target = kept.with_suffix(".qm")
        if not target.is_file() or target.read_bytes() != compiled.read_bytes():
            faults.append(f"{language}: {target.name} is not compiled from {kept.name}")
    return faults


def _faults_in(path: Path) -> list[str]:
    return [
        f"{fault}: {context}: {source!r} -> {forms}"
        for context, source, forms, is_finished in _messages(path)
        if (fault := _fault(source, forms, is_finished=is_finished))
    ]


def _fault(source: str, forms: tuple[str, ...], *, is_finished: bool) -> str:
    if not is_finished or not all(forms):
        return "not translated"
    places = set(_PLACEHOLDER.findall(source))
    return (
        "different placeholders"
        if any(set(_PLACEHOLDER.findall(form)) - {"%n"} != places - {"%n"} for form in forms)
        else ""
    )


def _messages(path: Path) -> list[tuple[str, str, tuple[str, ...], bool]]:
    """Return context, source, all forms of the translation, and whether it is finished."""
    found = []
    for context in ElementTree.parse(path).getroot().iter("context"):  # noqa: S314 - files of our own
        name = context.findtext("name") or ""
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is None:
                continue
            plural = [form.text or "" for form in translation.iter("numerusform")]
            forms = tuple(plural) if plural else (translation.text or "",)
            found.append((name, message.findtext("source") or "", forms, translation.get("type") is None))
    return sorted(found)


def _tool(name: str) -> str:
    program = Path(sys.executable).with_name(f"pyside6-{name}")
    return str(program) if program.exists() else f"pyside6-{name}"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
