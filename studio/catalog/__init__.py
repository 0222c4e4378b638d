"""Model catalog: known releases, downloads, imports, exports, verification and removal. No torch, no Qt."""
