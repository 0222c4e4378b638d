"""The script page: table of lines, line editing, find and replace."""
