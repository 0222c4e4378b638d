"""Inline tags of each generation (specification B5), with the degree of support by its released model."""

from __future__ import annotations

from studio.text.special_tokens import PHONES
from studio.text.tags import InlineTag, TagSet, TagSupport


def _tags(
    *, shipped: str, shipped_spans: str, experimental: str, experimental_spans: str = ""
) -> tuple[InlineTag, ...]:
    def tags(names: str, grade: TagSupport) -> tuple[InlineTag, ...]:
        return tuple(InlineTag(f"[{name}]", grade) for name in names.split())

    def span_tags(names: str, grade: TagSupport) -> tuple[InlineTag, ...]:
        return tuple(InlineTag(f"<{name}>", grade, closing=f"</{name}>") for name in names.split())

    return (
        *tags(shipped, TagSupport.SHIPPED),
        *span_tags(shipped_spans, TagSupport.SHIPPED),
        *tags(experimental, TagSupport.EXPERIMENTAL),
        *span_tags(experimental_spans, TagSupport.EXPERIMENTAL),
    )


_UNTRAINED = "cough sigh quick_breath hissing clucking lipsmack mn vocalized-noise noise accent"

COSYVOICE2_TAGS = TagSet(_tags(shipped="breath laughter", shipped_spans="laughter strong", experimental=_UNTRAINED))

COSYVOICE3_TAGS = TagSet(
    _tags(
        shipped="breath",
        shipped_spans="strong",
        experimental=f"laughter {_UNTRAINED}",
        experimental_spans="laughter",
    ),
    phones=frozenset(PHONES),
)
