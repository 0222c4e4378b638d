"""What belongs into the frozen program, and what PyInstaller finds besides. Knows names only, nothing of PyInstaller.

Decided: shared libraries of the Linux that builds stay out, but for those that Python itself was built with.
Because: a desktop's graphics drivers want the C++ library of their own system, and the sound of a system is
reached through its own PortAudio and ALSA. Instead of: taking along what happens to be installed here, and
answering for its security. What stays out is a dependency of the package (``linux_libraries.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

# Libraries that some import somewhere could use, and that the program does not.
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
    # torch: for building extensions, and its own tests. It does not start without torch_shm_manager and torch.testing.
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
    # Qt: what no widget of ours asks for.
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
    # Tests and headers of everybody else.
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
_RESOURCES_LEFT_OUT = ("screenshots/*", "translations/*.ts")
# As files of the build's own Linux; others have them under other names, or not at all.
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
    """PyAV among them even where it is installed: packages that hold it cannot be passed on (``freeze.py``)."""
    return [*_UNUSED_MODULES, *(() if with_media else ("av",))]


def rooms(house: Path) -> list[str]:
    """Every module of the program: some are imported by a name only, and PyInstaller cannot know."""
    names = []
    for path in sorted((house / "studio").rglob("*.py")):
        parts = path.relative_to(house).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def resources(house: Path) -> Iterator[tuple[str, str]]:
    """Files and the folders they go to, where ``studio.paths.resources`` looks."""
    folder = house / "resources"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not _matches(name.as_posix(), _RESOURCES_LEFT_OUT):
            yield str(path), str(PurePosixPath("studio", "resources", *name.parent.parts))


def belongs(name: str, source: str) -> bool:
    """Whether the file ``source`` is to be part of the program, under ``name``."""
    name = name.replace("\\", "/")
    if _matches(name, _UNUSED_FILES) or is_left_to_system(source):
        return False
    is_qts_translation = "/translations/" in name and PurePosixPath(name).name.startswith("qt")
    if not is_qts_translation:
        return True
    return PurePosixPath(name).name in {f"qtbase_{language}.qm" for language in _LANGUAGES}


def is_left_to_system(source: str) -> bool:
    """A library of the Linux that builds, not of a package of Python's."""
    path = PurePosixPath(source)
    is_of_system = any(path.is_relative_to(folder) for folder in _SYSTEM_FOLDERS)
    return is_of_system and ".so" in path.name and not path.name.startswith(_PYTHONS_OWN)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
