"""Collects the licences of the contents of the frozen program, from package metadata.

    python -m frozen.notices INVENTORY FILE [--media]

Run it with the Python whose packages were frozen. Every file of the inventory of ``timbre.spec`` is assigned to its
owner: a Python package, Python, a system package, or this project. Files without an owner and packages without a
licence text are errors. So are components under the GPL, which cannot be distributed with the others; ``--media``
permits them for private use.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePath

from frozen.vendored import Vendored, vendored

_ROOT = Path(__file__).resolve().parents[2]
_TEXTS = Path(__file__).with_name("licences")
_OURS = tuple(os.path.join(_ROOT, part, "") for part in ("packaging", "resources", "studio"))
_LICENCE_FILE = re.compile(r"licen[cs]|copying|notice", re.IGNORECASE)
# Licence texts for packages that declare a licence without its text.
_TEXT_OF = {
    "Apache-2.0": ("Apache-2.0",),
    "MIT": ("MIT",),
    "LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only": ("LGPL-3.0", "GPL-3.0"),
}
# Other spellings of licence names.
_SAME_AS = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0": "LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only",
}
_STANDARD_LIBRARY = "base_library.zip"  # created by PyInstaller from modules of Python
_OF_QT = "Qt contains third-party code: https://doc.qt.io/qt-6/licenses-used-in-qt.html"
# By the beginnings of package names.
_REMARKS = {
    "pyside6": _OF_QT,
    "shiboken6": _OF_QT,
    "pypinyin-dict": "Its words are from CC-CEDICT, https://www.mdbg.net/chinese/dictionary?page=cc-cedict (CC BY-SA 4.0).",
}
_RULE = "=" * 100


class Incomplete(Exception):
    """Files without an owner, or owners without a licence text; one line each."""


@dataclass
class Component:
    """An owner of files in the bundle. ``texts``: file names and contents of its licences."""

    name: str
    version: str
    licence: str
    home: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    remark: str = ""
    told_by: str = ""


def licence_text(name: str) -> str:
    """Return the text of a licence by SPDX name. Raises ``KeyError`` for an unknown one."""
    path = _ROOT / "LICENSE" if name == "Apache-2.0" else _TEXTS / f"{name}.txt"
    if not path.is_file():
        raise KeyError(name)
    return path.read_text("utf-8")


def describe_component(distribution: Distribution) -> Component:
    """Return the component of a Python package; without texts if neither the package nor this folder has one."""
    said = [
        *_told(distribution, "License-Expression"),
        *(text for text in _told(distribution, "License") if "\n" not in text),
        *(kind.rpartition(" :: ")[2] for kind in _told(distribution, "Classifier") if kind.startswith("License ::")),
    ]
    licence = said[0].strip() if said else ""
    licence = _SAME_AS.get(licence, licence)
    component = Component(distribution.metadata["Name"], distribution.version, licence, _home(distribution))
    for file in distribution.files or ():
        if _LICENCE_FILE.search(file.name) and file.suffix not in (".py", ".pyc"):
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                component.texts.append((file.name, path.read_text("utf-8", errors="replace")))
    if not component.texts:
        component.texts = [(name, licence_text(name)) for name in _TEXT_OF.get(licence, ())]
    name = component.name.lower().replace("_", "-")
    component.remark = next((words for start, words in _REMARKS.items() if name.startswith(start)), "")
    return component


def component_of_library(library: Vendored, owner: str) -> Component:
    texts = [(name, f"{library.copyright}\n\n{licence_text(name)}".lstrip()) for name in library.texts]
    remark = f"Contained in the package {owner}." if owner else ""
    if library.told_by:
        remark = f"{remark} Its licence is part of the licence of {library.told_by}.".lstrip()
    return Component(library.name, "", library.licence, library.home, texts, remark, library.told_by)


class Owners:
    """Finds the owners of frozen files. Resolved folders are cached: tens of thousands of files are looked up."""

    def __init__(self, packages: Iterable[Distribution]) -> None:
        self._packages: dict[str, Distribution] = {}
        self._owner_of: dict[str, str] = {}
        for package in packages:
            name = package.metadata["Name"]
            if name in self._packages:
                continue
            self._packages[name] = package
            base = os.path.realpath(str(package.locate_file("")))
            for file in package.files or ():
                self._owner_of[os.path.normpath(os.path.join(base, str(file)))] = name
        places = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sys.base_prefix, sys.base_exec_prefix}
        self._python = tuple(os.path.join(os.path.realpath(place), "") for place in places)
        self._real_folders: dict[str, str] = {}

    def components(self, inventory: list[dict[str, str]]) -> list[Component]:
        """Return the owners by name. Raises ``Incomplete``."""
        found: dict[str, Component] = {}
        faults = []
        for entry in inventory:
            name, source = entry["name"], entry["source"]
            if not os.path.isabs(source) or not os.path.exists(source):
                continue  # a package without files, a link, or a file created by PyInstaller
            place = self._real(source)
            owner = self._owner_of.get(place)
            library = _library_in(name)
            if library is not None and library.name not in found:
                found[library.name] = component_of_library(library, owner or "")
            if owner is not None:
                if owner not in found:
                    found[owner] = describe_component(self._packages[owner])
            elif place.startswith(_OURS):
                continue  # this project, which the notices name first
            elif place.startswith(self._python) or name == _STANDARD_LIBRARY:
                found.setdefault("Python", _python_itself())
            elif _is_of_windows(place):
                found.setdefault("Windows", _windows_itself())
            elif package := _debian_package(Path(source)):
                found.setdefault(package.name, package)
            elif library is None:
                faults.append(f"{name} comes from {source}, which has no known owner")
            if library is None and _is_vendored(name):
                faults.append(f"{name} is not in vendored.py")
        faults += [f"{one.name} {one.version} ({one.licence or 'no licence'}) has no licence text"
                   for one in found.values() if not one.texts and not one.told_by]  # fmt: skip
        if faults:
            raise Incomplete("\n".join(sorted(set(faults))))
        return sorted(found.values(), key=lambda one: one.name.lower())

    def _real(self, source: str) -> str:
        folder, name = os.path.split(source)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        return os.path.join(self._real_folders[folder], name)


def as_text(components: list[Component], version: str) -> str:
    """Return the list of components and then each licence; a shared text is printed once."""
    lines = [
        f"Timbre Studio {version} is licensed under the Apache License 2.0. Its components:",
        "",
        *(f"  {one.name} {one.version}".rstrip() + f": {one.licence or 'see its text'}" for one in components),
        "",
        *_about_gpl(components),
    ]
    printed: dict[str, str] = {}
    for one in components:
        lines += ["", _RULE, f"{one.name} {one.version}".rstrip(), *(part for part in (one.home, one.remark) if part)]
        for title, text in one.texts:
            body = text.strip()
            if body in printed:
                lines += ["", f"{title}: the same text as for {printed[body]}."]
            else:
                printed[body] = f"{one.name}, {title}"
                lines += ["", f"-- {title}", "", body]
    return "\n".join(lines) + "\n"


def _about_gpl(components: list[Component]) -> list[str]:
    strict = under_gpl(components)
    if not strict:
        return []
    return [
        f"{', '.join(strict)} are under the GNU General Public License, which would apply to the whole package;",
        "the licences of other parts forbid that. This package was built with --media, for personal use: do not pass",
        "it on.",
    ]


def under_gpl(components: list[Component]) -> list[str]:
    """Components under the GPL without an exception for linking."""
    return [one.name for one in components if re.match(r"GPL-[23]\.0-or-later$", one.licence)]


def _library_in(name: str) -> Vendored | None:
    """Return the entry of a shared library or of a vocabulary, or None; Python's extension modules have none."""
    file_name = PurePath(name).name
    if file_name.endswith(".tiktoken"):
        return vendored(file_name)
    is_shared = re.search(r"\.(so|dylib)(\.|$)|\.dll$", file_name) is not None
    return vendored(file_name) if is_shared and re.search(r"\.(cpython-|abi3)", file_name) is None else None


