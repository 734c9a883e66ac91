"""What is played with conductor-python, in whichever of its versions this interpreter has.

Nothing in here may need more than that package and the standard library.
"""
