"""Detection of a Chinese system by its locale or time zone."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.system import region


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "en_US.UTF-8")
    monkeypatch.setattr("locale.getlocale", lambda: ("en_US", "UTF-8"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("TZ", "Europe/Berlin")


def test_another_system_is_not_chinese() -> None:
    assert not region.is_in_china()


@pytest.mark.parametrize(
    ("name", "value"), [("LANG", "zh_CN.UTF-8"), ("LC_ALL", "zh_CN.UTF-8"), ("TZ", "Asia/Shanghai")]
)
def test_locale_and_time_zone_of_china(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert region.is_in_china()


def test_the_time_zone_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    zone = tmp_path / "zoneinfo" / "Asia" / "Shanghai"
    zone.parent.mkdir(parents=True)
    zone.write_bytes(b"TZif")
    monkeypatch.delenv("TZ")
    monkeypatch.setattr(region, "_LOCAL_TIME", zone)
    assert region.is_in_china()
    monkeypatch.setattr(region, "_LOCAL_TIME", tmp_path / "missing")
    assert not region.is_in_china()


def test_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("time.tzname", ("China Standard Time", "China Daylight Time"))
    assert region.is_in_china()
    monkeypatch.setattr("time.tzname", ("W. Europe Standard Time", ""))
    monkeypatch.setattr("locale.getlocale", lambda: ("Chinese (Simplified)_China", "936"))
    assert region.is_in_china()
