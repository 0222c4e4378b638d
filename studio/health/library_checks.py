"""Checks of the installed libraries by their package metadata, without importing them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from studio.engines.store import EngineStore
from studio.health.check import Check, Verdict
from studio.health.machine_checks import in_gibibytes
from studio.messages import wording

_LIBRARIES = ("PySide6-Essentials", "numpy", "onnx", "huggingface_hub", "httpx2", "soundfile", "sounddevice", "wetext")
_ACCELERATORS = (
    "onnxruntime-gpu",
    "tensorrt",
    "tensorrt-cu13-bindings",
    "tensorrt-rtx-cu13-libs",
    "tensorrt-rtx-cu13-bindings",
    "vllm",
)


def check_libraries() -> Check:
    found = _versions(_LIBRARIES)
    words = wording("{versions}", versions=found) if found else wording("included in the program")
    return Check(wording("libraries"), Verdict.FINE, words)


def check_accelerators() -> Check:
    """Check the optional accelerators. Both builds of ONNX Runtime install into the same folder and collide."""
    subject, found = wording("accelerators"), _versions(_ACCELERATORS)
    if not found:
        return Check(subject, Verdict.FINE, wording("none installed"))
    if _version("onnxruntime") and _version("onnxruntime-gpu"):
        return Check(
            subject,
            Verdict.LIMITED,
            wording("onnxruntime and onnxruntime-gpu are both installed and overwrite each other"),
            wording(
                "Remove both (pip uninstall onnxruntime onnxruntime-gpu), then install one:"
                " onnxruntime-gpu for an NVIDIA GPU, otherwise onnxruntime."
            ),
        )
    return Check(subject, Verdict.FINE, wording("{versions}", versions=found))


def check_plans(store: EngineStore | None = None) -> Check:
    """Check the cache of built engines of all models."""
    store, subject = store or EngineStore(), wording("built engines")
    try:
        manifests, num_failed = store.all_manifests(), store.num_backed_off()
    except OSError:  # a folder without permission
        found = wording("{folder} is not writable", folder=store.folder)
        return Check(subject, Verdict.LIMITED, found, wording("Check its permissions."))
    good = sum(manifest.is_good for manifest in manifests)
    found = wording(
        "{good} verified, {refused} rejected, {failed} failed; {used} of at most {limit}",
        good=good,
        refused=len(manifests) - good,
        failed=num_failed,
        used=in_gibibytes(store.num_bytes()),
        limit=in_gibibytes(store.limit_bytes),
    )
    if num_failed:
        remedy = wording("`timbre engines why` explains failures, `timbre engines rebuild` tries again.")
        return Check(subject, Verdict.LIMITED, found, remedy)
    if not manifests:
        found = wording("none yet; built while the program is idle, or by `timbre engines build`")
    return Check(subject, Verdict.FINE, found)


def _versions(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {found}" for name in names if (found := _version(name)))


def _version(name: str) -> str:
    """Empty if it is not installed, or in a frozen program."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
