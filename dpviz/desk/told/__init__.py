"""What is told of the answer to a curator's question, in sentences."""
