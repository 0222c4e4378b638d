"""Declarations of all settings: title, help, default and range.

The settings dialog (``app/preferences``) and the file (``settings_store.py``) are derived from them. The dialog
translates all texts, which ``packaging/translations.py`` collects.
"""

from __future__ import annotations

from typing import Any

from studio.setting_kinds import (
    AudioFileSetting,
    BoolSetting,
    ChoiceSetting,
    DeviceSetting,
    FolderSetting,
    IntSetting,
    NamesSetting,
    NumberSetting,
    Option,
    Page,
    ProcessorSetting,
    Setting,
    StringListsSetting,
    StringSetting,
    StringsSetting,
)

PAGE_TITLES = {
    Page.WINDOW: "Window",
    Page.SCRIPT: "Script",
    Page.SPEAKING: "Speech and playback",
    Page.CHECKS: "Checks of takes",
    Page.MODELS: "Models",
    Page.EXPORT: "Export",
}

# The window.

LANGUAGE = ChoiceSetting(
    key="language",
    page=Page.WINDOW,
    title="Language",
    help="The language of menus and messages.",
    default="system",
    options=(
        Option("system", "Same as system"),
        Option("en", "English"),
        Option("zh_CN", "简体中文"),
    ),
)
COLOUR_SCHEME = ChoiceSetting(
    key="colour-scheme",
    page=Page.WINDOW,
    title="Appearance",
    help="Light, dark, or the desktop's setting.",
    default="system",
    options=(
        Option("system", "Same as desktop"),
        Option("light", "Light"),
        Option("dark", "Dark"),
    ),
)
SHORTCUTS = StringListsSetting(key="shortcuts")
WINDOW_GEOMETRY = StringSetting(key="window-geometry", default="", may_be_empty=True, longest=100_000)
WINDOW_LAYOUT = StringSetting(key="window-layout", default="", may_be_empty=True, longest=100_000)

RECENT_FILES = StringsSetting(key="recent-files", most=10)

# The script.

SCRIPT_IS_COMPACT = BoolSetting(key="script-is-compact", default=False)
SHOWS_MORE_FIELDS = BoolSetting(key="shows-more-fields", default=False)
SHOWS_LIVE_FIGURES = BoolSetting(key="shows-live-figures", default=False)

TEXT_SPLITTING = ChoiceSetting(
    key="text-splitting",
    page=Page.SCRIPT,
    title="Split pasted or imported text",
    help="Short lines are quicker to redo; paragraphs keep a natural intonation across sentences.",
    default="sentence",
    options=(
        Option("sentence", "One line per sentence"),
        Option("paragraph", "One line per paragraph"),
    ),
)
COLUMN_MAPPINGS = StringListsSetting(key="column-mappings")  # chosen columns of tables by their headings
PAUSE_AFTER_SECONDS = NumberSetting(
    key="pause-after",
    page=Page.SCRIPT,
    title="Pause after new lines",
    help="Silence before the next line when lines are played in sequence or joined.",
    default=0.3,
    low=0.0,
    high=10.0,
    step=0.1,
    unit="s",
)
DAY_FIRST = "day-first"
DATE_ORDER = ChoiceSetting(
    key="date-order",
    page=Page.SCRIPT,
    title="Dates in English",
    help="How 3/4/2024 is read. A number above 12 is a day in either order. New takes only.",
    default="month-first",
    options=(
        Option("month-first", "Month first: March 4th"),
        Option(DAY_FIRST, "Day first: the 3rd of April"),
    ),
)
NAMED_EMOJI = "named"
EMOJI = ChoiceSetting(
    key="emoji",
    page=Page.SCRIPT,
    title="Emoji",
    help="Names are spoken in the language of the text. New takes only.",
    default="silent",
    options=(Option("silent", "Silent"), Option(NAMED_EMOJI, "Speak names: red heart")),
)
AUTOSAVE_MINUTES = IntSetting(
    key="autosave-minutes",
    page=Page.SCRIPT,
    title="Autosave interval",
    help="For scripts saved to a file. After a crash, unsaved work can always be recovered at the next start.",
    default=0,
    low=0,
    high=60,
    unit="min",
    name_of_low="Never",
)

# Synthesis and playback.

