"""Detection of systems set up for mainland China, where some servers are slow or blocked."""

from __future__ import annotations

import locale
import os
import sys
import time
from pathlib import Path

_TIME_ZONES = frozenset(
    ("Asia/Shanghai", "Asia/Chongqing", "Asia/Chungking", "Asia/Harbin", "Asia/Urumqi", "Asia/Kashgar", "PRC")
)
_WINDOWS_TIME_ZONES = frozenset(("China Standard Time", "中国标准时间"))
_LOCALES = ("zh_CN", "zh-CN", "zh_Hans_CN", "Chinese (Simplified)", "Chinese_China")
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_LOCAL_TIME = Path("/etc/localtime")
_ZONE_FILES = "zoneinfo/"


def is_in_china() -> bool:
    """Return whether this computer has the locale or the time zone of mainland China."""
    names = [locale.getlocale()[0] or "", *(os.environ.get(name, "") for name in _LOCALE_VARIABLES)]
    return any(name.startswith(_LOCALES) for name in names) or _time_zone() in _TIME_ZONES | _WINDOWS_TIME_ZONES


def _time_zone() -> str:
    """Return the name of the time zone; empty if it is unknown."""
    if sys.platform == "win32":
        return time.tzname[0]
    chosen = os.environ.get("TZ", "").removeprefix(":")
    if chosen:
        return chosen
    try:
        return str(_LOCAL_TIME.resolve(strict=True)).partition(_ZONE_FILES)[2]
    except OSError:
        return ""
