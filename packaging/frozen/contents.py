"""The contents of the frozen program, selected by file name. Does not import PyInstaller.

Decision: shared libraries of the build system are excluded, except those that Python was built with. Reason: the
graphics drivers of a desktop need the C++ library of their system, and sound needs its PortAudio and ALSA.
Alternative: bundling them, with responsibility for their security updates. Excluded libraries are dependencies of the
package (``linux_libraries.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

# Optional dependencies of libraries that the program does not use.
_UNUSED_MODULES = (
    "IPython",
    "PIL",
    "_curses",
    "_tkinter",
    "curses",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "matplotlib",
    "pip",
    "pkg_resources",
    "pytest",
    "readline",
    "setuptools",
    "tensorboard",
    "tkinter",
    "torch.utils.benchmark",
    "torch.utils.tensorboard",
    "turtle",
    "wheel",
)

# Of onnxruntime.transformers.
MODULES_BY_BARE_NAME = ("float16.py", "fusion_utils.py", "onnx_model.py")

_UNUSED_FILES = (
    # torch: files for building extensions, and its tests. It needs torch_shm_manager and torch.testing to start.
    "torch/bin/*Test",
    "torch/bin/protoc*",
    "torch/bin/script_module*",
    "torch/bin/test_*",
    "torch/bin/upgrader_models/*",
    "torch/include/*",
    "torch/share/*",
    "torch/test/*",
    "torch/lib/*_test.*",
    "torch/lib/libaoti_custom_ops.*",
    "torch/lib/libbackend_with_compiler.*",
    "torch/lib/*.lib",
    "torchgen/packaged/*",
    # c2pa: what is left of building its library.
    "c2pa/libs/*.d",
    "c2pa/libs/*.rlib",
    # Qt: modules that no widget uses.
    "PySide6/Qt/qml/*",
    "PySide6/qml/*",
    "*/plugins/egldeviceintegrations/*",
    "*/plugins/generic/*",
    "*/plugins/networkinformation/*",
    "*/plugins/platforms/*qeglfs*",
    "*/plugins/platforms/*qlinuxfb*",
    "*/plugins/platforms/*qminimal*",
    "*/plugins/platforms/*qvkkhrdisplay*",
    "*/plugins/platforms/*qvnc*",
    "*/plugins/platforminputcontexts/*qtvirtualkeyboard*",
    "*/plugins/platformthemes/*qgtk3*",
    "*/plugins/imageformats/*qgif*",
    "*/plugins/imageformats/*qicns*",
    "*/plugins/imageformats/*qpdf*",
    "*/plugins/imageformats/*qtga*",
    "*/plugins/imageformats/*qtiff*",
    "*/plugins/imageformats/*qwbmp*",
    "*/plugins/imageformats/*qwebp*",
    "*/plugins/qmltooling/*",
    "*/plugins/sqldrivers/*",
    "*/plugins/tls/*",
    "*Qt6EglF*",
    "*Qt6Network*",
    "*Qt6Pdf*",
    "*Qt6Qml*",
    "*Qt6Quick*",
    "*Qt6VirtualKeyboard*",
    "*/QtNetwork.*",
    # Tests and headers of other packages.
    "numpy/*/tests/*",
    "numpy/tests/*",
    "scipy/*/tests/*",
    "onnx/backend/test/*",
    "onnxruntime/tools/*",
    "*.pyi",
    "*.h",
    "*.hpp",
    "*.cuh",
    "*.pxd",
)
_LANGUAGES = ("en", "zh_CN")
_RESOURCES_LEFT_OUT = ("translations/*.ts",)
# Taken from the build system: other systems have them under other names, or lack them.
_PYTHONS_OWN = (
    "libbz2",
    "libcrypto",
    "libexpat",
    "libffi",
    "liblzma",
    "libmpdec",
    "libpython3",
    "libsqlite3",
    "libssl",
    "libuuid",
)
_SYSTEM_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")


def modules_left_out(*, with_media: bool) -> list[str]:
    """Return the excluded modules, including PyAV unless ``with_media`` (see ``freeze.py``)."""
    return [*_UNUSED_MODULES, *(() if with_media else ("av",))]


def modules(checkout: Path) -> list[str]:
    """Return all modules of the program: PyInstaller does not find those imported by name."""
    names = []
    for path in sorted((checkout / "studio").rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def resources(checkout: Path) -> Iterator[tuple[str, str]]:
    """Yield resource files and their target folders, as ``studio.paths.resources`` expects them."""
    folder = checkout / "resources"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not _matches(name.as_posix(), _RESOURCES_LEFT_OUT):
            yield str(path), str(PurePosixPath("studio", "resources", *name.parent.parts))


def belongs(name: str, source: str) -> bool:
    """Return whether the program includes the file ``source`` under ``name``."""
    name = name.replace("\\", "/")
    if _matches(name, _UNUSED_FILES) or is_left_to_system(source):
        return False
    is_qts_translation = "/translations/" in name and PurePosixPath(name).name.startswith("qt")
    if not is_qts_translation:
        return True
    return PurePosixPath(name).name in {f"qtbase_{language}.qm" for language in _LANGUAGES}


def is_left_to_system(source: str) -> bool:
    """Return whether ``source`` is a library of the build system that is not bundled."""
    path = PurePosixPath(source)
    is_of_system = any(path.is_relative_to(folder) for folder in _SYSTEM_FOLDERS)
    return is_of_system and ".so" in path.name and not path.name.startswith(_PYTHONS_OWN)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