OUTPUT_DEVICE = DeviceSetting(
    key="output-device",
    page=Page.SPEAKING,
    title="Output device",
    help="If it is disconnected, the system default is used.",
    default="",
)

KEEPS_LEADING_SILENCE = BoolSetting(
    key="keeps-leading-silence",
    page=Page.SPEAKING,
    title="Keep leading silence",
    help="Keep up to 0.4 s of silence before the first word. New takes only.",
    default=False,
)
STREAMS_APPROXIMATELY = BoolSetting(
    key="streams-approximately",
    page=Page.SPEAKING,
    title="Start sentences early (approximate)",
    help="CosyVoice-300M only: play a sentence before all of it is ready. Joins within it can be audible.",
    default=False,
)
TAKES_AT_ONCE = IntSetting(
    key="takes-at-once",
    page=Page.SPEAKING,
    title="Number of takes",
    help="Takes per line for “Speak several takes”, each with a different seed.",
    default=4,
    low=2,
    high=16,
)
COMPARES_BLINDLY = BoolSetting(key="compares-blindly", default=True)
MODEL = StringSetting(key="model", default="", may_be_empty=True)
SPEECH_LM_PRECISION = ChoiceSetting(
    key="speech-lm-precision",
    page=Page.SPEAKING,
    title="Language model precision",
    help="Automatic uses the fastest precision that passes a quality check on this computer. You can override it.",
    default="auto",
    options=(
        Option("auto", "Automatic (fastest that passes)"),
        Option("float32", "32-bit float (reference)"),
        Option("bfloat16", "16-bit bfloat"),
        Option("float16", "16-bit float"),
        Option("int8", "8-bit integers"),
    ),
)
FLOW_PRECISION = ChoiceSetting(
    key="flow-precision",
    page=Page.SPEAKING,
    title="Flow precision",
    help="Automatic uses 16 or 8 bits where they are faster and pass a quality check, also for the vocoder.",
    default="auto",
    options=(
        Option("auto", "Automatic (fastest that passes)"),
        Option("float32", "32-bit float (reference)"),
    ),
)
DEVICE = ProcessorSetting(
    key="place",
    page=Page.SPEAKING,
    title="Run model on",
    help="Automatic: the GPU with the most memory, otherwise the CPU.",
    default="auto",
    longest=100,
)
ENGINES = ChoiceSetting(
    key="engines",
    page=Page.SPEAKING,
    title="Faster engines",
    help=(
        "Faster engines are tested after five idle minutes, and used only if their output matches the reference. "
        "See the Engines page for results."
    ),
    default="improve",
    options=(
        Option("improve", "Find and use"),
        Option("proven", "Use verified engines only"),
        Option("plain", "Never"),
    ),
)
NUM_THREADS = IntSetting(
    key="threads",
    page=Page.SPEAKING,
    title="CPU threads",
    help="Fewer threads leave more CPU time for other programs.",
    default=0,
    low=0,
    high=64,
    name_of_low="Automatic",
)

# Checks of takes. A project can have its own choices: ``ProjectCheckPolicy``.

TAKE_CHECKS = ChoiceSetting(
    key="take-checks",
    page=Page.CHECKS,
    title="Check takes",
    help=(
        "Each take is checked for missing, repeated or wrong words, noise and another voice. "
        "Lines with problems can be spoken again automatically; the best take is chosen, and the others are kept."
    ),
    default="retry",
    options=(
        Option("off", "Off"),
        Option("mark", "Mark problems only"),
        Option("retry", "Mark, and try again"),
    ),
)
TAKE_RETRIES = IntSetting(
    key="take-retries",
    page=Page.CHECKS,
    title="Retries",
    help="The maximum number of retries for a line with problems, each with a different seed.",
    default=2,
    low=1,
    high=9,
)
CHECK_STRICTNESS = ChoiceSetting(
    key="check-strictness",
    page=Page.CHECKS,
    title="Strictness",
    help="How easily a take is marked. Strict finds smaller problems, but marks more good takes.",
    default="normal",
    options=(
        Option("lenient", "Lenient"),
        Option("normal", "Normal"),
        Option("strict", "Strict"),
    ),
)
RECOGNIZER = ChoiceSetting(
    key="recognizer",
    page=Page.CHECKS,
    title="Speech recognition",
    help=(
        "Compares the spoken words with the text. Automatic uses the bundled recogniser for English, and an installed one "
        "for other languages. The Models page installs SenseVoiceSmall."
    ),
    default="auto",
    options=(
        Option("auto", "Automatic"),
        Option("pocketsphinx", "Bundled (English)"),
        Option("SenseVoiceSmall", "SenseVoiceSmall"),
        Option("off", "Do not use"),
    ),
)

