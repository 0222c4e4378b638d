"""Import of scripts: text, Markdown, Word, EPUB, PDF, Fountain, subtitles and tables, each in its own module."""
