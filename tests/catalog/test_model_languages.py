"""Languages that a model has not learned, and the models that have."""

from __future__ import annotations

from studio.catalog.language_check import language_error, models_speaking, unlearned_language

CHINESE = "今天天气很好。"


def test_only_known_models_are_restricted() -> None:
    assert unlearned_language("studio-mini", CHINESE) == "zh"
    assert unlearned_language("studio-mini", "Good morning.") is None
    assert unlearned_language("CosyVoice2-0.5B", CHINESE) is None
    assert unlearned_language("a model of my own", CHINESE) is None


def test_the_error_names_the_languages_of_the_model() -> None:
    assert str(language_error("studio-mini").problem) == "studio-mini speaks English only."
    message = str(language_error("CosyVoice2-0.5B").problem)
    assert message == "CosyVoice2-0.5B speaks Chinese, English, Japanese, Korean only."


def test_models_that_speak_all_languages() -> None:
    names = [model.name for model in models_speaking(["zh"])]
    assert names == ["Fun-CosyVoice3-0.5B-2512", "CosyVoice2-0.5B", "CosyVoice-300M"]
    assert [model.name for model in models_speaking(["zh", "ru"])] == ["Fun-CosyVoice3-0.5B-2512"]
    assert models_speaking(["ar"]) == ()
