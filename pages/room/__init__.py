"""The class experiment: its server side, the teacher's projector and a student's seat."""
