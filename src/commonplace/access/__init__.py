"""Access: keys, their plans and the spaces they open."""
