"""Import of torch without the parts that no stage uses: ``import torch`` then takes two thirds of the time.

The parts are replaced by empty modules, which have no attributes. Engines that need the exporter are built in another
process, which imports all of torch.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import version
from types import ModuleType
from typing import Any

# Decompositions and shapes of operators for the compiler, the exporter, training data, random distributions, and
# quantisation by modules.
UNUSED_PARTS = (
    "torch._meta_registrations",
    "torch.distributions",
    "torch.export",
    "torch.masked",
    "torch.nn.intrinsic",
    "torch.nn.qat",
    "torch.nn.quantizable",
    "torch.nn.quantized",
    "torch.quantization",
    "torch.utils.data",
)
# The releases in which this is tested; others are imported as usual.
_TESTED_RELEASES = ("2.13.",)


def import_torch() -> None:
    """Import torch without ``UNUSED_PARTS``. Call before anything else imports it."""
    if not version("torch").startswith(_TESTED_RELEASES):
        return
    sys.modules.update({name: ModuleType(name, "Left out of this process.") for name in UNUSED_PARTS})
    torch: Any = importlib.import_module("torch")
    # Usually the first part does this; without it, random generators do not work.
    torch._C._set_generator_metaclass(importlib.import_module("torch._opaque_base").OpaqueBaseMeta)
