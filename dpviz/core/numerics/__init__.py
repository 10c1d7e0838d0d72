"""What computing with floating-point numbers asks for, whatever is computed."""
