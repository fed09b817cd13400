"""Approximations of a posterior by normal distributions of the free state."""
