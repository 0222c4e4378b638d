"""Audio as arrays, devices and files. Independent of speech and of Qt."""
