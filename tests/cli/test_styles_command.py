"""`timbre styles`."""

from __future__ import annotations

from terminal import Terminal

from studio.text.styles import load_styles


def test_styles_are_listed_with_the_names_of_presets(timbre: Terminal) -> None:
    styles = load_styles("cosyvoice3")
    out = timbre("styles", "--model", "noise-cosyvoice3").out
    for preset in styles.presets:
        assert f"{preset.family} " in out
    assert "[laughter]" in out


def test_each_generation_has_its_own_styles(timbre: Terminal) -> None:
    both = [timbre("styles", "--model", f"noise-{name}", "--json").json for name in ("cosyvoice2", "cosyvoice3")]
    assert [values["generation"] for values in both] == ["cosyvoice2", "cosyvoice3"]
    assert both[0]["presets"] != both[1]["presets"]
    assert {"id", "family", "label_en", "label_zh", "instruction", "grade", "note"} == set(both[0]["presets"][0])
