"""Conversion of traditional characters."""

from studio.text.simplified import simplified


def test_traditional_characters_become_simplified_ones() -> None:
    assert simplified("這是價格, 5 dollars") == "这是价格, 5 dollars"
