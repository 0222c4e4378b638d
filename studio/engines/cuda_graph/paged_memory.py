"""Solver memory in pages.

The addresses for the longest line are reserved once, and pages of memory are mapped as the line grows, so nothing is
copied and recordings stay valid. The pages of a prompt belong to its voice and are mapped into the memory of each of its
lines. Where a run reads frames that a line does not have yet, a single page of zeros is mapped repeatedly.

A row of addresses belongs to one layer and has the shape (frames, steps, 2, rows, heads, head_size), so a page contains
all values of a few frames. Torch's attention accepts any strides of heads and frames. Below, a page means one page in
each row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

import torch

from studio.engines.cuda_graph.solver_memory import SolverMemory
from studio.engines.cuda_graph.solver_pools import BorrowedMemory, SolverPool
from studio.engines.library_errors import is_out_of_memory
from studio.engines.memory_plan import LINE_BLOCKS
from studio.model.flow.caches import CacheBudget, CacheLayout
from studio.model.flow.model import FlowModel
from studio.model.virtual_memory import AddressRange, Page, VirtualMemory

_Pages = Sequence[Page]


class PageLayout:
    """Sizes of the pages for one model. A page has at least one block of frames."""

    def __init__(self, layout: CacheLayout, dtype: torch.dtype, granularity: int) -> None:
        first = layout.attentions[0]
        self.dtype = dtype
        self.num_rows = len(layout.attentions)
        # Of one frame: steps, keys or values, rows, heads, channels.
        self._shape = (layout.num_steps, 2, layout.num_rows, first.num_heads, first.head_size)
        self._frame_size = layout.num_steps * 2 * layout.num_rows * first.num_heads * first.head_size
        self.frame_bytes = self._frame_size * dtype.itemsize
        self.page_bytes = -(-layout.block_frames * self.frame_bytes // granularity) * granularity
        self.num_bytes = self.num_rows * self.page_bytes

    def pages_of(self, num_frames: int) -> int:
        """Return the number of pages for ``num_frames``."""
        return -(-num_frames * self.frame_bytes // self.page_bytes)

    def states(self, memory: AddressRange) -> torch.Tensor:
        """Return all keys and values in ``memory``, (layers, steps, 2, rows, heads, frames, head_size)."""
        steps, _, rows, heads, size = self._shape
        row_size = len(memory.pages) * self.page_bytes // self.dtype.itemsize
        shape = (self.num_rows, steps, 2, rows, heads, row_size // self._frame_size, size)
        channels = heads * size
        strides = (row_size, 2 * rows * channels, rows * channels, channels, size, self._frame_size, 1)
        return memory.tensor(shape, self.dtype, strides)


class PagedState(dict[str, torch.Tensor]):
    """Keys and values of a prompt, as in ``StageCache``, in pages that lines share.

    ``shared`` are the pages that contain only frames of the prompt.
    """

    def __init__(self, layout: PageLayout, memory: AddressRange, num_frames: int) -> None:
        states = layout.states(memory)[..., :num_frames, :].transpose(0, 1)
        super().__init__(zip(("keys", "values"), states.unbind(2), strict=True))
        self.memory = memory
        self.num_bytes_per_row = num_frames * layout.frame_bytes
        pages = [page for page in memory.pages if page is not None]
        self.shared: _Pages = tuple(pages[: self.num_bytes_per_row // layout.page_bytes])


class PagedMemory(SolverMemory):
    """The solver of one line in pages: first those shared with its voice, then its own."""

    def __init__(
        self, model: FlowModel, layout: CacheLayout, pages: PageLayout, memory: VirtualMemory, zeros: Page
    ) -> None:
        longest = LINE_BLOCKS[-1] * layout.block_frames
        self._pages = pages
        self._zeros = zeros
        self._range = AddressRange(memory, pages.num_rows, pages.pages_of(longest), pages.page_bytes)
        self._shared: _Pages = ()
        self._own: set[int] = set()  # indexes of the line's own pages
        self._num_frames = 0
        states = pages.states(self._range).unbind(0)
        super().__init__(model, layout, LINE_BLOCKS[0] * layout.block_frames, pages.dtype, states)

    @property
    def num_frames(self) -> int:
        return self._num_frames

    @property
    def is_complete(self) -> bool:
        """Whether all pages that a run reads are mapped, or none of them."""
        mapped = self._range.pages[: self._pages.pages_of(self.capacity)]
        return all(mapped) or not any(mapped)

    @property
    def has_unused_prompt(self) -> bool:
        """Whether pages of a voice that has been freed are mapped here."""
        return bool(self._shared) and not self.has_any_prompt

    @property
    def num_own_pages(self) -> int:
        return len(self._own)

    def map_pages(
        self, shared: _Pages, num_frames: int, capacity: int, take_pages: Callable[[int], _Pages | None]
    ) -> bool:
        """Map the pages ``shared`` and own pages for the rest of ``num_frames``, and let runs read ``capacity`` frames.

        ``take_pages`` returns further pages, or None if there are too few; nothing then changes, and False is returned.
        Raise ``RuntimeError`` if pages cannot be mapped; the memory is then incomplete.
        """
        pages, needed = self._range.pages, self._pages.pages_of(num_frames)
        missing = [index for index in range(len(shared), needed) if index not in self._own]
        # A longer prompt displaces pages of earlier lines.
        displaced = [index for index in sorted(self._own) if index < len(shared)]
        taken = take_pages(max(0, len(missing) - len(displaced)))
        if taken is None:
            return False
        own = (*(page for index in displaced if (page := pages[index]) is not None), *taken)
        wanted: dict[int, Page] = dict(enumerate(shared)) | dict(zip(missing, own, strict=False))
        last = max(self._pages.pages_of(capacity), len(self._shared))
        kept = self._own - set(displaced)
        for index in range(last):
            if index not in wanted and index not in kept:
                wanted[index] = self._zeros
        changed = {index: page for index, page in wanted.items() if pages[index] is not page}
        if any(pages[index] is not None for index in changed):
            self.finish()
        self._own = kept
        if changed:
            self._range.assign(changed)
        if tuple(shared) != tuple(self._shared):
            self._prompt = None
        self._shared, self._own, self._num_frames = shared, kept | set(missing), num_frames
        with self._order.turn(), torch.inference_mode():
            for index in missing:
                self._zero(index * self._pages.page_bytes, (index + 1) * self._pages.page_bytes)
        self.set_capacity(capacity)
        return True

    def unmap_pages(self) -> list[Page]:
        """Unmap all pages, and return those that are not shared."""
        self.finish()
        own = [page for index in sorted(self._own) if (page := self._range.pages[index]) is not None]
        mapped: dict[int, Page | None] = {i: None for i, page in enumerate(self._range.pages) if page is not None}
        self._range.assign(mapped)
        self._shared, self._own, self._num_frames, self._prompt = (), set(), 0, None
        return own

    def _copy_prompt(self, blocks: Mapping[str, torch.Tensor]) -> None:
        """Copy the part of the prompt that is in the line's own pages."""
        if not isinstance(blocks, PagedState):
            super()._copy_prompt(blocks)
            return
        part = slice(len(self._shared) * self._pages.page_bytes // 8, blocks.num_bytes_per_row // 8)
        self._range.words[:, part].copy_(blocks.memory.words[:, part])

    def _zero_states(self) -> None:
        for index in self._own:
            self._zero(index * self._pages.page_bytes, (index + 1) * self._pages.page_bytes)

    def _zero(self, start: int, stop: int) -> None:
        self._range.words[:, start // 8 : stop // 8].zero_()


class PagedPool(SolverPool):
    """Pool of ``PagedMemory``. Free memory keeps its pages until another line needs them."""

    def __init__(
        self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget, memory: VirtualMemory
    ) -> None:
        """Raise ``RuntimeError`` if there is no memory for a single page."""
        super().__init__(model, layout, dtype, budget)
        self._memory = memory
        self._pages = PageLayout(layout, dtype, memory.granularity)
        self._zeros = self._page_of_zeros()
        self._idle: list[PagedMemory] = []  # in the order of their last use
        # Re-entrant: garbage collection may return memory while this thread borrows.
        self._lock = threading.RLock()

    def borrow(
        self, num_frames: int, prompt: Mapping[str, torch.Tensor] | None = None, *, expected_frames: int = 0
    ) -> BorrowedMemory | None:
        capacity = self._capacity_for(max(num_frames, expected_frames)) or self._capacity_for(num_frames)
        if capacity is None:
            return None
        shared = prompt.shared if isinstance(prompt, PagedState) else ()
        with self._lock:
            memory = self._take_memory(prompt)
            if memory is None or not self._map_pages(memory, shared, num_frames, capacity):
                return None
        return BorrowedMemory(self, memory)

    def grow(self, borrowed: BorrowedMemory, num_frames: int, num_used_frames: int) -> bool:  # noqa: ARG002
        """See ``SolverPool``. The line keeps its addresses."""
        memory, capacity = borrowed.memory, self._capacity_for(num_frames)
        assert isinstance(memory, PagedMemory)
        if memory.num_frames >= num_frames:
            return True
        if capacity is None:
            return False
        with self._lock:
            return self._map_pages(memory, memory._shared, num_frames, max(capacity, memory.capacity), is_in_use=True)

    def record(self, num_blocks: int) -> None:
        """See ``SolverPool``. All lengths are recorded in the same memory, which needs one page."""
        block = self._layout.block_frames
        with self._lock:
            memory = self._take_memory(None)
            if memory is None or not self._map_pages(memory, (), block, num_blocks * block):
                return
        memory.record()
        self.give_back(memory)

    def give_back(self, memory: SolverMemory) -> None:
        assert isinstance(memory, PagedMemory)
        if memory.is_complete:
            with self._lock:
                self._idle.append(memory)

    def prompt_state(self, num_frames: int) -> PagedState | None:
        """See ``SolverPool``. The pages are not part of the budget."""
        layout = self._pages
        pages: list[Page] = []
        with self._lock:
            self._unmap_unused_prompts()
            while len(pages) < layout.pages_of(num_frames):
                page = self._memory.allocate_page(layout.num_rows, layout.page_bytes)
                if page is not None:
                    pages.append(page)
                elif self._reclaim_idle_pages() is None:
                    return None
        try:
            memory = AddressRange(self._memory, layout.num_rows, len(pages), layout.page_bytes)
            memory.assign(dict(enumerate(pages)))
        except RuntimeError as error:
            if is_out_of_memory(error):
                return None
            raise
        return PagedState(layout, memory, num_frames)

    def _take_memory(self, prompt: Mapping[str, torch.Tensor] | None) -> PagedMemory | None:
        """Remove idle memory from the pool and return it, or return new memory; None if there is too little."""
        self._unmap_unused_prompts()
        found = min(self._idle, key=lambda each: (not each.has_prompt(prompt), each.has_any_prompt), default=None)
        if found is not None:
            self._idle.remove(found)
            return found
        try:
            return PagedMemory(self._model, self._layout, self._pages, self._memory, self._zeros)
        except RuntimeError as error:
            if is_out_of_memory(error):
                return None
            raise

    def _map_pages(
        self, memory: PagedMemory, shared: _Pages, num_frames: int, capacity: int, *, is_in_use: bool = False
    ) -> bool:
        try:
            is_mapped = memory.map_pages(shared, num_frames, capacity, self._take_pages)
        except RuntimeError as error:
            if is_out_of_memory(error):
                return False
            raise
        if not is_mapped and not is_in_use:
            self.give_back(memory)
        return is_mapped

    def _take_pages(self, count: int) -> list[Page] | None:
        """Return pages within the budget, if necessary from idle memory; None if there are too few."""
        pages: list[Page] = []
        while len(pages) < count:
            page = self._new_page()
            if page is not None:
                pages.append(page)
            elif (reclaimed := self._reclaim_idle_pages()) is not None:
                pages += reclaimed
            else:
                return None
        return pages[:count]

    def _new_page(self) -> Page | None:
        reservation = self._budget.reserve(self._pages.num_bytes)
        page = None if reservation is None else self._memory.allocate_page(self._pages.num_rows, self._pages.page_bytes)
        if page is not None:
            page.owner = reservation
        return page

    def _reclaim_idle_pages(self) -> list[Page] | None:
        """Unmap the least recently used idle memory that has own pages, and return them; None if there is no such memory."""
        for memory in self._idle:
            if memory.num_own_pages:
                return memory.unmap_pages()
        return None

    def _unmap_unused_prompts(self) -> None:
        """Unmap the pages of freed voices, which frees them."""
        for memory in self._idle:
            if memory.has_unused_prompt:
                memory.unmap_pages()

    def _page_of_zeros(self) -> Page:
        layout = self._pages
        page = self._memory.allocate_page(1, layout.page_bytes)
        if page is None:
            raise RuntimeError("not enough memory for a page")
        addresses = AddressRange(self._memory, 1, 1, layout.page_bytes)
        addresses.assign({0: page})
        with torch.inference_mode():
            addresses.words.zero_()
        self._memory.wait()
        return _RepeatedPage(page, layout.num_rows)


class _RepeatedPage(Page):
    """One page of physical memory, mapped in all rows."""

    def __init__(self, page: Page, num_rows: int) -> None:
        super().__init__(page._memory, list(page.handles) * num_rows, page.num_bytes)
        self.owner = page

    def __del__(self) -> None:
        """Do nothing: ``owner`` frees the memory."""
