"""Scripts that were written elsewhere: text, Markdown, subtitles, tables and Word documents become lines."""
