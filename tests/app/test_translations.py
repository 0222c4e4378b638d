"""Every interface text is translated with all its placeholders."""

from __future__ import annotations

import errno
import importlib.util
import pickle
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from studio.app.error_text import error_message, error_remedy, format_error
from studio.app.models.model_text import progress_text
from studio.app.translation import join_clauses, use_language, with_label
from studio.audio.encoding import encoding_named
from studio.catalog.language_check import language_error
from studio.catalog.progress import Phase, Progress
from studio.errors import CannotWrite, UnusableSetting, from_record
from studio.settings import EXPORT_TRUE_PEAK

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", CHECKOUT / "packaging" / "translations.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_text_is_translated_and_compiled(translations: ModuleType, language: str) -> None:
    assert translations.find_faults(language) == []


@pytest.fixture
def chinese(qapp: Any) -> Any:
    use_language(qapp, QLocale("zh_CN"))
    yield
    use_language(qapp, QLocale("en_US"))


def test_the_window_is_in_chinese(bench: Any, qapp: Any) -> None:
    use_language(qapp, QLocale("zh_CN"))
    window = bench.open_window()
    assert window.actions_by_id["speak.line"].text() == "生成此行"
    assert window.docks.voices.windowTitle() == "音色"


def test_phrases_are_joined_with_the_comma_of_the_language(qapp: Any, chinese: None) -> None:
    progress = Progress(Phase.RECEIVING, bytes_per_second=2e6, remaining_seconds=30)
    assert progress_text(progress) == "2.00 MB/秒，还需 30 秒"
    use_language(qapp, QLocale("en_US"))
    assert progress_text(progress) == "2.00 MB/s, 30 s left"


def test_names_of_languages_are_joined_with_the_chinese_comma(qapp: Any, chinese: None) -> None:
    error = language_error("CosyVoice2-0.5B")
    assert error_message(error) == "CosyVoice2-0.5B 仅支持中文、英语、日语、韩语。"


def test_no_ascii_punctuation_stands_between_chinese_characters() -> None:
    """Qt needs the parentheses of file filters and of keys, such as 文件(&F)."""
    file = ElementTree.parse(CHECKOUT / "resources" / "translations" / "studio_zh_CN.ts")
    texts = ["".join(each.itertext()) for each in file.iter("translation")]
    wrong = re.compile(
        r"(?<=[\u4e00-\u9fff}”）])(?:[,:;!?](?!\d)|\.(?!\w)| ?\((?!&|\*|\{patterns))|[,:;!?)] ?(?=[\u4e00-\u9fff（“])"
    )
    assert [
        text for text in texts if wrong.search(re.sub(r"\(&\w\)|\{\w*[:.,]\w*\}|\{\{field\}:\{spec\}\}", "", text))
    ] == []


def test_texts_are_joined_with_the_punctuation_of_the_language() -> None:
    """An f-string or a join with a colon or comma would put half-width punctuation into Chinese texts."""
    joint = re.compile(r"""\}(?:[:;,]|\.) \{|"(?:, |: |; |\. )"(?:\.join| \+)|\+=? "(?:, |: |; |\. )"|f"\{\w+\} \(\{""")
    is_translated = re.compile(
        r"\b(?:self\.tr|_tr|_T|translate|QT_TRANSLATE_NOOP|message|_log\.\w+)\(|^\s*\"[A-Z]\w*\", \""
    )
    found = [
        f"{path.relative_to(CHECKOUT)}: {line.strip()}"
        for path in sorted((CHECKOUT / "studio" / "app").rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if joint.search(line) and not is_translated.search(line)
    ]
    assert found == []


def test_a_tool_tip_has_the_colon_of_the_language(qapp: Any, chinese: None) -> None:
    assert with_label("已就绪", "没有问题") == "已就绪：没有问题"
    assert join_clauses(("第 1 行", "已锁定")) == "第 1 行。已锁定"


def test_the_file_dialog_of_qt_is_translated(qapp: Any, chinese: None) -> None:
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    shown = [*dialog.findChildren(QLabel), *dialog.findChildren(QPushButton)]
    assert [each.text() for each in shown if each.text().isascii() and each.text()] == []
    assert {"查找范围(&L)：", "文件类型(&T)："} < {each.text() for each in shown}
    dialog.close()


def test_an_error_is_translated(qapp: Any, chinese: None) -> None:
    denied = PermissionError(errno.EACCES, "Permission denied")
    error = CannotWrite(
        "{path} cannot be written ({reason}).", remedy="Choose another folder.", path="a/{b}.wav", reason=denied
    )
    assert format_error(error) == "无法写入 a/{b}.wav（没有权限）。请选择其他文件夹。"
    assert (error_message(error), error_remedy(error)) == ("无法写入 a/{b}.wav（没有权限）。", "请选择其他文件夹。")
    use_language(qapp, QLocale("en_US"))
    assert format_error(error) == "a/{b}.wav cannot be written (permission denied). Choose another folder."


def test_an_error_of_the_worker_is_translated(chinese: None) -> None:
    error = UnusableSetting("A speed of {speed:g} is not possible.", speed=2.5)
    copy = from_record(pickle.loads(pickle.dumps(error.to_record())))
    assert format_error(copy) == "语速不能设为 2.5。"


def test_an_error_about_a_setting_uses_its_translated_title(chinese: None) -> None:
    with pytest.raises(UnusableSetting) as caught:
        EXPORT_TRUE_PEAK.checked("loud")
    assert format_error(caught.value) == "'loud' 不是“真峰值上限”的有效值。请选择 -20 到 0。"


def test_a_suggestion_is_part_of_the_sentence(chinese: None) -> None:
    with pytest.raises(UnusableSetting) as caught:
        encoding_named("flac2")
    assert format_error(caught.value).startswith(
        "“flac2”不是支持的音频格式。是否是指 flac24 或 flac16？请选择以下之一："
    )
