"""Runs on disk: a zarr store that is filled while chains draw.

The store holds everything needed to continue the run:

    run.zarr/
      zarr.json                    the groups and arrays, as zarr and xarray read them
      posterior/theta/c/2/5/0      draws of chain 2 (by its position in the store), block 5
      sample_stats/...             records of the sampler, in the same layout
      observed_data, constant_data
      .kinetograph/
        run.1, run.2               the manifest: settings, chains, versions (two copies)
        model.1, model.2           the graph of the model, if it can be written (two copies)
        chain-2.1, chain-2.2       the last two states of chain 2 that were written
        chain-2.lock, lock         locked by the process that runs chain 2, or writes zarr.json

A block is written when it is full, and, as far as it is filled, at each checkpoint. The shapes of
the arrays end where the first chains have complete draws, so that readers never see incomplete
draws. Every file is written under a temporary name and renamed, and has a checksum: CRC-32C by zarr
for blocks, SHA-256 for all other files.
"""
