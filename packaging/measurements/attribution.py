"""Measure the attribution of dialogue: the annotated passages of the tests, and the time of a novel.

    python3 packaging/measure.py attribution [--words 100000]

The intervals are Wilson's, 95 %. The rules were built with one half of the passages; the other half was held out. The
novel consists of the English passages in random order, and its time is that of the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "project" / "attribution"))

from annotated_passages import (  # type: ignore[import-not-found]  # beside the tests
    FILES,
    HALVES,
    read_passages,
    score,
    share,
)

from studio.project.full_cast import Dialogue
from studio.project.importing.blocks import Block, lines_of_blocks
from studio.project.splitting import SplitMode

_SEED = 1


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--words", type=int, default=100_000, help="length of the novel (default 100000)")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    passages = [_score(language, half) for language in FILES for half in HALVES]
    novel = _measure_novel(parsed.words)
    print(f"| {' | '.join(passages[0])} |\n|{'---|' * len(passages[0])}")
    for row in passages:
        print(f"| {' | '.join(row.values())} |")
    print("\n" + ", ".join(f"{name} {value}" for name, value in novel.items()))
    if parsed.json:
        parsed.json.write_text(json.dumps({"passages": passages, "novel": novel}, indent=1), "utf-8")
    return 0


def _score(language: str, half: str) -> dict[str, str]:
    found = score(language, half)
    return {
        "passages": f"{language}, {half}",
        "quotations found": share(found.num_found, found.num_annotated),
        "others found": str(found.num_extra),
        "speaker right": share(found.num_right, found.num_named),
        "above the limit": share(found.num_sure, found.num_named),
        "right of those": share(found.num_sure_right, found.num_sure),
    }


def _measure_novel(num_words: int) -> dict[str, float]:
    passages = [passage for name in FILES["English"] for passage in read_passages(name)]
    order = random.Random(_SEED)  # noqa: S311 - no secret
    blocks: list[Block] = []
    words = 0
    while words < num_words:
        paragraphs = order.choice(passages).paragraphs
        blocks += [Block(text) for text in paragraphs]
        words += sum(len(text.split()) for text in paragraphs)
    lines = lines_of_blocks(blocks, SplitMode.SENTENCE)
    start = time.process_time()
    dialogue = Dialogue(lines)
    attribution = dialogue.attribution()
    dialogue.divide(attribution)
    first = time.process_time()
    dialogue.attribution({0: "Martha"})
    return {
        "words": words,
        "quotations": len(attribution.quotations),
        "seconds": round(first - start, 1),
        "seconds after a correction": round(time.process_time() - first, 1),
    }
