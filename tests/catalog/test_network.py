"""Speed, remaining time and retry delays."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from studio.catalog.network import RetryPolicy, retry_after, unreachable
from studio.catalog.progress import Phase, Progress, SpeedMeter
from studio.catalog.sources import SourceKind, choose_endpoint
from studio.errors import UnusableSetting


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_speed_is_unknown_for_the_first_seconds() -> None:
    clock = Clock()
    meter = SpeedMeter(clock)
    meter.restart()
    clock.now += 0.5
    meter.add(5_000_000)
    assert meter.bytes_per_second is None
    assert meter.remaining_seconds(1000) is None
    clock.now += 2.0
    meter.add(5_000_000)
    assert meter.bytes_per_second == pytest.approx(4_000_000)
    assert meter.remaining_seconds(8_000_000) == pytest.approx(2.0)


def test_speed_is_a_recent_average_without_pauses() -> None:
    clock = Clock()
    meter = SpeedMeter(clock)
    meter.restart()
    for _ in range(60):
        clock.now += 1
        meter.add(1000)
    for _ in range(60):
        clock.now += 1
        meter.add(10)
    assert meter.bytes_per_second == pytest.approx(10)
    clock.now += 3600
    meter.restart()
    clock.now += 3
    meter.add(30)
    assert meter.bytes_per_second == pytest.approx(10)


def test_the_share_of_an_unknown_total_is_none() -> None:
    assert Progress(Phase.LISTING).share is None
    assert Progress(Phase.RECEIVING, done_bytes=1, total_bytes=4).share == 0.25


def test_retry_delays_grow_reset_after_success_and_end() -> None:
    patience = RetryPolicy(1.0)
    assert [patience.next_delay_seconds() for _ in range(7)] == [1, 2, 4, 8, 16, 32, None]
    patience.reset()
    assert patience.next_delay_seconds() == 1
    assert patience.next_delay_seconds(30.0) == 30
    assert patience.next_delay_seconds(1e9) == 60


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after({"Retry-After": "12"}) == 12
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < (retry_after({"Retry-After": soon}) or 0) <= 60
    assert retry_after({}) is None
    assert RetryPolicy().next_delay_seconds(retry_after({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"})) == 60
    assert RetryPolicy().next_delay_seconds(retry_after({"Retry-After": "nan"})) == 1
    assert retry_after({"Retry-After": "Fri, 31 Dec 9999 23:59:59 -9999"}) is None
    assert retry_after({"Retry-After": "soon"}) is None


def test_an_untrusted_certificate_is_reported() -> None:
    error = httpx2.ConnectError("handshake")
    error.__cause__ = ssl.SSLCertVerificationError(1, "self-signed certificate")
    assert "certificate that this computer does not trust (" in str(unreachable("hub.example", error))


def test_the_endpoint_is_chosen_or_from_the_environment_or_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert choose_endpoint(SourceKind.HUGGING_FACE) == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://hf-mirror.com/")
    assert choose_endpoint(SourceKind.HUGGING_FACE) == "https://hf-mirror.com"
    assert choose_endpoint(SourceKind.HUGGING_FACE, "http://localhost:8080/hf") == "http://localhost:8080/hf"
    for wrong in ("modelscope", "http://[::1", "http://mirror:port", "http://mirror:99999", "http://my mirror"):
        with pytest.raises(UnusableSetting):
            choose_endpoint(SourceKind.MODEL_SCOPE, wrong)