EXPORT_WAITS_FOR_CHECKS = BoolSetting(
    key="export-waits-for-checks",
    page=Page.CHECKS,
    title="Exports wait for checks",
    help="Lines that an export speaks are checked, and spoken again if needed, before the files are written.",
    default=True,
)

# Models.

MODEL_SOURCE = ChoiceSetting(
    key="model-source",
    page=Page.MODELS,
    title="Download models from",
    help="All offer the same files. If one fails, the others are tried. Automatic begins with ModelScope in China.",
    default="automatic",
    options=(
        Option("automatic", "Automatic"),
        Option("huggingface", "Hugging Face"),
        Option("modelscope", "ModelScope"),
    ),
)
HUGGING_FACE_ENDPOINT = StringSetting(
    key="huggingface-endpoint",
    page=Page.MODELS,
    title="Hugging Face address",
    help="Mirror URL, such as https://hf-mirror.com. Leave empty for the default.",
    default="",
    may_be_empty=True,
    longest=300,
)
MODEL_SCOPE_ENDPOINT = StringSetting(
    key="modelscope-endpoint",
    page=Page.MODELS,
    title="ModelScope address",
    help="Mirror URL. Leave empty for the default.",
    default="",
    may_be_empty=True,
    longest=300,
)
MODELS_FOLDER = FolderSetting(
    key="models-folder",
    page=Page.MODELS,
    title="Models folder",
    help="Folder for newly installed models (3 to 7 GB each). Models already installed are not moved.",
    default="",
    name_of_empty="In the program's data folder",
)
PREFERS_RL = BoolSetting(
    key="prefers-rl",
    page=Page.MODELS,
    title="Prefer the RL-tuned language model",
    help="llm.rl.pt of Fun-CosyVoice3 (2 GB extra), used if it is installed.",
    default=False,
)
LISTS_BUILT_IN_SPEAKERS = BoolSetting(
    key="lists-built-in-speakers",
    page=Page.MODELS,
    title="List built-in voices of models",
    help="Voices that a model contains, such as those of CosyVoice-300M-SFT. Lines keep their voice either way.",
    default=True,
)
FIRST_RUN_IS_OVER = BoolSetting(key="first-run-is-over", default=False)
# Models whose download the end of the program interrupts: the name, then each variant after a tab. The download continues
# at the next start.
UNFINISHED_DOWNLOADS = StringsSetting(key="unfinished-downloads", most=20)

# The speech service.

SERVES_AT_START = BoolSetting(key="serves-at-start", default=False)
SERVICE_PORT = IntSetting(key="service-port", default=8807, low=1024, high=65535)
SERVED_VOICE_NAMES = NamesSetting(key="served-voice-names", most=200)  # voices by the names that clients send

# Another computer that speaks. Its token is kept in a file of its own (``studio.remote.address``).
USES_SERVER = BoolSetting(key="uses-server", default=False)
SERVER_URL = StringSetting(key="server-url", default="", may_be_empty=True, longest=300)
SERVER_MODEL = StringSetting(key="server-model", default="", may_be_empty=True, longest=100)  # the last one it had
# For a server of another program: the model and the voice in use, and the names of its other voices.
OTHER_SERVER_MODEL = StringSetting(key="other-server-model", default="", may_be_empty=True, longest=200)
OTHER_SERVER_VOICE = StringSetting(key="other-server-voice", default="", may_be_empty=True, longest=200)
OTHER_SERVER_VOICES = StringsSetting(key="other-server-voices", most=200)

# Initial values of the export dialog.

