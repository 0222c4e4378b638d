"""Take a screenshot of every page, light and dark, in English and Chinese: ``take_screenshots.py FOLDER``."""

from __future__ import annotations

import sys

from screenshots.pages import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
