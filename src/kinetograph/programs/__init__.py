"""The XLA program of a run, of model and sampler; its caches."""
