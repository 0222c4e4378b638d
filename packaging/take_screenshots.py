"""Take a screenshot of every page, or of the journeys of the tests.

take_screenshots.py FOLDER [--size 1920x1080] [--scale 2] …    every page, light and dark, in English and Chinese
take_screenshots.py --journeys FOLDER [JOURNEY …]              a page of pictures of each journey
"""

from __future__ import annotations

import sys

from screenshots import journey_pages, pages

if __name__ == "__main__":
    is_journeys = sys.argv[1:2] == ["--journeys"]
    sys.exit(journey_pages.main(sys.argv[2:]) if is_journeys else pages.main(sys.argv[1:]))