EXPORT_FOLDER = FolderSetting(
    key="export-folder",
    page=Page.EXPORT,
    title="Folder",
    help="Folder for exported audio files.",
    default="",
    name_of_empty="Next to the script",
)
# Measurements of models, as in ``ModelSpeed.entry``.
MODEL_SPEEDS = StringsSetting(key="model-speeds", most=50)
# Folders of the last exports, as the name of the script, a tab, and the folder; the latest is the last.
EXPORT_FOLDERS = StringsSetting(key="export-folders", most=100)
EXPORT_FILES = ChoiceSetting(
    key="export-files",
    page=Page.EXPORT,
    title="Files",
    help="Separate files suit video, one file suits podcasts.",
    default="lines",
    options=(
        Option("lines", "One per line"),
        Option("joined", "One for all lines"),
        Option("both", "Both"),
        Option("chapters", "One per chapter"),
        Option("audiobook", "Audiobook (M4B)"),
    ),
)
EXPORT_PLACEMENT = ChoiceSetting(
    key="export-placement",
    page=None,
    title="Joined lines",
    help="For scripts with times in a video. Each line begins exactly at its original time.",
    default="pauses",
    options=(
        Option("pauses", "With pauses between them"),
        Option("times", "At their original times"),
        Option("characters", "At their times, one file per character"),
        Option("languages", "At their times, one file per language"),
    ),
)
EXPORT_STANDARD = ChoiceSetting(
    key="export-standard",
    page=Page.EXPORT,
    title="Mastering",
    help="Levels, room tone and pauses of chapters, audiobooks and joined files. ACX needs MP3 at 192 kbit/s.",
    default="none",
    options=(Option("none", "None"), Option("acx", "ACX"), Option("r128", "EBU R128")),
)
EXPORT_PATTERN = StringSetting(
    key="export-pattern",
    page=Page.EXPORT,
    title="File name pattern",
    help=(
        "Fields: {index}, {voice}, {text}, {style}, {project}, {character}, {id} and the columns of an imported table. "
        "A slash creates a folder."
    ),
    default="{index} {voice} {text}",
    longest=200,
)
EXPORT_ENCODING = ChoiceSetting(
    key="export-encoding",
    page=Page.EXPORT,
    title="Format",
    help="WAV and FLAC are lossless; MP3, Vorbis and Opus are smaller.",
    default="wav16",
    options=(
        Option("wav16", "WAV, 16 bit"),
        Option("wav24", "WAV, 24 bit"),
        Option("wav32f", "WAV, 32-bit float"),
        Option("flac16", "FLAC, 16 bit"),
        Option("flac24", "FLAC, 24 bit"),
        Option("mp3", "MP3"),
        Option("mp3-192", "MP3, 192 kbit/s"),
        Option("ogg", "OGG Vorbis"),
        Option("opus", "OGG Opus"),
    ),
)
EXPORT_SAMPLE_RATE = ChoiceSetting(
    key="export-sample-rate",
    page=Page.EXPORT,
    title="Sample rate",
    help="The models generate 24 kHz. Video usually uses 48 kHz, music 44.1 kHz.",
    default=24_000,
    options=(Option(24_000, "24 kHz"), Option(44_100, "44.1 kHz"), Option(48_000, "48 kHz")),
)
EXPORT_HAS_ONE_PAUSE = BoolSetting(
    key="export-one-pause",
    page=Page.EXPORT,
    title="Same pause after every line",
    help="In a joined file. Otherwise each line keeps its own pause.",
    default=False,
)
EXPORT_PAUSE_SECONDS = NumberSetting(
    key="export-pause",
    page=Page.EXPORT,
    needs=EXPORT_HAS_ONE_PAUSE,
    title="Pause between lines",
    help="Silence between one line and the next.",
    default=0.5,
    low=0.0,
    high=60.0,
    step=0.1,
    unit="s",
)
EXPORT_ROOM_TONE = AudioFileSetting(
    key="export-room-tone",
    page=None,
    title="Room tone",
    help="A recording of the silent room, for the pauses of mastered audio.",
    default="",
    name_of_empty="Generated noise",
)
EXPORT_MATCHES_LOUDNESS = BoolSetting(
    key="export-matches-loudness",
    page=Page.EXPORT,
    title="Normalise loudness",
    help="Bring every file to the loudness below, without clipping.",
    default=False,
)
EXPORT_LUFS = NumberSetting(
    key="export-loudness",
    page=Page.EXPORT,
    needs=EXPORT_MATCHES_LOUDNESS,
    title="Loudness",
    help="Typical: -16 for podcasts, -19 for audiobooks, -23 for broadcast.",
    default=-16.0,
    low=-40.0,
    high=-5.0,
    step=0.5,
    unit="LUFS",
)
EXPORT_TRUE_PEAK = NumberSetting(
    key="export-true-peak",
    page=Page.EXPORT,
    needs=EXPORT_MATCHES_LOUDNESS,
    title="True-peak limit",
    help="Maximum true peak of exported audio; -1 is typical.",
    default=-1.0,
    low=-20.0,
    high=0.0,
    step=0.5,
    unit="dBTP",
)
EXPORT_IS_TRIMMED = BoolSetting(
    key="export-trims",
    page=Page.EXPORT,
    title="Trim silence",
    help="A short, faded part of the silence is kept.",
    default=False,
)
EXPORT_SUBTITLES = ChoiceSetting(
    key="export-subtitles",
    page=Page.EXPORT,
    title="Subtitles",
    help="Timing of each line in the joined audio. The times of words are known for takes that were checked.",
    default="none",
    options=(
        Option("none", "None"),
        Option("srt", "SRT"),
        Option("vtt", "WebVTT"),
        Option("both", "SRT and WebVTT"),
        Option("srt-words", "SRT, word by word"),
        Option("vtt-words", "WebVTT with word times"),
        Option("lrc", "LRC with word times"),
        Option("json", "JSON with word times"),
        Option("html", "Read-along page (HTML)"),
    ),
)
EXPORT_HAS_MANIFEST = BoolSetting(
    key="export-manifest",
    page=Page.EXPORT,
    title="Write a manifest (CSV)",
    help="Text, voice and duration of each line.",
    default=False,
)
EXPORT_HAS_DISCLAIMER = BoolSetting(
    key="export-disclaimer",
    page=Page.EXPORT,
    title="Begin with a disclaimer",
    help="A sentence in the language of the script says that the voice is synthetic.",
    default=False,
)
SIGNS_FILES = BoolSetting(
    key="signs-files",
    page=Page.EXPORT,
    title="Sign audio files",
    help="A signed manifest says that the speech is synthetic. Without it, nobody can verify where a file comes from.",
    default=True,
)
MARKS_FILES = BoolSetting(
    key="marks-files",
    page=Page.EXPORT,
    title="Mark audio files",
    help="An imperceptible mark in the sound. Without it, nothing shows that the speech is synthetic once the manifest "
    "is removed.",
    default=True,
)
SIGNING_CERTIFICATE = StringSetting(
    key="signing-certificate",
    page=Page.EXPORT,
    needs=SIGNS_FILES,
    title="Certificate",
    help="A PEM file with your private key and its certificates. If it is empty, a self-made key signs.",
    default="",
    may_be_empty=True,
    longest=1000,
)
REQUIRES_CONSENT = BoolSetting(
    key="requires-consent",
    page=Page.EXPORT,
    title="Require recorded consent",
    help="Voices are used only if the consent of their speaker is recorded in the details of the voice.",
    default=False,
)
NAMES_CONSENT = BoolSetting(
    key="names-consent",
    page=Page.EXPORT,
    needs=SIGNS_FILES,
    title="Name speakers in signed files",
    help="The manifest contains who consented and to what. Otherwise it contains a hash of this record.",
    default=False,
)


SHOWS_TIMELINE = BoolSetting(key="shows-timeline", default=True)
FIT_SLOWEST = NumberSetting(
    key="fit-slowest",
    page=None,
    title="Slowest",
    help="Lowest speed to which a take is stretched to fit its slot.",
    default=0.85,
    low=0.5,
    high=1.0,
    step=0.05,
)
FIT_FASTEST = NumberSetting(
    key="fit-fastest",
    page=None,
    title="Fastest",
    help="Highest speed to which a take is stretched to fit its slot.",
    default=1.25,
    low=1.0,
    high=2.0,
    step=0.05,
)


def _declared() -> tuple[Setting[Any], ...]:
    return tuple(value for value in globals().values() if isinstance(value, Setting))


SETTINGS: tuple[Setting[Any], ...] = _declared()
"""All settings, in the order of the dialog."""
