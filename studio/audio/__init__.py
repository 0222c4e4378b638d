"""Sound as arrays, devices and files. Knows nothing of speech."""
