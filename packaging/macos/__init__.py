"""The application for macOS: what its bundle says of it, and how it is signed and put into a disk image. NOT RUN YET."""
