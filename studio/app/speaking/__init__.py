"""Lines becoming sound: the queue, takes being made, and what is heard of them."""
