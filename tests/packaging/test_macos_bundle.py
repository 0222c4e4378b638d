"""The macOS build files are consistent; not run on a Mac."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path

from installer_scripts import PACKAGING, build_script
from macos.bundle import APP_NAME, ENTITLEMENTS, HERE, IDENTIFIER, LOCALISATIONS, info_plist

import studio
from studio.app.documents import PROJECT_SUFFIX
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX

SPECIFICATION = (PACKAGING / "frozen" / "timbre.spec").read_text("utf-8")
build = build_script("macos")


def test_it_says_that_nobody_has_run_it() -> None:
    for name in ("Info.plist", "entitlements.plist", "build.py", "__init__.py"):
        assert "NOT RUN YET" in (HERE / name).read_text("utf-8")[:600], name


def test_the_bundle_says_which_program_and_version_it_is() -> None:
    info = info_plist("1.2.3")
    assert info["CFBundleShortVersionString"] == info["CFBundleVersion"] == "1.2.3"
    assert f'program("{info["CFBundleExecutable"]}"' in SPECIFICATION
    assert info["LSBackgroundOnly"] is False, "PyInstaller says otherwise, for there is a program for terminals inside"
    assert re.fullmatch(r"[A-Za-z0-9.-]+", IDENTIFIER)
    assert build.version() == studio.__version__
    assert "info_plist(studio.__version__)" in SPECIFICATION


def test_the_microphone_is_asked_for_with_a_sentence_in_both_languages() -> None:
    assert "records" in info_plist("1")["NSMicrophoneUsageDescription"]
    assert plistlib.loads(ENTITLEMENTS.read_bytes())["com.apple.security.device.audio-input"] is True
    for folder in LOCALISATIONS:
        strings = (HERE / folder / "InfoPlist.strings").read_text("utf-8")
        keys = re.findall(r'^"([^"]+)" = ".+";$', strings, re.MULTILINE)
        assert "NSMicrophoneUsageDescription" in keys
        names = {kind["CFBundleTypeName"] for kind in info_plist("1")["CFBundleDocumentTypes"]}
        assert names <= set(keys)
        assert folder.removesuffix(".lproj") in info_plist("1")["CFBundleLocalizations"]


def test_it_does_not_start_on_a_macos_that_its_libraries_are_too_new_for() -> None:
    """The wheels of PyTorch 2.13 and ONNX Runtime 1.31 are made for macOS 14."""
    assert int(info_plist("1")["LSMinimumSystemVersion"].partition(".")[0]) >= 14


def test_scripts_and_voices_are_its_documents() -> None:
    info = info_plist("1")
    declared = {
        one["UTTypeIdentifier"]: one["UTTypeTagSpecification"]["public.filename-extension"]
        for one in info["UTExportedTypeDeclarations"]
    }
    opened = [identifier for kind in info["CFBundleDocumentTypes"] for identifier in kind["LSItemContentTypes"]]
    assert set(opened) == set(declared)
    suffixes = {f".{suffix}" for extensions in declared.values() for suffix in extensions}
    assert suffixes == {PROJECT_SUFFIX, VOICE_SUFFIX}
    mime = (PACKAGING / "frozen" / "linux" / "timbre-studio.mime.xml").read_text("utf-8")
    for one in info["UTExportedTypeDeclarations"]:
        assert f'type="{one["UTTypeTagSpecification"]["public.mime-type"]}"' in mime, "the same on every system"


def test_nothing_is_added_after_it_was_sealed(tmp_path: Path) -> None:
    app, notices = tmp_path / APP_NAME, tmp_path / "NOTICES.txt"
    (app / "Contents" / "Resources").mkdir(parents=True)
    notices.write_text("licences")
    build.complete(app, notices)
    build.complete(app, notices)  # a second time with --keep
    assert (app / "Contents" / "Resources" / "NOTICES.txt").read_text() == "licences"
    assert (app / "Contents" / "Resources" / LOCALISATIONS[0] / "InfoPlist.strings").is_file()
    staging = build.lay_out(app, tmp_path / "image")
    assert (staging / APP_NAME / "Contents").is_dir()
    assert (staging / "Applications").is_symlink()


def test_only_an_identity_is_hardened_dated_and_notarised(tmp_path: Path) -> None:
    app, image = tmp_path / APP_NAME, tmp_path / "x.dmg"
    (own, look), (hardened, _) = build.signing(app, "-"), build.signing(app, "Developer ID Application: A (B)")
    assert "runtime" not in own
    assert hardened[-4:] == ["--options", "runtime", "--timestamp", str(app)]
    assert str(ENTITLEMENTS) in own
    assert str(ENTITLEMENTS) in hardened
    assert look[:4] == ["codesign", "--verify", "--deep", "--strict"]
    assert [command[0] for command in build.imaging(tmp_path, image, "-")] == ["hdiutil"]
    assert [command[0] for command in build.imaging(tmp_path, image, "A")] == ["hdiutil", "codesign"]
    assert [command[1] for command in build.notarising(image, "p")] == ["notarytool", "stapler", "stapler"]
