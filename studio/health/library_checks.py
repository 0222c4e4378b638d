"""The libraries that are installed beside the program, by what their packages say of themselves; nothing is loaded."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from studio.engines.store import EngineStore
from studio.health.check import Check, Verdict
from studio.health.machine_checks import in_gibibytes
from studio.wording import wording

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
    words = wording("{versions}", versions=found) if found else wording("part of the program")
    return Check(wording("libraries"), Verdict.FINE, words)


def check_accelerators() -> Check:
    """Both builds of ONNX Runtime lie in one folder: whichever came last has overwritten parts of the other."""
    subject, found = wording("accelerators"), _versions(_ACCELERATORS)
    if not found:
        return Check(subject, Verdict.FINE, wording("none installed"))
    if _version("onnxruntime") and _version("onnxruntime-gpu"):
        return Check(
            subject,
            Verdict.LIMITED,
            wording("onnxruntime and onnxruntime-gpu are both installed, and overwrite each other"),
            wording(
                "Take both away (pip uninstall onnxruntime onnxruntime-gpu), then install the one that is wanted:"
                " onnxruntime-gpu for an NVIDIA card, else onnxruntime."
            ),
        )
    return Check(subject, Verdict.FINE, wording("{versions}", versions=found))


def check_plans(store: EngineStore | None = None) -> Check:
    """What was built for this machine: how many, how proven, how large; of all models."""
    store, subject = store or EngineStore(), wording("engine plans")
    try:
        manifests, resting = store.all_manifests(), store.num_backed_off()
    except OSError:  # a folder that nobody may look into
        found = wording("{folder} cannot be written to", folder=store.folder)
        return Check(subject, Verdict.LIMITED, found, wording("Check its permissions."))
    good = sum(manifest.is_good for manifest in manifests)
    found = wording(
        "{good} proven, {refused} refused, {resting} given up; {used} of at most {limit}",
        good=good,
        refused=len(manifests) - good,
        resting=resting,
        used=in_gibibytes(store.num_bytes()),
        limit=in_gibibytes(store.limit_bytes),
    )
    if resting:
        remedy = wording("`timbre engines why` says what happened, `timbre engines rebuild` tries again.")
        return Check(subject, Verdict.LIMITED, found, remedy)
    if not manifests:
        found = wording("none yet: they are made while nobody speaks, or by `timbre engines build`")
    return Check(subject, Verdict.FINE, found)


def _versions(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {found}" for name in names if (found := _version(name)))


def _version(name: str) -> str:
    """Empty where it is not installed; a program of an installer has few of them."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