def _is_vendored(name: str) -> bool:
    """Return whether the library was added to a wheel by a repair tool."""
    parts = PurePath(name).parts
    return len(parts) > 1 and parts[0].endswith((".libs", ".dylibs"))


def _home(distribution: Distribution) -> str:
    urls = [url.partition(",")[2].strip() for url in _told(distribution, "Project-URL")]
    return next(iter([*_told(distribution, "Home-page"), *urls]), "")


def _told(distribution: Distribution, field_name: str) -> list[str]:
    """Return the non-empty values of a metadata field."""
    return [str(value) for value in distribution.metadata.get_all(field_name) or () if str(value).strip()]


def _python_itself() -> Component:
    version = sys.version.split()[0]
    places = (Path(sysconfig.get_path("stdlib"), "LICENSE.txt"), Path(sys.base_prefix, "LICENSE.txt"))
    path = next((path for path in places if path.is_file()), None)
    if path is None:  # Debian keeps it in /usr/share/doc
        debian = Path(f"/usr/share/doc/python{version.rpartition('.')[0]}/copyright")
        path = debian if debian.is_file() else None
    texts = [("LICENSE.txt", path.read_text("utf-8"))] if path else []
    return Component("Python", version, "PSF-2.0", "https://www.python.org", texts)


def _is_of_windows(place: str) -> bool:
    """Return whether it is the C runtime of Windows, which PyInstaller bundles for older versions."""
    root = os.environ.get("SYSTEMROOT", "")
    return bool(root) and place.lower().startswith(os.path.join(os.path.realpath(root), "").lower())


