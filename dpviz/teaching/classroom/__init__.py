"""The class experiment: what a room asks, what each seat draws of it, what the class finds, and where it is kept."""
