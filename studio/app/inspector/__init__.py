"""Inspector of the current line: settings, normalized text and takes."""
