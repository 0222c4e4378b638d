"""Pages of memory at reserved addresses, with a driver that checks CUDA's rules."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
import torch
from cuda_memory import FakeMemoryDriver, fake_memory_driver

from studio.model import torch_device, virtual_memory
from studio.model.torch_device import RECORDING, used_memory_bytes
from studio.model.virtual_memory import AddressRange, Page, VirtualMemory, keeps_values, why_no_virtual_memory

PAGE = 1 << 16
GPU = torch.device("cuda")


@pytest.fixture
def driver_and_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeMemoryDriver, VirtualMemory]]:
    with fake_memory_driver(monkeypatch, total_bytes=20 * PAGE) as found:
        yield found


def page(memory: VirtualMemory, num_rows: int = 2) -> Page:
    allocated = memory.allocate_page(num_rows, PAGE)
    assert allocated is not None
    return allocated


def test_rows_grow_at_the_same_addresses(driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory]) -> None:
    driver, memory = driver_and_memory
    rows = AddressRange(memory, num_rows=2, num_pages=4, page_bytes=PAGE)
    words, length = rows.words, PAGE // 8
    rows.assign({0: page(memory)})
    words[:, :length] = torch.arange(length)
    rows.assign({1: page(memory), 3: page(memory)})
    words[1, length : 2 * length] = 4
    assert words.shape == (2, 4 * length)
    assert torch.equal(words[:, :length], torch.arange(length).expand(2, -1))
    assert words[1, length : 2 * length].unique().tolist() == [4]
    del words, rows
    driver.expect_all_freed()


def test_page_at_two_addresses_is_the_same_memory(driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory]) -> None:
    driver, memory = driver_and_memory
    shared, length = page(memory), PAGE // 8
    voice, line = (AddressRange(memory, 2, 2, PAGE) for _ in range(2))
    voice.assign({0: shared})
    line.assign({0: shared, 1: shared})
    voice.words[:, :length] = 3
    assert line.words.unique().tolist() == [3]
    line.assign({1: page(memory)})
    line.words[:, length:] = 8
    assert voice.words[:, :length].unique().tolist() == [3]
    del voice
    assert line.words[:, :length].unique().tolist() == [3], "the line keeps the pages"
    del shared, line
    driver.expect_all_freed()


@pytest.mark.parametrize("call", ["map", "access"])
def test_failed_mapping_leaves_the_other_pages(
    driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory], call: str
) -> None:
    driver, memory = driver_and_memory
    rows = AddressRange(memory, 2, 4, PAGE)
    rows.assign({0: page(memory), 1: page(memory)})
    rows.words[:, : PAGE // 8] = 6
    driver.failing[call] = 1  # of two rows
    with pytest.raises(RuntimeError, match="out of memory"):
        rows.assign({1: page(memory), 2: page(memory)})
    driver.failing.clear()
    assert [each is not None for each in rows.pages] == [True, False, False, False]
    assert rows.words[:, : PAGE // 8].unique().tolist() == [6]
    rows.assign({1: page(memory)})
    del rows
    driver.expect_all_freed()


def test_no_memory_for_a_page(
    driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that torch has cached is used; without any, nothing remains allocated."""
    driver, memory = driver_and_memory
    released: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: released.append(driver.total_bytes))
    pages = [page(memory, 8), page(memory, 8)]
    assert memory.allocate_page(8, PAGE) is None
    assert driver.used_bytes == 16 * PAGE
    assert len(released) == 1
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: setattr(driver, "total_bytes", 30 * PAGE))
    pages.append(page(memory, 8))
    del pages
    driver.expect_all_freed()


def test_pages_count_as_used_memory(
    driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _device: 1000)
    before = used_memory_bytes(GPU)
    allocated = page(driver_and_memory[1], 3)
    assert used_memory_bytes(GPU) == before + 3 * PAGE
    del allocated
    assert used_memory_bytes(GPU) == before


def test_nothing_is_unmapped_during_a_recording(driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory]) -> None:
    """Waiting for the GPU would end the recording. A range may be garbage-collected on the recording thread."""
    driver, memory = driver_and_memory
    rows = AddressRange(memory, 2, 1, PAGE)
    rows.assign({0: page(memory)})
    with RECORDING:
        del rows
        assert len(driver.mapped) == 2
        collecting = threading.Thread(target=gc.collect)
        collecting.start()
        collecting.join(10)
        assert not collecting.is_alive()
    allocated = page(memory)
    assert not driver.mapped, "freed at the next opportunity"
    del allocated
    driver.expect_all_freed()


def test_check_before_use(driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory]) -> None:
    driver, memory = driver_and_memory
    assert keeps_values(memory)
    driver.expect_all_freed()


@pytest.fixture
def as_gpu(
    driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory], monkeypatch: pytest.MonkeyPatch
) -> FakeMemoryDriver:
    """Open the fake driver for a GPU, whose tensors are on the processor."""
    monkeypatch.setattr(virtual_memory, "_checked", virtual_memory._checked.__wrapped__)
    monkeypatch.setattr(virtual_memory, "VirtualMemory", lambda _device: VirtualMemory(torch.device("cpu")))
    return driver_and_memory[0]


def test_driver_without_the_management(as_gpu: FakeMemoryDriver) -> None:
    as_gpu.is_supported = False
    assert why_no_virtual_memory(GPU) == "the GPU does not support it"


@pytest.mark.parametrize("call", ["create", "reserve", "map", "access"])
def test_driver_that_fails(as_gpu: FakeMemoryDriver, call: str) -> None:
    as_gpu.failing[call] = 0
    assert "memory" in why_no_virtual_memory(GPU)
    as_gpu.expect_all_freed()


def test_too_little_memory_for_the_check_is_not_remembered(
    driver_and_memory: tuple[FakeMemoryDriver, VirtualMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = driver_and_memory[0]
    monkeypatch.setattr(virtual_memory, "VirtualMemory", lambda _device: VirtualMemory(torch.device("cpu")))
    virtual_memory._checked.cache_clear()
    try:
        driver.failing["create"] = 0
        assert why_no_virtual_memory(GPU) == "not enough memory"
        driver.failing.clear()
        assert why_no_virtual_memory(GPU) == ""
    finally:
        virtual_memory._checked.cache_clear()


def test_driver_that_is_too_old(as_gpu: FakeMemoryDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(FakeMemoryDriver, "cuMemAddressReserve")
    assert "cuMemAddressReserve" in why_no_virtual_memory(GPU)


def test_driver_that_maps_other_memory(as_gpu: FakeMemoryDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    real = FakeMemoryDriver.cuMemMap

    def wrong(
        driver: FakeMemoryDriver, address: object, size: object, offset: object, handle: object, f: object
    ) -> int:
        return real(driver, address, size, offset, type(handle)(min(driver.handles)), f)  # type: ignore[call-arg]

    monkeypatch.setattr(FakeMemoryDriver, "cuMemMap", wrong)
    assert why_no_virtual_memory(GPU) == "it maps other memory"
    as_gpu.expect_all_freed()


def test_driver_that_works(as_gpu: FakeMemoryDriver) -> None:
    assert why_no_virtual_memory(GPU) == ""
    assert virtual_memory.virtual_memory(torch.device("cpu")) is None
    as_gpu.expect_all_freed()


@pytest.mark.gpu
def test_check_on_a_gpu() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    before = torch_device._other_memory[0]
    assert why_no_virtual_memory(torch.device("cuda", 0)) == ""
    assert torch_device._other_memory[0] == before
