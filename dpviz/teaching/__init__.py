"""What a class does: lessons that ask for a guess, rooms in which everybody draws a release, and a game of guesses."""
