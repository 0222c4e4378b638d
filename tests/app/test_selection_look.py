"""Selected rows of lists in dialogs: a tint, and a bar at the left edge."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHeaderView,
    QListWidget,
    QStyle,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)
from pytestqt.qtbot import QtBot

from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.theme.colors import theme_colors
from studio.app.theme.sizes import SELECTION_BAR


@pytest.fixture(params=["light", "dark"])
def theme(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[None]:
    apply_theme(qapp, Appearance(request.param))
    yield
    apply_theme(qapp, Appearance("system"))


@pytest.mark.slow
def test_the_selected_row_has_a_tint_and_a_bar(qtbot: QtBot, theme: None) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    plain, tree = QListWidget(), QTreeWidget()
    plain.addItems(["one", "two"])
    tree.setRootIsDecorated(False)
    tree.setHeaderLabels(["a", "b"])
    tree.addTopLevelItems([QTreeWidgetItem(["1", "x"]), QTreeWidgetItem(["2", "y"])])
    rows = QVBoxLayout(dialog)
    rows.addWidget(plain)
    rows.addWidget(tree)
    plain.setCurrentRow(1)
    tree.setCurrentItem(tree.topLevelItem(1))
    dialog.show()
    colors = theme_colors(dialog.palette())
    for view, selected, other in (
        (plain, plain.visualItemRect(plain.item(1)), plain.visualItemRect(plain.item(0))),
        (tree, tree.visualItemRect(tree.topLevelItem(1)), tree.visualItemRect(tree.topLevelItem(0))),
    ):
        image = view.viewport().grab().toImage()
        y = selected.center().y()
        assert [image.pixelColor(x, y).name() for x in range(SELECTION_BAR)] == [colors.accent] * SELECTION_BAR
        assert image.pixelColor(view.viewport().width() - 3, y).name() == colors.selection
        assert image.pixelColor(1, other.center().y()).name() == colors.surface


@pytest.mark.parametrize("name", ["老船长", "Innkeeper"])
def test_a_first_column_that_is_sized_to_its_contents_shows_them_whole(qtbot: QtBot, theme: None, name: str) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    table = QTableWidget(1, 2, dialog)
    table.setHorizontalHeaderLabels(["a", "b"])
    table.setItem(0, 0, QTableWidgetItem(name))
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    dialog.show()
    option = QStyleOptionViewItem()
    option.initFrom(table)
    option.rect = table.visualItemRect(table.item(0, 0))
    option.features = QStyleOptionViewItem.ViewItemFeature.HasDisplay
    option.text = name
    option.viewItemPosition = QStyleOptionViewItem.ViewItemPosition.Beginning
    style = table.style()
    room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, table).width()
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, table) + 1
    assert room - 2 * margin >= option.fontMetrics.horizontalAdvance(name)
