"""Contrast of both themes, and existence of every icon."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDateEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QStyle,
    QStyleOptionButton,
)
from pytestqt.qtbot import QtBot

from studio import paths
from studio.app.actions import SPECS
from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.theme.colors import DARK, LIGHT, ThemeColors, is_dark, make_palette, mixed, theme_colors
from studio.app.theme.fonts import TextSize, interface_font, text_font
from studio.app.theme.icons import icon
from studio.app.theme.sizes import SPACINGS
from studio.app.theme.style_sheet import style_sheet
from studio.app.theme.voice_colors import DARK_VOICES, LIGHT_VOICES, voice_color, voice_ground

HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
APP = Path(__file__).resolve().parents[2] / "studio" / "app"


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's ratio, 1 to 21."""

    def luminance(name: str) -> float:
        colour = QColor(name)
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


BOTH = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
GROUNDS = ("ground", "surface", "raised", "selection")


@BOTH
@pytest.mark.parametrize("ink", ["ink", "quiet", "accent", "good", "warn", "bad", "busy"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_text_colours_have_enough_contrast(colors: ThemeColors, ink: str, ground: str) -> None:
    assert contrast(getattr(colors, ink), getattr(colors, ground)) >= 4.5


@BOTH
def test_the_primary_button_and_marked_text_have_enough_contrast(colors: ThemeColors) -> None:
    assert contrast(colors.on_accent, colors.accent) >= 4.5
    for share in (0.12, 0.24):  # hovered and pressed
        assert contrast(colors.on_accent, mixed(colors.ink, colors.accent, share)) >= 4.5
    assert contrast(colors.ink, colors.marked) >= 4.5
    assert contrast(colors.ink, colors.found) >= 4.5


@BOTH
def test_the_text_of_a_progress_bar_is_readable_on_its_chunk(colors: ThemeColors, qapp: QApplication) -> None:
    bar = QProgressBar(maximum=100, value=100, format="")
    bar.setStyleSheet(style_sheet(colors, is_dark=colors is DARK))
    bar.resize(200, 24)
    chunk = bar.grab().toImage().pixelColor(100, 12).name()
    assert contrast(colors.ink, chunk) >= 4.5


@BOTH
def test_waveforms_and_focus_rings_stand_out_from_their_ground(colors: ThemeColors) -> None:
    """WCAG asks for a ratio of 3 for what is not text."""
    assert contrast(colors.faint, colors.surface) >= 3
    for ground in GROUNDS:
        assert contrast(colors.accent, getattr(colors, ground)) >= 3


@BOTH
def test_a_selected_row_is_a_tint_of_the_accent(colors: ThemeColors) -> None:
    tints = {mixed(colors.accent, colors.surface, share / 100) for share in range(14, 21)}
    assert colors.selection in tints
    palette = make_palette(colors)
    assert palette.color(QPalette.ColorRole.Highlight).name() == colors.selection
    assert palette.color(QPalette.ColorRole.HighlightedText).name() == colors.ink


@pytest.mark.parametrize(("colors", "voices"), [(LIGHT, LIGHT_VOICES), (DARK, DARK_VOICES)], ids=["light", "dark"])
def test_voice_colours_are_readable(colors: ThemeColors, voices: tuple[str, ...]) -> None:
    assert len(set(voices)) == len(LIGHT_VOICES) >= 8
    for colour in voices:
        for ground in GROUNDS:
            assert contrast(colour, getattr(colors, ground)) >= 4.5, (colour, ground)


@BOTH
def test_the_initial_of_a_voice_is_readable(colors: ThemeColors, qapp: Any) -> None:
    palette = make_palette(colors)
    for number in range(50):
        name = f"Voice {number}"
        assert contrast(voice_color(name, palette).name(), voice_ground(name, palette).name()) >= 4.5


@pytest.mark.slow
def test_a_voice_keeps_its_colour(qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    assert voice_color("Anna") == voice_color("  ANNA ")
    assert voice_color("Anna").name() in LIGHT_VOICES
    assert len({voice_color(name).name() for name in ("Anna", "Bert", "Old Tom", "小梅", "Martha")}) >= 3
    place = LIGHT_VOICES.index(voice_color("Anna").name())
    apply_theme(qapp, Appearance.DARK)
    assert DARK_VOICES.index(voice_color("Anna").name()) == place


def test_text_sizes_follow_the_font_of_the_application(qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    sizes = [QFontInfo(text_font(size)).pixelSize() for size in TextSize]
    assert sizes == sorted(set(sizes))
    assert sizes[1] >= 13
    before = qapp.font()
    doubled = QFont(before)
    doubled.setPointSizeF(2 * before.pointSizeF())
    qapp.setFont(doubled)
    try:
        assert [QFontInfo(text_font(size)).pixelSize() for size in TextSize] == pytest.approx(
            [2 * pixels for pixels in sizes], abs=1
        )
    finally:
        qapp.setFont(before)


def test_chinese_text_has_a_font_and_latin_text_keeps_its_own(qapp: QApplication) -> None:
    before = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).family()
    apply_theme(qapp, Appearance.LIGHT)
    assert len(qapp.font().families()) > 1
    assert QFontInfo(qapp.font()).family() == before
    assert qapp.font().pointSizeF() > 0


def test_a_palette_identifies_its_theme(qapp: Any) -> None:
    assert theme_colors(make_palette(DARK)) is DARK
    assert theme_colors(make_palette(LIGHT)) is LIGHT


@pytest.mark.slow
def test_the_window_changes_its_colours_while_it_is_open(qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.DARK)
    assert is_dark(qapp.palette())
    before = icon("speak").pixmap(QSize(32, 32)).toImage()
    apply_theme(qapp, Appearance.LIGHT)
    assert not is_dark(qapp.palette())
    assert icon("speak").pixmap(QSize(32, 32)).toImage() != before


def test_icons_are_sharp_at_any_size(qapp: Any) -> None:
    for side in (16, 32, 64):
        image = icon("play").pixmap(QSize(side, side)).toImage()
        assert image.width() == side
        assert any(image.pixelColor(x, side // 2).alpha() == 255 for x in range(side))


def test_a_disabled_icon_is_paler(qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    from PySide6.QtGui import QIcon

    plain = icon("play").pixmap(QSize(16, 16)).toImage().pixelColor(8, 8)
    pale = icon("play").pixmap(QSize(16, 16), QIcon.Mode.Disabled).toImage().pixelColor(8, 8)
    assert pale.lightness() > plain.lightness()
    assert pale == qapp.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)


def named_icons() -> set[str]:
    """Every icon the code asks for by a plain name."""
    names = {spec.icon for spec in SPECS if spec.icon}
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_icon = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "icon"
            if is_icon and node.args and isinstance(node.args[0], ast.Constant):
                names.add(node.args[0].value)
    return names


@pytest.mark.slow
def test_every_used_icon_exists(qapp: Any) -> None:
    there = {path.stem for path in (paths.resources() / "icons").glob("*.svg")}
    assert named_icons() - there == set()
    for name in there:
        image = icon(name).pixmap(QSize(24, 24)).toImage()
        assert any(image.pixelColor(x, y).alpha() > 128 for x in range(24) for y in range(24)), name


def test_icons_use_the_text_colour() -> None:
    for path in (paths.resources() / "icons").glob("*.svg"):
        assert "currentColor" in path.read_text("utf-8"), path.name


def test_dialog_buttons_have_no_icons(qapp: QApplication) -> None:
    """Fusion's own pictures are of another time than the icons of the window."""
    apply_theme(qapp, Appearance.LIGHT)
    assert "dialogbuttonbox-buttons-have-icons: 0" in qapp.styleSheet(), "a test without a screen has no such pictures"


def test_no_frame_has_a_box_to_check() -> None:
    """Fusion cuts off the upper edge of such a box, and draws an empty frame around nothing."""
    with_frames = [path for path in APP.rglob("*.py") if "QGroupBox(" in path.read_text("utf-8")]
    assert with_frames
    assert [path.name for path in with_frames if "setCheckable" in path.read_text("utf-8")] == []


def test_latin_text_uses_the_system_font_and_not_a_chinese_one(qapp: QApplication) -> None:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font = interface_font()
    assert font.families()[0] == QFontInfo(system).family()
    assert len(font.families()) > 1


@pytest.mark.slow
@pytest.mark.parametrize("num_separators", [0, 5])
def test_a_list_of_choices_shows_all_its_entries(qapp: QApplication, qtbot: QtBot, num_separators: int) -> None:
    """Qt may keep an arrow over the last entry, although all entries fit."""
    apply_theme(qapp, Appearance.LIGHT)
    box = QComboBox()
    for number in range(13):
        box.addItem(f"Entry {number}")
        if number < num_separators:
            box.insertSeparator(box.count())
    box.setCurrentIndex(2)
    qtbot.addWidget(box)
    box.show()
    box.showPopup()
    view = box.view()
    qtbot.waitUntil(view.isVisible)
    rows = [view.visualRect(box.model().index(row, 0)) for row in range(box.count())]
    assert view.viewport().rect().contains(rows[0])
    assert view.viewport().rect().contains(rows[-1])


def test_the_arrow_of_a_date_is_drawn_without_a_bevel(qapp: QApplication, qtbot: QtBot) -> None:
    """The basic style of style sheets draws a raised button, whose edges are darker than any text here."""
    apply_theme(qapp, Appearance.LIGHT)
    field = QDateEdit(calendarPopup=True)
    field.setEnabled(False)
    qtbot.addWidget(field)
    field.resize(200, field.sizeHint().height())
    field.show()
    picture = field.grab().toImage()
    right = range(picture.width() - 24, picture.width())
    darkest = min(picture.pixelColor(x, y).lightness() for x in right for y in range(picture.height()))
    assert darkest >= QColor(LIGHT.quiet).lightness() - 10


@pytest.mark.parametrize("appearance", [Appearance.LIGHT, Appearance.DARK])
def test_check_boxes_in_lists_stand_out(qapp: QApplication, qtbot: QtBot, appearance: Appearance) -> None:
    apply_theme(qapp, appearance)
    boxes = QListWidget()
    item = QListWidgetItem("", boxes)
    item.setCheckState(Qt.CheckState.Unchecked)
    qtbot.addWidget(boxes)
    boxes.show()
    area = boxes.visualItemRect(item).adjusted(0, 0, 40 - boxes.visualItemRect(item).width(), 0)
    picture = boxes.viewport().grab(area).toImage()
    colors = theme_colors(boxes.palette())
    drawn = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert max(contrast(each, colors.surface) for each in drawn) >= 3


def test_the_focus_ring_of_a_check_box_is_not_cut_off(qapp: QApplication, qtbot: QtBot) -> None:
    """With the focus, the box was two pixels larger, so a low row cut it off."""
    apply_theme(qapp, Appearance.LIGHT)
    box = QCheckBox("x")
    qtbot.addWidget(box)
    box.setFixedHeight(16)
    box.show()
    option = QStyleOptionButton()
    box.initStyleOption(option)
    sizes = []
    for state in (QStyle.StateFlag.State_None, QStyle.StateFlag.State_HasFocus):
        option.state = QStyle.StateFlag.State_Enabled | state
        sizes.append(box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box).size())
    assert sizes[0] == sizes[1] == QSize(16, 16)


def test_no_two_actions_or_states_are_alike() -> None:
    """Lines and takes are removed with the same icon; every other icon of the menus has one meaning."""
    used = [spec.icon for spec in SPECS if spec.icon and spec.icon != "remove"]
    assert len(used) == len(set(used)), sorted(name for name in used if used.count(name) > 1)
    drawings = [path.read_text("utf-8") for path in (paths.resources() / "icons").glob("state-*.svg")]
    assert len(drawings) == len(set(drawings))


def test_fonts_colours_and_spacings_outside_the_theme_are_tokens() -> None:
    """Sizes of type, colours and distances come from the theme, so that pages look alike."""
    faults = []
    for path in sorted(APP.rglob("*.py")):
        if "theme" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            numbers: list[ast.expr] = []
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if name in ("setPointSize", "setPointSizeF", "setPixelSize"):
                    faults.append(f"{path.name}:{node.lineno}: {name}")
                if name in ("setContentsMargins", "setSpacing", "setHorizontalSpacing", "setVerticalSpacing"):
                    numbers += node.args
                for keyword in node.keywords:
                    if keyword.arg in ("margins", "spacing"):
                        numbers += keyword.value.elts if isinstance(keyword.value, ast.Tuple) else [keyword.value]
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and HEX_COLOUR.fullmatch(node.value):
                faults.append(f"{path.name}:{node.lineno}: {node.value}")
            faults += [
                f"{path.name}:{number.lineno}: {number.value}"
                for number in numbers
                if isinstance(number, ast.Constant) and isinstance(number.value, int) and number.value not in SPACINGS
            ]
    assert faults == []


@pytest.mark.parametrize(
    "control",
    [
        "QPushButton",
        "QToolButton",
        "QComboBox",
        "QCheckBox::indicator",
        "QRadioButton::indicator",
        "QSlider::handle:horizontal",
    ],
)
def test_every_control_shows_that_it_is_hovered_focused_and_pressed(control: str) -> None:
    for state in ("hover", "focus", "pressed"):
        assert f"{control}:{state}" in style_sheet(LIGHT, is_dark=False)
