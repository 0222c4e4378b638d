"""The macOS application: bundle metadata, signing and disk image. NOT RUN YET."""
