"""The page of engines and the panel of a build: what runs each stage of the model on this computer, and why not faster."""
