"""How the window looks: colours for light and dark, icons, a few rules of style."""
