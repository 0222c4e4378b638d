"""Import of script files: reading with cancel, the page with choices and a preview, and casting."""
