"""The performance suite: ours and the peers, interleaved, in one run."""
