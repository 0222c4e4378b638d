"""Import of scripts from text, Markdown, Word, EPUB, PDF, Fountain, subtitles and tables. One module per format."""
