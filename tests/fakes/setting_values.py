"""Values of settings that differ from their defaults."""

from __future__ import annotations

from typing import Any

from studio.setting_kinds import (
    BoolSetting,
    ChoiceSetting,
    IntSetting,
    NamesSetting,
    NumberSetting,
    Setting,
    StringListsSetting,
    StringsSetting,
)


def other_value(setting: Setting[Any]) -> Any:
    """Return an allowed value of ``setting`` that is not the default."""
    match setting:
        case BoolSetting():
            return not setting.default
        case IntSetting() | NumberSetting():
            return setting.low if setting.default != setting.low else setting.high
        case ChoiceSetting():
            return next(option.value for option in setting.options if option.value != setting.default)
        case StringsSetting():
            return ("a\tb", "安娜")
        case NamesSetting():
            return {"alloy": "安娜"}
        case StringListsSetting():
            return {"play.toggle": ("F7", "Ctrl+P")}
    return "安娜 {text}"
