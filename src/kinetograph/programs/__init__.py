"""What a run compiles: model and sampler in one XLA program, and its caches."""
