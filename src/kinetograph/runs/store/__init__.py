"""Runs on disk: a zarr store that fills while chains draw, and all it takes to go on.

    run.zarr/
      zarr.json                    the groups and arrays, as zarr and xarray read them
      posterior/theta/c/2/5/0      draws of chain 2 (of its place in the store), block 5
      sample_stats/...             the same of what the sampler recorded
      observed_data, constant_data
      .kinetograph/
        run.1, run.2               what is run: settings, chains, versions (twice)
        model.1, model.2           the graph of the model, where it can be written (twice)
        chain-2.1, chain-2.2       the state of chain 2, the last two that were written
        chain-2.lock, lock         held by the process that runs chain 2, or writes zarr.json

A block is written when it is full, and at each checkpoint as far as it goes; the arrays are made as
long as all chains of the leading places are, so that who reads sees whole draws alone. Every file
is written beside and renamed, and has a checksum: zarr's own for the blocks, SHA-256 for the
others.
"""
