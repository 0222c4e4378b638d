"""Licences of the frozen program: every file has an owner, every owner a licence text."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest
from frozen import notices
from frozen.notices import Component, Incomplete, Owners, as_text, describe_component, licence_text, main
from frozen.vendored import VENDORED, vendored

CHECKOUT = Path(__file__).resolve().parents[2]
Package = Callable[..., Distribution]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Makes an installed package: a module, a library beside it, and perhaps a licence."""

    def make(name: str, said: str = "License-Expression: MIT", licence: str = "", library: str = "") -> Distribution:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        files = {
            f"{name}/__init__.py": "",
            f"{info.name}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{said}\n",
        }
        if licence:
            files[f"{info.name}/licenses/LICENSE.txt"] = licence
        if library:
            files[library] = "library"
        for path, content in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content)
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
        return PathDistribution(info)

    return make


def entry(tmp_path: Path, name: str) -> dict[str, str]:
    return {"name": name, "source": str(tmp_path / name), "kind": "PYMODULE"}


def test_the_words_of_the_chinese_dictionary_are_attributed(package: Package) -> None:
    assert "CC-CEDICT" in describe_component(package("pypinyin_dict")).remark
    assert describe_component(package("pypinyin")).remark == ""


def test_the_text_a_package_brings_is_taken(package: Package) -> None:
    found = describe_component(package("nice", licence="Be nice."))
    assert (found.name, found.version, found.licence) == ("nice", "1.0", "MIT")
    assert found.texts == [("LICENSE.txt", "Be nice.")]


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ("License: Apache 2.0", "Apache-2.0"),
        ("Classifier: License :: OSI Approved :: Apache Software License", "Apache-2.0"),
        ("License: LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0", "LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only"),
        ("License-Expression: MIT", "MIT"),
    ],
)
def test_a_package_that_only_names_its_licence_gets_the_text(package: Package, said: str, licence: str) -> None:
    found = describe_component(package("terse", said))
    assert found.licence == licence
    assert all(len(text) > 500 for _, text in found.texts)
    assert found.texts


def test_only_packages_with_a_file_inside_are_told(package: Package, tmp_path: Path) -> None:
    owners = Owners([package("inside"), package("outside")])
    assert [one.name for one in owners.components([entry(tmp_path, "inside/__init__.py")])] == ["inside"]


def test_a_licence_without_text_is_an_error(package: Package, tmp_path: Path) -> None:
    owners = Owners([package("secret", "License: Proprietary")])
    with pytest.raises(Incomplete, match=r"secret 1.0 \(Proprietary\) has no licence text"):
        owners.components([entry(tmp_path, "secret/__init__.py")])


@pytest.mark.slow
def test_a_file_of_nobody_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stray.so").write_text("")
    with pytest.raises(Incomplete, match=r"stray.so comes from .*, which has no known owner"):
        Owners([]).components([entry(tmp_path, "stray.so")])


def test_a_library_laid_beside_a_package_has_to_be_known(package: Package, tmp_path: Path) -> None:
    known, unknown = "wheel.libs/libx264-0123.so.165", "other.libs/libnew-0123.so.1"
    owners = Owners([package("wheel", library=known), package("other", library=unknown)])
    found = owners.components([entry(tmp_path, known)])
    assert [one.name for one in found] == ["wheel", "x264"]
    assert "GNU GENERAL PUBLIC LICENSE" in found[1].texts[0][1]
    assert found[1].remark == "Contained in the package wheel."
    with pytest.raises(Incomplete, match=r"libnew-0123.so.1 is not in vendored.py"):
        owners.components([entry(tmp_path, unknown)])


def test_python_and_this_project_are_known() -> None:
    stdlib, ours = Path(sysconfig.get_path("stdlib")) / "json" / "__init__.py", CHECKOUT / "studio" / "__init__.py"
    inventory = [{"name": path.name, "source": str(path), "kind": "PYMODULE"} for path in (stdlib, ours)]
    assert [one.name for one in Owners([]).components(inventory)] == ["Python"]


def test_every_text_that_is_named_is_here() -> None:
    for library in VENDORED:
        assert library.texts or library.told_by, library.name
        for name in library.texts:
            assert len(licence_text(name)) > 500
    assert vendored("libavcodec-5e6b81c2.so.62.28.102") is not None
    assert vendored("libtorch_python.so") is None


def test_what_is_linked_into_torch_is_told(package: Package, tmp_path: Path) -> None:
    library = "torch/lib/libtorch_cpu.so"
    found = Owners([package("torch", library=library)]).components([entry(tmp_path, library)])
    assert [one.name for one in found] == ["Intel oneMKL", "torch"]
    assert "Intel Simplified Software License" in found[0].texts[0][1]


def test_what_windows_brings_is_known(package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, library = tmp_path / "Windows", "numpy.libs/msvcp140-a4c2229b.dll"
    (root / "System32").mkdir(parents=True)
    (root / "System32" / "ucrtbase.dll").touch()
    monkeypatch.setenv("SYSTEMROOT", str(root).upper() if sys.platform == "win32" else str(root))
    inventory = [entry(root, "System32/ucrtbase.dll"), entry(tmp_path, library)]
    found = Owners([package("numpy", library=library)]).components(inventory)
    assert [one.name for one in found] == ["Microsoft Visual C++ runtime", "numpy", "Windows C runtime"]


def test_what_is_under_the_gpl_is_not_packaged_but_for_its_maker(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library = "av.libs/libx264-0123.so.165"
    installed = [package("av", library=library)]
    monkeypatch.setattr(notices, "distributions", lambda: installed)
    inventory, target = tmp_path / "inventory.json", tmp_path / "NOTICES.txt"
    inventory.write_text(json.dumps([entry(tmp_path, library)]))
    assert main([str(inventory), str(target)]) == 1
    assert "x264: under the GPL" in capsys.readouterr().err
    assert not target.exists()
    assert main([str(inventory), str(target), "--media"]) == 0
    assert "do not pass\nit on." in target.read_text()


def test_texts_that_several_share_are_printed_once_and_strict_licences_are_said() -> None:
    shared = [("LICENSE", "Do as you like.")]
    text = as_text(
        [Component("a", "1", "MIT", texts=shared), Component("x", "2", "GPL-2.0-or-later", texts=shared)], "9.9"
    )
    assert text.count("Do as you like.") == 1
    assert "the same text as for a, LICENSE" in text
    assert "x are under the GNU General Public License" in text
    assert "\n  a 1: MIT\n  x 2: GPL-2.0-or-later\n" in text


def test_the_vocabulary_of_whisper_is_told_with_its_licence() -> None:
    source = CHECKOUT / "resources" / "tokenizers" / "whisper-multilingual.tiktoken"
    told = Owners([]).components([{"name": f"studio/resources/tokenizers/{source.name}", "source": str(source)}])
    assert [(one.name, one.licence) for one in told] == [("Whisper's multilingual vocabulary", "MIT")]
    assert "OpenAI" in as_text(told, "1.0")
