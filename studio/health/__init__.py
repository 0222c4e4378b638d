"""Whether everything the program needs is here and works, and what it has written down about its work. No torch, no Qt."""
