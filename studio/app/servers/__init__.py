"""Speech synthesis on another computer: its address and token, and the choice between it and this computer."""
