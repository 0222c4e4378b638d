"""The line that is chosen: who says it and how, what exactly is spoken, and its takes."""