def _windows_itself() -> Component:
    remark = "Its terms are part of Python's licence."
    return Component("Windows C runtime", "", "Microsoft Distributable Code", remark=remark, told_by="Python")


def _debian_package(source: Path) -> Component | None:
    """Return the component of a system library that Python was built with."""
    if os.name != "posix":
        return None
    for path in dict.fromkeys((source, source.resolve(), Path("/usr") / source.relative_to("/"))):
        try:
            asked = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True, check=False)
        except OSError:
            return None
        if asked.returncode == 0:
            name = asked.stdout.partition(":")[0]
            shown = subprocess.run(
                ["dpkg-query", "-W", "-f=${Version}\t${Homepage}", name], capture_output=True, text=True, check=False
            )
            version, _, home = shown.stdout.partition("\t")
            text = Path("/usr/share/doc", name, "copyright")
            texts = [("copyright", text.read_text("utf-8", errors="replace"))] if text.is_file() else []
            return Component(name, version, "see its text", home, texts)
    return None


def main(arguments: list[str]) -> int:
    inventory_path, target = (Path(argument) for argument in arguments[:2])
    sys.path.insert(0, str(_ROOT))
    import studio  # noqa: PLC0415

    inventory = json.loads(inventory_path.read_text("utf-8"))
    try:
        components = Owners(distributions()).components(inventory)
    except Incomplete as error:
        print(f"The notices are not complete:\n{error}", file=sys.stderr)
        return 1
    if arguments[2:] != ["--media"] and (names := under_gpl(components)):
        print(f"{', '.join(names)}: under the GPL and not distributable with the other components.", file=sys.stderr)
        return 1
    card = _ROOT / "resources" / "models" / "studio-mini" / "MODEL_CARD.md"
    voice = Component("studio-mini, the voice model", "", "Apache-2.0", "", [(card.name, card.read_text("utf-8"))])
    target.write_text(as_text([*components, voice], studio.__version__), "utf-8")
    print(f"{target}: {len(components) + 1} components")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
