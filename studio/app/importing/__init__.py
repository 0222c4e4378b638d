"""Import of script files: cancellable reading, a page with choices and a preview, and casting."""
