"""Imports that wait until they are needed.

``import torch`` also imports its exporter, its compiler and their operators, which takes more than a third of the time.
This program uses them only to build engines. Their modules are replaced by empty ones that import the real module when
one of its attributes is read or one of its submodules is imported.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from types import ModuleType
from typing import Any

# Modules, and the functions that torch itself imports from them. While the first ones are deferred, ``import torch``
# does not import the last seven; these are deferred as well, because they need the first ones and cannot be imported in
# every order.
TORCH_MODULES: Mapping[str, Collection[str]] = {
    "torch._higher_order_ops": ("cond", "while_loop"),
    "torch._meta_registrations": (),
    "torch.compiler": (),
    "torch.distributed._meta_registrations": (),
    "torch.export": (),
    "torch.func": ("vmap",),
    "torch.utils.data": (),
    "torch.distributions": (),
    "torch.masked": (),
    "torch.nn.attention": (),
    "torch.nn.intrinsic": (),
    "torch.nn.qat": (),
    "torch.nn.quantizable": (),
    "torch.nn.quantized": (),
    "torch.profiler": (),
    "torch.quantization": (),
    "torch._decomp": (),
    "torch._dynamo": (),
    "torch._export": (),
    "torch._inductor": (),
    "torch._prims": (),
    "torch._refs": (),
    "torch.fx.experimental.proxy_tensor": (),
}


# The releases of torch in which this is tested; another is imported as usual.
_TESTED_RELEASES = ("2.13.",)


def import_torch() -> None:
    """Import torch without ``TORCH_MODULES``."""
    if not version("torch").startswith(_TESTED_RELEASES):
        return
    defer_modules(TORCH_MODULES)
    torch: Any = importlib.import_module("torch")
    # Otherwise torch._prims sets it.
    torch._C._set_generator_metaclass(importlib.import_module("torch._opaque_base").OpaqueBaseMeta)


def defer_modules(modules: Mapping[str, Collection[str]]) -> None:
    """Import ``modules`` later. Call before the first of them is imported.

    Their values are names of functions that may be imported from the module without importing it.
    """
    sys.meta_path.insert(0, _Finder(modules))


class _Finder(MetaPathFinder, Loader):
    def __init__(self, modules: Mapping[str, Collection[str]]) -> None:
        self._functions = modules
        self._deferred: list[str] = []  # in the order in which they were imported first
        self._is_loading = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = fullname.rpartition(".")[0]
        if isinstance(sys.modules.get(package), _DeferredModule):
            self.load(package)
        if self._is_loading or fullname not in self._functions or fullname in self._deferred:
            return None
        real = PathFinder.find_spec(fullname, path)
        if real is None:
            return None
        self._deferred.append(fullname)
        deferred = ModuleSpec(fullname, self, origin=real.origin)
        deferred.submodule_search_locations = real.submodule_search_locations
        return deferred

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredModule(spec.name, self)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing; see ``load``."""

    def attribute(self, module: str, name: str) -> Any:
        """Return an attribute of the real module, or a function that imports the module when it is called."""
        if not (_is_importing(module) and name in self._functions[module]):
            return getattr(self.load(module), name)

        def call_later(*arguments: Any, **named: Any) -> Any:
            return getattr(self.load(module), name)(*arguments, **named)

        return call_later

    def load(self, name: str) -> ModuleType:
        """Import the real module. Once its package has been imported, import all deferred modules in their order.

        Reason: they register operators on which other modules depend without importing them.
        """
        if not (self._is_loading or _is_importing(name)):
            self._is_loading = True
            for deferred in self._deferred:
                _import(deferred)
        return _import(name)


def _is_importing(name: str) -> bool:
    """Return whether the package of ``name`` is being imported."""
    return bool(getattr(sys.modules[name.partition(".")[0]].__spec__, "_initializing", False))


def _import(name: str) -> ModuleType:
    if isinstance(sys.modules.get(name), _DeferredModule):
        sys.modules.pop(name, None)
    return importlib.import_module(name)


class _DeferredModule(ModuleType):
    def __init__(self, name: str, finder: _Finder) -> None:
        super().__init__(name)
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system and by ``inspect``
            raise AttributeError(name)
        return self._finder.attribute(self.__name__, name)
