"""Creation of long-lived objects without garbage collection."""

from __future__ import annotations

import gc

import pytest

from studio.system.garbage import without_collections


@pytest.mark.parametrize("was_enabled", [True, False])
def test_objects_of_the_block_are_never_examined(was_enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_enabled else gc.disable)()
        with without_collections():
            assert not gc.isenabled()
            kept = [[number] for number in range(1000)]
        assert gc.isenabled() is was_enabled, "the window collects garbage itself"
        assert not any(each is kept for each in gc.get_objects())
    finally:
        gc.unfreeze()
        (gc.enable if before else gc.disable)()
