"""The contents of the frozen program."""

from __future__ import annotations

from pathlib import Path

import pytest
from freeze import _EXTRAS
from frozen import contents

from studio.system.installation import _IN_INSTALLERS

CHECKOUT = Path(__file__).resolve().parents[2]
SITE = "/environment/lib/python3.11/site-packages"


def test_rooms_that_are_imported_by_name_are_there() -> None:
    modules = contents.modules(CHECKOUT)
    assert {"studio", "studio.worker.server", "studio.worker.model_host", "studio.engines.trial_run"} <= set(modules)
    assert {"studio.bench.__main__", "studio.engines.__main__", "studio.engines.installed"} <= set(modules)


def test_installers_contain_the_extras_that_the_program_expects_in_them() -> None:
    assert set(_IN_INSTALLERS) <= _EXTRAS


def test_pyav_goes_in_only_where_it_is_asked_for() -> None:
    assert set(contents.modules_left_out(with_media=False)) - set(contents.modules_left_out(with_media=True)) == {"av"}


def test_resources_lie_where_the_program_looks() -> None:
    places = {
        Path(source).relative_to(CHECKOUT / "resources").as_posix(): place
        for source, place in contents.resources(CHECKOUT)
    }
    assert places["models/studio-mini/llm.pt"] == "studio/resources/models/studio-mini"
    assert places["translations/studio_zh_CN.qm"] == "studio/resources/translations"
    assert places["voices/Ada.wav"] == "studio/resources/voices"
    assert places["timbre-studio.svg"] == "studio/resources"
    assert not [name for name in places if name.endswith(".ts")]
    assert {"manual/window.md", "manual/zh_CN/window.md", "screenshots/window-light.png"} <= set(places)


@pytest.mark.parametrize(
    "name",
    [
        "torch/lib/libtorch_cpu.so",
        "torch/bin/torch_shm_manager",
        "torch/testing/_internal/common_dtype.py",
        "torch/_C.cpython-311-x86_64-linux-gnu.so",
        "PySide6/Qt/lib/libQt6Svg.so.6",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so",
        "PySide6/Qt/translations/qtbase_zh_CN.qm",
        "PySide6\\plugins\\platforms\\qwindows.dll",
        "wetext/fsts/traditional_to_simple.fst",
        "_soundfile_data/libsndfile_x86_64.so",
        "c2pa/libs/libc2pa_c.so",
    ],
)
def test_what_is_needed_belongs(name: str) -> None:
    assert contents.belongs(name, f"{SITE}/{name}")


@pytest.mark.parametrize(
    "name",
    [
        "torch/include/ATen/ATen.h",
        "torch/bin/protoc",
        "torch/lib/libtorchbind_test.so",
        "c2pa/libs/libc2pa_c.rlib",
        "c2pa/libs/libc2pa_c.d",
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/plugins/sqldrivers/libqsqlite.so",
        "PySide6\\plugins\\sqldrivers\\qsqlite.dll",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "PySide6/Qt/lib/libQt6Network.so.6",
        "PySide6/QtNetwork.abi3.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "PySide6/Qt/translations/qtdeclarative_zh_CN.qm",
        "numpy/_core/tests/data.csv",
    ],
)
def test_what_nothing_uses_stays_out(name: str) -> None:
    assert not contents.belongs(name, f"{SITE}/{name}")


def test_libraries_of_the_building_system_stay_out_but_those_of_its_python() -> None:
    for name in ("libstdc++.so.6", "libportaudio.so.2", "libxcb-cursor.so.0", "libasound.so.2"):
        assert not contents.belongs(name, f"/usr/lib/x86_64-linux-gnu/{name}")
        assert not contents.belongs(name, f"/lib/x86_64-linux-gnu/{name}")
    for name in ("libssl.so.3", "libsqlite3.so.0", "libffi.so.8"):
        assert contents.belongs(name, f"/usr/lib/x86_64-linux-gnu/{name}")
    assert contents.belongs("libpython3.11.so.1.0", "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0")
