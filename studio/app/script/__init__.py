"""The script on the screen: its table, what can be done to its lines, find and replace."""
