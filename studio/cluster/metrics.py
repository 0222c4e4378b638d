"""Metrics of Ray on all nodes, together with those of the service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence

import httpx2
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

_log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 2.0


async def ray_metrics(urls: Iterable[str]) -> list[bytes]:
    """Return the metrics of each node that answers in time. ``urls`` are those of the nodes' metrics agents."""
    async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS, trust_env=False) as client:
        answers = await asyncio.gather(*(client.get(f"{url}/metrics") for url in urls), return_exceptions=True)
    texts = []
    for answer in answers:
        if isinstance(answer, BaseException):
            _log.warning("a node does not return its metrics: %r", answer)
        else:
            texts.append(answer.content)
    return texts


def merge_metrics(texts: Sequence[bytes]) -> bytes:
    """Merge metrics in Prometheus' text format. Each metric occurs once in the result, with all of its samples."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Merged(texts))
    return generate_latest(registry)


class _Merged(Collector):
    def __init__(self, texts: Sequence[bytes]) -> None:
        self._metrics: dict[str, Metric] = {}
        for text in texts:
            for metric in text_string_to_metric_families(text.decode("utf-8", "replace")):
                known = self._metrics.setdefault(metric.name, metric)
                if known is not metric:
                    known.samples += metric.samples

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics.values()
