"""Import of scripts: plain text, Markdown, SubRip subtitles, tables (CSV, TSV) and Word documents."""
